import { withoutCurrencyWord } from './currency-words.ts'
import { withPlainParts } from './day-parts.ts'
import { asRead, type DayReading } from './day-reading.ts'
import { withoutEra } from './era-days.ts'
import type { AnyFieldType, CellValue, FieldOptions } from './field-type.ts'
import type { DecimalMark } from './number-text.ts'
import { dayOfWeekday } from './weekdays.ts'

/*
 * Notations of numbers and days that files and pasted text have, beside those that field types parse: digits of other scripts,
 * days of East Asia, words for currencies, ISO durations. Not loaded with the grid.
 */

/** Invisible characters, digits of other scripts, Arabic marks, full-width forms of ASCII and of currency signs. */
const OTHER = /(?!\d)[\p{Cf}\p{Nd}\u066a-\u066c\uff01-\uff5e\uffe0-\uffe6]/gu

/**
 * Text with ASCII digits and marks in place of those of other scripts: `١٬٢٣٤٫٥٠`, `１，２３４` and `۱۲` as `1,234.50`, `1,234` and
 * `12`. Drops invisible characters, such as marks for the direction of text; other text stays.
 *
 * @param decimal what the Arabic decimal mark becomes; its thousands mark becomes the other one
 */
export function plainDigits(text: string, decimal: DecimalMark = '.'): string {
  if (/^[\t-~]*$/.test(text)) return text
  const marks: Record<string, string> = { '٪': '%', '٫': decimal, '٬': decimal === '.' ? ',' : '.' }
  return text.replace(OTHER, (sign) => {
    if (sign > '\uff00') return sign.normalize('NFKC')
    return marks[sign] ?? (/\p{Cf}/u.test(sign) ? '' : asciiDigit(sign))
  })
}

/** Digits of other scripts that were read before, with those of ASCII. */
const asciiDigits = new Map<string, string>()

/** A digit of any script in ASCII. Those from zero to nine have consecutive codes (Unicode Standard, 4.6). */
function asciiDigit(sign: string): string {
  const known = asciiDigits.get(sign)
  if (known !== undefined) return known
  const code = sign.codePointAt(0) ?? 0
  let zero = code
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1
  // Several sets of digits may follow each other.
  const digit = String((code - zero) % 10)
  asciiDigits.set(sign, digit)
  return digit
}

/** `2024年1月3日`, `2024년 1월 3일`, `2024. 1. 3.` as in Korea and Hungary, `20240103`; a time may follow. */
const YEAR_FIRST =
  /^(\d{4})[年년.] ?(\d{1,2})[月월.] ?(\d{1,2})[日일.]?(?=$|[ T])|^(\d{4})(\d\d)(\d\d)(?=$|[ T])/
/** `Wed, `, `Wednesday, ` */
const WEEKDAY = /^(sun|mon|tue|wed|thu|fri|sat)(?:(?:s|nes|rs|ur)?day)?,? (?=\p{L}+ \d|\d)/iu
const ORDINAL = /^(\d{1,2})(?:st|nd|rd|th)(?= \p{L})/iu

/** A day, with or without a time, in a notation that `parseDay` knows; other text as it is. */
export function plainDay(text: string): string {
  const written = plainDigits(text).trim()
  return dayOfWeekday(written, withPlainNotation) ?? withPlainNotation(written)
}

function withPlainNotation(written: string): string {
  const plain = withPlainParts(withoutEra(written)).replace(YEAR_FIRST, (_, ...parts) =>
    parts.slice(0, 6).filter(Boolean).join('-'),
  )
  const [prefix, weekday] = WEEKDAY.exec(plain) ?? []
  const day = plain.slice(prefix?.length ?? 0).replace(ORDINAL, '$1')
  // A weekday that contradicts the date would be lost.
  return weekday === undefined || weekdayOf(day) === weekday.toLowerCase() ? day : plain
}

/** The weekday of an English date, of which a time may follow; '' for other text. */
function weekdayOf(text: string): string {
  const [day = ''] = /^.*?\d{4}/.exec(text) ?? []
  const date = new Date(`${day} UTC`)
  return Number.isNaN(date.getTime()) ? '' : date.toUTCString().slice(0, 3).toLowerCase()
}

/** `PT1H30M`, `P1DT12H`, `-PT0.5S`, `P2W`. Years and months have no length. */
const ISO_DURATION =
  /^([-+−]?)P(?=\d|T\d)(?:(\d{1,12}(?:[.,]\d{1,9})?)W)?(?:(\d{1,12}(?:[.,]\d{1,9})?)D)?(?:T(?=\d)(?:(\d{1,12}(?:[.,]\d{1,9})?)H)?(?:(\d{1,12}(?:[.,]\d{1,9})?)M)?(?:(\d{1,12}(?:[.,]\d{1,9})?)S)?)?$/
const ISO_UNITS = ['d', 'h', 'm', 's']

/** A duration of ISO 8601 as `1h 30m`, which `parseDuration` knows; other text as it is. */
export function plainDuration(text: string): string {
  const [, sign, ...amounts] = ISO_DURATION.exec(text.trim()) ?? []
  if (sign === undefined) return text
  const [weeks, days, ...others] = amounts
  const number = (amount = '0') => Number(amount.replace(',', '.'))
  const allDays = weeks === undefined ? days : String(number(weeks) * 7 + number(days))
  const written = [allDays, ...others].flatMap((amount, at) =>
    amount === undefined ? [] : [`${amount}${ISO_UNITS[at]}`],
  )
  return sign + written.join(' ')
}

/**
 * The value of a cell of a file or of pasted text; null if the field type has none for it.
 *
 * @param reading how the days of its column are read
 */
export function parseCell(
  type: Pick<AnyFieldType, 'storage' | 'parse'>,
  text: string,
  options: FieldOptions,
  decimal?: DecimalMark,
  reading: DayReading = {},
): CellValue {
  const { storage } = type
  if (storage === 'date' || storage === 'datetime') {
    return type.parse(asRead(plainDay(text), reading), options, decimal)
  }
  const isNumber = storage === 'integer' || storage === 'real' || storage === 'time'
  return type.parse(isNumber ? plainNumber(plainDigits(text, decimal), options) : text, options, decimal)
}

/** A number of JSON. */
const JSON_NUMBER = /^-?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i

/**
 * The value of a cell of a JSON file. A number is a duration in seconds, as in exports and over REST, also in a field that reads
 * numbers without a unit as minutes.
 */
export function parseJsonCell(
  ...[type, text, options, decimal, reading]: Parameters<typeof parseCell>
): CellValue {
  const isDuration = type.storage === 'real' && typeof options.format === 'string'
  return parseCell(type, isDuration && JSON_NUMBER.test(text) ? `${text}s` : text, options, decimal, reading)
}

/** Without the words of the currency, or from the notation of ISO 8601, if the field is of that kind. */
function plainNumber(text: string, { code, format }: FieldOptions): string {
  if (typeof code === 'string') return withoutCurrencyWord(text, code)
  return typeof format === 'string' ? plainDuration(text) : text
}
