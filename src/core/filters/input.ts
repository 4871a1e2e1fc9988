import { z } from 'zod'
import { AppError } from '../errors.ts'
import type { CellValue } from '../fields/field-type.ts'
import { MAX_CONDITIONS } from './check.ts'
import { type Condition, DATE_OPERANDS, type Filter, MAX_DEPTH } from './filter.ts'
import { MAX_LIST } from './operand.ts'

const cellValue = z.union([z.string().max(10_000), z.number(), z.boolean(), z.null()])

const id = z.string().max(64).optional()

const condition = z.object({
  id,
  fieldId: z.string().max(64),
  operator: z.string().max(32),
  operand: z.enum(DATE_OPERANDS).nullish(),
  value: z.union([cellValue, z.array(cellValue).max(MAX_LIST)]).default(null),
})

const group = z.object({
  id,
  join: z.enum(['and', 'or']),
  not: z.boolean().optional(),
  children: z.array(z.unknown()).max(MAX_CONDITIONS),
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
  if (depth === 0) throw invalid(`Filters can be nested up to ${MAX_DEPTH} levels`)
  const result = group.safeParse(input)
  if (!result.success) throw invalid('A filter group needs a join ("and" or "or") and children')
  const { join, not, children } = result.data
  const named = result.data.id === undefined ? {} : { id: result.data.id }
  const read = children.map((child) => readFilter(child, depth - 1))
  return not ? { ...named, join, not, children: read } : { ...named, join, children: read }
}

function readCondition(input: unknown): Condition {
  const result = condition.safeParse(input)
  if (!result.success) throw invalid('A filter condition needs a fieldId, an operator and a value')
  const { fieldId, operator, operand, value } = result.data
  const plain: Condition = { fieldId, operator, value: value satisfies CellValue | CellValue[] }
  const named = result.data.id === undefined ? plain : { id: result.data.id, ...plain }
  return operand ? { ...named, operand } : named
}

const invalid = (message: string): AppError => new AppError('INVALID_FILTER', message)

/** `readFilter` as a schema, for the inputs of procedures. */
export const filterSchema = z.unknown().transform((input, context): Filter => {
  try {
    return readFilter(input)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    context.addIssue({ code: 'custom', message: error.message })
    return z.NEVER
  }
})
