import { dayIn, resolveZone, toStored } from '../../src/core/dates.ts'

/** The current day in the browser's time zone. */
export const today = (): string => dayIn(Date.now(), resolveZone('local'))

/** The current time as it is stored, to the second. */
export const now = (): string | null => toStored(Math.floor(Date.now() / 1000) * 1000)
