import { type SQL, sql } from 'drizzle-orm'
import type { CellForm, ValueType } from '../core/formula/ast.ts'
import { type DateFormat, type DatePart, LAST_SHORT_YEAR } from '../core/formula/date-format.ts'
import { type JsonPath, LONE_ESCAPE, SURROGATE_PAIR } from '../core/formula/json-path.ts'
import { FINAL_SIGMA } from '../core/formula/letters.ts'
import { CELL_LIMIT, CELL_TINY } from '../core/formula/semantics.ts'
import type { Bound, FormulaWords } from '../core/formula/words.ts'
import { decodePlain, standardFormula } from './standard-sql.ts'

/** A double literal needs an exponent: otherwise it is a decimal, which loses digits in divisions. */
const double = (value: number): SQL => sql.raw(/e/.test(String(value)) ? String(value) : `${value}e0`)

/** Binary collation: others equate "abc" and "ABC" and ignore trailing spaces. */
const text = (value: SQL): SQL => sql`convert(${value} using utf8mb4) collate utf8mb4_bin`

/** The collation whose case mapping matches `letters.ts`, in both MySQL and MariaDB. */
const CASE_OF_UNICODE = sql.raw('collate utf8mb4_unicode_520_ci')
const bytes = (value: SQL): SQL => sql`cast(${value} as binary)`

