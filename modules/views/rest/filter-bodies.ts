import { z } from 'zod'
import { AppError } from '../../../src/core/errors.ts'
import { type Condition, DATE_OPERANDS, operatorsFor, setOf } from '../../../src/core/filters/index.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Sort } from '../../../src/core/model.ts'
import { conditionFromWire, toWireOperator, type WireFilter } from '../../../src/wire/filters.ts'
import type { TableModel } from '../../schema/index.ts'
import { requireField } from '../context.ts'
import type { WireNode } from './filter-list.ts'

const id = z.string().max(64)
const flag = z.union([z.boolean(), z.literal(0), z.literal(1)]).transform(Boolean)

const COMPARISONS = [
  ...['allof', 'anyof', 'blank', 'btw', 'checked', 'empty', 'eq', 'ge', 'gt', 'gte', 'in', 'is', 'isWithin'],
  ...['isnot', 'le', 'like', 'lt', 'lte', 'nallof', 'nanyof', 'nbtw', 'neq', 'nlike', 'not', 'notblank'],
  ...['notchecked', 'notempty', 'notnull', 'null'],
]

/** A filter as clients send it; children are read one by one, to the depth that is allowed. */
export const FilterBody = z.object({
  fk_column_id: id.nullish(),
  comparison_op: z.enum(COMPARISONS).nullish(),
  comparison_sub_op: z.enum(DATE_OPERANDS).nullish(),
  value: z.unknown().optional(),
  logical_op: z.enum(['and', 'or', 'not']).nullish(),
  fk_parent_id: id.nullish(),
  is_group: flag.nullish(),
  children: z.array(z.unknown()).max(500).nullish(),
})

const direction = z.enum(['asc', 'desc'])
const minProperties = (body: object) => Object.keys(body).length > 0

/** A new sort of a view. */
export const SortBody = z.object({
  fk_column_id: id,
  direction: direction.default('asc'),
  push_to_top: flag.nullish(),
})
/** What of a sort changes; at least one thing. */
export const SortPatch = z
  .looseObject({ fk_column_id: id.optional(), direction: direction.optional(), order: z.number().nullish() })
  .refine(minProperties, {
    error: 'must NOT have fewer than 1 properties',
    params: { keyword: 'minProperties', limit: 1 },
  })

/**
 * The filter that a client's object means, with its children.
 *
 * @throws FIELD_NOT_FOUND, INVALID_FILTER, FILTER_VERIFICATION_FAILED
 */
export function readNode(model: TableModel, body: z.output<typeof FilterBody>, depth: number): WireNode {
  if (depth === 0) throw new AppError('INVALID_FILTER', 'Filters are nested too deeply')
  const children = (body.children ?? []).map((child) => {
    const parsed = FilterBody.safeParse(child)
    if (!parsed.success) throw new AppError('INVALID_FILTER', 'A filter must be an object')
    return readNode(model, parsed.data, depth - 1)
  })
  // What names neither a group nor a field is a filter that someone has begun: a group of nothing.
  const isLeaf = !body.is_group && children.length === 0 && body.fk_column_id != null
  return {
    id: createId('filter'),
    join: body.logical_op === 'or' ? 'or' : 'and',
    not: body.logical_op === 'not',
    content: isLeaf ? { condition: readLeaf(model, body) } : { children },
  }
}

/** The condition of a client's object; without an operator, one that waits for its value. */
export function readLeaf(model: TableModel, body: WireFilter): Condition {
  const field = requireField(model, body.fk_column_id ?? '')
  const [usual] = operatorsFor(setOf(field))
  return conditionFromWire(body, field, body.comparison_op ?? usual?.key ?? 'eq')
}

/** A condition as clients write it, to lay a partial update over. */
export const asWire = ({ fieldId, operator, operand, value }: Condition): WireFilter => ({
  fk_column_id: fieldId,
  comparison_op: toWireOperator(operator),
  comparison_sub_op: operand ?? null,
  value,
})

/** A new sort ahead of the others, or behind them. */
export const withSort = (
  sorts: Sort[],
  { fk_column_id, direction, push_to_top }: z.output<typeof SortBody>,
): Sort[] => {
  const added: Sort = { id: createId('sort'), fieldId: fk_column_id, direction }
  return push_to_top ? [added, ...sorts] : [...sorts, added]
}
