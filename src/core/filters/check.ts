import * as z from 'zod/mini'
import { AppError, notFound } from '../errors.ts'
import { type CellValue, describeValue } from '../fields/field-type.ts'
import { m } from '../messages.gen.ts'
import { type Condition, DATE_OPERANDS, type Filter, isGroup, MAX_DEPTH } from './filter.ts'
import { type FilterField, findInvalidValue, hasRequiredValues, MAX_LIST, setOf } from './operand.ts'
import { findOperator } from './operators/index.ts'

/** Maximum conditions per filter: with more, engines take too long to plan the statement. */
export const MAX_CONDITIONS = 500

/**
 * Error message for an invalid condition, in REST's wording, or null: `Value abc is not supported for type
 * Number on column Num`. Incomplete conditions are valid.
 */
export function checkCondition(condition: Condition, field: FilterField): string | null {
  const operator = findOperator(condition.operator)
  const suffix = `is not supported for type ${field.type} on column ${field.title}`
  if (!operator?.accepts.includes(setOf(field)))
    return `Operation ${describeValue(condition.operator)} ${suffix}`
  const unfit = findInvalidValue(operator, condition, field)
  return unfit === undefined ? null : `Value ${describeValue(unfit)} ${suffix}`
}

/** False if the condition lacks a required value; it then has no effect (ui §7). */
export function isComplete(condition: Condition, field: FilterField): boolean {
  const operator = findOperator(condition.operator)
  return operator !== null && hasRequiredValues(operator, condition, setOf(field))
}

/**
 * Maximum depth of a planned filter: parsing REST's flat chains into groups of "and" inside "or" can double
 * the depth, and combining it with the view's filter adds one level.
 */
export const MAX_PLANNED_DEPTH = 2 * MAX_DEPTH + 1

/**
 * All problems of a filter, empty if it is valid: unknown fields (FIELD_NOT_FOUND), excessive size
 * (INVALID_FILTER), and operators or values that do not fit the field (FILTER_VERIFICATION_FAILED).
 *
 * @param maxDepth `MAX_DEPTH` for a filter from a user; more for a combined filter
 */
export function checkFilter(
  filter: Filter,
  field: (fieldId: string) => FilterField | undefined | null,
  maxDepth = MAX_PLANNED_DEPTH,
): AppError[] {
  const conditions: Condition[] = []
  if (!collect(filter, maxDepth, conditions)) {
    return [invalid(m.filter_error_size({ maxDepth, maxConditions: MAX_CONDITIONS }))]
  }
  return conditions.flatMap((condition) => {
    const known = field(condition.fieldId)
    if (!known) return [notFound('Field', describeValue(condition.fieldId))]
    const problem = checkCondition(condition, known)
    return problem === null ? [] : [verificationFailed(problem, known.id)]
  })
}

/** The 422 error for a condition that does not fit its field. */
export const verificationFailed = (problem: string, fieldId: string): AppError =>
  new AppError('FILTER_VERIFICATION_FAILED', `Filter verification failed: ${problem}`, { fieldId })

/** Collects the conditions; false as soon as they are too many or too deep, which protects the stack. */
function collect(filter: Filter, depth: number, into: Condition[]): boolean {
  if (!isGroup(filter)) return into.push(filter) <= MAX_CONDITIONS
  return depth > 0 && filter.children.every((child) => collect(child, depth - 1, into))
}

const cellValue = z.union([z.string().check(z.maxLength(10_000)), z.number(), z.boolean(), z.null()])

const id = z.optional(z.string().check(z.maxLength(64)))

const condition = z.object({
  id,
  fieldId: z.string().check(z.maxLength(64)),
  operator: z.string().check(z.maxLength(32)),
  operand: z.nullish(z.enum(DATE_OPERANDS)),
  value: z._default(z.union([cellValue, z.array(cellValue).check(z.maxLength(MAX_LIST))]), null),
})

const group = z.object({
  id,
  join: z.enum(['and', 'or']),
  not: z.optional(z.boolean()),
  children: z.array(z.unknown()).check(z.maxLength(MAX_CONDITIONS)),
})

/**
 * Validates the shape of a client's filter; `checkFilter` then validates it against the fields. Recurses by
 * hand, because a recursive schema would follow hostile input to any depth.
 *
 * @throws INVALID_FILTER for an invalid shape, or nesting deeper than `MAX_DEPTH`
 */
export function readFilter(input: unknown, depth = MAX_DEPTH): Filter {
  if (typeof input !== 'object' || input === null || !('children' in input)) return readCondition(input)
  if (depth === 0) throw invalid(m.filter_error_depth({ maxDepth: MAX_DEPTH }))
  const result = group.safeParse(input)
  if (!result.success) throw invalid(m.filter_error_group())
  const { join, not, children } = result.data
  const named = result.data.id === undefined ? {} : { id: result.data.id }
  const read = children.map((child) => readFilter(child, depth - 1))
  return not ? { ...named, join, not, children: read } : { ...named, join, children: read }
}

function readCondition(input: unknown): Condition {
  const result = condition.safeParse(input)
  if (!result.success) throw invalid(m.filter_error_condition())
  const { fieldId, operator, operand, value } = result.data
  const plain: Condition = { fieldId, operator, value: value satisfies CellValue | CellValue[] }
  const named = result.data.id === undefined ? plain : { id: result.data.id, ...plain }
  return operand ? { ...named, operand } : named
}

const invalid = (message: string): AppError => new AppError('INVALID_FILTER', message)

/** `readFilter` as a schema, for the inputs of procedures. */
export const filterSchema = z.pipe(
  z.unknown(),
  z.transform((input, context): Filter => {
    try {
      return readFilter(input)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      context.issues.push({ code: 'custom', message: error.message, input })
      return z.NEVER
    }
  }),
)
