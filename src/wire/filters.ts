import { AppError, notFound } from '../core/errors.ts'
import { type CellValue, describeValue } from '../core/fields/field-type.ts'
import { checkCondition, MAX_CONDITIONS, verificationFailed } from '../core/filters/check.ts'
import {
  type Condition,
  DATE_OPERANDS,
  type DateOperand,
  type Filter,
  MAX_DEPTH,
} from '../core/filters/filter.ts'
import { type FilterField, hasRequiredValues, setOf } from '../core/filters/operand.ts'
import { findOperator } from '../core/filters/operators/index.ts'
import { arityFor, type FilterOperator } from '../core/filters/operators/operator.ts'
import { isWithinOperand, operandNeeds } from '../core/filters/relative-dates.ts'
import { parseJsonText } from '../core/json-text.ts'

/** Errors such as `nope is not supported.`: 422 in the `{msg}` envelope. */
const notSupported = (what: string): AppError =>
  new AppError('INVALID_FILTER', `${what.slice(0, 60)} is not supported.`, undefined, 'msg')

/** The 422 for an unknown field title. */
export const unknownAlias = (title: string): AppError =>
  new AppError('INVALID_FILTER', `Column alias '${title.slice(0, 255)}' not found.`, undefined, 'msg')

/**
 * Parses the content of a clause: `title,op`, `title,op,value` or, for dates, `title,op,subop[,value]`.
 *
 * @throws INVALID_FILTER, FILTER_VERIFICATION_FAILED, or the error of `malformed`
 */
export function wireCondition(
  clause: string,
  resolve: (title: string) => FilterField | undefined | null,
  malformed: () => AppError,
): Condition {
  const [title, name, rest] = cut(clause)
  if (name === null || !/^\w+$/.test(name)) throw malformed()
  const field = resolve(title)
  if (!field) throw unknownAlias(title)
  return fromParts(field, name, rest === null ? [] : [rest], malformed)
}

/** Splits at the first two commas; the rest is the value. */
function cut(clause: string): [title: string, operator: string | null, rest: string | null] {
  const first = clause.indexOf(',')
  if (first < 0) return [clause, null, null]
  const second = clause.indexOf(',', first + 1)
  if (second < 0) return [clause.slice(0, first), clause.slice(first + 1), null]
  return [clause.slice(0, first), clause.slice(first + 1, second), clause.slice(second + 1)]
}

/**
 * The condition of a clause with separated values. A single text is split at commas for operators with several values;
 * for dates the first value is the sub-operator.
 */
export function fromParts(
  field: FilterField,
  name: string,
  parts: string[],
  malformed: () => AppError,
): Condition {
  const operator = findWireOperator(name)
  const set = setOf(field)
  if (!operator) throw notSupported(name)
  const arity = arityFor(operator, set)
  if (arity === 'date' && operator.accepts.includes(set))
    return dateCondition(field, operator, name, parts, malformed)
  const listed = arity === 'many' || arity === 'two'
  const value = listed && parts.length > 0 ? parts.flatMap((part) => part.split(',')) : (parts[0] ?? null)
  const condition = fromWireOperator({
    fieldId: field.id,
    operator: operator.key,
    value: arity === 'none' ? null : value,
  })
  verifyWire(condition, field, name)
  // A clause without its value must not match all records: a bulk delete may use it.
  if (!hasRequiredValues(operator, condition, set)) {
    if (value === null) throw malformed()
    throw verificationFailed(
      `Value ${parts.join(',')} is not supported for type ${field.type} on column ${field.title}`,
      field.id,
    )
  }
  return condition
}

function dateCondition(
  field: FilterField,
  operator: FilterOperator,
  name: string,
  parts: string[],
  malformed: () => AppError,
): Condition {
  const [word, ...rest] = parts.flatMap((part) => part.split(','))
  if (word === undefined) throw malformed()
  const operand = DATE_OPERANDS.find((known) => known === word)
  if (!operand) throw notSupported(`'${word}'`)
  if (isWithinOperand(operand) !== (operator.key === 'isWithin')) throw unsuited(operand, name)
  const value = operandNeeds(operand) === 'nothing' ? null : rest[0] || null
  const condition: Condition = { fieldId: field.id, operator: operator.key, operand, value }
  const problem = checkCondition(condition, field)
  if (problem !== null) throw verificationFailed(problem, field.id)
  // "daysAgo" without a number has no effect, as documented; a missing date is an error.
  if (operandNeeds(operand) === 'date' && value === null) throw malformed()
  return condition
}

const unsuited = (operand: DateOperand, name: string): AppError =>
  new AppError('INVALID_FILTER', `'${operand}' is not supported for '${name}'`, undefined, 'msg')

const INTERNAL_OPERATORS: ReadonlySet<string> = new Set(['pattern', 'npattern', 'during'])

/** The operator of a REST name. Excludes operators that REST does not have. */
function findWireOperator(name: string): FilterOperator | null {
  const operator = findOperator(name)
  return operator && !INTERNAL_OPERATORS.has(operator.key) ? operator : null
}

/**
 * REST's `like` with a wildcard becomes a pattern operator, because `contains` takes every character literally. So does
 * `like` without text, which matches every text: `contains` without text is an incomplete condition.
 */
function fromWireOperator(condition: Condition): Condition {
  const { operator, value } = condition
  if (typeof value !== 'string' || !(value === '' || /[%_]/.test(value))) return condition
  if (operator !== 'like' && operator !== 'nlike') return condition
  return { ...condition, operator: operator === 'like' ? 'pattern' : 'npattern', value: value || '%' }
}