/** Formula vocabulary for MySQL 8 and MariaDB 10.6 and later. Booleans are 1 and 0. */
export const mysqlFormula: FormulaWords<SQL> = {
  ...standardFormula,
  number: (value) => sql`(${value} + 0e0)`,
  constant: double,
  text: (value) => text(sql`${value}`),
  truth: (value) => sql.raw(value ? '(1 = 1)' : '(1 = 0)'),
  nothing: (type) => (isNumber(type) ? sql`(null + 0e0)` : text(sql`null`)),
  cell: (column, form, name) => {
    if (name === null || !['integer', 'real', 'boolean'].includes(form)) return cell(column, form)
    // As a double: MariaDB cannot parse the YEAR and BIT values that it writes into JSON.
    return bound([{ sql: sql`(${column} + 0e0)`, type: 'number' }], [name], ([value]) => cell(value, form))
  },
  finish,
  once: bound,

  divide: (left, right) => sql`((${left} + 0e0) / nullif(${right} + 0e0, 0e0))`,
  // MariaDB returns decimals here for some doubles, whose division has few digits.
  floor: (value) => sql`(floor(${value}) + 0e0)`,
  ceil: (value) => sql`(ceiling(${value}) + 0e0)`,
  powerOfTen: (exponent) => sql`cast(concat('1e', cast(${exponent} as signed)) as double)`,
  among: (what, values) => {
    const array = sql.join(
      values.map((value) => value.sql),
      sql`, `,
    )
    const listed = sql`json_table(json_array(${array}), '$[*]' columns(x double path '$'))`
    if (what !== 'median')
      return sql`(select ${what === 'count' ? sql`0e0 + count(x)` : sql.raw(`${what}(x)`)} from ${listed} as listed)`
    // Without a derived table, which could not reference the outer row: the least number that is not below half of them.
    const middle = (sign: '>=' | '>') =>
      sql`(select min(listed.x) from ${listed} as listed where (select 2 * sum(other.x <= listed.x) ${sql.raw(sign)} count(other.x) from ${listed} as other))`
    const low = middle('>=')
    return sql`(${low} + (${middle('>')} - ${low}) * 0.5e0)`
  },

  compareText: (sign, left, right) => sql`(${bytes(left)} ${sql.raw(sign)} ${bytes(right)})`,
  same: (left, right) => sql`(${left} <=> ${right})`,
  truthNumber: (value) => sql`(${value} + 0e0)`,

  concat: (texts) => sql`concat(${sql.join(texts, sql`, `)})`,
  length: (value) => sql`(char_length(${value}) + 0e0)`,
  part: (value, from, count) => sql`substr(${value}, ${integer(from)}, ${integer(count)})`,
  position: (value, find) => sql`(locate(${find}, ${value}) + 0e0)`,
  replace: (value, find, by) => sql`replace(${value}, ${find}, ${by})`,
  repeat: (value, times) => sql`repeat(${value}, ${integer(times)})`,
  trim: (value) => sql`trim(${value})`,
  trimZeros: (value, end) =>
    sql`trim(${sql.raw(end === 'start' ? 'leading' : 'trailing')} '0' from ${value})`,
  upper: (value) => text(sql`upper(${value} ${CASE_OF_UNICODE})`),
  lower: (value) => {
    const ended = sql`case when locate('Σ', ${value}) > 0 then regexp_replace(${value}, ${FINAL_SIGMA}, 'ς') else ${value} end`
    return text(sql`lower(${ended} ${CASE_OF_UNICODE})`)
  },
  encodeUrl: (value) => encodeUrl(value, '%$1'),
  digits: (value) => text(integer(value)),
  readNumber: (value) =>
    sql`case when ${value} regexp '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,2})?\\\\z' then cast(${value} as double) end`,
  readDate,

  datePart: (part, ms) => sql`(${sql.raw(part === 'day' ? 'dayofmonth' : part)}(${wallClock(ms)}) + 0e0)`,
  dateText: (ms, withTime) =>
    text(sql`date_format(${wallClock(ms)}, ${sql.raw(withTime ? `'%Y-%m-%d %H:%i:%s'` : `'%Y-%m-%d'`)})`),
  addMonths: (ms, months) => toMs(sql`date_add(${wallClock(ms)}, interval ${integer(months)} month)`),

  cellList(column, form, values) {
    const element =
      typeof values === 'function' ? values(listedInstant()) : values === 'number' ? NUMBER_TEXT : sql`t`
    return elements(column, sql.raw(form === 'list' ? `'$[*]'` : `'$[1][*]'`), {
      path: sql.raw(form === 'list' ? `'$'` : `'$[1]'`),
      where: sql`${element} is not null`,
      element,
    })
  },
  listOf: (value) => text(sql`concat('[', json_quote(${value}), ']')`),
  split: (value, separator) => {
    const mark = splitMark(value)
    return text(
      sql`concat('[', replace(json_quote(replace(${value}, ${separator}, ${mark})), ${mark}, '","'), ']')`,
    )
  },
  joinList: (list, separator) =>
    text(sql`substr((select group_concat(concat(${separator}, ${text(sql`t`)}) order by n separator '')
      from ${listed(list)} as listed), char_length(${separator}) + 1)`),
  elementCount: (list) => sql`(json_length(${list}) + 0e0)`,
  concatLists: ([first, ...rest]) =>
    rest.length === 0
      ? (first ?? text(sql`null`))
      : sql`nullif(${text(
          sql`json_merge_preserve(${sql.join(
            [first, ...rest].map((list) => sql`coalesce(${list}, '[]')`),
            sql`, `,
          )})`,
        )}, '[]')`,
  uniqueElements: (list) =>
    elements(list, WHOLE, {
      where: sql`not exists (select 1 from ${listed(list)} as earlier where earlier.n < listed.n
        and ${bytes(sql`earlier.t`)} = ${bytes(sql`listed.t`)})`,
    }),
  filledElements: (list) => elements(list, WHOLE, { where: sql`char_length(t) > 0` }),
  sortedElements: (list, isNumeric, isDescending) => {
    const direction = sql.raw(isDescending ? 'desc' : 'asc')
    // The double has the range, the decimal all digits.
    const byValue = isNumeric ? sql`t + 0e0 ${direction}, cast(t as decimal(65, 30)) ${direction}, ` : sql``
    return elements(list, WHOLE, { order: sql`${byValue}${bytes(sql`t`)} ${direction}` })
  },
  elementsBetween: (list, from, to) => elements(list, WHOLE, { where: sql`n >= ${from} and n <= ${to}` }),
  numbersOf: (list, numberOf) => {
    const number = numberOf(text(sql`t`))
    return text(sql`(select concat('[', group_concat(distinct ${number} order by ${number} separator ','), ']')
      from ${listed(list)} as listed)`)
  },
  countWhere: (numbers, holds) =>
    sql`(select count(*) + 0e0 from json_table(${numbers}, '$[*]' columns(n for ordinality, x double path '$')) as listed
      where ${holds(sql`x`, sql`n`)})`,

  jsonAt: (value, path) => jsonAt(value, path, (nested) => sql`cast(${nested} as char)`),

  regexEnd: '\\z',
  regexMatch: (value, pattern) => sql`(${value} regexp ${pattern})`,
  regexExtract: (value, pattern) =>
    sql`case when ${value} regexp ${pattern} then regexp_substr(${value}, ${pattern}) end`,
  // MySQL 8 takes `$1` for a group, and refuses a `$` without a number.
  regexReplace: (value, pattern, by) =>
    sql`regexp_replace(${value}, ${pattern}, replace(${withEscapes(by)}, ${'$'}, ${'\\$'}))`,
}

