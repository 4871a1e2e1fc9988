import { type SQL, sql } from 'drizzle-orm'
import { sqliteRounded } from './decimal-sums.ts'
import { isTextStorage, type RelatedExpressions, type RelatedRows, type RelatedValue } from './related.ts'
import { sqlitePrinted } from './sqlite-text.ts'

/** Expressions over linked records in SQLite. */
export const sqliteRelated: RelatedExpressions = {
  links: (rows, id, title, limit, counted) =>
    // Counts separately, because the list computes only `limit` titles.
    sql`(select '[' || n || ',' || ${pairs(rows, id, title, limit)} || ']'
      from (select count(*) as n from ${counted}) where n > 0)`,
  link: (rows, id, title) =>
    sql`(select '[1,[' || json_array(${json(id)}, ${json(title)}) || ']]' from ${rows.from} limit 1)`,
  hasValue: (value) => hasValue(value),
  list: (rows, value, limit) =>
    sql`nullif((select json_group_array(${json({ ...value, value: sql`v` })}) from ${filled(rows, value, limit)}), '[]')`,
  joined: (rows, value, limit) =>
    sql`(select group_concat(${text({ ...value, value: sql`v` })}, ', ') from ${filled(rows, value, limit)})`,
  count: (from) => sql`(select count(*) from ${from})`,
  rollup(rows, name, { value }) {
    const aggregated = sql`(select ${AGGREGATES[name](value)} from ${rows.from})`
    const ofTotal = OF_TOTAL[name]
    return ofTotal ? sql`(select ${ofTotal} from ${aggregated})` : aggregated
  },
  text,
  nothing: () => sql`null`,
}

const AGGREGATES: Record<Parameters<RelatedExpressions['rollup']>[1], (value: SQL) => SQL> = {
  count: (value) => sql`count(${value})`,
  // A connected column may have a collation that ignores letter case.
  countDistinct: (value) => sql`count(distinct (${value}) collate binary)`,
  sum: (value) => sql`total(${value}) as s`,
  sumDistinct: (value) => sql`total(distinct ${value}) as s`,
  avg: (value) => sql`total(${value}) as s, count(${value}) as n`,
  avgDistinct: (value) => sql`total(distinct ${value}) as s, count(distinct ${value}) as n`,
  min: (value) => sql`min(${value})`,
  max: (value) => sql`max(${value})`,
}

/** Applied to a total outside its select, so that a computed value occurs only once in the statement. */
const OF_TOTAL: Partial<Record<Parameters<RelatedExpressions['rollup']>[1], SQL>> = {
  sum: sqliteRounded(sql`s`),
  sumDistinct: sqliteRounded(sql`s`),
  avg: sql`coalesce(${sqliteRounded(sql`s`)} / nullif(n, 0), 0)`,
  avgDistinct: sql`coalesce(${sqliteRounded(sql`s`)} / nullif(n, 0), 0)`,
}

const pairs = (rows: RelatedRows, id: RelatedValue, title: RelatedValue, limit: number): SQL => {
  const pair = sql`json_array(${json({ ...id, value: sql`k` })}, ${json({ ...title, value: sql`v` })})`
  return sql`(select json_group_array(${pair}) from
    (select ${id.value} as k, ${title.value} as v from ${rows.from} order by ${rows.orderBy} limit ${count(limit)}))`
}

const hasValue = ({ value }: RelatedValue): SQL => sql`nullif(${value}, '') is not null`

/** The values in the order of the subquery, which an aggregate over it keeps. */
const filled = ({ from, orderBy }: RelatedRows, value: RelatedValue, limit: number): SQL =>
  sql`(select ${value.value} as v from ${from} and ${hasValue(value)} order by ${orderBy} limit ${count(limit)})`

/** Converts booleans, which columns store as 1 and 0, to JSON booleans. */
const json = ({ value, storage }: RelatedValue): SQL =>
  storage === 'boolean' ? sql`json(iif(${value}, 'true', iif(${value} is null, 'null', 'false')))` : value

function text({ value, storage }: RelatedValue): SQL {
  if (storage === 'boolean') return sql`iif(${value}, 'true', iif(${value} is null, null, 'false'))`
  if (storage === 'real') return sqlitePrinted(value)
  return isTextStorage(storage) ? value : sql`cast(${value} as text)`
}

// Not bound, because fragments without bound values are rendered only once.
const count = (limit: number): SQL => sql.raw(String(limit))