/** The name under which REST shows a stored operator. */
export function toWireOperator(key: string): string {
  if (key === 'pattern') return 'like'
  return key === 'npattern' ? 'nlike' : key
}

/**
 * Rejects operators that do not apply to the field. REST rejects `btw` and `nbtw` on numbers, as documented, although
 * the web app offers them.
 *
 * @throws FILTER_VERIFICATION_FAILED
 */
function verifyWire(condition: Condition, field: FilterField, name: string): void {
  const isRefused = setOf(field) === 'number' && /^n?btw$/.test(condition.operator)
  const refused = `Operation ${name} is not supported for type ${field.type} on column ${field.title}`
  const problem = isRefused ? refused : checkCondition(condition, field)
  if (problem !== null) throw verificationFailed(problem, field.id)
}

/** A filter in a flat list with its logical operator. */
export interface Link {
  join: 'and' | 'or'
  not: boolean
  filter: Filter
}

/**
 * Combines a flat list as SQL does: "and" binds tighter than "or". The first operator has no effect. Null for an empty
 * list; a single filter is not grouped.
 */
export function chain(links: Link[]): Filter | null {
  const runs: Filter[][] = []
  for (const [index, { join, not, filter }] of links.entries()) {
    const signed = not ? negate(filter) : filter
    if (join === 'or' || index === 0) runs.push([signed])
    else runs.at(-1)?.push(signed)
  }
  return group(
    'or',
    runs.flatMap((run) => group('and', run) ?? []),
  )
}

function group(join: 'and' | 'or', children: Filter[]): Filter | null {
  return children.length < 2 ? (children[0] ?? null) : { join, children }
}

const negate = (filter: Filter): Filter => ({ join: 'and', not: true, children: [filter] })

/** A filter object of REST (wire §10); other properties are ignored. */
export interface WireFilter {
  fk_column_id?: string | null
  comparison_op?: string | null
  comparison_sub_op?: string | null
  value?: unknown
  logical_op?: string | null
  is_group?: boolean | number | null
  children?: unknown
}

const invalid = (message: string): AppError => new AppError('INVALID_FILTER', message)

/**
 * Converts a list of REST filter objects. Each is joined to the previous ones by its `logical_op` (default "and"; "not"
 * means "and not"); "and" binds tighter. Null for an empty list.
 *
 * @param field a field by its id
 * @throws FIELD_NOT_FOUND, INVALID_FILTER, FILTER_VERIFICATION_FAILED
 */
export function filtersFromWire(
  items: unknown,
  field: (fieldId: string) => FilterField | undefined | null,
  depth = MAX_DEPTH,
): Filter | null {
  if (!Array.isArray(items)) throw invalid('Filters must be a list')
  if (items.length > MAX_CONDITIONS) throw invalid(`A filter can have up to ${MAX_CONDITIONS} conditions`)
  const links = items.flatMap((item: unknown): Link[] => {
    if (typeof item !== 'object' || item === null) throw invalid('A filter must be an object')
    const wire: WireFilter = item
    const filter = fromWire(wire, field, depth)
    if (filter === null) return []
    return [{ join: wire.logical_op === 'or' ? 'or' : 'and', not: wire.logical_op === 'not', filter }]
  })
  return chain(links)
}

function fromWire(
  wire: WireFilter,
  field: (fieldId: string) => FilterField | undefined | null,
  depth: number,
): Filter | null {
  if (wire.is_group || Array.isArray(wire.children)) {
    if (depth === 0) throw invalid(`Filters can be nested up to ${MAX_DEPTH} levels`)
    return filtersFromWire(wire.children ?? [], field, depth - 1)
  }
  const { fk_column_id: id, comparison_op: name } = wire
  // An object without a field or operator is incomplete and ignored.
  if (!id || !name) return null
  const known = typeof id === 'string' ? field(id) : null
  if (!known) throw notFound('Field', describeValue(id))
  return conditionFromWire(wire, known, typeof name === 'string' ? name : describeValue(name))
}

/**
 * Converts one REST filter object to a condition on its field.
 *
 * @throws INVALID_FILTER, FILTER_VERIFICATION_FAILED
 */
export function conditionFromWire(wire: WireFilter, field: FilterField, name: string): Condition {
  const operator = findWireOperator(name)
  if (!operator)
    throw new AppError('INVALID_FILTER', `${name.slice(0, 60)} is not supported.`, undefined, 'msg')
  const arity = arityFor(operator, setOf(field))
  const subOperator = arity === 'date' ? wire.comparison_sub_op : null
  const operand = DATE_OPERANDS.find((known) => known === subOperator)
  if (subOperator && !operand) {
    throw new AppError(
      'INVALID_FILTER',
      `'${describeValue(subOperator)}' is not supported.`,
      undefined,
      'msg',
    )
  }
  const listed = arity === 'many' || arity === 'two'
  const read = arity === 'none' ? null : readWireValue(wire.value)
  const value = listed && typeof read === 'string' ? read.split(',') : read
  const condition: Condition = { fieldId: field.id, operator: operator.key, value }
  const complete = fromWireOperator(operand ? { ...condition, operand } : condition)
  verifyWire(complete, field, name)
  return complete
}

function readWireValue(value: unknown): CellValue | CellValue[] {
  if (Array.isArray(value)) return value.map((item) => readScalar(item))
  return readScalar(value)
}

function readScalar(value: unknown): CellValue {
  if (value === undefined || value === null) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  throw invalid('A filter value must be text, a number or a list of these')
}

/** Parses `filterArrJson`; invalid JSON is ignored (wire §14.4). */
export function parseFilterArray(
  json: string,
  field: (fieldId: string) => FilterField | undefined | null,
): Filter | null {
  try {
    return filtersFromWire(parseJsonText(json), field)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
