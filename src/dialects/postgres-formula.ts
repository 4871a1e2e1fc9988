import { type SQL, sql } from 'drizzle-orm'
import type { CellForm, ValueType } from '../core/formula/ast.ts'
import { type DateFormat, type DatePart, LAST_SHORT_YEAR, MONTH_NAMES } from '../core/formula/date-format.ts'
import { LONE_ESCAPE, SURROGATE_PAIR } from '../core/formula/json-path.ts'
import { FINAL_SIGMA, TO_CAPITAL, TO_SMALL } from '../core/formula/letters.ts'
import { CELL_LIMIT, CELL_TINY } from '../core/formula/semantics.ts'
import type { FormulaWords, ListedValues } from '../core/formula/words.ts'
import { firstMatchPattern } from './postgres-pattern.ts'
import { decodePlain, namedValues, quoteText, standardFormula } from './standard-sql.ts'

const TYPES: Record<ValueType, string> = {
  number: 'float8',
  text: 'text',
  boolean: 'boolean',
  date: 'float8',
  datetime: 'float8',
  null: 'text',
  texts: 'text[]',
  numbers: 'text[]',
}

/** Typed literals: untyped ones would be numeric, which is slow in combination with doubles. */
const double = (value: number): SQL => sql.raw(`'${value}'::float8`)

type Pairs = readonly (readonly [from: string, to: string])[]

/** Code point ranges of single scripts, besides ASCII. */
const SCRIPTS: readonly (readonly (readonly [from: number, to: number])[])[] = [
  [[0x80, 0x17f]],
  [[0x400, 0x4ff]],
  [
    [0x370, 0x3ff],
    [0x1f00, 0x1fff],
  ],
]

/**
 * `translate` searches its list linearly for each character, so frequent characters that need no change are at the
 * front, mapped to themselves.
 */
const FREQUENT = " eaionrtlsudcmhpgbfykwvzjxq0123456789.,-:/()'_@"

/** Ranges of letters that have a case: text in other scripts, such as Japanese, is unchanged. */
const CASED =
  '[\u00b5-\u0587\u10a0-\u10ff\u1d79-\u1fff\u2126-\u24e9\u2c00-\u2dff\ua640-\ua7ff\uff21-\uff5a\u{10400}-\u{1044f}]'

/** Translates letters other than A to Z, with the list for the text's script if it has only one. */
function translated(text: SQL, ascii: SQL, pairs: Pairs, frequent: string): SQL {
  const list = (known: Pairs): SQL => {
    const whole = [...[...frequent].map((sign) => [sign, sign] as const), ...known]
    const texts = [whole.map(([from]) => from).join(''), whole.map(([, to]) => to).join('')]
    return sql`translate(${ascii}, ${quoted(texts[0] ?? '')}, ${quoted(texts[1] ?? '')})`
  }
  const scripts = SCRIPTS.map((ranges) => {
    const isIn = (code: number) => ranges.some(([from, to]) => code >= from && code <= to)
    // Letters already in the target case are mapped to themselves.
    const known = pairs
      .filter(([from]) => isIn(from.codePointAt(0) ?? 0))
      .flatMap((pair) => [pair, [pair[1], pair[1]] as const])
    const characters = ranges.map(([from, to]) => `${String.fromCodePoint(from)}-${String.fromCodePoint(to)}`)
    return sql`when ${text} !~ ${quoted(`[^\u0001-\u007f${characters.join('')}]`)} then ${list(known)}`
  })
  return sql`case ${sql.join(scripts, sql` `)} else ${list(pairs)} end`
}

/**
 * With the collation "C", upper() and lower() change only A to Z, whatever the server's language. That suffices for
 * most text.
 */
function cased(
  name: 'upper' | 'lower',
  text: SQL,
  pairs: Pairs,
  frequent: string,
  before = (value: SQL) => value,
): SQL {
  const ascii = sql`${sql.raw(name)}(${before(text)} collate "C")`
  return sql`case when octet_length(${text}) = char_length(${text}) or ${text} !~ ${quoted(CASED)}
    then ${sql.raw(name)}(${text} collate "C") else ${translated(text, ascii, pairs, frequent)} end`
}

/** Replaces final sigmas with ς. */
const withFinalSigma = (text: SQL): SQL =>
  sql`case when strpos(${text}, 'Σ') > 0 then regexp_replace(${text}, ${quoted(FINAL_SIGMA)}, 'ς', 'g') else ${text} end`

