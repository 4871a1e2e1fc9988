import type { SummarySet } from './fields/field-type.ts'
import type { LocalizedText } from './message.ts'
import { m } from './messages.gen.ts'

/**
 * Summaries of a column. `count` counts all rows, `filled` those with a value (neither NULL nor an empty text),
 * `checked` those that are true.
 */
export type SummaryPart =
  | 'count'
  | 'filled'
  | 'unique'
  | 'checked'
  | 'sum'
  | 'min'
  | 'max'
  | 'median'
  | 'stddev'
  /** Total size of the files in the cells, in bytes. */
  | 'fileBytes'

/** Display of a summary: like a value of its field, as a plain number, as `42%`, as a duration or as `4.2 MB`. */
type SummaryForm = 'value' | 'number' | 'percent' | 'days' | 'months' | 'bytes'

interface SummaryShape {
  key: string
  label: LocalizedText
  sets: readonly SummarySet[]
  /** Parts that it is computed from: `percentFilled` needs `filled` and `count`. */
  needs: readonly SummaryPart[]
  form: SummaryForm
}

const EVERY: readonly SummarySet[] = ['count', 'number', 'date', 'size']

/**
 * The summaries that the footer offers, in the order of its menu (ui §6).
 *
 * `stddev` is the population standard deviation. The `median` of an even number of values is the mean of the
 * middle two. Percentages range from 0 to 100 and are null without rows; `rangeMonths` counts whole months.
 * Without values, sum, min, max, avg, median, stddev and the ranges are null.
 */
export const SUMMARIES = [
  { key: 'size', label: m.summary_size, sets: ['size'], needs: ['fileBytes'], form: 'bytes' },
  { key: 'sum', label: m.summary_sum, sets: ['number'], needs: ['sum'], form: 'value' },
  { key: 'avg', label: m.summary_avg, sets: ['number'], needs: ['sum', 'filled'], form: 'value' },
  { key: 'median', label: m.summary_median, sets: ['number'], needs: ['median'], form: 'value' },
  { key: 'min', label: m.summary_min, sets: ['number'], needs: ['min'], form: 'value' },
  { key: 'max', label: m.summary_max, sets: ['number'], needs: ['max'], form: 'value' },
  { key: 'range', label: m.summary_range, sets: ['number'], needs: ['min', 'max'], form: 'value' },
  { key: 'stddev', label: m.summary_stddev, sets: ['number'], needs: ['stddev'], form: 'value' },
  { key: 'earliest', label: m.summary_earliest, sets: ['date'], needs: ['min'], form: 'value' },
  { key: 'latest', label: m.summary_latest, sets: ['date'], needs: ['max'], form: 'value' },
  { key: 'rangeDays', label: m.summary_range_days, sets: ['date'], needs: ['min', 'max'], form: 'days' },
  {
    key: 'rangeMonths',
    label: m.summary_range_months,
    sets: ['date'],
    needs: ['min', 'max'],
    form: 'months',
  },
  { key: 'checked', label: m.summary_checked, sets: ['checkbox'], needs: ['checked'], form: 'number' },
  {
    key: 'unchecked',
    label: m.summary_unchecked,
    sets: ['checkbox'],
    needs: ['count', 'checked'],
    form: 'number',
  },
  {
    key: 'percentChecked',
    label: m.summary_percent_checked,
    sets: ['checkbox'],
    needs: ['count', 'checked'],
    form: 'percent',
  },
  {
    key: 'percentUnchecked',
    label: m.summary_percent_unchecked,
    sets: ['checkbox'],
    needs: ['count', 'checked'],
    form: 'percent',
  },
  { key: 'count', label: m.summary_count, sets: EVERY, needs: ['count'], form: 'number' },
  { key: 'empty', label: m.summary_empty, sets: EVERY, needs: ['count', 'filled'], form: 'number' },
  { key: 'filled', label: m.summary_filled, sets: EVERY, needs: ['filled'], form: 'number' },
  { key: 'unique', label: m.summary_unique, sets: EVERY, needs: ['unique'], form: 'number' },
  {
    key: 'percentEmpty',
    label: m.summary_percent_empty,
    sets: EVERY,
    needs: ['count', 'filled'],
    form: 'percent',
  },
  {
    key: 'percentFilled',
    label: m.summary_percent_filled,
    sets: EVERY,
    needs: ['count', 'filled'],
    form: 'percent',
  },
  {
    key: 'percentUnique',
    label: m.summary_percent_unique,
    sets: EVERY,
    needs: ['count', 'unique'],
    form: 'percent',
  },
] as const satisfies readonly SummaryShape[]

type SummaryKey = (typeof SUMMARIES)[number]['key']

export type Summary = SummaryShape & { key: SummaryKey }

const BY_KEY: ReadonlyMap<string, Summary> = new Map(SUMMARIES.map((summary) => [summary.key, summary]))

/** Finds a summary by key; else null. */
export const findSummary = (key: string): Summary | null => BY_KEY.get(key) ?? null

/** Summaries offered for a set, in menu order. "None" means no summary. */
export const summariesFor = (set: SummarySet): Summary[] =>
  SUMMARIES.filter((summary: Summary) => summary.sets.includes(set))
