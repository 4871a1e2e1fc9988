import { type SQL, sql } from 'drizzle-orm'
import { sqliteRounded } from './decimal-sums.ts'
import { isTextStorage, type RelatedRows, type RelatedValue, type RelatedWords } from './related.ts'
import { sqlitePrinted } from './sqlite-text.ts'

/** Expressions over linked records in SQLite. */
export const sqliteRelated: RelatedWords = {
  links: (rows, id, title, limit, counted) =>
    // A count of its own: the list ends after `limit` records, and so do the titles that are worked out.
    sql`(select '[' || n || ',' || ${pairs(rows, id, title, limit)} || ']'
      from (select count(*) as n from ${counted}) where n > 0)`,
  link: (rows, id, title) =>
    sql`(select '[1,[' || json_array(${json(id)}, ${json(title)}) || ']]' from ${rows.from} limit 1)`,
  isThere: (value) => isThere(value),
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

const AGGREGATES: Record<Parameters<RelatedWords['rollup']>[1], (value: SQL) => SQL> = {
  count: (value) => sql`count(${value})`,
  countDistinct: (value) => sql`count(distinct ${value})`,
  sum: (value) => sql`total(${value}) as s`,
  sumDistinct: (value) => sql`total(distinct ${value}) as s`,
  avg: (value) => sql`total(${value}) as s, count(${value}) as n`,
  avgDistinct: (value) => sql`total(distinct ${value}) as s, count(distinct ${value}) as n`,
  min: (value) => sql`min(${value})`,
  max: (value) => sql`max(${value})`,
}

/** Applied to a total outside its select, so that a computed value occurs only once in the statement. */
const OF_TOTAL: Partial<Record<Parameters<RelatedWords['rollup']>[1], SQL>> = {
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

const isThere = ({ value }: RelatedValue): SQL => sql`nullif(${value}, '') is not null`

/** The values that are there, in the subquery's order, which an aggregate over it keeps. */
const filled = ({ from, orderBy }: RelatedRows, value: RelatedValue, limit: number): SQL =>
  sql`(select ${value.value} as v from ${from} and ${isThere(value)} order by ${orderBy} limit ${count(limit)})`

/** JSON has a true of its own where a column has 1. */
const json = ({ value, storage }: RelatedValue): SQL =>
  storage === 'boolean' ? sql`json(iif(${value}, 'true', iif(${value} is null, 'null', 'false')))` : value

function text({ value, storage }: RelatedValue): SQL {
  if (storage === 'boolean') return sql`iif(${value}, 'true', iif(${value} is null, null, 'false'))`
  if (storage === 'real') return sqlitePrinted(value)
  return isTextStorage(storage) ? value : sql`cast(${value} as text)`
}

// Not bound: a fragment without values is rendered once.
const count = (limit: number): SQL => sql.raw(String(limit))
