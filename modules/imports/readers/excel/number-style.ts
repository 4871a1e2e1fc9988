import { currencyOfWord } from '../../../../src/core/fields/currency-words.ts'
import { currencyOf } from '../../../../src/core/fields/detect-numbers.ts'

/** How a number format shows a number (ECMA-376, 18.8.30). */
export interface NumberStyle {
  kind: 'number' | 'percent' | 'date' | 'time' | 'dateTime' | 'duration'
  /** Symbol or ISO 4217 code of an amount. */
  currency: string | null
  /** The places of digits (null) and the texts of a code that is filled up with zeros; null for other numbers. */
  code: readonly (string | null)[] | null
}

const plain = (kind: NumberStyle['kind']): NumberStyle => ({ kind, currency: null, code: null })

export const GENERAL = plain('number')

/** Formats that workbooks refer to by number only, unless they define it (ECMA-376, 18.8.30). */
const BUILT_IN: Record<number, string> = {
  5: '"$"#,##0',
  6: '"$"#,##0',
  7: '"$"#,##0.00',
  8: '"$"#,##0.00',
  9: '0%',
  10: '0.00%',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'm/d/yy h:mm',
  42: '"$"#,##0',
  44: '"$"#,##0.00',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
}
/** Built-in dates, some only of East Asian versions. */
const isBuiltInDate = (id: number): boolean =>
  (id >= 14 && id <= 17) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58)

/** The style of a built-in number format. */
export const builtInStyle = (id: number): NumberStyle =>
  isBuiltInDate(id) ? plain('date') : numberStyle(BUILT_IN[id] ?? 'General')

/** Reads a format code such as `dd/mm/yyyy` or `[$€-407] #,##0.00`. */
export function numberStyle(code: string): NumberStyle {
  // Later sections are for negative numbers, zero and text.
  const section = firstSection(code)
  const places = codePlaces(section)
  if (places) return { ...GENERAL, code: places }
  const tokens = formatTokens(section)
  if (tokens.toLowerCase() === 'general') return GENERAL
  if (tokens.includes('%')) return plain('percent')
  const moment = momentKind(tokens.toLowerCase())
  if (moment) return plain(moment)
  const currency = currencyIn(section)
  return currency === null ? GENERAL : { ...GENERAL, currency }
}

