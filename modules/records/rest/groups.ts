import { type SQL, sql } from 'drizzle-orm'
import { Elysia } from 'elysia'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Filter } from '../../../src/core/filters/index.ts'
import type { Field, Sort } from '../../../src/core/model.ts'
import type { Selection } from '../../../src/core/query.ts'
import { isTextStorage } from '../../../src/dialects/related.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { ViewsService } from '../../views/index.ts'
import { fragmentsOf, groupForm, type Opened, type PlanContext, select, valueStorage } from '../read/index.ts'
import type { RecordsService } from '../service.ts'
import type { RestList, RestLists } from './list.ts'
import { findField, invalidOffset, listed, queryOf, readFilter, readListParameters } from './parameters.ts'
import { type PageInfo, pageInfo, peopleFor, presenterOf, withComputed, withFiles } from './present.ts'

/** Most values of which each is listed with its records. */
const MAX_STACKS = 200

/** Grouped lists of the v1 API. */
export function createRestGroups(
  records: RecordsService,
  lists: RestLists,
  auth: Pick<AuthService, 'people'>,
) {
  /** How many records each combination of values has: `{list: [{count, A, B}], pageInfo}`. */
  async function groupBy(actor: Actor, tableId: string, query: URLSearchParams, viewId?: string) {
    const { fields, groups, opened, parameters } = await open(actor, tableId, query, viewId)
    const { engine } = opened
    const total = await countOf(opened, groups)
    if (parameters.offset > 0 && parameters.offset >= total) throw invalidOffset(parameters.offset)
    const list = await engine.all<Record<string, unknown>>(
      engine.dialect.render(
        sql`${groups.query} order by ${groups.orderBy} limit ${parameters.limit} offset ${parameters.offset}`,
      ),
      { scan: true },
    )
    // A group of records with the same link is named by it.
    const shown = fields.filter((field) => linkOf(field) === null)
    const present = withComputed(
      shown,
      presenterOf(fields, peopleFor(auth.people, opened.context)),
      opened.context,
    )
    await withFiles(fields, present, records.attachments, opened.context)?.(list)
    const info: PageInfo = pageInfo(total, parameters.limit, parameters.offset)
    return { list, pageInfo: info }
  }

  /** How many groups there are. */
  async function count(
    actor: Actor,
    tableId: string,
    query: URLSearchParams,
    viewId?: string,
  ): Promise<number> {
    const { groups, opened } = await open(actor, tableId, query, viewId)
    return countOf(opened, groups)
  }

  async function countOf({ engine }: Opened, groups: { query: SQL }): Promise<number> {
    const [row] = await engine.all<{ n: number }>(
      engine.dialect.render(sql`select count(*) as n from (${groups.query}) as ${sql.identifier('groups')}`),
      { scan: true },
    )
    return row?.n ?? 0
  }

  async function open(actor: Actor, tableId: string, query: URLSearchParams, viewId?: string) {
    const opened = await records.open(actor, tableId, viewId)
    const { items, isParted } = listed(query, 'column_name')
    const names = (isParted ? items : items.flatMap((item) => item.split(','))).filter((name) => name !== '')
    if (names.length === 0) throw badRequest("Missing 'column_name' query parameter")
    const titled = (name: string): Field => {
      const field = opened.model.byTitle(name)
      if (!field) throw notFound('Field', name)
      return field
    }
    const fields = names.map(titled)
    const subName = query.get('subGroupColumnName')
    const parameters = readListParameters(opened.model, query)
    const sub = subName ? titled(subName) : undefined
    return { opened, fields, parameters, groups: groupQuery(opened.context, fields, { ...parameters, sub }) }
  }

  /**
   * One list for each option of a choice field, or for each value that others have, and one for the records
   * without: `[{key, value}]`.
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
    const groups: { key: string | null; value: RestList }[] = []
    // One after the other: a field may have thousands of options, and others wait for the same threads.
    for (const key of keys) {
      const group = { fieldId: field.id, value: key }
      const name = key === null ? null : String(key)
      groups.push({ key: name, value: await lists.list(actor, tableId, search, viewId, group) })
    }
    return groups
  }

  /** What the records of a view have in a field, in the order of its groups; null, for none, stands last. */
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
    if (hasMore) throw badRequest(`Field "${field.title}" has too many values to group records by`)
    const values = groups.flatMap(({ keys: [key] }) => (key == null ? [] : [key]))
    // A box that was never touched is off: nothing is left without a value.
    return values.some((value) => typeof value === 'boolean') ? values : [...values, null]
  }

  return { groupBy, count, byOption }
}

