import { z } from 'zod'
import { AppError, badRequest } from '../../src/core/errors.ts'
import {
  type Condition,
  conditionFromWire,
  DATE_OPERANDS,
  operatorsFor,
  setOf,
  toWireOperator,
  type WireFilter,
} from '../../src/core/filters/index.ts'
import { createId } from '../../src/core/ids.ts'
import type { RowHeight, Sort } from '../../src/core/model.ts'
import { plainObject } from '../../src/input.ts'
import type { TableModel } from '../schema/index.ts'
import { requireField } from './context.ts'
import { MAX_WIDTH, MIN_WIDTH } from './model.ts'
import type { WireNode } from './wire-filters.ts'

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

const title = z.string().max(1000)
const lock = z.enum(['collaborative', 'locked', 'personal'])
/** `meta` is an object, or the same as JSON text (wire reference §1.4). */
const Meta = z.union([
  plainObject(100_000),
  z.string().max(100_000).transform(parseMeta).pipe(plainObject(100_000)),
])
const description = z.string().max(10_000)

/** A new view; `order` is not read, it goes last. */
export const ViewBody = z.object({
  title,
  copy_from_id: id.nullish(),
  lock_type: lock.nullish(),
  meta: Meta.nullish(),
})
/** What of a view changes; `show` is not read. */
export const ViewPatchBody = z.object({
  title: title.optional(),
  order: z.number().optional(),
  lock_type: lock.optional(),
  show_system_fields: flag.nullish(),
  meta: Meta.nullish(),
  description: description.nullish(),
})
/** What of a grid changes. */
export const GridPatchBody = z.object({ row_height: z.number().nullish(), meta: Meta.nullish() })

/** What changes about one column of a view. */
export const ViewColumnBody = z.object({
  show: flag.nullish(),
  order: z.number().nullish(),
  width: z.union([z.string().max(20), z.number()]).nullish(),
  aggregation: z.string().max(64).nullish(),
  group_by: flag.nullish(),
})
/** The same, with the column named by its field. */
export const NewViewColumnBody = ViewColumnBody.extend({ fk_column_id: id })

function parseMeta(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Row heights in the order in which clients number them. */
export const ROW_HEIGHTS: readonly RowHeight[] = ['short', 'medium', 'tall', 'extra']

/** A row height as clients number it; beyond the list the nearest is meant. */
export const rowHeightOf = (number: number): RowHeight =>
  ROW_HEIGHTS[Math.min(3, Math.max(0, Math.round(number)))] ?? 'short'

/** Our name of each summary, by the one that clients know. */
export const AGGREGATIONS: Record<string, string> = {
  ...{ sum: 'sum', avg: 'avg', median: 'median', min: 'min', max: 'max', range: 'range', std_dev: 'stddev' },
  ...{ count: 'count', count_empty: 'empty', count_filled: 'filled', count_unique: 'unique' },
  ...{ percent_empty: 'percentEmpty', percent_filled: 'percentFilled', percent_unique: 'percentUnique' },
  ...{ checked: 'checked', unchecked: 'unchecked', percent_checked: 'percentChecked' },
  ...{ percent_unchecked: 'percentUnchecked', earliest_date: 'earliest', latest_date: 'latest' },
  ...{ date_range: 'rangeDays', month_range: 'rangeMonths', attachment_size: 'size' },
}

/** What a client says of a view's column, in our words. */
export function readLine({
  show,
  order,
  width,
  aggregation,
  group_by: groupBy,
}: z.output<typeof ViewColumnBody>) {
  if (groupBy) throw new AppError('NOT_IMPLEMENTED', 'Grouping is not implemented')
  const pixels = typeof width === 'string' ? Number.parseInt(width, 10) : width
  if (width != null && !Number.isFinite(pixels)) throw badRequest(`'${String(width)}' is not a width`)
  const isNone = aggregation === null || aggregation === 'none'
  if (!isNone && aggregation !== undefined && !(aggregation in AGGREGATIONS)) {
    throw badRequest(`Aggregation '${aggregation}' is not known`)
  }
  return {
    ...(show != null && { show }),
    ...(order != null && { order }),
    ...(pixels != null && { width: Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, Math.round(pixels))) }),
    ...(aggregation !== undefined && { summary: isNone ? null : (AGGREGATIONS[aggregation ?? ''] ?? null) }),
  }
}

/**
 * The filter that a client's object means, with its children.
 *
 * @throws FIELD_NOT_FOUND, INVALID_FILTER, FILTER_VERIFICATION_FAILED
 */
export function readNode(model: TableModel, body: z.output<typeof FilterBody>, depth: number): WireNode {
  if (depth === 0) throw new AppError('INVALID_FILTER', 'Filters are nested too deep')
  const children = (body.children ?? []).map((child) => {
    const parsed = FilterBody.safeParse(child)
    if (!parsed.success) throw new AppError('INVALID_FILTER', 'A filter is expected as an object')
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
