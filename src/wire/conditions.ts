import { AppError } from '../core/errors.ts'
import { checkCondition, verificationFailed } from '../core/filters/check.ts'
import type { Filter } from '../core/filters/filter.ts'
import { type Condition, DATE_OPERANDS, type DateOperand } from '../core/filters/filter.ts'
import { type FilterField, isFilledIn, setOf } from '../core/filters/operand.ts'
import { findOperator } from '../core/filters/operators/index.ts'
import { arityFor, type FilterOperator } from '../core/filters/operators/operator.ts'
import { isWithinOperand, operandNeeds } from '../core/filters/relative-dates.ts'

/** `nope is not supported.` and its kin: 422 in the `{msg}` envelope. */
const notSupported = (what: string): AppError =>
  new AppError('INVALID_FILTER', `${what.slice(0, 60)} is not supported.`, undefined, 'msg')

/** The 422 for a title that no field has. */
export const unknownAlias = (title: string): AppError =>
  new AppError('INVALID_FILTER', `Column alias '${title.slice(0, 255)}' not found.`, undefined, 'msg')

/**
 * Reads what stands between the brackets of a clause: `title,op`, `title,op,value` or, on dates,
 * `title,op,subop[,value]`.
 *
 * @throws INVALID_FILTER, FILTER_VERIFICATION_FAILED, or what `malformed` gives
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

/** Splits at the first two commas; all behind them is the value. */
function cut(clause: string): [title: string, operator: string | null, rest: string | null] {
  const first = clause.indexOf(',')
  if (first < 0) return [clause, null, null]
  const second = clause.indexOf(',', first + 1)
  if (second < 0) return [clause.slice(0, first), clause.slice(first + 1), null]
  return [clause.slice(0, first), clause.slice(first + 1, second), clause.slice(second + 1)]
}

/**
 * The condition of a clause whose values are already apart. One text for an operator of many is split
 * at its commas; on dates the first is the sub-operator.
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
  // A clause that lacks its value would mean "all records", which a bulk delete must not take it for.
  if (!isFilledIn(operator, condition, set)) {
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
  // "daysAgo" without its number has no effect, as documented; a missing date has no such excuse.
  if (operandNeeds(operand) === 'date' && value === null) throw malformed()
  return condition
}

const unsuited = (operand: DateOperand, name: string): AppError =>
  new AppError('INVALID_FILTER', `'${operand}' is not supported for '${name}'`, undefined, 'msg')

/** The operator of a name that REST knows; ours alone are not for it. */
export function findWireOperator(name: string): FilterOperator | null {
  const operator = findOperator(name)
  return operator && operator.key !== 'pattern' && operator.key !== 'npattern' ? operator : null
}

/**
 * REST's `like` with a wildcard is an operator of its own, for ours takes every character as it stands.
 * So is its `like` of nothing, which every text contains: ours would be a condition not yet filled in.
 */
export function fromWireOperator(condition: Condition): Condition {
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
 * Refuses what the field cannot be compared by. REST refuses `btw` and `nbtw` on numbers, which our own
 * screens offer, because its clients have been told so.
 *
 * @throws FILTER_VERIFICATION_FAILED
 */
export function verifyWire(condition: Condition, field: FilterField, name: string): void {
  const isRefused = setOf(field) === 'number' && /^n?btw$/.test(condition.operator)
  const refused = `Operation ${name} is not supported for type ${field.type} on column ${field.title}`
  const problem = isRefused ? refused : checkCondition(condition, field)
  if (problem !== null) throw verificationFailed(problem, field.id)
}

/** A filter in a flat list, and what joins it to those before. */
export interface Link {
  join: 'and' | 'or'
  not: boolean
  filter: Filter
}

/**
 * The filter that a flat list means when it is written out in SQL: "and" binds tighter than "or". What joins
 * the first is of no effect. Null for an empty list; a single filter stands alone.
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

export function group(join: 'and' | 'or', children: Filter[]): Filter | null {
  return children.length < 2 ? (children[0] ?? null) : { join, children }
}

export const negate = (filter: Filter): Filter => ({ join: 'and', not: true, children: [filter] })
