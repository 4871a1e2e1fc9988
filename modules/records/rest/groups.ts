import { Elysia } from 'elysia'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import { summarySetOf } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field } from '../../../src/core/model.ts'
import type { Selection } from '../../../src/core/query.ts'
import { findSummary } from '../../../src/core/summaries.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { listed, readLimit } from '../../../src/wire/lists.ts'
import { restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { TableModel } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import { summaryOfAggregation } from '../../views/index.ts'
import { type CombinationQuery, compiled, type Opened, planCombinations } from '../read/index.ts'
import type { RecordsService } from '../service.ts'
import type { RestList, RestLists } from './list.ts'
import type { LinkedCounts } from './nested.ts'
import {
  findField,
  invalidOffset,
  queryOf,
  readFilter,
  readJsonList,
  readListParameters,
} from './parameters.ts'
import { pageInfo, peopleFor, presenterOf, withComputed, withFiles } from './present.ts'

/** Limit of lists in one answer, such as one for each value of a field. */
export const MAX_STACKS = 200
/** Limit of the records of all lists of an answer together: 25 in each of a thousand. */
export const MAX_STACKED = 25_000

/** Grouped lists of the v1 API. */
export function createRestGroups(
  records: RecordsService,
  lists: RestLists,
  auth: Pick<AuthService, 'people'>,
) {
  /** Counts the records of each combination of values: `{list: [{count, A, B}], pageInfo}`. */
  async function groupBy(actor: Actor, tableId: string, query: URLSearchParams, viewId?: string) {
    const { opened, plan } = await open(actor, tableId, query, viewId)
    const { fields, limit, offset } = plan.query
    const page = await records.combinations(opened, plan)
    if (page === null) throw invalidOffset(offset)
    const { rows: list, total } = page
    // Groups of links are shown by the link’s value.
    const shown = fields.filter((field) => linkOf(field) === null)
    const present = withComputed(
      shown,
      presenterOf(fields, peopleFor(auth.people, opened.context)),
      opened.context,
    )
    await withFiles(fields, present, records.attachments, opened.context)?.(list)
    return { list, pageInfo: pageInfo(total, limit, offset) }
  }

  /** The number of combinations. */
  async function count(
    actor: Actor,
    tableId: string,
    query: URLSearchParams,
    viewId?: string,
  ): Promise<number> {
    const { opened, plan } = await open(actor, tableId, query, viewId)
    return records.countCombinations(opened, plan.count)
  }

  async function open(actor: Actor, tableId: string, query: URLSearchParams, viewId?: string) {
    const given = await records.open(actor, tableId, viewId)
    const planOf = ({ context, model }: Opened) =>
      compiled(context, `combinations ${query}`, (watched) =>
        planCombinations(watched, readCombinations(model, query)),
      )
    const plan = planOf(given)
    const opened = await records.withSearchIndex(given, plan.query)
    return { opened, plan: opened === given ? plan : planOf(opened) }
  }

  /**
   * One list per option of a choice field, or per value of another field, and one for records without a value:
   * `[{key, value}]`. With many lists, each has a lower limit than asked for; its `pageInfo` tells.
   *
   * @throws BAD_REQUEST where there are more than `MAX_STACKS`
   */
  async function byOption(actor: Actor, tableId: string, fieldId: string, search: string, viewId?: string) {
    const { model } = await records.open(actor, tableId, viewId)
    const field = findField(model, fieldId)
    if (!field) throw notFound('Field', fieldId)
    const { choices } = field.options
    const keys = Array.isArray(choices)
      ? [...choices.map((choice: { title: string }) => choice.title), null]
      : await valuesOf(actor, { tableId, viewId }, field)
    const query = new URLSearchParams(search)
    const limit = readLimit(query.get('limit') ?? query.get('l'))
    query.set('limit', String(Math.min(limit, Math.ceil(MAX_STACKED / keys.length))))
    const bounded = query.toString()
    const groups: { key: string | null; value: RestList }[] = []
    const linked: LinkedCounts = new Map()
    // Sequentially: a field may have thousands of options, and others wait for the same threads.
    for (const key of keys) {
      const group = { fieldId: field.id, value: key }
      const name = key === null ? null : String(key)
      groups.push({ key: name, value: await lists.list(actor, tableId, bounded, viewId, { group, linked }) })
    }
    return groups
  }

  /** The values of a field in a view’s records, in group order, null last. */
  async function valuesOf(
    actor: Actor,
    selection: Pick<Selection, 'tableId' | 'viewId'>,
    field: Field,
  ): Promise<CellValue[]> {
    const { groups, hasMore } = await records.groups(actor, {
      selection,
      summaries: [],
      limit: MAX_STACKS,
      offset: 0,
      groups: [{ fieldId: field.id, direction: 'asc' }],
    })
    if (hasMore) throw badRequest(m.records_error_too_many_groups({ field: field.title }))
    const values = groups.flatMap(({ keys: [key] }) => (key == null ? [] : [key]))
    // Untouched checkboxes count as false, so there is no group without a value.
    return values.some((value) => typeof value === 'boolean') ? values : [...values, null]
  }

  return { groupBy, count, byOption }
}

export type RestGroups = ReturnType<typeof createRestGroups>

/** The count of a group. Clients may sort by it, without effect (wire §14.1). */
const COUNT = 'count'

/** @throws BAD_REQUEST without `column_name`; FIELD_NOT_FOUND; as `readListParameters` */
function readCombinations(model: TableModel, query: URLSearchParams): CombinationQuery {
  const { items, isParted } = listed(query, 'column_name')
  const names = (isParted ? items : items.flatMap((item) => item.split(','))).filter((name) => name !== '')
  if (names.length === 0) throw badRequest("Missing 'column_name' query parameter")
  const titled = (name: string): Field => {
    const field = model.byTitle(name)
    if (!field) throw notFound('Field', name)
    return field
  }
  const fields = [...new Set(names)].map(titled)
  const sub = query.get('subGroupColumnName')
  const sortable = (name: string) => findField(model, name) ?? (name === COUNT ? { id: COUNT } : undefined)
  const { filter, sorts, limit, offset } = readListParameters(model, query, sortable)
  return { fields, filter, sorts, limit, offset, ...(sub && { sub: titled(sub) }) }
}

interface Deps {
  records: RecordsService
  views: ViewsService
  auth: AuthService
}

/**
 * The footer of a grid: the summary of each visible field that has one, or those that `aggregation` asks for, by title.
 *
 * @throws as `records.open`; 422 for a bad `where`
 */
export async function readFooter(
  records: Pick<RecordsService, 'open' | 'summaries'>,
  actor: Actor,
  { tableId, viewId }: { tableId: string; viewId?: string },
  query: URLSearchParams,
): Promise<Record<string, CellValue>> {
  const { context, model } = await records.open(actor, tableId, viewId)
  const ofView = (context.view?.fields ?? []).flatMap(({ fieldId, show, summary }) =>
    show && summary !== null ? [{ fieldId, summary }] : [],
  )
  const wanted = readAggregations(model, query) ?? ofView
  const selection = { tableId, viewId, filter: readFilter(model, query) }
  const values = await records.summaries(actor, selection, wanted)
  return Object.fromEntries(
    wanted.map(({ fieldId }) => [model.field(fieldId)?.title ?? fieldId, values[fieldId] ?? null]),
  )
}

/**
 * The summaries that `aggregation` asks for, as `[{field, type}]` in JSON or with brackets: `aggregation[0][field]`, or
 * `aggregation[][field]` in the order of the items. Of several for a field, the last counts. Those of unknown fields and
 * those that a field does not offer are left out, as clients expect. Null without the parameter.
 */
function readAggregations(model: TableModel, query: URLSearchParams) {
  const asked = askedAggregations(query)
  if (asked === null) return null
  const wanted = new Map<string, { fieldId: string; summary: string }>()
  for (const { field: fieldId, type } of asked) {
    const field = typeof fieldId === 'string' ? model.field(fieldId) : undefined
    const key = typeof type === 'string' ? summaryOfAggregation(type) : null
    const summary = key === null ? null : findSummary(key)
    if (field && summary?.sets.includes(summarySetOf(field)))
      wanted.set(field.id, { fieldId: field.id, summary: summary.key })
  }
  return [...wanted.values()]
}

interface AskedAggregation {
  field?: unknown
  type?: unknown
}

function askedAggregations(query: URLSearchParams): AskedAggregation[] | null {
  const text = query.get('aggregation')
  if (text !== null) return readJsonList(text)
  const items = new Map<string, AskedAggregation>()
  const seen = { field: 0, type: 0 }
  for (const [key, value] of query) {
    const [, index, name] = /^aggregation\[(\d*)\]\[(field|type)\]$/.exec(key) ?? []
    if (index === undefined || (name !== 'field' && name !== 'type')) continue
    const position = index === '' ? `next ${seen[name]++}` : index
    items.set(position, { ...items.get(position), [name]: value })
  }
  return items.size === 0 ? null : [...items.values()]
}

const isOfView = (actor: Actor): boolean => actor.kind === 'share' && actor.grant.kind === 'view'

/**
 * The footer of a grid over `/api/v2/tables/{tableId}/aggregate`, of the default view unless `viewId` is given (wire
 * §16.2).
 */
export const aggregateRest = (kernel: Kernel, { records, views, auth }: Deps) =>
  new Elysia({ prefix: '/api/v2/tables/:tableId/aggregate', tags: ['Records'] })
    .use(restBase(kernel, auth))
    .get(
      '/',
      async ({ actor, params: { tableId }, request }) => {
        const query = new URLSearchParams(queryOf(request))
        const findDefault = async () => (await views.ofTable(tableId)).find((view) => view.isDefault)?.id
        // Visitors can only read the view of their link.
        const viewId = query.get('viewId') ?? (isOfView(actor) ? undefined : await findDefault())
        return readFooter(records, actor, { tableId, viewId }, query)
      },
      { detail: { summary: 'Read the summaries of a grid' } },
    )
