import { z } from 'zod'
import { badRequest } from '../../../src/core/errors.ts'
import { MAX_GROUPS, type RowHeight, type Sort } from '../../../src/core/model.ts'
import { HIDEABLE_ROLES } from '../../../src/core/roles.ts'
import { m } from '../../../src/messages.gen.ts'
import { wireFlag } from '../../../src/wire/body-values.ts'
import { readBody } from '../../../src/wire/rest-base.ts'
import { MAX_WIDTH, MIN_WIDTH, type ViewRow } from '../model/index.ts'
import type { VisibilityRule } from '../settings/index.ts'
import { wireMeta } from './kinds/wire-kind.ts'

const id = z.string().max(64)
const title = z.string().max(1000)
const lock = z.enum(['collaborative', 'locked', 'personal'])

/** A new view. `order` is ignored: it goes last. The options of its kind are read by `WireKind.read`. */
export const ViewBody = z.object({
  title,
  copy_from_id: id.nullish(),
  lock_type: lock.nullish(),
  description: z.string().max(10_000).nullish(),
})
/** A partial update of a view; `show` is ignored. */
export const ViewPatchBody = z.object({
  title: title.optional(),
  order: z.number().optional(),
  lock_type: lock.optional(),
  owned_by: id.optional(),
  show_system_fields: wireFlag.nullish(),
  meta: wireMeta.nullish(),
  description: z.string().max(10_000).nullish(),
})

/** A partial update of a column of a view. */
export const ViewColumnBody = z.object({
  show: wireFlag.nullish(),
  order: z.number().nullish(),
  width: z.union([z.string().max(20), z.number()]).nullish(),
  aggregation: z.string().max(64).nullish(),
  group_by: wireFlag.nullish(),
  group_by_order: z.number().nullish(),
  group_by_sort: z.enum(['asc', 'desc']).nullish(),
})
type ViewColumn = z.output<typeof ViewColumnBody>

/** Names the column to update by its field. */
export const NewViewColumnBody = z.object({ fk_column_id: id })

/** Reads how a view shows a column. @throws BAD_REQUEST for an invalid width or aggregation */
export function readColumn({ show, order, width, aggregation }: ViewColumn) {
  const pixels = typeof width === 'string' ? Number.parseInt(width, 10) : width
  if (width != null && !Number.isFinite(pixels)) throw badRequest(`'${String(width)}' is not a valid width`)
  const isNone = aggregation === null || aggregation === 'none'
  if (!isNone && aggregation !== undefined && !Object.hasOwn(AGGREGATIONS, aggregation)) {
    throw badRequest(`Unknown aggregation '${aggregation}'`)
  }
  return {
    ...(show != null && { show }),
    ...(order != null && { order }),
    ...(pixels != null && { width: Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, Math.round(pixels))) }),
    ...(aggregation !== undefined && { summary: isNone ? null : (AGGREGATIONS[aggregation ?? ''] ?? null) }),
  }
}

/**
 * The groups of a view after an update of one column. `group_by_order` counts from 1; a direction or position alone does
 * not add a group.
 *
 * @throws BAD_REQUEST for too many levels
 */
export function withGroup(
  groups: Sort[],
  fieldId: string,
  { group_by: groupBy, group_by_order: order, group_by_sort: direction }: ViewColumn,
): Sort[] {
  const known = groups.find((group) => group.fieldId === fieldId)
  const isGrouped = groupBy ?? known !== undefined
  const others = groups.filter((group) => group !== known)
  if (!isGrouped) return others
  if (others.length >= MAX_GROUPS) throw badRequest(m.views_error_too_many_groups({ max: MAX_GROUPS }))
  const group: Sort = { fieldId, direction: direction ?? known?.direction ?? 'asc' }
  const index = order == null ? (known ? groups.indexOf(known) : others.length) : Math.round(order) - 1
  return others.toSpliced(Math.max(0, index), 0, group)
}

/** Row heights, indexed by their number in REST. */
export const ROW_HEIGHTS: readonly RowHeight[] = ['short', 'medium', 'tall', 'extra']

/** The row height of a number; numbers out of range take the nearest. */
export const rowHeightOf = (number: number): RowHeight =>
  ROW_HEIGHTS[Math.min(3, Math.max(0, Math.round(number)))] ?? 'short'

/** Summary keys by their names in REST. */
export const AGGREGATIONS: Record<string, string> = {
  sum: 'sum',
  avg: 'avg',
  median: 'median',
  min: 'min',
  max: 'max',
  range: 'range',
  std_dev: 'stddev',
  count: 'count',
  count_empty: 'empty',
  count_filled: 'filled',
  count_unique: 'unique',
  percent_empty: 'percentEmpty',
  percent_filled: 'percentFilled',
  percent_unique: 'percentUnique',
  checked: 'checked',
  unchecked: 'unchecked',
  percent_checked: 'percentChecked',
  percent_unchecked: 'percentUnchecked',
  earliest_date: 'earliest',
  latest_date: 'latest',
  date_range: 'rangeDays',
  month_range: 'rangeMonths',
  attachment_size: 'size',
}

/** The key of the summary with a name of REST; null for none and unknown names. */
export const summaryOfAggregation = (name: string): string | null =>
  Object.hasOwn(AGGREGATIONS, name) ? (AGGREGATIONS[name] ?? null) : null

/** Roles that `disabled` contains but that no view can be hidden from. */
const SEE_ALL = ['owner', 'creator', 'guest'] as const
const MAX_RULES = 10_000

const flags = z.object(
  Object.fromEntries([...SEE_ALL, ...HIDEABLE_ROLES].map((role) => [role, wireFlag.nullish()])),
)
const Rules = z.array(z.object({ id: z.string().max(64), disabled: flags })).max(MAX_RULES)

/** The roles that a view is hidden from, as `disabled` of a view (wire §5.3). */
export const presentVisibility = ({ hiddenFrom }: Pick<ViewRow, 'hiddenFrom'>): Record<string, boolean> =>
  Object.fromEntries(
    ['owner', 'creator', 'viewer', 'editor', 'commenter', 'guest'].map((role) => [
      role,
      hiddenFrom?.some((hidden) => hidden === role) ?? false,
    ]),
  )

/**
 * Reads a list of views with their `disabled`; roles it does not name stay as they are.
 *
 * @throws INVALID_REQUEST_BODY for anything but a list; BAD_REQUEST for a role that sees all views
 */
export function readVisibility(body: unknown): VisibilityRule[] {
  return readBody(Rules, body).map(({ id, disabled }) => {
    const immune = SEE_ALL.find((role) => disabled[role])
    if (immune !== undefined) throw badRequest(`A view can’t be hidden from the role ${immune}`)
    const hidden = HIDEABLE_ROLES.flatMap((role) => (disabled[role] == null ? [] : [[role, disabled[role]]]))
    return { viewId: id, hidden: Object.fromEntries(hidden) }
  })
}