/** A text as the replacement of a pattern, in which a backslash escapes. */
const withEscapes = (by: SQL): SQL => sql`replace(${by}, ${'\\'}, ${'\\\\'})`

/**
 * `compact` removes the white space of objects and lists. MySQL 8 lacks a function for it, and has normalized the values of
 * its JSON columns anyway. `[0]` also finds values that are no list, so types are checked.
 */
function jsonAt(value: SQL, path: JsonPath, compact: (nested: SQL) => SQL): SQL {
  const pathTo = (steps: JsonPath) =>
    `$${steps.map((step) => (typeof step === 'number' ? `[${step}]` : `.${JSON.stringify(step)}`)).join('')}`
  const at = (steps: JsonPath) => sql`json_extract(${value}, ${pathTo(steps)})`
  const lists = path.flatMap((step, index) =>
    typeof step === 'number' ? [sql` and json_type(${at(path.slice(0, index))}) = 'ARRAY'`] : [],
  )
  const found = at(path)
  return text(sql`case when regexp_replace(${value}, ${SURROGATE_PAIR}, '') not regexp ${LONE_ESCAPE}${sql.join(lists)}
    then case json_type(${found}) when 'NULL' then null when 'OBJECT' then ${compact(found)} when 'ARRAY' then ${compact(found)}
      else json_unquote(${found}) end end`)
}

const WHOLE = sql.raw(`'$[*]'`)

/** The elements of a list as rows: `n` from 1, and the text `t`. */
const listed = (list: SQL, each = WHOLE, path = sql.raw(`'$'`)): SQL =>
  sql`json_table(${list}, ${each} columns(n for ordinality, t longtext path ${path}))`

/** A list of some elements of a list, in their order or another; null where there are none. */
const elements = (
  list: SQL,
  each: SQL,
  { path, where, order = sql`n`, element = sql`t` }: { path?: SQL; where?: SQL; order?: SQL; element?: SQL },
): SQL =>
  text(sql`(select concat('[', group_concat(json_quote(${text(element)}) order by ${order} separator ','), ']')
    from ${listed(list, each, path)} as listed${where ? sql` where ${where}` : sql``})`)

const withoutZeros = (value: SQL): SQL => sql`trim(trailing '.' from trim(trailing '0' from ${value}))`

/** The text of a number in JSON as JavaScript prints it: `7` for 7.00, `100000000000000000000` for 1e20, `1e+21` for 1e21. */
const NUMBER_TEXT = sql`case when t regexp '^-?[0-9]+[.][0-9]*0$' then ${withoutZeros(sql`t`)}
  when t regexp 'e([+]?(1?[0-9]|20)|-0?[1-6])$' then ${withoutZeros(sql`cast(t as decimal(65, 30))`)}
  when t regexp 'e[0-9]' then replace(t, 'e', 'e+')
  else replace(t, 'e-0', 'e-') end`