/** Formula vocabulary for PostgreSQL. Overflow raises an error there, so values are range-checked first. */
export const postgresFormula: FormulaWords<SQL> = {
  ...standardFormula,
  number: (value) => sql`${value}::float8`,
  constant: double,
  text: (value) => sql`${value}::text collate "C"`,
  truth: (value) => sql.raw(value ? '(1 = 1)' : '(1 = 0)'),
  nothing: (type) => sql.raw(`null::${TYPES[type]}${TYPES[type] === 'text' ? ' collate "C"' : ''}`),
  ...namedValues(cell, bound),
  finish,

  divide: (left, right) => sql`(${left} / nullif(${right}, 0))`,
  powerOfTen: (exponent) => sql`('1e' || (${exponent})::int)::float8`,
  among: (what, values) =>
    sql`(select ${what === 'median' ? sql`percentile_cont(0.5) within group (order by x)` : sql.raw(`${what}(x)::float8`)} from (values ${sql.join(
      values.map((value) => sql`(${value.sql})`),
      sql`, `,
    )}) as listed(x))`,

  compareText: (sign, left, right) => sql`(${left} ${sql.raw(sign)} ${right} collate "C")`,
  same: (left, right) => sql`(${left} is not distinct from ${right})`,
  truthNumber: (value) => sql`(${value})::int::float8`,

  concat: (texts) => sql`(${sql.join(texts, sql` || `)})`,
  length: (text) => sql`char_length(${text})::float8`,
  part: (text, from, count) => sql`substr(${text}, (${from})::int, (${count})::int)`,
  position: (text, find) => sql`strpos(${text}, ${find})::float8`,
  replace: (text, find, by) => sql`replace(${text}, ${find}, ${by})`,
  repeat: (text, times) => sql`repeat(${text}, (${times})::int)`,
  trim: (text) => sql`btrim(${text}, ' ')`,
  trimZeros: (text, end) => (end === 'start' ? sql`ltrim(${text}, '0')` : sql`rtrim(${text}, '0')`),
  upper: (text) => cased('upper', text, TO_CAPITAL, FREQUENT.toUpperCase()),
  lower: (text) => cased('lower', text, TO_SMALL, FREQUENT, withFinalSigma),
  encodeUrl: (text) =>
    decodePlain(sql`regexp_replace(upper(encode(convert_to(${text}, 'UTF8'), 'hex')), '(..)', '%\\1', 'g')`),
  digits: (value) => sql`(${value})::bigint::text`,
  readNumber: (text) =>
    sql`(substring(${text} from '^[+-]?(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?$'))::float8`,
  readDate,

  datePart: (part, ms) => sql`extract(${sql.raw(part)} from ${wallClock(ms)})::float8`,
  dateText: (ms, withTime) =>
    sql`to_char(${withTime ? wallClock(sql`floor(${ms} / 1000) * 1000`) : wallClock(ms)}, ${sql.raw(
      withTime ? `'YYYY-MM-DD HH24:MI:SS'` : `'YYYY-MM-DD'`,
    )})`,
  addMonths: (ms, months) =>
    sql`(${toMs(sql`(${wallClock(sql`floor(${ms} / 86400000) * 86400000`)} + (${months})::int * interval '1 month')`)}
      + ${ms} - floor(${ms} / 86400000) * 86400000)`,

  cellList: (column, form, values) =>
    form === 'list'
      ? sql`(select array_agg(v order by n) from (select ${listedText(values)} as v, n
          from json_array_elements_text((${column})::text::json) with ordinality as listed_(listed, n)
          where listed is not null) as texts_ where v is not null)`
      : sql`(select array_agg(listed ->> 1 order by n) from json_array_elements((${column})::text::json -> 1) with ordinality as listed_(listed, n)
          where listed ->> 1 is not null)`,
  listOf: (text) => withElements(sql`array_remove(array[${text}]::text[], null)`),
  split: (text, separator) =>
    sql`case when ${text} = '' then array['']::text[] else string_to_array(${text}, ${separator}) end`,
  joinList: (list, separator) => sql`(array_to_string(${list}, ${separator}) collate "C")`,
  elementCount: (list) => sql`cardinality(${list})::float8`,
  concatLists: (lists) =>
    withElements(
      sql.join(
        lists.map((list) => sql`coalesce(${list}, '{}'::text[])`),
        sql` || `,
      ),
    ),
  uniqueElements: (list) =>
    sql`(select array_agg(v order by n) from (select v, min(n) as n from unnest(${list}) with ordinality as listed_(v, n) group by v) as unique_)`,
  filledElements: (list) => withElements(sql`array_remove(${list}, '')`),
  sortedElements: (list, isNumeric, isDescending) => {
    const direction = sql.raw(isDescending ? 'desc' : 'asc')
    const byValue = isNumeric ? sql`v::numeric ${direction}, ` : sql``
    return sql`(select array_agg(v order by ${byValue}v collate "C" ${direction}) from unnest(${list}) as listed_(v))`
  },
  elementsBetween: (list, from, to) => withElements(sql`(${list})[greatest((${from})::int, 1):(${to})::int]`),
  numbersOf: (list, numberOf) =>
    sql`(select array_agg(element::text order by element) from (select distinct ${numberOf(sql`v`)} as element
      from unnest(${list}) as listed_(v)) as read_ where element is not null)`,
  countWhere: (numbers, holds) =>
    sql`(select count(*)::float8 from unnest(${numbers}) with ordinality as listed_(v, n) where ${holds(sql`v::float8`, sql`n`)})`,

  jsonAt: (text, path) => {
    const value = path.reduce<SQL>(
      (inner, step) =>
        sql`${inner} -> ${typeof step === 'number' ? sql.raw(String(step)) : sql`${step}::text`}`,
      sql`(${text})::json`,
    )
    const compact = sql`regexp_replace((${value})::text, ${quoted('("(?:[^"\\\\]|\\\\.)*")|[ \\t\\r\\n]+')}, ${quoted('\\1')}, 'g')`
    return sql`(case when regexp_replace(${text}, ${quoted(SURROGATE_PAIR)}, '', 'g') !~ ${quoted(LONE_ESCAPE)}
      then case when json_typeof(${value}) in ('object', 'array') then ${compact} else (${value}) #>> '{}' end end collate "C")`
  },

  regexEnd: '$',
  regexMatch: (text, pattern) => sql`(${text} ~ ${pattern})`,
  regexExtract(text, pattern) {
    const first = firstMatchPattern(pattern)
    if (first === null) return sql`substring(${text} from ${pattern})`
    return sql`case when ${isShort(text)} and ${text} ~ ${pattern} then substring(${text} from ${first}) end`
  },
  regexReplace(text, pattern, by) {
    const first = firstMatchPattern(pattern)
    if (first === null) return replaceAll(text, pattern, by)
    return sql`case when ${text} !~ ${pattern} then ${text} when ${isShort(text)} then ${replaceAll(text, first, by)} end`
  },
}

