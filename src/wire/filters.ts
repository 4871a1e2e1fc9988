import { AppError, notFound } from '../core/errors.ts'
import type { CellValue } from '../core/fields/field-type.ts'
import { describeValue } from '../core/fields/field-type.ts'
import { MAX_CONDITIONS } from '../core/filters/check.ts'
import { type Condition, DATE_OPERANDS, type Filter, MAX_DEPTH } from '../core/filters/filter.ts'
import { type FilterField, setOf } from '../core/filters/operand.ts'
import { arityFor } from '../core/filters/operators/operator.ts'
import { parseJsonText } from '../core/json-text.ts'
import { chain, findWireOperator, fromWireOperator, type Link, verifyWire } from './conditions.ts'

/** A filter as REST sends and stores it (wire reference §10); all else in the object is of no matter here. */
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
 * The filter that a list of REST's filter objects means: each joins to those before it by its own
 * `logical_op` (none is "and", "not" is "and not"), and "and" binds tighter. Null for an empty list.
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
  // An object without a field or operator is one that a person has begun and not finished.
  if (!id || !name) return null
  const known = typeof id === 'string' ? field(id) : null
  if (!known) throw notFound('Field', describeValue(id))
  return conditionFromWire(wire, known, typeof name === 'string' ? name : describeValue(name))
}

/**
 * The condition of one of REST's filter objects on its field.
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

/** `filterArrJson`: text that is no JSON is ignored (wire reference §14.4). */
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
