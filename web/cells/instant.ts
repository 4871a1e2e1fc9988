import { dayIn, fromStored, resolveZone, toStored } from '../../src/core/dates.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { formatInstant, type InstantOptions } from '../../src/core/fields/instant-text.ts'

/** An instant as the field shows it, in the field's zone. */
export const showInstant = (value: CellValue, options: InstantOptions): string =>
  value === null ? '' : formatInstant(String(value), options)

/** Now, to the second: the milliseconds of a key press say nothing. */
export const now = (): string | null => toStored(Math.floor(Date.now() / 1000) * 1000)

/** The day of an instant in the field's zone. */
export function dayOfInstant(value: CellValue, options: InstantOptions): string | null {
  const ms = typeof value === 'string' ? fromStored(value) : null
  return ms === null ? null : dayIn(ms, resolveZone(options.timeZone))
}
