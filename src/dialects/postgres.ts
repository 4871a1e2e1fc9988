import { type SQL, sql } from 'drizzle-orm'
import { ExactNumber } from '../core/exact-decimal.ts'
import type { CellValue, StorageKind } from '../core/fields/field-type.ts'
import { escapeLike, type FilterValue } from '../core/filters/primitives.ts'
import { postgresRounded, postgresSum } from './decimal-sums.ts'
import type { Dialect, QueryPlan } from './dialect.ts'
import { exactNumber } from './exact-number.ts'
import { postgresForeign } from './foreign.ts'
import { postgresFormula } from './postgres-formula.ts'
import { fitPostgresIndex, postgresIndexedFormula } from './postgres-indexed-formula.ts'
import { postgresRelated } from './postgres-related.ts'
import { postgresSearchedText, postgresSearchIndexes } from './postgres-search.ts'
import { POSTGRES_TYPES, postgresTables, postgresWrites, quotePostgres } from './postgres-tables.ts'
import { asRegularExpression } from './postgres-text.ts'
import { createRender, groupSummaryBy, standardPrimitives, summaryBy } from './standard-sql.ts'

/**
 * The protocol has a 16-bit count (https://www.postgresql.org/docs/current/protocol-message-formats.html),
 * and the driver reserves two values.
 */
const MAX_BOUND = 65_533

/** Oid of `double precision`. */
const DOUBLE = sql.raw('701')

/** Case-insensitive `like`. Only numbers are printed by a `case`, for which the planner has no statistics. */
const postgresLike = (expression: SQL, pattern: string, isNumber: boolean): SQL =>
  fits(isNumber ? printed(expression) : sql`(${expression})::text`, pattern)

/** True if the text of a column of this kind contains the search text, ignoring case. */
function postgresSearch(expression: SQL, storage: StorageKind, text: string): SQL {
  const pattern = `%${escapeLike(text)}%`
  if (storage === 'real') return fits(printed(expression), pattern)
  const shown = sql`(${expression})::text`
  // Removes the zone, in which "00" would always match.
  return fits(storage === 'datetime' ? sql`regexp_replace(${shown}, '[+]00$', '')` : shown, pattern)
}

/**
 * Prints numbers as JavaScript does: from 1e15 on PostgreSQL would write an exponent. The pattern protects
 * texts, which the planner may evaluate as numbers when it folds a formula's constants.
 */
const printed = (expression: SQL): SQL =>
  sql`(case when pg_typeof(${expression})::oid = ${DOUBLE} and (${expression})::text ~ '^-?[0-9.]+e[+-]?[0-9]+$'
    then (${expression})::text::numeric::text else (${expression})::text end)`

/**
 * The "C" collation of our columns folds only A to Z. Patterns with other letters become a regular expression
 * with each letter in both cases.
 */
function fits(text: SQL, pattern: string): SQL {
  const isPlain = /^[\0-\x7f]*$/.test(pattern)
  return isPlain ? sql`${text} ilike ${pattern}` : sql`${text} ~ ${asRegularExpression(pattern)}`
}

/**
 * Titles of the files in a JSON list of `{ title, size }`, one per line. NULL for text of a foreign column that is not
 * such a list.
 */
const postgresFileNames = (column: SQL): SQL =>
  sql`(select string_agg(file->>'title', chr(10)) from json_array_elements(${postgresList(column)}) as file)`

/** Sum of the file sizes over all rows of a select. */
const postgresFileBytes = (column: SQL): SQL =>
  sql`sum((select sum((file->>'size')::double precision) from json_array_elements(${postgresList(column)}) as file))`

// PostgreSQL before version 16 cannot test for valid JSON, so this checks for the shape that Sheaf writes.
const postgresList = (column: SQL): SQL =>
  sql`case when (${column})::text like '[{"%}]' then (${column})::text::json end`

const summary = summaryBy({
  // The cast makes the comparison with '' valid for any type.
  value: (expression) => sql`nullif(${asText(expression)}, '')`,
  fileBytes: postgresFileBytes,
  checked: (expression) => sql`count(*) filter (where ${expression})`,
  sum: (expression) => postgresSum(expression),
  median: (expression) => postgresRounded(sql`percentile_cont(0.5) within group (order by ${expression})`),
  stddev: (expression) => sql`stddev_pop(${expression})::double precision`,
})