export type RestGroups = ReturnType<typeof createRestGroups>

/**
 * How many records each combination of values has: a `count`, and each field by its title. `orderBy` is what the
 * groups are sorted by where only some of them are read. With `sub`, each group also tells how many groups of its own
 * that field would make of it (`__sub_group_count__`, wire reference §14.1).
 */
export function groupQuery(
  context: PlanContext,
  fields: Field[],
  { filter, sorts = [], sub }: { filter: Filter | null; sorts?: Sort[]; sub?: Field },
): { query: SQL; orderBy: SQL } {
  const { from, where } = select(context, { filter })
  const { orderBy } = context.dialect
  const fragments = fragmentsOf(context)
  const groupedValue = (field: Field): SQL => {
    const value = fragments.of(field, groupForm(field))
    return isTextStorage(valueStorage(field)) ? context.dialect.exactText(value) : value
  }
  const values = fields.map((field, at) => sql`${groupedValue(field)} as ${nameAt(at)}`)
  const shown = fields.map((field, at) => sql`${nameAt(at)} as ${sql.identifier(field.title)}`)
  const keys = fields.map((_, at) => nameAt(at))
  if (sub) {
    const part = nameAt(fields.length)
    values.push(sql`${groupedValue(sub)} as ${part}`)
    // Records without a value are a group as well, which `count` passes over.
    const parts = sql`count(distinct ${part}) + max(case when ${part} is null then 1 else 0 end)`
    shown.push(sql`${parts} as ${sql.identifier('__sub_group_count__')}`)
  }
  // A value is worked out in a query of its own: engines do not know a subquery again where it is grouped by.
  const valued = sql`(select ${list(values)} from ${from} ${where}) as ${sql.identifier('valued')}`
  const wanted = sorts.flatMap(({ fieldId, direction }) => {
    const at = fields.findIndex((field) => field.id === fieldId)
    return at < 0 ? [] : [orderBy(nameAt(at), direction)]
  })
  return {
    query: sql`select count(*) as ${sql.identifier('count')}, ${list(shown)} from ${valued} group by ${list(keys)}`,
    orderBy: list([...wanted, ...keys.map((key) => orderBy(key, 'asc'))]),
  }
}

const list = (parts: SQL[]): SQL => sql.join(parts, sql`, `)

/** Names of the values; titles hold no control characters. */
const nameAt = (at: number): SQL => sql`${sql.identifier(`~\u0001${at}`)}`

interface Deps {
  records: RecordsService
  views: ViewsService
  auth: AuthService
}

/**
 * The footer of a grid: a value for each shown field that the view sums up, by title.
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
  const wanted = (context.view?.fields ?? []).flatMap(({ fieldId, show, summary }) =>
    show && summary !== null ? [{ fieldId, summary }] : [],
  )
  const selection = { tableId, viewId, filter: readFilter(model, query) }
  const values = await records.summaries(actor, selection, wanted)
  return Object.fromEntries(
    wanted.map(({ fieldId }) => [model.field(fieldId)?.title ?? fieldId, values[fieldId] ?? null]),
  )
}

const isOfView = (actor: Actor): boolean => actor.kind === 'share' && actor.grant.kind === 'view'

/**
 * The footer of a grid over `/api/v2/tables/{tableId}/aggregate`; the default view's unless `viewId` names
 * another (wire reference, aggregation).
 */
export const aggregateRest = (kernel: Kernel, { records, views, auth }: Deps) =>
  new Elysia({ prefix: '/api/v2/tables/:tableId/aggregate', tags: ['Records'] })
    .use(restBase(kernel, auth))
    .get(
      '/',
      async ({ actor, params: { tableId }, request }) => {
        const query = new URLSearchParams(queryOf(request))
        const findDefault = async () => (await views.ofTable(tableId)).find((view) => view.isDefault)?.id
        // By a link to a view there is no other.
        const viewId = query.get('viewId') ?? (isOfView(actor) ? undefined : await findDefault())
        return readFooter(records, actor, { tableId, viewId }, query)
      },
      { detail: { summary: 'Read the summaries of a grid' } },
    )