/** An instant in JSON, which has an offset that MySQL does not read, in milliseconds. */
const listedInstant = (): SQL => toMs(sql`cast(replace(t, '+00:00', '') as datetime(3))`)

/**
 * Stands for the separator while a text becomes JSON: more U+FDD0 than the text has, which usually has none since it is no
 * character. The U+FDD1 behind them makes the last of them the separator's where a part of the text ends with U+FDD0.
 */
const splitMark = (value: SQL): SQL =>
  sql`concat(repeat('\ufdd0', 1 + char_length(${value}) - char_length(replace(${value}, '\ufdd0', ''))), '\ufdd1')`

const isNumber = (type: ValueType): boolean => !['text', 'null', 'texts', 'numbers'].includes(type)

/**
 * `replacement` inserts a percent sign before the captured hex digits; the syntax of group references differs between
 * engines.
 */
const encodeUrl = (value: SQL, replacement: string): SQL =>
  text(decodePlain(sql`regexp_replace(hex(${value}), '(..)', ${replacement})`))

/** Maximum matching steps: a constant plus a number per character of the text. One step may scan the whole text. */
const [REGEX_STEPS, STEPS_PER_CHARACTER] = [20_000, 4]
/** Longest text to match, for which the maximum steps take less than a second. */
const MAX_REGEX_TEXT = 20_000

/**
 * True if matching the pattern ends within the step limit. The attempt is anchored at the first character, so
 * that all positions share one limit, and always matches unless the limit ends it.
 */
const endsInTime = (value: SQL, attempt: string): SQL =>
  sql`char_length(${value}) <= ${sql.raw(String(MAX_REGEX_TEXT))} and ${value} regexp concat('(*LIMIT_MATCH=', ${sql.raw(String(REGEX_STEPS))} + ${sql.raw(String(STEPS_PER_CHARACTER))} * char_length(${value}), ${`)\\A${attempt}`})`

const ANY_TEXT = '(?s:.)*?'

/**
 * Formulas in MariaDB, whose regular expressions backtrack: a harmless pattern can take minutes on some
 * texts, and statement timeouts do not interrupt it. Such texts give null, as do texts longer than
 * `MAX_REGEX_TEXT`. MySQL 8 backtracks as well and refuses the whole read at its `regexp_time_limit`; PostgreSQL does
 * not backtrack.
 */
export const mariadbFormula: FormulaWords<SQL> = {
  ...mysqlFormula,
  encodeUrl: (value) => encodeUrl(value, '%\\1'),
  jsonAt: (value, path) => jsonAt(value, path, (nested) => sql`json_compact(${nested})`),
  regexMatch: (value, pattern) =>
    sql`case when ${endsInTime(value, `(?:${ANY_TEXT}(?:${pattern})|)`)} then ${mysqlFormula.regexMatch(value, pattern)} end`,
  regexExtract: (value, pattern) =>
    sql`case when ${endsInTime(value, `(?:${ANY_TEXT}(?:${pattern})|)`)} then ${mysqlFormula.regexExtract(value, pattern)} end`,
  // Repeats the pattern, as the replacement does.
  regexReplace: (value, pattern, by) =>
    sql`case when ${endsInTime(value, `(?>${ANY_TEXT}(?:${pattern}))*+`)} then regexp_replace(${value}, ${pattern}, ${withEscapes(by)}) end`,
}

const integer = (value: SQL): SQL => sql`cast(${value} as signed)`

/** A derived table cannot reference the outer row; JSON_TABLE can. */
function bound(values: Bound<SQL>[], names: string[], use: (values: SQL[]) => SQL): SQL {
  const isText = values.map(({ type }) => !isNumber(type))
  const array = values.map((value) => (value.type === 'boolean' ? sql`(${value.sql} + 0)` : value.sql))
  const columns = names.map((name, index) =>
    sql.raw(`${name} ${isText[index] ? 'longtext' : 'double'} path '$[${index}]'`),
  )
  const named = names.map((name, index) => (isText[index] ? text(sql.raw(name)) : sql.raw(name)))
  return sql`(select ${use(named)} from json_table(json_array(${sql.join(array, sql`, `)}), '$' columns(${sql.join(
    columns,
    sql`, `,
  )})) as ${sql.raw(`${names[0]}_`)})`
}

