import { dayIn, resolveZone, toStored } from '../../src/core/dates.ts'

/** The current day in a time zone, by default the browser's. */
export const today = (timeZone = 'local'): string => dayIn(Date.now(), resolveZone(timeZone))

/** The current time as it is stored, to the second. */
export const now = (): string | null => toStored(Math.floor(Date.now() / 1000) * 1000)

/** The current time of day in the browser's time zone, to the minute. */
export function timeOfDay(): string {
  const date = new Date()
  return `${[date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':')}:00`
}
