import { dayIn, resolveZone, toStored, wallIn } from '../dates.ts'
import type { Field } from './field.ts'
import type { CellValue } from './field-type.ts'
import { fieldType } from './index.ts'

/** Stands for the moment at which a record is made, in a default value of a day, an instant or a time. */
export const NOW = '@now'

/** When a record is made, and by whose clock: a day and a time of day are those of its maker. */
export interface MadeAt {
  /** Milliseconds since 1970. */
  ms: number
  /** An IANA name; absent: what `local` means to this program. */
  timeZone?: string
}

/** The current moment in the stored form of each type that accepts it as default, to the second. */
const MOMENTS: Partial<Record<Field['type'], (ms: number, zone: string) => CellValue>> = {
  Date: dayIn,
  DateTime: toStored,
  Time(ms, zone) {
    const { hour, minute, second } = wallIn(ms, zone)
    return [hour, minute, second].map((part) => String(part).padStart(2, '0')).join(':')
  },
}

/** True for types whose default value may be `NOW`. */
export const takesNow = (type: Field['type']): boolean => type in MOMENTS

/** True where new records get the moment at which they are made. */
export const startsNow = ({ type, defaultValue }: Pick<Field, 'type' | 'defaultValue'>): boolean =>
  defaultValue === NOW && takesNow(type)

const DAYS: ReadonlySet<Field['type']> = new Set(['Date', 'DateTime'])

/** True where a default of the moment outlives a change of type: a day and an instant are the same to it. */
export const keepsNow = (from: Field['type'], to: Field['type']): boolean =>
  from === to ? takesNow(to) : DAYS.has(from) && DAYS.has(to)

/** Default value of a new record, or null. Does not resolve "me" (see `defaultPeople`). */
export function startValue(
  { type, defaultValue }: Pick<Field, 'type' | 'defaultValue'>,
  { ms, timeZone = 'local' }: MadeAt,
): CellValue {
  const moment = defaultValue === NOW ? MOMENTS[type] : undefined
  if (moment) return moment(Math.floor(ms / 1000) * 1000, resolveZone(timeZone))
  return defaultValue ?? fieldType(type).initial ?? null
}
