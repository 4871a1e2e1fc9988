import type { Datum } from './functions/define.ts'

/** Units of DATEADD as days or months. */
const STEPS: Record<string, { days: number } | { months: number }> = {
  day: { days: 1 },
  week: { days: 7 },
  month: { months: 1 },
  year: { months: 12 },
}

/** Units of DATETIME_DIFF: exact time in milliseconds, time on the wall in milliseconds, or calendar months. */
export type DifferenceUnit = { exact: number } | { wall: number } | { months: number }

const HOUR = 3_600_000
const UNITS: [names: string[], unit: DifferenceUnit][] = [
  [['milliseconds', 'ms'], { exact: 1 }],
  [['seconds', 's'], { exact: 1000 }],
  [['minutes', 'm'], { exact: 60_000 }],
  [['hours', 'h'], { exact: HOUR }],
  [['days', 'd'], { wall: 24 * HOUR }],
  [['weeks', 'w'], { wall: 7 * 24 * HOUR }],
  [['months', 'M'], { months: 1 }],
  [['quarters', 'Q'], { months: 3 }],
  [['years', 'y'], { months: 12 }],
]

const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

/** What DATEADD adds for a unit; null for a word that is none. */
export const stepOf = (unit: Datum | undefined): { days: number } | { months: number } | null =>
  STEPS[String(unit).toLowerCase()] ?? null

/** The unit of DATETIME_DIFF by its name: `days`, `day` or `d`. Of the short ones M and Q are capitals. */
export function differenceUnit(name: Datum | undefined): DifferenceUnit | null {
  const text = String(name)
  const long = text.toLowerCase()
  const found = UNITS.find(([[full = '', short]]) => text === short || long === full || `${long}s` === full)
  return found?.[1] ?? null
}

/** Every way to write a unit of DATETIME_DIFF. */
export const DIFFERENCE_UNITS: readonly string[] = UNITS.flatMap(([names]) => names)
/** Every way to write a unit of DATEADD. */
export const STEP_UNITS: readonly string[] = Object.keys(STEPS)

/** Days behind Monday of a weekday's name, 0 where none is given; -1 for what is no weekday. */
export const firstDay = (name: Datum | undefined): number =>
  name === undefined || name === null ? 0 : DAYS.indexOf(String(name).toLowerCase())
