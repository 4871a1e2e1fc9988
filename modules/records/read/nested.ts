import { type SQL, sql } from 'drizzle-orm'
import type { Filter } from '../../../src/core/filters/index.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import { keyOf } from '../table/index.ts'
import { conditionIn } from './expression/conditions.ts'
import { expressionOf, rootScope } from './expression/expression-of.ts'
import { follow, stepOf } from './expression/path.ts'
import { type ReadContext, tableIn, wholeOf } from './expression/scope.ts'
import { titledForm } from './plan.ts'

/** The fields and the page of linked records to read. */
export interface NestedRequest {
  /** Fields of the related table. */
  fields: Field[]
  filter: Filter | null
  limit: number
  offset: number
}

/** Limit of linked records in one answer, for each link: 25 for a thousand records, which every client may ask for, twice. */
export const MAX_NESTED = 50_000

/** Column with the key of the owning record; titles contain no control characters. */
export const OWNER = '~\u0001owner'

/**
 * Selects the records linked to the given ones by a link, `limit` for each, in their table’s order. A row has the key
 * of the owner (`OWNER`) and the fields of the linked record by title. Ends with one more than `MAX_NESTED`. Null for a
 * broken link.
 *
 * @param context of the table that has the link, with all the models that the related table's fields reach
 */
export function nestedQuery(
  context: ReadContext,
  link: Field,
  keys: RecordId[],
  { fields, filter, limit, offset }: NestedRequest,
): SQL | null {
  const outer = rootScope(context)
  const step = stepOf(wholeOf(context), link.id, context.models)
  if (!step) return null
  const { rows, end } = follow(outer, [step])
  const values = fields.map(
    (field, at) => sql`${expressionOf(field, end, titledForm(field))} as ${nameAt(at)}`,
  )
  const shown = fields.map((field, at) => sql`${nameAt(at)} as ${sql.identifier(field.title)}`)
  const key = keyOf(context.model)
  const ids = list(keys.map((id) => sql`${id}`))
  const narrow = conditionIn(end, filter)
  const [owner, place] = [sql.identifier(OWNER), sql.identifier('~\u0001place')]
  const numbered = sql`select ${key} as ${owner},
      row_number() over (partition by ${key} order by ${rows.orderBy}) as ${place}, ${list(values)}
    from ${tableIn(outer)}, ${rows.from} and ${key} in (${ids}) ${narrow ? sql`and ${narrow}` : sql``}`
  return sql`select ${owner}, ${list(shown)} from (${numbered}) as numbered
    where ${place} > ${offset} and ${place} <= ${offset + limit} order by ${owner}, ${place} limit ${MAX_NESTED + 1}`
}

const list = (parts: SQL[]): SQL => sql.join(parts, sql`, `)

const nameAt = (at: number): SQL => sql`${sql.identifier(`~\u0001${at}`)}`
