import { dayIn, resolveZone, toStored, wallIn } from '../dates.ts'
import type { Field } from './field.ts'
import type { CellValue } from './field-type.ts'
import { fieldType } from './index.ts'

/** Default value of Date, DateTime and Time fields that stands for the record's creation time. */
export const NOW = '@now'

/** Creation time of a record and its creator's time zone, which determines the day and the time of day. */
export interface CreationMoment {
  /** Milliseconds since 1970. */
  ms: number
  /** IANA name; absent: the time zone of the process. */
  timeZone?: string
}

/** Converts an instant to the stored form of each type that accepts `NOW` as default. */
const MOMENTS: Partial<Record<Field['type'], (ms: number, zone: string) => CellValue>> = {
  Date: dayIn,
  DateTime: toStored,
  Time(ms, zone) {
    const { hour, minute, second } = wallIn(ms, zone)
    return [hour, minute, second].map((part) => String(part).padStart(2, '0')).join(':')
  },
}

/** True for types whose default value may be `NOW`. */
export const acceptsNow = (type: Field['type']): boolean => type in MOMENTS

/** True where new records default to their creation time. */
export const defaultsToNow = ({ type, defaultValue }: Pick<Field, 'type' | 'defaultValue'>): boolean =>
  defaultValue === NOW && acceptsNow(type)

const DAYS: ReadonlySet<Field['type']> = new Set(['Date', 'DateTime'])

/** True where a `NOW` default survives a type change: Date and DateTime are interchangeable. */
export const keepsNowDefault = (from: Field['type'], to: Field['type']): boolean =>
  from === to ? acceptsNow(to) : DAYS.has(from) && DAYS.has(to)

/** Default value of a new record, or null. Does not resolve "me" (see `defaultPeople`). */
export function startValue(
  { type, defaultValue }: Pick<Field, 'type' | 'defaultValue'>,
  { ms, timeZone = 'local' }: CreationMoment,
): CellValue {
  const moment = defaultValue === NOW ? MOMENTS[type] : undefined
  if (moment) return moment(Math.floor(ms / 1000) * 1000, resolveZone(timeZone))
  return defaultValue ?? fieldType(type).initial ?? null
}
