import { makeDay } from '../dates.ts'
import { fullYear, isEnglishMonth, monthNameIn, withEnglishMonth, withPastYear } from './date-text.ts'
import { fromBuddhist } from './era-days.ts'
import { withoutTime } from './instant-text.ts'
import { foldMonth, foreignMonth, monthLanguage, monthsIn } from './month-names.ts'

/*
 * Days whose parts mean something else in other columns: the column tells how to read them.
 */

/** How the days of a column are written. */
export interface DayReading {
  /** Years from 2400 to 2700 are those of the Thai Buddhist era. */
  isBuddhist?: boolean | undefined
  /** `24/3/13` is 13 March 2024. */
  yearFirst?: boolean | undefined
  /** Language of the names of months, where other languages give some of them to other months. Names that it does not have are none. */
  monthLanguage?: string | undefined
  /** Years of two digits are not in the future. */
  isPast?: boolean | undefined
}

/** What the first of the three parts of a day may be. */
export type DayOrder = 'day' | 'month' | 'year'

/** `24/3/13`, `99.12.31`, `24. 3. 13.`: three parts of up to two digits; a time may follow. */
const SHORT_DAY = /^(\d{1,2})([/.])( ?)(\d{1,2})\2 ?(\d{1,2})(\.?)(?=$|[ T,])/

/** A day in the notation of `plainDay`, with or without a time, as the column is read. */
export function asRead(day: string, reading: DayReading): string {
  const { isBuddhist, yearFirst, monthLanguage: language, isPast } = reading
  const named = language === undefined ? day : withMonthOf(day, language)
  const ordered = yearFirst === true ? withYearFirst(named, isPast) : named
  const common = isBuddhist === true ? fromBuddhist(ordered) : ordered
  return isPast === true ? withPastYear(common) : common
}

function withMonthOf(text: string, language: string): string {
  const day = withoutTime(text)
  const name = monthNameIn(day)
  if (name === null || isEnglishMonth(name)) return text
  const number = monthsIn(language).get(foldMonth(name))
  return number ? withEnglishMonth(day, number) + text.slice(day.length) : ''
}

const withYearFirst = (day: string, isPast = false): string =>
  day.replace(SHORT_DAY, (all, year: string, mark: string, _, month: string, date: string) =>
    year.length === 2
      ? [fullYear(Number(year), isPast ? 0 : undefined), month, date].join(mark === '/' ? '/' : '-')
      : all,
  )

/** Short days in these digits may be Nepali ones, which have the year first. */
const isDevanagari = (text: string): boolean => /[०-९]/.test(text)

/**
 * The orders in which all days of a column can be read, with the likely one first, if the year may be the first of three parts of
 * two digits; null if not. A year is never written with one digit.
 *
 * @param days in the notation of `plainDay`, without times
 * @param written the same days as they are written
 */
export function shortYearOrders(days: readonly string[], written: readonly string[]): DayOrder[] | null {
  if (!SHORT_DAY.test(days[0] ?? '')) return null
  const parts = days.flatMap((day) => {
    const [, first, mark, space, second, last, dot] = SHORT_DAY.exec(day) ?? []
    return first && second && last
      ? [{ first, mark, isSpaced: space === ' ' || dot === '.', second, last }]
      : []
  })
  const [{ mark }] = parts as [(typeof parts)[0]]
  const isSpaced = parts.every((part) => part.isSpaced)
  const isSure = parts.length === days.length && parts.every((part) => part.mark === mark)
  // `45.1.2` may be a version.
  if (!isSure || (mark === '.' && !isSpaced && !days.every((day) => /^\d\d\.\d\d\.\d\d$/.test(day))))
    return null
  const isDay = (year: string, month: string, day: string) =>
    year.length === 2 && makeDay(fullYear(Number(year)), Number(month), Number(day)) !== null
  if (!parts.every(({ first, second, last }) => isDay(first, second, last))) return null
  const count = (part: 'first' | 'last') => new Set(parts.map((each) => each[part])).size
  /** The years of a column are fewer than its days. */
  const looksYearFirst = count('first') < count('last')
  const mayBeNepali = written.some(isDevanagari)
  const orders: DayOrder[] = []
  if (parts.every(({ first, second, last }) => isDay(last, second, first))) orders.push('day')
  if (mark === '/' && parts.every(({ first, second, last }) => isDay(last, first, second)))
    orders.push('month')
  if (orders.length === 0) {
    const isSurelyYear = parts.some(({ first }) => Number(first) > 31)
    return isSurelyYear || looksYearFirst || mayBeNepali ? ['year'] : null
  }
  // Korean and Slovene days look the same.
  if (mark === '.' && isSpaced) return null
  if (looksYearFirst && mayBeNepali) return ['year', ...orders]
  return looksYearFirst || mayBeNepali ? [...orders, 'year'] : null
}

/** `13. ožujka 2024`, `13 marca 2024` */
const DAY_WITH_DOT = /^\D*\d{1,2}\. ?\p{L}/u

/**
 * The language of the names of months in a column, if it must be known: names in English, and those that are read in any text, need none.
 *
 * @param days in the notation of `plainDay`, without times
 * @param written the same days as they are written
 */
export function monthLanguageOf(days: readonly string[], written: readonly string[]): string | undefined {
  const names = new Set<string>()
  for (const day of days) {
    const name = monthNameIn(day)
    if (name === null) return undefined
    names.add(name)
  }
  if (names.size === 0 || [...names].every(isEnglishMonth)) return undefined
  const numbered = written.filter((text) => /\p{Nd}/u.test(text))
  const dotted = numbered.filter((text) => DAY_WITH_DOT.test(text)).length
  const isDotted = dotted === 0 ? false : dotted === numbered.length ? true : null
  const language = monthLanguage([...names], isDotted)
  if (language === null) return undefined
  const months = monthsIn(language)
  const isKnown = [...names].every((name) => foreignMonth(name) === months.get(foldMonth(name)))
  return isKnown ? undefined : language
}
