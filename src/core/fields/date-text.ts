import { isDay, makeDay } from '../dates.ts'

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

/** The format of stored days. */
export const STORED_FORMAT: DateFormat = 'YYYY-MM-DD'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const
const MONTH_NAMES = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]
const MAX_LENGTH = 40
/** Largest two-digit year of this century (POSIX: 69 is 1969). */
const LAST_SHORT_YEAR = 68

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
    .replace('MMM', MONTHS[Number(month) - 1] ?? '')
    .replace('MM', month)
    .replace('DD', date)
}

/**
 * Parses a day as people write it: in the field's format, ISO 8601, or the notations of spec §5 with `-`, `/`, `.` or a
 * space between the parts or with the month's English name.
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

function fromMonthName(text: string, format: DateFormat): string | null {
  const dayFirst = /^(\d{1,2})[ -]([a-z]{3,9})\.?,?[ -](\d{4}|\d{2})$/i.exec(text)
  if (dayFirst) return named(dayFirst[3], dayFirst[2], dayFirst[1], format)
  const monthFirst = /^([a-z]{3,9})\.? (\d{1,2}),? (\d{4})$/i.exec(text)
  return monthFirst ? named(monthFirst[3], monthFirst[1], monthFirst[2], format) : null
}

function named(year = '', name = '', day = '', format: DateFormat): string | null {
  const lower = name.toLowerCase()
  const isMonth = (month: string) => month === lower || month.slice(0, 3) === lower
  const month = MONTH_NAMES.findIndex(isMonth) + 1
  if (year.length === 4) return makeDay(Number(year), month, Number(day))
  if (format !== 'DD MMM YY') return null
  return makeDay(fullYear(Number(year)), month, Number(day))
}

const fullYear = (short: number): number => short + (short <= LAST_SHORT_YEAR ? 2000 : 1900)

/**
 * Parses a day from an API client, whatever the field's format: `2024-03-05`, `2024/03/05`, or `03/05/2024`
 * with the month first (wire reference §15).
 */
export function readDay(text: string): string | null {
  if (isDay(text)) return text
  const yearFirst = /^(\d{4})\/(\d{1,2})\/(\d{1,2})$/.exec(text)
  if (yearFirst) return makeDay(Number(yearFirst[1]), Number(yearFirst[2]), Number(yearFirst[3]))
  const monthFirst = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text)
  return monthFirst ? makeDay(Number(monthFirst[3]), Number(monthFirst[1]), Number(monthFirst[2])) : null
}
