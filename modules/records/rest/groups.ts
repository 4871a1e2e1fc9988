import { type SQL, sql } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field } from '../../../src/core/model.ts'
import type { Selection } from '../../../src/core/query.ts'
import type { AuthService } from '../../auth/index.ts'
import { withFiles } from '../attachments/index.ts'
import type { Opened } from '../read/index.ts'
import type { RecordsService } from '../service.ts'
import { groupQuery } from './group-query.ts'
import type { RestList, RestLists } from './list.ts'
import { listed } from './listed.ts'
import { findField, invalidOffset, readListParameters } from './parameters.ts'
import { type PageInfo, pageInfo, presenterOf } from './present.ts'
import { withComputed } from './present-computed.ts'
import { peopleFor } from './present-user.ts'

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
