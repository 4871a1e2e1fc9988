import type { SummarySet } from './fields/field-type.ts'

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
  | 'avg'
  | 'median'
  | 'stddev'
  /** All bytes of the files in the cells. */
  | 'fileBytes'

/** How a summary is shown: like a value of its field, as a plain number, as `42%`, as a length of time or as `4.2 MB`. */
type SummaryForm = 'value' | 'number' | 'percent' | 'days' | 'months' | 'bytes'

interface SummaryShape {
  key: string
  label: string
  sets: readonly SummarySet[]
  /** The parts from which it follows: `percentFilled` needs `filled` and `count`. */
  needs: readonly SummaryPart[]
  form: SummaryForm
}

const EVERY: readonly SummarySet[] = ['count', 'number', 'date', 'size']

/**
 * The summaries that the footer offers, in the order of its menu (ui §6).
 *
 * `stddev` is that of the whole population. `median` of an even number of values is the mean of the
 * two in the middle. Percentages run from 0 to 100 and are null over no rows; `rangeMonths` counts
 * whole months. Over no values sum, min, max, avg, median, stddev and the ranges are null.
 */
export const SUMMARIES = [
  { key: 'size', label: 'Total size', sets: ['size'], needs: ['fileBytes'], form: 'bytes' },
  { key: 'sum', label: 'Sum', sets: ['number'], needs: ['sum'], form: 'value' },
  { key: 'avg', label: 'Average', sets: ['number'], needs: ['avg'], form: 'value' },
  { key: 'median', label: 'Median', sets: ['number'], needs: ['median'], form: 'value' },
  { key: 'min', label: 'Minimum', sets: ['number'], needs: ['min'], form: 'value' },
  { key: 'max', label: 'Maximum', sets: ['number'], needs: ['max'], form: 'value' },
  { key: 'range', label: 'Range', sets: ['number'], needs: ['min', 'max'], form: 'value' },
  { key: 'stddev', label: 'Standard deviation', sets: ['number'], needs: ['stddev'], form: 'value' },
  { key: 'earliest', label: 'Earliest', sets: ['date'], needs: ['min'], form: 'value' },
  { key: 'latest', label: 'Latest', sets: ['date'], needs: ['max'], form: 'value' },
  { key: 'rangeDays', label: 'Range in days', sets: ['date'], needs: ['min', 'max'], form: 'days' },
  { key: 'rangeMonths', label: 'Range in months', sets: ['date'], needs: ['min', 'max'], form: 'months' },
  { key: 'checked', label: 'Checked', sets: ['checkbox'], needs: ['checked'], form: 'number' },
  { key: 'unchecked', label: 'Unchecked', sets: ['checkbox'], needs: ['count', 'checked'], form: 'number' },
  {
    key: 'percentChecked',
    label: 'Percent checked',
    sets: ['checkbox'],
    needs: ['count', 'checked'],
    form: 'percent',
  },
  {
    key: 'percentUnchecked',
    label: 'Percent unchecked',
    sets: ['checkbox'],
    needs: ['count', 'checked'],
    form: 'percent',
  },
  { key: 'count', label: 'Count', sets: EVERY, needs: ['count'], form: 'number' },
  { key: 'empty', label: 'Empty', sets: EVERY, needs: ['count', 'filled'], form: 'number' },
  { key: 'filled', label: 'Filled', sets: EVERY, needs: ['filled'], form: 'number' },
  { key: 'unique', label: 'Unique', sets: EVERY, needs: ['unique'], form: 'number' },
  { key: 'percentEmpty', label: 'Percent empty', sets: EVERY, needs: ['count', 'filled'], form: 'percent' },
  { key: 'percentFilled', label: 'Percent filled', sets: EVERY, needs: ['count', 'filled'], form: 'percent' },
  { key: 'percentUnique', label: 'Percent unique', sets: EVERY, needs: ['count', 'unique'], form: 'percent' },
] as const satisfies readonly SummaryShape[]

type SummaryKey = (typeof SUMMARIES)[number]['key']

/** A summary as menus and the planner read it. */
export type Summary = SummaryShape & { key: SummaryKey }

const BY_KEY: ReadonlyMap<string, Summary> = new Map(SUMMARIES.map((summary) => [summary.key, summary]))

/** The summary of that key, or null. */
export const findSummary = (key: string): Summary | null => BY_KEY.get(key) ?? null

/** True for the key of a summary. */
export const isSummaryKey = (key: unknown): key is SummaryKey => typeof key === 'string' && BY_KEY.has(key)

/** Summaries offered for a set, in menu order. "None" means no summary. */
export const summariesFor = (set: SummarySet): Summary[] =>
  SUMMARIES.filter((summary: Summary) => summary.sets.includes(set))
