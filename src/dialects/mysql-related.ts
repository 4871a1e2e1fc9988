import { type SQL, sql } from 'drizzle-orm'
import { mysqlAverage, mysqlSum } from './decimal-sums.ts'
import { instantText, timeText } from './mysql-tables.ts'
import { isTextStorage, type RelatedExpressions, type RelatedRows, type RelatedValue } from './related.ts'

/** Expressions over linked records that are the same in MariaDB and MySQL. */
const shared = {
  hasValue: (value) => hasValue(value),
  link: (rows, id, title) =>
    sql`(select concat('[1,[', json_array(${json(id)}, ${json(title)}), ']]') from ${rows.from} limit 1)`,
  count: (from) => sql`(select count(*) from ${from})`,
  rollup(rows, name, { value, storage }) {
    // MySQL sums whole numbers as exact decimals.
    const whole = storage === 'integer' || storage === 'id'
    // Collations ignore letter case, accents and spaces at the end.
    const compared = isTextStorage(storage) ? sql`cast(${value} as binary)` : value
    return sql`(select ${AGGREGATES[name](compared, whole)} from ${rows.from})`
  },
  text,
  nothing: () => sql`null`,
} satisfies Partial<RelatedExpressions>

/**
 * Expressions over linked records in MariaDB (10.5 or later), whose derived tables cannot reference the outer
 * row: sorting and limits are part of the aggregates.
 */
export const mariadbRelated: RelatedExpressions = {
  ...shared,
  links: ({ from, orderBy }, id, title, limit) =>
    sql`(select concat('[', count(*), ',',
      json_arrayagg(json_array(${json(id)}, ${json(title)}) order by ${orderBy} limit ${count(limit)}), ']')
      from ${from} having count(*) > 0)`,
  list: ({ from, orderBy }, value, limit) =>
    // `concat` keeps the driver from parsing the JSON.
    sql`(select concat(json_arrayagg(${json(value)} order by ${orderBy} limit ${count(limit)}))
      from ${from} and ${hasValue(value)})`,
  joined: ({ from, orderBy }, value, limit) =>
    sql`(select group_concat(${text(value)} order by ${orderBy} separator ', ' limit ${count(limit)})
      from ${from} and ${hasValue(value)})`,
}

/**
 * As `mariadbRelated`, for MySQL (8.0.14 or later): its aggregates have no order and limit, but its derived tables can
 * reference the outer row.
 */
export const mysqlRelated: RelatedExpressions = {
  ...shared,
  links: (rows, id, title, limit, counted) => {
    const pair = sql`json_array(${json({ ...id, value: sql`k` })}, ${json({ ...title, value: sql`v` })})`
    return sql`(select concat('[', n, ',', (select json_arrayagg(${pair}) from
      (select ${id.value} as k, ${title.value} as v from ${rows.from} order by ${rows.orderBy} limit ${count(limit)}) as named), ']')
      from (select count(*) as n from ${counted}) as counted where n > 0)`
  },
  list: (rows, value, limit) =>
    sql`(select concat(json_arrayagg(${json({ ...value, value: sql`v` })})) from ${filled(rows, value, limit)})`,
  joined: (rows, value, limit) =>
    sql`(select group_concat(${text({ ...value, value: sql`v` })} separator ', ') from ${filled(rows, value, limit)})`,
}

const AGGREGATES: Record<Parameters<RelatedExpressions['rollup']>[1], (value: SQL, isWhole: boolean) => SQL> =
  {
    count: (value) => sql`count(${value})`,
    countDistinct: (value) => sql`count(distinct ${value})`,
    sum: (value, isWhole) => sql`coalesce(${mysqlSum(value, { isWhole })}, 0)`,
    sumDistinct: (value, isWhole) => sql`coalesce(${mysqlSum(value, { isWhole, isDistinct: true })}, 0)`,
    avg: (value, isWhole) => sql`coalesce(${mysqlAverage(value, { isWhole })}, 0)`,
    avgDistinct: (value, isWhole) => sql`coalesce(${mysqlAverage(value, { isWhole, isDistinct: true })}, 0)`,
    min: (value) => sql`min(${value})`,
    max: (value) => sql`max(${value})`,
  }

const hasValue = ({ value, storage }: RelatedValue): SQL =>
  // By its length: collations take spaces for nothing.
  isTextStorage(storage) ? sql`length(${value}) > 0` : sql`${value} is not null`

const filled = ({ from, orderBy }: RelatedRows, value: RelatedValue, limit: number): SQL =>
  sql`(select ${value.value} as v from ${from} and ${hasValue(value)} order by ${orderBy} limit ${count(limit)}) as filled`

function json(value: RelatedValue): SQL {
  if (value.storage === 'id' || value.storage === 'integer') return wholeNumber(value.value)
  // MySQL writes booleans as 1 into a JSON array.
  if (value.storage === 'boolean') return sql`json_extract(${text(value)}, '$')`
  return value.storage === 'real' ? value.value : text(value)
}

/**
 * Integers beyond JavaScript's safe range become text. Through JSON, because MySQL would convert both
 * branches of the condition to text.
 */
const wholeNumber = (value: SQL): SQL =>
  sql`json_extract(if(${value} between ${LEAST} and ${MOST}, ${value}, concat('"', ${value}, '"')), '$')`

const [LEAST, MOST] = [sql.raw(String(Number.MIN_SAFE_INTEGER)), sql.raw(String(Number.MAX_SAFE_INTEGER))]

/** Formats times and instants in their stored form. */
function text({ value, storage }: RelatedValue): SQL {
  switch (storage) {
    case 'text':
    case 'longText':
      return value
    case 'time':
      return timeText(value)
    case 'boolean':
      return sql`case when ${value} then 'true' when not ${value} then 'false' end`
    case 'datetime':
      return instantText(value)
    default:
      return sql`convert(${value} using utf8mb4)`
  }
}

const count = (limit: number): SQL => sql.raw(String(limit))
