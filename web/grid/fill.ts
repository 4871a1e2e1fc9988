import { digitsBelowMs, fromWall, offsetAt, wallOf, withDigitsBelowMs } from '../../src/core/dates.ts'
import type { CellValue, FillSeries } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { trimTrailing } from '../../src/core/trim-characters.ts'
import type { FillTarget } from './engine.ts'
import type { Bounds, CellPosition } from './selection.ts'

/** Kind of series; `other` repeats. */
type FillKind = FillSeries | 'other'

/** The kind of series of a field type. */
export const fillKind = (typeName: string): FillKind => fieldType(typeName).fill ?? 'other'

/**
 * `count` values that continue a run of cells, nearest first.
 *
 * Two or more numbers, dates or texts with a trailing number continue with their step (10, 20 → 30, 40); a
 * single such text counts up; other values repeat. `toggled` (Ctrl) does the opposite: a series repeats, and
 * a single number or date counts up. `backwards` continues before the first value. Days and months of instants are
 * those of `zone`, so that they keep their time of day over a clock change.
 */
export function continueValues(
  values: readonly CellValue[],
  kind: FillKind,
  count: number,
  options: { toggled?: boolean; backwards?: boolean; zone?: string } = {},
): CellValue[] {
  const source = options.backwards ? values.toReversed() : values
  const series = seriesOf(source, kind, options)
  return Array.from({ length: count }, (_, index) =>
    series ? series(index + 1) : (source[index % source.length] ?? null),
  )
}

/** Maps the distance from the last value to a value; null: repeat. */
function seriesOf(
  values: readonly CellValue[],
  kind: FillKind,
  {
    toggled = false,
    backwards = false,
    zone = 'UTC',
  }: { toggled?: boolean; backwards?: boolean; zone?: string },
): ((distance: number) => CellValue) | null {
  const alone = values.length === 1
  // A single text with a number counts up; a single number or date only with Ctrl.
  const isSeries = alone && kind !== 'text' ? toggled : !toggled
  if (!isSeries) return null
  const oneStep = backwards ? -1 : 1
  if (kind === 'number') return numberSeries(values, oneStep)
  if (kind === 'date') return dateSeries(values, oneStep, 'UTC')
  if (kind === 'datetime') return dateSeries(values, oneStep, zone)
  return kind === 'text' ? textSeries(values, oneStep) : null
}

function numberSeries(
  values: readonly CellValue[],
  oneStep: number,
): ((distance: number) => CellValue) | null {
  const numbers = values.filter((value) => typeof value === 'number')
  const step = numbers.length === values.length ? commonStep(numbers, oneStep) : null
  if (step === null) return null
  const last = numbers.at(-1)!
  // Steps use the numbers' decimal places, which avoids 0.1 + 0.2.
  const decimals = Math.max(...numbers.map(decimalsOf), decimalsOf(step))
  return (distance) => Number((last + step * distance).toFixed(decimals))
}

/** The decimal places of a number, also of one such as `2.5e-7`; at most the 100 of `toFixed`. */
function decimalsOf(value: number): number {
  const [digits = '', exponent = '0'] = String(value).split('e')
  const written = Math.min(12, digits.split('.')[1]?.length ?? 0)
  return Math.min(100, Math.max(0, written - Number(exponent)))
}

/** The common difference of neighbours; null if it varies. */
function commonStep(numbers: readonly number[], alone: number): number | null {
  if (numbers.length === 1) return alone
  const step = numbers[1]! - numbers[0]!
  const steady = numbers.every((value, at) => at === 0 || Math.abs(value - numbers[at - 1]! - step) < 1e-9)
  return steady ? Number(step.toPrecision(12)) : null
}

const DAY_MS = 86_400_000