/** Signs that stand for themselves in a format (ECMA-376, 18.8.31). */
const LITERALS = /[-+() :'{}=]/

/**
 * The places of a format for codes, such as `00000` of postal codes, `000-00-0000` of social security numbers and `"INV-"0000`; null
 * for others. A text after the digits is a unit.
 */
function codePlaces(section: string): NumberStyle['code'] {
  const places: (string | null)[] = []
  for (let at = 0; at < section.length; at++) {
    const char = section[at]!
    if (char === '0') places.push(null)
    else if (LITERALS.test(char)) places.push(char)
    else if (char === '\\') places.push(section[++at] ?? '')
    else if (char === '"') {
      const end = section.indexOf('"', at + 1)
      if (end < 0) return null
      places.push(section.slice(at + 1, end))
      at = end
    } else return null
  }
  const digits = places.filter((place) => place === null).length
  if (digits < 2 || digits > 15 || places.at(-1) !== null || currencyIn(section) !== null) return null
  return places
}

/** A number by the places of its code, from the last digit; the first place takes all that are left. */
function showCode(value: number, code: readonly (string | null)[]): string {
  const size = code.filter((place) => place === null).length
  const digits = String(value).padStart(size, '0')
  let next = digits.length - size + 1
  let isFirst = true
  return code
    .map((place) => {
      if (place !== null) return place
      if (!isFirst) return digits[next++] ?? ''
      isFirst = false
      return digits.slice(0, next)
    })
    .join('')
}

function firstSection(code: string): string {
  for (let at = 0, isQuoted = false; at < code.length; at++) {
    if (code[at] === '\\') at++
    else if (code[at] === '"') isQuoted = !isQuoted
    else if (code[at] === ';' && !isQuoted) return code.slice(0, at)
  }
  return code
}

/** A format without literal texts, and without brackets other than those of elapsed time, as `[h]`. */
function formatTokens(section: string): string {
  let tokens = ''
  for (let at = 0; at < section.length; at++) {
    const char = section[at]!
    if (char === '"' || char === '[') {
      const end = section.indexOf(char === '"' ? '"' : ']', at + 1)
      if (end < 0) return tokens + section.slice(at)
      const content = section.slice(at + 1, end)
      if (char === '[' && /^(?:h+|m+|s+)$/i.test(content)) tokens += `[${content}]`
      at = end
    } else if (char === '\\' || char === '_' || char === '*') {
      at++
    } else {
      tokens += char
    }
  }
  return tokens
}

function momentKind(tokens: string): 'date' | 'time' | 'dateTime' | 'duration' | null {
  // Only fractions of a second have digits in a date.
  if (/[#?0]/.test(tokens.replace(/s\]?[.,]0+/g, ''))) return null
  if (/\[[hms]+\]/.test(tokens)) return 'duration'
  const hasTime = /[hs]/.test(tokens)
  // An `m` next to hours or seconds stands for minutes.
  const hasMonth = /m{3,}/.test(tokens) || (!hasTime && tokens.includes('m'))
  const hasDate = /[yd]/.test(tokens) || hasMonth
  if (hasDate) return hasTime ? 'dateTime' : 'date'
  if (!hasTime) return null
  // Minutes and seconds without an hour measure how long something took.
  return tokens.includes('h') ? 'time' : 'duration'
}

function currencyIn(section: string): string | null {
  const located = locatedCurrency(section)
  const texts =
    located === undefined ? section.replace(/[#0?.,"\\_*()\s-]/g, ' ').split(' ') : [located.symbol]
  for (const text of texts) {
    const symbol = text.trim()
    const currency = currencyOf(symbol) ?? currencyOfWord(symbol, located?.locale ?? '')
    if (currency !== null) return currency
  }
  return null
}

/** The currency of an amount as a cell shows it, such as `1,234.56 €`; null for other numbers, as `1E+10`. */
export const currencyShown = (shown: string): string | null =>
  PLAIN_NUMBER.test(shown) ? null : currencyIn(shown.replace(/\d/g, ' '))

const PLAIN_NUMBER = /^[-+−\d.,E]*$/i

/** The symbol of a currency with its locale, as in `[$€-407]`; a locale alone, as in `[$-409]`, has none. */
function locatedCurrency(section: string): { symbol: string; locale: string } | undefined {
  for (let at = section.indexOf('[$'); at >= 0; at = section.indexOf('[$', at)) {
    const end = section.indexOf(']', at)
    if (end < 0) return undefined
    const [symbol = '', locale = ''] = section.slice(at + 2, end).split('-', 2)
    if (symbol !== '') return { symbol, locale }
    at = end
  }
  return undefined
}

const DAY_MS = 86_400_000
/** Day 0 of the two date systems. */
const EPOCH_1900 = Date.UTC(1899, 11, 30)
const EPOCH_1904 = Date.UTC(1904, 0, 1)
/** 1 January of the year 1. Excel begins in 1900; other programs have earlier days. */
const FIRST_DAY = -693_593
/** 31 December 9999, the last day of Excel. */
const LAST_DAY = 2_958_465

/** A number as text that field types parse: a plain number, `12.5%`, or a date and time in ISO form. */
export function showNumber(value: number, { kind, code }: NumberStyle, is1904: boolean): string {
  switch (kind) {
    case 'number':
      return code !== null && Number.isSafeInteger(value) && value >= 0
        ? showCode(value, code)
        : String(value)
    case 'percent':
      // 0.07 times 100 is 7.000000000000001.
      return `${Number.parseFloat((value * 100).toPrecision(15))}%`
    case 'duration':
      return duration(value)
    case 'time':
      if (isSumOfHours(value)) return duration(value)
      return moment(value, kind, is1904) ?? String(value)
    default:
      return moment(value, kind, is1904) ?? String(value)
  }
}

/** Days of which a sum of hours has fewer. */
const MAX_SUM = 366

/** True for hours beyond a day, or before zero: no sheet shows days of 1900 as times only. */
const isSumOfHours = (value: number): boolean => (value < 0 || value >= 1) && Math.abs(value) < MAX_SUM

/** Null for numbers that are no day of the calendar. */
function moment(value: number, kind: 'date' | 'time' | 'dateTime', is1904: boolean): string | null {
  if (value < (kind === 'time' ? 0 : FIRST_DAY) || value >= LAST_DAY + 1) return null
  // The 1900 system counts 29 February 1900, which never was; earlier days are one day later.
  const days = !is1904 && value < 60 && value >= 1 ? value + 1 : value
  const ms = Math.round(days * DAY_MS)
  const dayNumber = Math.floor(ms / DAY_MS)
  const msOfDay = ms - dayNumber * DAY_MS
  if (kind === 'time' && value < 1) return clockText(msOfDay)
  const day = dayText((is1904 ? EPOCH_1904 : EPOCH_1900) + dayNumber * DAY_MS)
  return kind === 'date' && msOfDay === 0 ? day : `${day} ${clockText(msOfDay)}`
}

/** Days of which the text is remembered: those of 27 years. */
const MAX_DAYS = 10_000
const knownDays = new Map<number, string>()

function dayText(startMs: number): string {
  const known = knownDays.get(startMs)
  if (known !== undefined) return known
  const [text = ''] = new Date(startMs).toISOString().split('T')
  if (knownDays.size === MAX_DAYS) knownDays.clear()
  knownDays.set(startMs, text)
  return text
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, part) => String(part).padStart(2, '0'))

function clockText(msOfDay: number): string {
  const seconds = Math.floor(msOfDay / 1000)
  const rest = msOfDay % 1000
  const hour = TWO_DIGITS[Math.floor(seconds / 3600)]
  const clock = `${hour}:${TWO_DIGITS[Math.floor(seconds / 60) % 60]}:${TWO_DIGITS[seconds % 60]}`
  return rest === 0 ? clock : `${clock}.${String(rest).padStart(3, '0')}`
}

function duration(days: number): string {
  const ms = Math.round(Math.abs(days) * DAY_MS)
  const [seconds, rest] = [Math.floor(ms / 1000), ms % 1000]
  const two = (part: number) => String(part).padStart(2, '0')
  const fraction = rest === 0 ? '' : `.${String(rest).padStart(3, '0')}`
  const clock = `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
  return `${days < 0 ? '-' : ''}${clock}${fraction}`
}
