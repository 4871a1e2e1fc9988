import { z } from 'zod'
import { badRequest } from '../../../src/core/errors.ts'
import { MAX_GROUPS, type RowHeight, type Sort } from '../../../src/core/model.ts'
import { HIDEABLE_ROLES } from '../../../src/core/roles.ts'
import { readBody } from '../../../src/wire/rest-base.ts'
import { MAX_WIDTH, MIN_WIDTH, type ViewRow } from '../model/index.ts'
import type { VisibilityRule } from '../settings/index.ts'
import { wireFlag, wireMeta } from './kinds/wire-kind.ts'

const id = z.string().max(64)
const title = z.string().max(1000)
const lock = z.enum(['collaborative', 'locked', 'personal'])

/** A new view; `order` is not read, it goes last. What its kind keeps, the kind reads. */
export const ViewBody = z.object({
  title,
  copy_from_id: id.nullish(),
  lock_type: lock.nullish(),
  description: z.string().max(10_000).nullish(),
})
/** What of a view changes; `show` is not read. */
export const ViewPatchBody = z.object({
  title: title.optional(),
  order: z.number().optional(),
  lock_type: lock.optional(),
  owned_by: id.optional(),
  show_system_fields: wireFlag.nullish(),
  meta: wireMeta.nullish(),
  description: z.string().max(10_000).nullish(),
})

/** What changes about one column of a view. */
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

/** The same, with the column named by its field. */
export const NewViewColumnBody = z.object({ fk_column_id: id })

/** What a client says of how a view shows a column, in our words. */
export function readLine({ show, order, width, aggregation }: ViewColumn) {
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
 * The groups of a view after what a client says of one column. `group_by_order` counts from 1; a direction or a
 * place alone says nothing of a column that groups nothing.
 *
 * @throws BAD_REQUEST past the most levels
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
  if (others.length >= MAX_GROUPS) throw badRequest(`A view can be grouped by up to ${MAX_GROUPS} fields`)
  const group: Sort = { fieldId, direction: direction ?? known?.direction ?? 'asc' }
  const place = order == null ? (known ? groups.indexOf(known) : others.length) : Math.round(order) - 1
  return others.toSpliced(Math.max(0, place), 0, group)
}

/** Row heights in the order in which clients number them. */
export const ROW_HEIGHTS: readonly RowHeight[] = ['short', 'medium', 'tall', 'extra']

/** A row height as clients number it; beyond the list the nearest is meant. */
export const rowHeightOf = (number: number): RowHeight =>
  ROW_HEIGHTS[Math.min(3, Math.max(0, Math.round(number)))] ?? 'short'

/** Our name of each summary, by the one that clients know. */
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

/** Roles that programs name here and that no view is hidden from. */
const SEE_ALL = ['owner', 'creator', 'guest'] as const
const MAX_RULES = 10_000

const flags = z.object(
  Object.fromEntries([...SEE_ALL, ...HIDEABLE_ROLES].map((role) => [role, wireFlag.nullish()])),
)
const Rules = z.array(z.object({ id: z.string().max(64), disabled: flags })).max(MAX_RULES)

/** From whom a view is hidden, as programs know it (wire reference §5.3): the `disabled` of a view. */
export const presentVisibility = ({ hiddenFrom }: Pick<ViewRow, 'hiddenFrom'>): Record<string, boolean> =>
  Object.fromEntries(
    ['owner', 'creator', 'viewer', 'editor', 'commenter', 'guest'].map((role) => [
      role,
      hiddenFrom?.some((hidden) => hidden === role) ?? false,
    ]),
  )

/**
 * Reads a list of views, each with its `disabled`: what that does not name stays.
 *
 * @throws INVALID_REQUEST_BODY for anything but a list; BAD_REQUEST where a view is to be hidden from who sees all
 */
export function readVisibility(body: unknown): VisibilityRule[] {
  return readBody(Rules, body).map(({ id, disabled }) => {
    const immune = SEE_ALL.find((role) => disabled[role])
    if (immune !== undefined) throw badRequest(`A view can’t be hidden from the role ${immune}`)
    const hidden = HIDEABLE_ROLES.flatMap((role) => (disabled[role] == null ? [] : [[role, disabled[role]]]))
    return { viewId: id, hidden: Object.fromEntries(hidden) }
  })
}
