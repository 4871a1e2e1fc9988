import { type SQL, sql } from 'drizzle-orm'
import type { SummaryPart } from '../core/summaries.ts'
import { sqliteAverage, sqliteSum } from './decimal-sums.ts'
import { sqliteFileBytes } from './file-words.ts'

/** What the grid's footer computes, in SQLite's words. */
export function sqliteSummary(part: SummaryPart, column: SQL, from: SQL): SQL {
  switch (part) {
    case 'fileBytes':
      return sqliteFileBytes(column)
    case 'count':
      return sql`count(*)`
    case 'filled':
      return sql`count(nullif(${column}, ''))`
    case 'unique':
      return sql`count(distinct nullif(${column}, ''))`
    case 'checked':
      return sql`coalesce(sum(${column} = 1), 0)`
    case 'sum':
      return sql`case when count(${column}) > 0 then ${sqliteSum(column)} end`
    case 'min':
      return sql`min(${column})`
    case 'max':
      return sql`max(${column})`
    case 'avg':
      return sqliteAverage(column)
    case 'median':
      return median(column, from)
    case 'stddev':
      return stddev(column, from)
  }
}

/** The one value in the middle, or the mean of the two. SQLite has no median of its own. */
function median(column: SQL, from: SQL): SQL {
  const values = sql`(select ${column} as x from ${from})`
  const filled = sql`(select count(x) from ${values})`
  return sql`(select ${sqliteAverage(sql`x`)} from (select x from ${values} where x is not null order by x
    limit 2 - ${filled} % 2 offset (${filled} - 1) / 2))`
}

/** Of the whole population, from the distances to the mean: the shorter formula loses digits. */
function stddev(column: SQL, from: SQL): SQL {
  const mean = sql`(select avg(${column}) from ${from})`
  return sql`(select sqrt(avg((x - m) * (x - m))) from (select ${column} as x, ${mean} as m from ${from}))`
}
