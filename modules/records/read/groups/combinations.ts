import { type SQL, sql } from 'drizzle-orm'
import { shownType } from '../../../../src/core/fields/field.ts'
import type { Filter } from '../../../../src/core/filters/index.ts'
import type { Field, Sort } from '../../../../src/core/model.ts'
import type { IndexTerm } from '../../../../src/core/performance.ts'
import type { Statement } from '../../../../src/dialects/dialect.ts'
import { isTextStorage } from '../../../../src/dialects/related.ts'
import { fragmentsOf } from '../expression/fragments.ts'
import type { Form } from '../expression/scope.ts'
import { valueStorage } from '../expression/scope.ts'
import { bestTerms, wantedForCombinations } from '../index-terms.ts'
import { select, type TitledRow } from '../plan.ts'
import type { PlanContext } from '../plan-cache.ts'
import { groupsUpkeep, maintained, type Upkeep } from '../upkeep.ts'

/** A page of the combinations of values that records have in some fields. */
export interface CombinationQuery {
  fields: Field[]
  filter: Filter | null
  /** Sorts by other fields are ignored. */
  sorts?: Sort[]
  /** Adds to each group how many groups this field would make of it (`__sub_group_count__`, wire §14.1). */
  sub?: Field
  limit: number
  offset: number
}

export interface CombinationPlan {
  query: CombinationQuery
  /** Reads the page: a `count`, and each field by its title. */
  page: Statement
  /** Counts the combinations of all pages, as `n`. */
  count: Statement
  /** The terms of the index that serves it best; null if none would help. */
  bestIndex: IndexTerm[] | null
}

/** Compiles how many records each combination of values has. */
export function planCombinations(context: PlanContext, query: CombinationQuery): CombinationPlan {
  const { fields, filter, sorts = [], sub, limit, offset } = query
  const { from, where } = select(context, { filter })
  const { orderBy, render } = context.dialect
  const values = fields.map((field, at) => sql`${groupedValue(context, field)} as ${nameAt(at)}`)
  const shown = fields.map((field, at) => sql`${nameAt(at)} as ${sql.identifier(field.title)}`)
  const keys = fields.map((_, at) => nameAt(at))
  if (sub) {
    const part = nameAt(fields.length)
    values.push(sql`${groupedValue(context, sub)} as ${part}`)
    // Records without a value are a group as well, which `count` ignores.
    const parts = sql`count(distinct ${part}) + max(case when ${part} is null then 1 else 0 end)`
    shown.push(sql`${parts} as ${sql.identifier('__sub_group_count__')}`)
  }
  // Values are computed in a subquery: engines do not recognize an expression that is selected and grouped by.
  const valued = sql`(select ${list(values)} from ${from} ${where}) as ${sql.identifier('valued')}`
  const wanted = sorts.flatMap(({ fieldId, direction }) => {
    const at = fields.findIndex((field) => field.id === fieldId)
    return at < 0 ? [] : [orderBy(nameAt(at), direction)]
  })
  const combinations = sql`select count(*) as ${sql.identifier('count')}, ${list(shown)} from ${valued} group by ${list(keys)}`
  const order = list([...wanted, ...keys.map((key) => orderBy(key, 'asc'))])
  const page = render(sql`${combinations} order by ${order} limit ${limit} offset ${offset}`)
  return {
    query,
    page: sub ? page : maintained(page, () => combinationsUpkeep(context, query)),
    count: render(sql`select count(*) as n from (${combinations}) as ${sql.identifier('groups')}`),
    bestIndex: bestTerms(wantedForCombinations(context, { filter }, fields, sub ? [sub] : [])),
  }
}

/** A value by which records are grouped. */
function groupedValue(context: PlanContext, field: Field): SQL {
  const value = fragmentsOf(context).of(field, groupForm(field))
  return isTextStorage(valueStorage(field)) ? context.dialect.exactText(value) : value
}

function combinationsUpkeep(
  context: PlanContext,
  { fields, filter, limit, offset }: CombinationQuery,
): Upkeep | null {
  const keys = fields.map((field) => ({ field, sql: (within: PlanContext) => groupedValue(within, field) }))
  return groupsUpkeep(
    context,
    { selection: { filter }, keys },
    {
      keysOf: (row) => fields.map(({ title }) => (row as TitledRow)[title]),
      countOf: (row) => Number((row as TitledRow).count),
      change: (row, count) => ({ ...row, count }),
      parts: [],
      partsOf: () => [],
      isComplete: (rows) => offset === 0 && rows.length < limit,
    },
  )
}

const list = (parts: SQL[]): SQL => sql.join(parts, sql`, `)

/** Names of the values; titles hold no control characters. */
const nameAt = (at: number): SQL => sql`${sql.identifier(`~\u0001${at}`)}`

/** The form that groups are compared and shown by: the cell of a list, the value of a link. */
const groupForm = (field: Field): Form => (shownType(field).isList ? 'cell' : 'value')
