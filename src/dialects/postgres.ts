import { type SQL, sql } from 'drizzle-orm'
import { ExactNumber } from '../core/exact-decimal.ts'
import type { CellValue, StorageKind } from '../core/fields/field-type.ts'
import type { FilterValue } from '../core/filters/dialect-words.ts'
import type { SummaryPart } from '../core/summaries.ts'
import { postgresAverage, postgresRounded, postgresSum } from './decimal-sums.ts'
import type { Dialect } from './dialect.ts'
import { exactNumber } from './exact-number.ts'
import { postgresFileBytes, postgresFileNames } from './file-words.ts'
import { postgresForeign } from './foreign.ts'
import { groupSummaryBy } from './group-summary.ts'
import { postgresFormula } from './postgres-formula.ts'
import { postgresRelated } from './postgres-related.ts'
import { POSTGRES_TYPES, postgresTables, postgresWrites, quotePostgres } from './postgres-tables.ts'
import { postgresLike, postgresSearch } from './postgres-text.ts'
import { createRender } from './render.ts'
import { standardWords } from './standard-words.ts'

/**
 * A 16-bit count (https://www.postgresql.org/docs/current/protocol-message-formats.html), of which the driver
 * keeps two.
 */
const MAX_BOUND = 65_533

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

/** What a column is compared with. A bare value is taken for one of the column's type, and 1.5 is no bigint. */
function operand(value: FilterValue): SQL {
  if (value instanceof ExactNumber) return sql`${value.text}::numeric`
  return typeof value === 'number' && !Number.isSafeInteger(value)
    ? sql`${String(value)}::numeric`
    : sql`${value}`
}

/** Numbers that JavaScript might round come as text. */
const DECODERS: Partial<Record<StorageKind, (value: unknown) => CellValue>> = {
  id: exactNumber,
  integer: exactNumber,
  real: exactNumber,
}

/** Numbers print as themselves, and text passes unchanged. */
const asText = (expression: SQL): SQL => sql`(${expression})::text`

/** `''` counts as no value in text, and cannot be compared with anything else. */
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
