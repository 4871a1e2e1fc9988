import { type SQL, sql } from 'drizzle-orm'
import { ExactNumber } from '../core/exact-decimal.ts'
import type { CellValue, StorageKind } from '../core/fields/field-type.ts'
import { escapeLike, type FilterValue } from '../core/filters/primitives.ts'
import type { SummaryPart } from '../core/summaries.ts'
import { postgresAverage, postgresRounded, postgresSum } from './decimal-sums.ts'
import type { Dialect } from './dialect.ts'
import { exactNumber } from './exact-number.ts'
import { postgresForeign } from './foreign.ts'
import { postgresFormula } from './postgres-formula.ts'
import { postgresRelated } from './postgres-related.ts'
import { POSTGRES_TYPES, postgresTables, postgresWrites, quotePostgres } from './postgres-tables.ts'
import { createRender, groupSummaryBy, standardWords } from './standard-sql.ts'

/**
 * A 16-bit count (https://www.postgresql.org/docs/current/protocol-message-formats.html), of which the driver
 * keeps two.
 */
const MAX_BOUND = 65_533

/** Oid of `double precision`. */
const DOUBLE = sql.raw('701')

/** True where the text of a column, whatever it holds, fits a `like` pattern in any case of its letters. */
const postgresLike = (expression: SQL, pattern: string): SQL => fits(printed(expression), pattern)

/** True if the text of a column of this kind contains the search text, ignoring case. */
function postgresSearch(expression: SQL, storage: StorageKind, text: string): SQL {
  // A checkbox shows no text.
  if (storage === 'boolean') return sql`false`
  const pattern = `%${escapeLike(text)}%`
  if (storage === 'real') return fits(printed(expression), pattern)
  const shown = sql`(${expression})::text`
  // Without the zone, in which "00" would always match.
  return fits(storage === 'datetime' ? sql`regexp_replace(${shown}, '[+]00$', '')` : shown, pattern)
}

/**
 * As JavaScript prints it: from 1e15 on PostgreSQL would write a double with an exponent. A text of a formula's own is
 * read as a number by the planner, whatever its type, unless what it looks like rules that out.
 */
const printed = (expression: SQL): SQL =>
  sql`(case when pg_typeof(${expression})::oid = ${DOUBLE} and (${expression})::text ~ '^-?[0-9.]+e[+-]?[0-9]+$'
    then (${expression})::text::numeric::text else (${expression})::text end)`

/**
 * Byte order, in which our columns stand, knows the case of A to Z only. With any other letter in the
 * pattern a regular expression is asked, which names each letter in both cases.
 */
function fits(text: SQL, pattern: string): SQL {
  const isPlain = /^[\0-\x7f]*$/.test(pattern)
  return isPlain ? sql`${text} ilike ${pattern}` : sql`${text} ~ ${asRegularExpression(pattern)}`
}

/** The same pattern in the signs of a regular expression: `Ü%` becomes `^(?:ü|Ü).*$`. */
function asRegularExpression(pattern: string): string {
  const characters = [...pattern]
  let expression = ''
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? ''
    if (character === '%') expression += '.*'
    else if (character === '_') expression += '.'
    else expression += literal(character === '\\' ? (characters[++at] ?? '\\') : character)
  }
  return `^${expression}$`
}

function literal(character: string): string {
  const cases = [...new Set([character, character.toLowerCase(), character.toUpperCase()])]
  // "ß" in capitals is two letters, which are another text.
  const single = cases.filter((variant) => [...variant].length === 1).map(escaped)
  return single.length > 1 ? `(?:${single.join('|')})` : (single[0] ?? '')
}

const escaped = (character: string): string => character.replace(/[\\^$.|?*+()[\]{}-]/, '\\$&')

/**
 * Titles of the files in a JSON list of `{ title, size }`, one per line. NULL for text of a foreign column that is not
 * such a list.
 */
const postgresFileNames = (column: SQL): SQL =>
  sql`(select string_agg(file->>'title', chr(10)) from json_array_elements(${postgresList(column)}) as file)`

/** Sum of the file sizes over all rows of a select. */
const postgresFileBytes = (column: SQL): SQL =>
  sql`sum((select sum((file->>'size')::double precision) from json_array_elements(${postgresList(column)}) as file))`

// Before version 16 PostgreSQL cannot be asked whether a text is JSON: the shape that we write must do.
const postgresList = (column: SQL): SQL =>
  sql`case when (${column})::text like '[{"%}]' then (${column})::text::json end`

/** PostgreSQL 12 or later, and engines that speak its protocol. */
export const postgres: Dialect = {
  client: 'pg',
  maxBoundParameters: MAX_BOUND,
  columnTypes: POSTGRES_TYPES,
  quote: quotePostgres,
  render: createRender(quotePostgres, (index) => `$${index + 1}`, MAX_BOUND),
  ...postgresTables,
  ...postgresWrites,

  ...standardWords,
  eq: (expression, value) => sql`${expression} = ${operand(value)}`,
  compare: (expression, sign, value) => sql`${expression} ${sql.raw(sign)} ${operand(value)}`,
  inList: (expression, values) => sql`${expression} in (${sql.join(values.map(operand), sql`, `)})`,
  like: postgresLike,
  fileNames: postgresFileNames,
  hasOption: (expression, title) => sql`position(${`,${title},`} in ',' || ${expression} || ',') > 0`,

  orderBy: (expression, direction) =>
    direction === 'asc' ? sql`${expression} asc nulls first` : sql`${expression} desc nulls last`,
  summary,
  groupSummary: groupSummaryBy(summary),
  search: postgresSearch,
  formula: postgresFormula,
  decode: (storage) => DECODERS[storage] ?? null,
  related: postgresRelated,
  foreign: postgresForeign,
}

/** Right side of a comparison, typed: an untyped parameter would get the column's type, and 1.5 is not a bigint. */
function operand(value: FilterValue): SQL {
  if (value instanceof ExactNumber) return sql`${value.text}::numeric`
  return typeof value === 'number' && !Number.isSafeInteger(value)
    ? sql`${String(value)}::numeric`
    : sql`${value}`
}

/** The driver returns numbers beyond JavaScript's precision as text. */
const DECODERS: Partial<Record<StorageKind, (value: unknown) => CellValue>> = {
  id: exactNumber,
  integer: exactNumber,
  real: exactNumber,
}

/** Numbers print as themselves, and text passes unchanged. */
const asText = (expression: SQL): SQL => sql`(${expression})::text`

/** Treats an empty text as null. Only text can be compared with ''. */
const filled = (expression: SQL): SQL => sql`nullif(${asText(expression)}, '')`

function summary(part: SummaryPart, expression: SQL): SQL {
  switch (part) {
    case 'fileBytes':
      return postgresFileBytes(expression)
    case 'count':
      return sql`count(*)`
    case 'filled':
      return sql`count(${filled(expression)})`
    case 'unique':
      return sql`count(distinct ${filled(expression)})`
    case 'checked':
      return sql`count(*) filter (where ${expression})`
    case 'sum':
      return postgresSum(expression)
    case 'avg':
      return postgresAverage(expression)
    case 'min':
      return sql`min(${expression})`
    case 'max':
      return sql`max(${expression})`
    case 'median':
      return postgresRounded(sql`percentile_cont(0.5) within group (order by ${expression})`)
    case 'stddev':
      return sql`stddev_pop(${expression})::double precision`
  }
}
