import { type SQL, sql } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import type { Field } from '../../../src/core/model.ts'
import type { AuthService } from '../../auth/index.ts'
import { columnOf } from '../columns.ts'
import { select } from '../plan.ts'
import type { Opened } from '../read.ts'
import type { RecordsService } from '../service.ts'
import type { RestList, RestLists } from './list.ts'
import { findField, invalidOffset, readListParameters } from './parameters.ts'
import { type PageInfo, pageInfo, presenterOf } from './present.ts'

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
    await presenterOf(fields, auth.people)?.(list)
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
    const names = (query.get('column_name') ?? '').split(',').filter((name) => name !== '')
    if (names.length === 0) throw badRequest("Missing 'column_name' query parameter")
    const fields = names.map((name) => {
      const field = opened.model.byTitle(name)
      if (!field) throw notFound('Field', name)
      return field
    })
    const parameters = readListParameters(opened.model, query)
    const { from, where } = select(opened.context, { filter: parameters.filter })
    const columns = fields.map((field) => sql`${columnOf(field)} as ${sql.identifier(field.title)}`)
    const keys = sql.join(fields.map(columnOf), sql`, `)
    return {
      opened,
      fields,
      parameters,
      groups: {
        query: sql`select count(*) as ${sql.identifier('count')}, ${sql.join(columns, sql`, `)} from ${from} ${where} group by ${keys}`,
        orderBy: orderOf(fields, parameters.sorts, opened.engine.dialect.orderBy),
      },
    }
  }

  /** One list for each option of a choice field, and one for the records without: `[{key, value}]`. */
  async function byOption(actor: Actor, tableId: string, fieldId: string, search: string, viewId?: string) {
    const { model } = await records.open(actor, tableId, viewId)
    const field = findField(model, fieldId)
    if (!field) throw notFound('Field', fieldId)
    const choices = (field.options.choices ?? []) as { title: string }[]
    const keys = [...choices.map((choice) => choice.title), null]
    const groups: { key: string | null; value: RestList }[] = []
    // One after the other: a field may have thousands of options, and others wait for the same threads.
    for (const key of keys) {
      const own = { fieldId: field.id, operator: key === null ? 'blank' : 'eq', value: key }
      groups.push({ key, value: await lists.list(actor, tableId, search, viewId, own) })
    }
    return groups
  }

  return { groupBy, count, byOption }
}

export type RestGroups = ReturnType<typeof createRestGroups>

function orderOf(
  fields: Field[],
  sorts: { fieldId: string; direction: 'asc' | 'desc' }[] | undefined,
  orderBy: (expression: SQL, direction: 'asc' | 'desc') => SQL,
): SQL {
  const terms = (sorts ?? []).flatMap(({ fieldId, direction }) => {
    const field = fields.find((candidate) => candidate.id === fieldId)
    return field ? [orderBy(columnOf(field), direction)] : []
  })
  return sql.join([...terms, ...fields.map((field) => orderBy(columnOf(field), 'asc'))], sql`, `)
}