/** Steps by whole months if all dates share day and time (1 Jan, 1 Feb → 1 Mar), else by whole days or by time. */
function dateSeries(
  values: readonly CellValue[],
  oneStep: number,
  zone: string,
): ((distance: number) => CellValue) | null {
  const texts = values.filter((value) => typeof value === 'string')
  if (texts.length !== values.length) return null
  const times = texts.map((text) => Date.parse(text.replace(' ', 'T')))
  if (times.some(Number.isNaN)) return null
  const write = (time: number): string => likeSample(new Date(time), texts[0]!)
  const last = times.at(-1)!
  // What clocks in the zone show, as if it were UTC.
  const walls = times.map((time) => time + offsetAt(time, zone))
  const writeWall = (wall: number): string => write(instantOf(wall, zone))
  const months = walls.length > 1 ? monthStep(walls) : null
  if (months !== null) return (distance) => writeWall(addMonths(walls.at(-1)!, months * distance))
  const days = commonStep(walls, oneStep * DAY_MS)
  if (days && days % DAY_MS === 0) return (distance) => writeWall(walls.at(-1)! + days * distance)
  const step = commonStep(times, oneStep * DAY_MS)
  return step === null ? null : (distance) => write(last + step * distance)
}

/** The instant at which clocks in the zone show a time; one that is skipped moves forward by the skipped hour. */
const instantOf = (wall: number, zone: string): number =>
  fromWall(wallOf(wall), zone) ?? wall - offsetAt(wall - DAY_MS / 2, zone)

function monthStep(times: readonly number[]): number | null {
  const dayAndTime = (time: number): string => new Date(time).toISOString().slice(8)
  const sameDay = times.every((time) => dayAndTime(time) === dayAndTime(times[0]!))
  if (!sameDay) return null
  const months = times.map((time) => new Date(time).getUTCFullYear() * 12 + new Date(time).getUTCMonth())
  const step = commonStep(months, 0)
  return step === 0 ? null : step
}

/** 31 January plus one month is 28 or 29 February. */
function addMonths(time: number, months: number): number {
  const from = new Date(time)
  const to = new Date(time)
  to.setUTCDate(1)
  to.setUTCMonth(from.getUTCMonth() + months)
  const lastDay = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0)).getUTCDate()
  to.setUTCDate(Math.min(from.getUTCDate(), lastDay))
  return to.getTime()
}

/**
 * Formats a date like the sample: `2026-01-31`, or `2026-01-31 12:00:00+00:00` with nonzero milliseconds and
 * the sample's further digits.
 */
function likeSample(date: Date, sample: string): string {
  const [day, time] = date.toISOString().split('T') as [string, string]
  if (sample.length <= 10) return day
  const instant = `${day} ${time.replace('.000', '').replace('Z', '+00:00')}`
  return withDigitsBelowMs(instant, digitsBelowMs(sample))
}

/** Splits off a trailing number; null if the text does not end in digits. */
function trailingNumber(text: string): { prefix: string; digits: string } | null {
  const prefix = trimTrailing(text, '0123456789')
  return prefix.length === text.length ? null : { prefix, digits: text.slice(prefix.length) }
}

/** `Task 09` continues as `Task 10`: equal text before the number, and at least as many digits. */
function textSeries(values: readonly CellValue[], oneStep: number): ((distance: number) => CellValue) | null {
  const parts = values.map((value) => (typeof value === 'string' ? trailingNumber(value) : null))
  const isSeries = (part: (typeof parts)[number]) =>
    part !== null && part.prefix === parts[0]!.prefix && part.digits.length <= 15
  if (!parts.every(isSeries)) return null
  const step = commonStep(
    parts.map((part) => Number(part!.digits)),
    oneStep,
  )
  if (step === null) return null
  const { prefix, digits } = parts.at(-1)!
  return (distance) =>
    prefix + String(Math.max(0, Number(digits) + step * distance)).padStart(digits.length, '0')
}

/** The cells filled by dragging the fill handle to a cell, along the longer axis; null inside the source. */
export function fillTarget(source: Bounds, to: CellPosition): FillTarget | null {
  const down = to.row - source.bottom
  const up = source.top - to.row
  const end = to.column - source.end
  const start = source.start - to.column
  const furthest = Math.max(down, up, end, start)
  if (furthest <= 0) return null
  if (furthest === down) {
    return { direction: 'down', bounds: { ...source, top: source.bottom + 1, bottom: to.row } }
  }
  if (furthest === up) return { direction: 'up', bounds: { ...source, top: to.row, bottom: source.top - 1 } }
  if (furthest === end)
    return { direction: 'end', bounds: { ...source, start: source.end + 1, end: to.column } }
  return { direction: 'start', bounds: { ...source, start: to.column, end: source.start - 1 } }
}