/** PostgreSQL 12 or later, and engines that speak its protocol. */
export const postgres: Dialect = {
  client: 'pg',
  maxBoundParameters: MAX_BOUND,
  columnTypes: POSTGRES_TYPES,
  quote: quotePostgres,
  render: createRender(quotePostgres, (index) => `$${index + 1}`, MAX_BOUND),
  ...postgresTables,
  ...postgresWrites,

  ...standardPrimitives,
  eq: (expression, value) => sql`${expression} = ${operand(value)}`,
  compare: (expression, sign, value) => sql`${expression} ${sql.raw(sign)} ${operand(value)}`,
  // Without the `offset`, the select would be merged into the statement around it, and its expressions copied.
  computedOnce: (select) => sql`${select} offset 0`,
  parsedJson: (json) => sql`(${json})::jsonb`,
  keyList: {
    // The text's own type is given, or the driver would bind a list in its form of arrays.
    contains: (key, list) => sql`${key} = any((${list}::text)::bigint[])`,
    pairs: (left, right) => sql`unnest((${left}::text)::bigint[], (${right}::text)::bigint[])`,
    text: (keys) => `{${keys.join(',')}}`,
  },
  inList: (expression, values) => sql`${expression} in (${sql.join(values.map(operand), sql`, `)})`,
  like: postgresLike,
  fileNames: postgresFileNames,
  hasOption: (expression, title) => sql`position(${`,${title},`} in ',' || ${expression} || ',') > 0`,

  orderBy: (expression, direction) =>
    direction === 'asc' ? sql`${expression} asc nulls first` : sql`${expression} desc nulls last`,
  // The greatest of one value is the value, NULL included, with its type and collation; the planner keeps the call.
  unindexed: (expression) => sql`greatest(${expression})`,
  summary,
  groupSummary: groupSummaryBy(summary),
  search: postgresSearch,
  searchedText: postgresSearchedText,
  searchIndexes: postgresSearchIndexes,
  formula: postgresFormula,
  indexedFormula: postgresIndexedFormula,
  fitIndex: fitPostgresIndex,
  decode: (storage) => DECODERS[storage] ?? null,
  related: postgresRelated,
  foreign: postgresForeign,
  explain: ({ sql: text, params }) => ({ sql: `explain (format json) ${text}`, params }),
  readPlan: readPostgresPlan,
}

/** A node of `explain (format json)`. */
export interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Plans?: PlanNode[]
}

function readPostgresPlan(rows: Record<string, unknown>[], table: string): QueryPlan {
  return planOf(planRoots(rows).flatMap(nodesOf), table)
}

/** The roots of the trees of `explain (format json)`. */
export function planRoots(rows: Record<string, unknown>[]): PlanNode[] {
  const given = rows[0]?.['QUERY PLAN']
  const roots = (typeof given === 'string' ? JSON.parse(given) : given) as { Plan: PlanNode }[]
  return roots.map(({ Plan }) => Plan)
}

/** What the nodes of a plan do with a table. */
export function planOf(nodes: readonly PlanNode[], table: string): QueryPlan {
  const reads = nodes.filter((node) => node['Relation Name'] === table || node['Index Name'] !== undefined)
  return {
    readsAll: reads.some((node) => node['Node Type'] === 'Seq Scan' || isWalk(node)),
    sorts: nodes.some((node) => /^(Sort|HashAggregate)$/.test(node['Node Type'])),
    indexes: [...new Set(reads.flatMap((node) => node['Index Name'] ?? []))],
  }
}

const isWalk = (node: PlanNode): boolean =>
  node['Index Name'] !== undefined && node['Index Cond'] === undefined

/** A node with all below it. */
export const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** Right side of a comparison, with a type: an untyped parameter gets the column's type, and 1.5 is not a bigint. */
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

const asText = (expression: SQL): SQL => sql`(${expression})::text`
