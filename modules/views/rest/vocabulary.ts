import type { RowHeight } from '../../../src/core/model.ts'

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
