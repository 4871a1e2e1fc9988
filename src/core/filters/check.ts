import * as z from 'zod/mini'
import { AppError, notFound } from '../errors.ts'
import { type CellValue, describeValue } from '../fields/field-type.ts'
import { m } from '../messages.gen.ts'
import { type Condition, DATE_OPERANDS, type Filter, isGroup, MAX_DEPTH } from './filter.ts'
import { type FilterField, isFilledIn, MAX_LIST, setOf, unfitValue } from './operand.ts'
import { findOperator } from './operators/index.ts'

/** Most conditions in one filter: beyond it no engine plans the statement in reasonable time. */
export const MAX_CONDITIONS = 500

/**
 * Error message for an invalid condition, in REST's wording, or null:
 * `Value abc is not supported for type Number on column Num`. What is merely incomplete is not wrong.
 */
export function checkCondition(condition: Condition, field: FilterField): string | null {
  const operator = findOperator(condition.operator)
  const suffix = `is not supported for type ${field.type} on column ${field.title}`
  const set = setOf(field)
  if (!operator?.accepts.includes(set)) return `Operation ${describeValue(condition.operator)} ${suffix}`
  const unfit = unfitValue(operator, condition, set)
  return unfit === undefined ? null : `Value ${describeValue(unfit)} ${suffix}`
}

/** False where the condition lacks a value that it needs; it then has no effect (ui §7). */
export function isComplete(condition: Condition, field: FilterField): boolean {
  const operator = findOperator(condition.operator)
  return operator !== null && isFilledIn(operator, condition, setOf(field))
}

/**
 * Deepest filter that is planned: one written `MAX_DEPTH` deep on the wire doubles when its flat chains
 * become groups of "and" inside "or", and is then joined to the filter of a view.
 */
export const MAX_PLANNED_DEPTH = 2 * MAX_DEPTH + 1

/**
 * All problems of a filter; none where it may be stored and used: unknown fields
 * (FIELD_NOT_FOUND), too much of it (INVALID_FILTER), and operators or values that do not go with the
 * field (FILTER_VERIFICATION_FAILED).
 *
 * @param maxDepth `MAX_DEPTH` for what a person built; more for what was put together from parts
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

/** The 422 of the wire for a condition that does not go with its field. */
export const verificationFailed = (problem: string, fieldId: string): AppError =>
  new AppError('FILTER_VERIFICATION_FAILED', `Filter verification failed: ${problem}`, { fieldId })

/** Gathers the conditions; false as soon as there are too many or too deep, so that nothing overflows. */
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
 * A filter from outside, as far as its shape goes; `checkFilter` then holds it against the fields.
 * Written by hand around the two schemas, because a recursive schema would follow a hostile input as
 * deep as it goes.
 *
 * @throws INVALID_FILTER for another shape, or nesting deeper than `MAX_DEPTH`
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
