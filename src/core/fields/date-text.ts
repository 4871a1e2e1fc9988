import { isDay, MONTHS, makeDay } from '../dates.ts'
import { foreignMonth } from './month-names.ts'

/** The formats in which a day can be shown; the first nine are those of spec §5. */
export const DATE_FORMATS = [
  'YYYY-MM-DD',
  'YYYY/MM/DD',
  'DD-MM-YYYY',
  'MM-DD-YYYY',
  'DD/MM/YYYY',
  'MM/DD/YYYY',
  'DD MM YYYY',
  'MM DD YYYY',
  'YYYY MM DD',
  'DD MMM YYYY',
  'DD MMM YY',
  'YYYY-MM',
  'YYYY MM',
  'DD.MM.YYYY',
] as const

export type DateFormat = (typeof DATE_FORMATS)[number]

/** The format with day and month in the other order; null if no other format differs in that only. */
export function withOtherOrder(format: DateFormat): DateFormat | null {
  const other = format.replace(/DD|MM/g, (part) => (part === 'DD' ? 'MM' : 'DD'))
  return DATE_FORMATS.find((name) => name === other) ?? null
}

/** The format of stored days. */
export const STORED_FORMAT: DateFormat = 'YYYY-MM-DD'

const SHORT_MONTHS = [
  'Jan',
  'Feb',
  'Mar',
  'Apr',
  'May',
  'Jun',
  'Jul',
  'Aug',
  'Sep',
  'Oct',
  'Nov',
  'Dec',
] as const
const MAX_LENGTH = 40
/** Years after the present one that two digits still mean; others are of the last century. */
const YEARS_AHEAD = 20

/**
 * A stored day in one of the formats, for display: `2024-03-05` as `05/03/2024`. Values of connected
 * databases that are not days, such as PostgreSQL's `infinity`, are returned unchanged.
 */
export function formatDay(day: string, format: DateFormat): string {
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) return day
  const [year = '', month = '', date = ''] = day.split('-')
  return format
    .replace('YYYY', year)
    .replace('YY', year.slice(2))
    .replace('MMM', SHORT_MONTHS[Number(month) - 1] ?? '')
    .replace('MM', month)
    .replace('DD', date)
}

/** The number of a month by its name in English or another language; 0 for other words. */
function monthNumber(name: string): number {
  return englishMonth(name) || foreignMonth(name)
}

function englishMonth(name: string): number {
  const lower = name.toLowerCase()
  return MONTHS.findIndex((month) => month === lower || month.slice(0, 3) === lower) + 1
}

/** True for the name of a month in English, or its first three letters. */
export const isEnglishMonth = (name: string): boolean => englishMonth(name) > 0

/**
 * Parses a day as people write it: in the field's format, ISO 8601, or the notations of spec §5 with `-`, `/`, `.` or a
 * space between the parts or with the name of the month in one of many languages.
 *
 * The format decides whether day or month comes first; year-first formats follow REST, month first. With dots, the day
 * always comes first. Two-digit years are accepted after a slash or dot, unless the format is year first.
 */
export function parseDay(text: string, format: DateFormat = 'YYYY-MM-DD'): string | null {
  const trimmed = text.trim()
  if (trimmed.length > MAX_LENGTH) return null
  return fromNumbers(trimmed, format) ?? fromMonthOnly(trimmed, format) ?? fromMonthName(trimmed, format)
}

function fromNumbers(text: string, format: DateFormat): string | null {
  const match = /^(\d{1,4})([-/. ])(\d{1,2})\2(\d{1,4})$/.exec(text)
  if (!match) return null
  const [, first = '', mark, , last = ''] = match
  const [a, b] = [Number(first), Number(match[3])]
  if (first.length === 4) return last.length > 2 ? null : makeDay(a, b, Number(last))
  if (first.length > 2) return null
  // With a year-first format, two digits could also be the day.
  const isShortYear = last.length === 2 && (mark === '/' || mark === '.') && !format.startsWith('YYYY')
  if (last.length !== 4 && !isShortYear) return null
  const c = isShortYear ? fullYear(Number(last)) : Number(last)
  if (mark === '.') return makeDay(c, b, a)
  const dayFirst = makeDay(c, b, a)
  const monthFirst = makeDay(c, a, b)
  return format.startsWith('DD') ? (dayFirst ?? monthFirst) : (monthFirst ?? dayFirst)
}

