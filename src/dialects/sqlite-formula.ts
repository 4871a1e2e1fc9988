import { type SQL, sql } from 'drizzle-orm'
import type { CellForm, ValueType } from '../core/formula/ast.ts'
import { CELL_LIMIT, CELL_TINY } from '../core/formula/semantics.ts'
import type { FormulaWords } from '../core/formula/words.ts'
import { namedValues, standardFormula } from './standard-sql.ts'

/** A literal that SQLite reads as a real: whole numbers need a point, unless they have an exponent. */
function real(value: number): SQL {
  const text = String(value)
  return sql.raw(Number.isInteger(value) && !text.includes('e') ? `${text}.0` : text)
}

/** Formula vocabulary for SQLite. Booleans are 1 and 0; numbers are always reals, to avoid integer division. */
export const sqliteFormula: FormulaWords<SQL> = {
  ...standardFormula,
  number: (value) => sql`cast(${value} as real)`,
  constant: real,
  text: (value) => sql`${value}`,
  truth: (value) => sql.raw(value ? '(1 = 1)' : '(1 = 0)'),
  nothing: () => sql`null`,
  ...namedValues(cell, bound),
  finish,

  // Division by 0 already gives NULL.
  divide: (left, right) => sql`(${left} / ${right})`,
  power: (base, exponent) => sql`pow(${base}, ${exponent})`,
  powerOfTen: (exponent) => sql`cast('1e' || cast(${exponent} as integer) as real)`,
  among: (what, values) => {
    const listed = unionAll(values.map((value) => sql`select ${value.sql} as x`))
    if (what !== 'median')
      return sql`(select ${what === 'count' ? sql`1.0 * count(x)` : sql.raw(`${what}(x)`)} from (${listed}))`
    return sql`(select min(x) + (max(x) - min(x)) * 0.5 from (select x, row_number() over (order by x) as n, count(*) over () as c
      from (${listed}) where x is not null) where n in ((c + 1) / 2, (c + 2) / 2))`
  },

  compareText: (sign, left, right) => sql`(${left} ${sql.raw(sign)} ${right} collate binary)`,
  same: (left, right) => sql`(${left} is ${right})`,
  truthNumber: (value) => sql`(${value} * 1.0)`,

  concat: (texts) => sql`(${sql.join(texts, sql` || `)})`,
  length: (text) => sql`(length(${text}) * 1.0)`,
  part: (text, from, count) => sql`substr(${text}, cast(${from} as integer), cast(${count} as integer))`,
  position: (text, find) => sql`(instr(${text}, ${find}) * 1.0)`,
  replace: (text, find, by) => sql`replace(${text}, ${find}, ${by})`,
  // SQLite lacks REPEAT: replaces the "00" of n zero bytes in hex with the text.
  repeat: (text, times) => sql`replace(hex(zeroblob(cast(${times} as integer))), '00', ${text})`,
  trim: (text) => sql`trim(${text})`,
  trimZeros: (text, end) => (end === 'start' ? sql`ltrim(${text}, '0')` : sql`rtrim(${text}, '0')`),
  upper: (text) => sql`sheaf_upper(${text})`,
  lower: (text) => sql`sheaf_lower(${text})`,
  encodeUrl: (text) => sql`sheaf_encode_url(${text})`,
  digits: (value) => sql`cast(cast(${value} as integer) as text)`,
  readNumber: (text) => sql`(sheaf_number(${text}) * 1.0)`,
  readDate: (text, format) => sql`(sheaf_date(${text}, ${format.text}) * 1.0)`,

  datePart: (part, ms) => sql`cast(strftime(${sql.raw(PARTS[part])}, ${ms} / 1000.0, 'unixepoch') as real)`,
  dateText: (ms, withTime) =>
    withTime
      ? sql`strftime('%Y-%m-%d %H:%M:%S', floor(${ms} / 1000.0), 'unixepoch')`
      : sql`strftime('%Y-%m-%d', ${ms} / 1000.0, 'unixepoch')`,
  addMonths,

  cellList: (column, form, values) => {
    const texts = elements(column, form)
    const from =
      typeof values === 'function'
        ? sql`(select ${values(sql`listed_ms`)} as text from (select ${cell(sql`text`, 'datetime')} as listed_ms from ${texts}))`
        : texts
    return sql`(select nullif(json_group_array(text), '[]') from ${from} where text is not null)`
  },
  listOf: (text) => sql`sheaf_list_of(${text})`,
  split: (text, separator) => sql`sheaf_list_split(${text}, ${separator})`,
  joinList: (list, separator) => sql`sheaf_list_join(${list}, ${separator})`,
  elementCount: (list) => sql`(json_array_length(${list}) * 1.0)`,
  concatLists: (lists) => lists.reduce((first, second) => sql`sheaf_list_concat(${first}, ${second})`),
  uniqueElements: (list) => sql`sheaf_list_unique(${list})`,
  filledElements: (list) => sql`sheaf_list_filled(${list})`,
  sortedElements: (list, isNumeric, isDescending) =>
    sql`sheaf_list_sorted(${list}, ${sql.raw(String(Number(isNumeric)))}, ${sql.raw(String(Number(isDescending)))})`,
  elementsBetween: (list, from, to) => sql`sheaf_list_between(${list}, ${from}, ${to})`,
  numbersOf: (list, numberOf) =>
    sql`(select nullif(json_group_array(element), '[]') from (select distinct ${numberOf(sql`value`)} as element
      from json_each(${list}) order by 1) where element is not null)`,
  countWhere: (numbers, holds) =>
    sql`(select count(*) * 1.0 from json_each(${numbers}) where ${holds(sql`(value * 1.0)`, sql`(key + 1.0)`)})`,

  jsonAt: (text, path) => sql`sheaf_json_at(${text}, ${JSON.stringify(path)})`,

  regexEnd: '$',
  regexMatch: (text, pattern) => sql`sheaf_regex_match(${text}, ${pattern})`,
  regexExtract: (text, pattern) => sql`sheaf_regex_extract(${text}, ${pattern})`,
  regexReplace: (text, pattern, by) => sql`sheaf_regex_replace(${text}, ${pattern}, ${by})`,
}

