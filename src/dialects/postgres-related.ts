import { type SQL, sql } from 'drizzle-orm'
import type { StorageKind } from '../core/fields/field-type.ts'
import { postgresSum } from './decimal-sums.ts'
import { instantText, timeText } from './postgres-tables.ts'
import { isTextStorage, type RelatedExpressions, type RelatedRows, type RelatedValue } from './related.ts'

/** Expressions over linked records in PostgreSQL. */
export const postgresRelated: RelatedExpressions = {
  links: (rows, id, title, limit, counted) =>
    sql`(select '[' || n || ',' || ${pairs(rows, id, title, limit)} || ']'
      from (select count(*) as n from ${counted}) as counted where n > 0)`,
  link: (rows, id, title) =>
    sql`(select '[1,[' || json_build_array(${json(id)}, ${json(title)})::text || ']]' from ${rows.from} limit 1)`,
  hasValue: (value) => hasValue(value),
  list: (rows, value, limit) =>
    sql`(select json_agg(${json({ ...value, value: sql`v` })})::text from ${filled(rows, value, limit)})`,
  joined: (rows, value, limit) =>
    sql`(select string_agg(${text({ ...value, value: sql`v` })}, ', ') from ${filled(rows, value, limit)})`,
  // Not a bigint, which the driver returns as text.
  count: (from) => sql`(select count(*)::double precision from ${from})`,
  rollup(rows, name, { value, storage }) {
    // JSON has no equality, and that of other texts depends on their collation.
    const compared = isTextStorage(storage) ? sql`((${value})::text collate "C")` : sql`(${value})`
    const aggregated = sql`(select ${AGGREGATES[name](compared)} from ${rows.from})`
    // Divides outside the aggregate, so that a computed value occurs only once in the statement.
    return name.startsWith('avg')
      ? sql`(select coalesce(s / nullif(n, 0), 0) from ${aggregated} as summed)`
      : aggregated
  },
  text,
  nothing: (storage) => sql`null::${sql.raw(TYPES[storage] ?? 'text')}`,
}

const TYPES: Partial<Record<StorageKind, string>> = {
  id: 'bigint',
  integer: 'bigint',
  real: 'double precision',
  boolean: 'boolean',
  date: 'date',
  datetime: 'timestamptz',
  time: 'time',
}

const AGGREGATES: Record<Parameters<RelatedExpressions['rollup']>[1], (value: SQL) => SQL> = {
  count: (value) => sql`count(${value})::double precision`,
  countDistinct: (value) => sql`count(distinct ${value})::double precision`,
  sum: (value) => sql`coalesce(${postgresSum(value)}, 0)`,
  sumDistinct: (value) => sql`coalesce(${postgresSum(value, true)}, 0)`,
  avg: (value) => sql`${postgresSum(value)} as s, count(${value}) as n`,
  avgDistinct: (value) => sql`${postgresSum(value, true)} as s, count(distinct ${value}) as n`,
  min: (value) => sql`min(${value})`,
  max: (value) => sql`max(${value})`,
}

const pairs = (rows: RelatedRows, id: RelatedValue, title: RelatedValue, limit: number): SQL => {
  const pair = sql`json_build_array(${json({ ...id, value: sql`k` })}, ${json({ ...title, value: sql`v` })})`
  return sql`(select json_agg(${pair})::text from
    (select ${id.value} as k, ${title.value} as v from ${rows.from} order by ${rows.orderBy} limit ${count(limit)}) as named)`
}

const hasValue = ({ value, storage }: RelatedValue): SQL =>
  isTextStorage(storage) ? sql`nullif(${value}::text, '') is not null` : sql`${value} is not null`

const filled = ({ from, orderBy }: RelatedRows, value: RelatedValue, limit: number): SQL =>
  sql`(select ${value.value} as v from ${from} and ${hasValue(value)} order by ${orderBy} limit ${count(limit)}) as filled`

/**
 * Converts values that JSON would represent differently: instants (with a "T"), JSON documents (nested), and
 * integers that JavaScript would round (text).
 */
function json(given: RelatedValue): SQL {
  const { value, storage } = given
  if (storage === 'boolean' || storage === 'real') return value
  if (storage !== 'id' && storage !== 'integer') return text(given)
  return sql`case when ${value} between ${LEAST} and ${MOST} then to_json(${value}) else to_json(${value}::text) end`
}

const [LEAST, MOST] = [sql.raw(String(Number.MIN_SAFE_INTEGER)), sql.raw(String(Number.MAX_SAFE_INTEGER))]

/** Formats times and instants in their stored forms. */
function text({ value, storage }: RelatedValue): SQL {
  if (storage === 'time') return timeText(value)
  return storage === 'datetime' ? instantText(value) : sql`(${value})::text`
}

const count = (limit: number): SQL => sql.raw(String(limit))