/** Longest text in which patterns that look ahead are matched: they may read it once for each of its characters. */
const MAX_LOOK_AHEAD_TEXT = 10_000

const isShort = (text: SQL): SQL => sql`length(${text}) <= ${sql.raw(String(MAX_LOOK_AHEAD_TEXT))}`

/** Only the backslash is special in a replacement. */
const replaceAll = (text: SQL, pattern: string, by: SQL): SQL =>
  sql`regexp_replace(${text}, ${pattern}, replace(${by}, ${quoted('\\')}, ${quoted('\\\\')}), 'g')`

/** The text of a number in JSON as JavaScript prints it: `7` for 7.00, `100000000000000000000` for 1e+20, `1e-7` for 1e-07. */
const NUMBER_TEXT = sql`case when listed ~ '^-?[0-9]+[.][0-9]*0$|e([+]?(1?[0-9]|20)|-0?[1-6])$'
  then trim_scale(listed::numeric)::text else regexp_replace(replace(listed, 'e-0', 'e-'), 'e([0-9])', 'e+\\1') end`

const listedText = (values: ListedValues<SQL>): SQL => {
  if (typeof values === 'function') return values(cell(sql`listed::timestamptz`, 'datetime'))
  return values === 'number' ? NUMBER_TEXT : sql`listed`
}

/** Null for a list without elements. */
const withElements = (list: SQL): SQL => sql`nullif(${list}, '{}'::text[])`

const quoted = (text: string): SQL => sql.raw(quoteText(text))

