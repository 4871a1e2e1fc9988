import { addDays, dayIn, fromStored, isDay } from '../dates.ts'
import type { Field } from '../fields/field.ts'
import type { CellValue } from '../fields/field-type.ts'
import { fieldType } from '../fields/index.ts'

/** When an answer is looked at, and where whoever gave it is. */
export interface RuleMoment {
  now: Date
  /** IANA zone of the person who answers; absent where it is not known. */
  timeZone?: string
}

/** The days that are meant: one, or all that it can be somewhere on Earth where the zone is not known. */
export interface MeantDays {
  first: string
  last: string
  /** What to call it in a message; null: its date. */
  words: 'today' | null
}

/** True for what a limit of dates can be: a day as it is stored, or `today`. */
export const isRuleDay = (text: string): boolean => text === 'today' || isDay(text)

/**
 * The days of a limit or an answer: `today`, a stored day, a stored instant. A server does not know whose clock
 * is meant; it then lets pass what could be right somewhere, for the browser has asked with its own.
 */
export function daysMeant(
  value: CellValue,
  { type, options }: Pick<Field, 'type' | 'options'>,
  { now, timeZone }: RuleMoment,
): MeantDays {
  const text = String(value)
  if (text === 'today') return { ...around(now.getTime(), timeZone ?? null), words: 'today' }
  const ms = isDay(text) ? null : fromStored(text)
  if (ms === null) return { first: text, last: text, words: null }
  const own =
    fieldType(type).storage === 'datetime' && typeof options.timeZone === 'string'
      ? options.timeZone
      : 'local'
  return { ...around(ms, own === 'local' ? (timeZone ?? null) : own), words: null }
}

function around(ms: number, zone: string | null): { first: string; last: string } {
  const day = dayIn(ms, zone ?? 'UTC')
  if (zone !== null) return { first: day, last: day }
  return { first: addDays(day, -1), last: addDays(day, 1) }
}