/** Accepts `2024-03` only for formats without a day; with others the day would be invented. */
function fromMonthOnly(text: string, format: DateFormat): string | null {
  if (format !== 'YYYY-MM' && format !== 'YYYY MM') return null
  const match = /^(\d{4})[- /](\d{1,2})$/.exec(text)
  return match ? makeDay(Number(match[1]), Number(match[2]), 1) : null
}

/** `12 Mar 2024`, `12-Mar-24`, `12/Mar/24`, `12. März 2024`, `12 de marzo de 2024`, `1er mars 2024`. */
const DAY_MONTH_NAME =
  /^(\d{1,2})(?:\.|er|º)?(?: de |[ /-])(\p{L}[\p{L}\p{M}]{1,13})\.?,?(?: de |[ /-])(\d{4}|\d{2})(?: ?(?:г|р)\.)?$/iu
/** `March 12, 2024` */
const MONTH_NAME_DAY = /^(\p{L}[\p{L}\p{M}]{1,13})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$/iu

function fromMonthName(text: string, format: DateFormat): string | null {
  const dayFirst = DAY_MONTH_NAME.exec(text)
  if (dayFirst) return named(dayFirst[3], dayFirst[2], dayFirst[1], format)
  const monthFirst = MONTH_NAME_DAY.exec(text)
  return monthFirst ? named(monthFirst[3], monthFirst[1], monthFirst[2], format) : null
}

/** True if a day has the name of its month, with four digits of the year or two. */
export const hasMonthName = (text: string, yearDigits: 2 | 4): boolean => {
  const year = DAY_MONTH_NAME.exec(text)?.[3] ?? MONTH_NAME_DAY.exec(text)?.[3]
  return year?.length === yearDigits
}

/** The name of the month in a day that has one; null for other text. */
export const monthNameIn = (text: string): string | null =>
  DAY_MONTH_NAME.exec(text)?.[2] ?? MONTH_NAME_DAY.exec(text)?.[1] ?? null

/** A day whose month has a name, with the name of the month of that number instead. */
export const withEnglishMonth = (text: string, month: number): string => {
  const name = monthNameIn(text)
  return name === null ? text : text.replace(name, SHORT_MONTHS[month - 1] ?? name)
}

function named(year = '', name = '', day = '', format: DateFormat): string | null {
  const month = monthNumber(name)
  if (month === 0) return null
  if (year.length === 4) return makeDay(Number(year), month, Number(day))
  if (format !== 'DD MMM YY') return null
  return makeDay(fullYear(Number(year)), month, Number(day))
}

/** The year that two digits stand for. @param yearsAhead how far it may lie in the future */
export const fullYear = (short: number, yearsAhead = YEARS_AHEAD): number =>
  short + (2000 + short <= new Date().getUTCFullYear() + yearsAhead ? 2000 : 1900)

/** Years for which two digits of a year keep their meaning at least, so that an export can be imported later. */
const LASTING_YEARS = 10

/** False for a day whose year is written with two digits that will soon mean another one. @param day as it is stored; a time may follow */
export const isLasting = (day: string, format: DateFormat): boolean =>
  format !== 'DD MMM YY' ||
  Number(day.slice(0, 4)) > new Date().getUTCFullYear() + YEARS_AHEAD + LASTING_YEARS - 100

/** A day whose year has two digits: with a slash or a dot, or the name of a month. A time may follow. */
const SHORT_YEAR =
  /^(\d{1,2}([./])\d{1,2}\2|\d{1,2}(?:\.|er|º)?(?: de |[ /-])\p{L}[\p{L}\p{M}]{1,13}\.?,?(?: de |[ /-]))(\d{2})(?=$|[ T,])/iu

/** True for a day, with or without a time, whose year has two digits. */
export const hasShortYear = (day: string): boolean => SHORT_YEAR.test(day)

/** A day whose two-digit year is not in the future, such as one of birth: `05/14/62` as `05/14/1962`. Other text as it is. */
export const withPastYear = (day: string): string =>
  day.replace(SHORT_YEAR, (_, before: string, __, year: string) => before + fullYear(Number(year), 0))

/**
 * Parses a day from an API client, whatever the field's format: `2024-03-05`, `2024/03/05`, or `03/05/2024`
 * with the month first (wire §15).
 */
export function readDay(text: string): string | null {
  if (isDay(text)) return text
  const yearFirst = /^(\d{4})\/(\d{1,2})\/(\d{1,2})$/.exec(text)
  if (yearFirst) return makeDay(Number(yearFirst[1]), Number(yearFirst[2]), Number(yearFirst[3]))
  const monthFirst = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text)
  return monthFirst ? makeDay(Number(monthFirst[3]), Number(monthFirst[1]), Number(monthFirst[2])) : null
}
