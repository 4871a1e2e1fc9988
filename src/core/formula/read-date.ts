import { makeDay } from '../dates.ts'
import { readDate } from './semantics.ts'

const FORM = /^(\d{1,4})([-/ ])(\d{1,2})\2(\d{1,4})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?)?$/

/** A date written in a formula: milliseconds of its day, or of its wall time. */
export interface WrittenDate {
  type: 'date' | 'datetime'
  ms: number
}

/**
 * Reads a date as spec §5 lists the forms: year first, or day or month first (`03/04/2024` is the third of April),
 * parted by `-`, `/` or spaces, with or without a time. Null for anything else.
 */
export function readWrittenDate(text: string): WrittenDate | null {
  const match = FORM.exec(text.trim())
  if (!match) return null
  const [, first = '', , second = '', third = '', hour, minute = '0', seconds = '0', fraction = '0'] = match
  const day = readDay(first, second, third)
  const ms = day === null ? null : readDate(day)
  if (ms === null) return null
  if (hour === undefined) return { type: 'date', ms }
  if (Number(hour) > 23 || Number(minute) > 59 || Number(seconds) > 59) return null
  const time = (Number(hour) * 60 + Number(minute)) * 60_000 + Number(seconds) * 1000
  return { type: 'datetime', ms: ms + time + Number(fraction.padEnd(3, '0')) }
}

function readDay(first: string, second: string, third: string): string | null {
  if (first.length === 4 && third.length <= 2) return makeDay(Number(first), Number(second), Number(third))
  if (third.length !== 4 || first.length > 2) return null
  const [a, b, year] = [Number(first), Number(second), Number(third)]
  return makeDay(year, b, a) ?? makeDay(year, a, b)
}