/** OFFSET 0 keeps the planner from inlining the values. */
function bound(values: SQL[], names: string[], use: (values: SQL[]) => SQL): SQL {
  const columns = values.map((value, index) => sql`${value} as ${sql.raw(names[index] ?? '')}`)
  return sql`(select ${use(names.map((name) => sql.raw(name)))} from (select ${sql.join(columns, sql`, `)} offset 0) as ${sql.raw(`${names[0]}_`)})`
}

/**
 * Rounds to milliseconds: far from 1970 a double is not more precise. Instants would be rounded by a function that is not
 * immutable, which no index can hold.
 */
export const wallClock = (ms: SQL): SQL =>
  sql`date_trunc('milliseconds', (to_timestamp((${ms}) / 1000) at time zone 'UTC') + interval '500 microseconds')`

const instant = (ms: SQL): SQL => sql`(${wallClock(ms)} at time zone 'UTC')`

/** Casts to numeric: before version 14 these are doubles, in which .001 may be slightly less. */
export const toMs = (time: SQL): SQL => sql`floor(extract(epoch from ${time})::numeric * 1000)::float8`

/** One match splits the text; the day is validated before make_date, which raises an error for an invalid one. */
function readDate(text: SQL, { source, parts }: DateFormat): SQL {
  const group = (part: DatePart) => sql.raw(`p[${parts.indexOf(part) + 1}]`)
  const number = (part: DatePart, otherwise: number) =>
    parts.includes(part) ? sql`(${group(part)})::int` : sql.raw(String(otherwise))
  const short = number('shortYear', 0)
  const year = parts.includes('year')
    ? number('year', 0)
    : sql`${short} + case when ${short} > ${sql.raw(String(LAST_SHORT_YEAR))} then 1900 else 2000 end`
  const month = parts.includes('monthName')
    ? sql`(strpos(${quoted(MONTH_NAMES)}, lower(left(${group('monthName')}, 3))) + 2) / 3`
    : number('month', 1)
  const hour = parts.includes('half')
    ? sql`${number('hour', 0)} % 12 + case lower(${group('half')}) when 'pm' then 12 else 0 end`
    : number('hour', 0)
  const second = sql`${number('second', 0)} + ${number('ms', 0)} / 1000.0::float8`
  const lastDay = sql`extract(day from make_date(greatest(y, 1), m, 1) + interval '1 month -1 day')`
  return sql`(select case when y >= 1 and d <= ${lastDay}
    then ${toMs(sql`make_timestamp(y, m, d, ${hour}, ${number('minute', 0)}, ${second})`)} end
    from (select p, ${year} as y, ${month} as m, ${number('day', 1)} as d
      from (select regexp_match(${text}, ${`^${source}$`}) as p offset 0) as matched
      where p is not null offset 0) as parted)`
}

function cell(column: SQL | undefined, form: CellForm): SQL {
  if (!column) return sql`null`
  switch (form) {
    case 'integer':
    case 'real':
      return sql`case when ${column} > ${sql.raw(`-${CELL_TINY}`)} and ${column} < ${sql.raw(String(CELL_TINY))} then 0::float8
        when ${column} > ${sql.raw(`-${CELL_LIMIT}`)} and ${column} < ${sql.raw(String(CELL_LIMIT))} then (${column})::float8 end`
    case 'date':
    case 'datetime':
      // Values outside this range, such as infinity, cannot be converted to milliseconds.
      return sql`case when ${column} >= '0001-01-01' and ${column} < '10000-01-01' then ${toMs(column)} end`
    case 'boolean':
      // Integer types of external databases convert to boolean only through `integer`.
      return sql`(${column})::int::boolean`
    case 'list':
      return sql`(select string_agg(listed, ', ') from json_array_elements_text((${column})::text::json) as listed) collate "C"`
    case 'linkCount':
      return sql`coalesce(((${column})::text::json ->> 0)::float8, 0)`
    case 'linkTitles':
      return sql`(select string_agg(listed ->> 1, ', ') from json_array_elements((${column})::text::json -> 1) as listed) collate "C"`
    default:
      return sql`(${column})::text collate "C"`
  }
}

function finish(value: SQL, type: ValueType): SQL {
  if (type === 'date') return sql`(date '1970-01-01' + floor((${value}) / 86400000)::int)`
  if (type === 'datetime') return instant(value)
  return type === 'number' ? sql`(${value} + 0)` : value
}
