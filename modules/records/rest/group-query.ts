import { type SQL, sql } from 'drizzle-orm'
import type { Filter } from '../../../src/core/filters/index.ts'
import type { Field, Sort } from '../../../src/core/model.ts'
import { isTextStorage } from '../../../src/dialects/related.ts'
import { fragmentsOf, groupForm, type PlanContext, select, valueStorage } from '../read/index.ts'

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