const wallClock = (ms: SQL): SQL => sql`date_add('1970-01-01', interval ${integer(ms)} * 1000 microsecond)`

/** Divides decimals: a double has too few digits for the microseconds of distant years. */
const toMs = (time: SQL): SQL => sql`(floor(timestampdiff(microsecond, '1970-01-01', ${time}) / 1000) + 0e0)`

/** Format specifiers of `str_to_date`. */
const DATE_SPECIFIERS: Record<DatePart, string> = {
  year: '%Y',
  shortYear: '%y',
  month: '%m',
  monthName: '%b',
  day: '%d',
  hour: '%H',
  minute: '%i',
  second: '%s',
  ms: '%f',
  half: '%p',
}

/** `str_to_date` accepts more than the format, so a regular expression checks the text first. */
function readDate(value: SQL, { pieces, parts, source }: DateFormat): SQL {
  const sign = ({ part, token }: { part: DatePart; token: string }) => {
    if (token === 'MMMM') return '%M'
    return part === 'hour' && parts.includes('half') ? '%h' : DATE_SPECIFIERS[part]
  }
  const written = pieces.map((piece) => ('part' in piece ? sign(piece) : piece.literal.replaceAll('%', '%%')))
  const hasMonth = parts.includes('month') || parts.includes('monthName')
  const missing = [...(hasMonth ? [] : ['%m']), ...(parts.includes('day') ? [] : ['%d'])]
  const whole = missing.length === 0 ? value : sql`concat(${value}, ${missing.map(() => ' 01').join('')})`
  const read = sql`str_to_date(${whole}, ${[written.join(''), ...missing].join(' ')})`
  // A two-digit 69 is 1969 in some engines and 2069 in others. Date arithmetic gives null for days such as 30 February.
  const years = parts.includes('shortYear')
    ? sql`if(year(${read}) = ${sql.raw(String(2001 + LAST_SHORT_YEAR))}, -100, 0)`
    : sql`0`
  const moved = sql`date_add(${read}, interval ${years} year)`
  return sql`case when ${value} regexp ${`^${source}\\z`} then ${toMs(moved)} end`
}

function cell(column: SQL | undefined, form: CellForm): SQL {
  if (!column) return sql`null`
  switch (form) {
    case 'integer':
    case 'real':
      return sql`case when ${column} > ${double(-CELL_TINY)} and ${column} < ${double(CELL_TINY)} then 0e0
        when ${column} > ${double(-CELL_LIMIT)} and ${column} < ${double(CELL_LIMIT)} then ${column} + 0e0 end`
    case 'boolean':
      return sql`(${column} <> 0)`
    case 'date':
    case 'datetime':
      return toMs(column)
    case 'list':
      return text(
        sql`(select group_concat(t order by n separator ', ') from json_table(${column}, '$[*]' columns(n for ordinality, t longtext path '$')) as listed)`,
      )
    case 'linkCount':
      return sql`coalesce(json_value(${column}, '$[0]') + 0e0, 0e0)`
    case 'linkTitles':
      return text(
        sql`(select group_concat(t order by n separator ', ') from json_table(${column}, '$[1][*]' columns(n for ordinality, t longtext path '$[1]')) as listed)`,
      )
    default:
      return text(sql`cast(${column} as char)`)
  }
}

function finish(value: SQL, type: ValueType): SQL {
  if (type === 'date') return sql`date(${wallClock(value)})`
  if (type === 'datetime') return sql`cast(${wallClock(value)} as datetime(3))`
  return type === 'number' ? sql`(${value} + 0e0)` : value
}
