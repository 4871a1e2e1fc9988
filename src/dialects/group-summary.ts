import { type SQL, sql } from 'drizzle-orm'
import type { SummaryPart } from '../core/summaries.ts'
import type { GroupSummary, QueryDialect } from './dialect.ts'

/** How some parts are worked out over groups where the engine has no aggregate for them. */
type Special = Partial<Record<SummaryPart, (column: SQL, keys: SQL) => GroupSummary>>

/** Summaries of groups by the engine's own aggregates, save for the `special` parts. */
export const groupSummaryBy =
  (summary: QueryDialect['summary'], special: Special = {}): QueryDialect['groupSummary'] =>
  (part, column, keys) =>
    special[part]?.(column, keys) ?? { rows: [], over: () => summary(part, column, sql``) }

/** A median where there is none: each row knows its place in its group, and how many there are. */
export function medianByPlace(column: SQL, keys: SQL): GroupSummary {
  // Rows without a value stand in a part of their own, or they would take places.
  const place = sql`row_number() over (partition by ${keys}, ${column} is null order by ${column})`
  const size = sql`count(${column}) over (partition by ${keys})`
  return {
    rows: [place, size],
    over: ([
      at,
      all,
    ]) => sql`avg(case when ${column} is not null and ${at} * 2 >= ${all} and ${at} * 2 <= ${all} + 2
      then ${column} + 0e0 end)`,
  }
}

/** The standard deviation of a population from the distances to the mean, which each row knows. */
export const stddevByMean = (column: SQL, keys: SQL): GroupSummary => ({
  rows: [sql`avg(${column}) over (partition by ${keys})`],
  over: ([mean]) => sql`sqrt(avg((${column} - ${mean}) * (${column} - ${mean})))`,
})