/** Below SQLite's limit of 500 parts of a compound select. */
const MAX_PARTS = 400

/** Selects of a column `x` one after the other, however many there are. */
function unionAll(selects: SQL[]): SQL {
  if (selects.length <= MAX_PARTS) return sql.join(selects, sql` union all `)
  const groups = Array.from({ length: Math.ceil(selects.length / MAX_PARTS) }, (_, at) =>
    selects.slice(at * MAX_PARTS, (at + 1) * MAX_PARTS),
  )
  return unionAll(groups.map((group) => sql`select x from (${sql.join(group, sql` union all `)})`))
}

const PARTS = { year: `'%Y'`, month: `'%m'`, day: `'%d'` }

/** SQLite does not inline the values of a subquery without `from`, so each is computed once. */
function bound(values: SQL[], names: string[], use: (values: SQL[]) => SQL): SQL {
  const columns = values.map((value, index) => sql`${value} as ${sql.raw(names[index] ?? '')}`)
  return sql`(select ${use(names.map((name) => sql.raw(name)))} from (select ${sql.join(columns, sql`, `)}))`
}

/** The values in a column with several, as rows with a `text`. Whole reals have no decimals: 5.0 is 5. */
function elements(column: SQL, form: 'list' | 'linkTitles'): SQL {
  const titles = sql`select title.type, title.atom from json_each(${column}, '$[1]') as record, json_each(record.value) as title
    where title.key = 1`
  const values = form === 'list' ? sql`select type, atom from json_each(${column})` : titles
  return sql`(select case type when 'true' then 'true' when 'false' then 'false' when 'real' then sheaf_number_text(atom)
    else cast(atom as text) end as text from (${values}))`
}

function cell(column: SQL | undefined, form: CellForm): SQL {
  if (!column) return sql`null`
  switch (form) {
    case 'integer':
    case 'real':
      return sql`case when typeof(${column}) not in ('integer', 'real') then null
        when ${column} > ${real(-CELL_TINY)} and ${column} < ${real(CELL_TINY)} then 0.0
        when ${column} > ${real(-CELL_LIMIT)} and ${column} < ${real(CELL_LIMIT)} then ${column} * 1.0 end`
    case 'boolean':
      return sql`(${column} <> 0)`
    case 'date':
      return sql`round((julianday(date(${column})) - 2440587.5) * 86400000.0)`
    case 'datetime':
      return sql`round((julianday(${toMilliseconds(column)}) - 2440587.5) * 86400000.0)`
    case 'list':
    case 'linkTitles':
      return sql`(select group_concat(text, ', ') from ${elements(column, form)})`
    case 'linkCount':
      return sql`(coalesce(json_extract(${column}, '$[0]'), 0) * 1.0)`
    default:
      return sql`cast(${column} as text)`
  }
}

/**
 * Truncates to milliseconds like other engines; SQLite would round. Only connected files have more precise instants.
 */
const toMilliseconds = (column: SQL): SQL =>
  sql`case when length(${column}) > ${sql.raw(String('YYYY-MM-DD HH:MM:SS.000+00:00'.length))} then substr(${column}, 1, 23) else ${column} end`

function finish(value: SQL, type: ValueType): SQL {
  if (type === 'date') return sql`strftime('%Y-%m-%d', ${value} / 1000.0, 'unixepoch')`
  if (type !== 'datetime') return value
  const text = sql`strftime('%Y-%m-%d %H:%M:%f', ${value} / 1000.0, 'unixepoch')`
  return sql`replace(${text} || '+00:00', '.000+00:00', '+00:00')`
}

/** Clamps to the last day of the month: in SQLite, 31 January + 1 month overflows into March. */
function addMonths(ms: SQL, months: SQL): SQL {
  const seconds = sql`floor(${ms} / 86400000.0) * 86400`
  const first = sql`unixepoch(${seconds}, 'unixepoch', 'start of month', cast(${months} as integer) || ' months')`
  const day = sql`(cast(strftime('%d', ${seconds}, 'unixepoch') as integer) - 1) * 86400`
  const atFirst = (format: string) =>
    sql`cast(strftime(${sql.raw(format)}, ${first}, 'unixepoch') as integer)`
  const ofLast = sql`cast(strftime('%d', ${first}, 'unixepoch', '+1 month', '-1 day') as integer)`
  // SQLite has no month after December 9999.
  const last = sql`${first} + 86400 * (case ${atFirst(`'%m'`)} when 12 then 31 else ${ofLast} end - 1)`
  const time = sql`(${ms} - ${seconds} * 1000.0)`
  return sql`(min(${first} + ${day}, ${last}) * 1000.0 + ${time})`
}
