import { trimTrailing } from '../trim-characters.ts'
import { readCurrencyWords, splitCurrencyWord } from './currency-words.ts'
import type { Detected } from './detected.ts'
import { isMissingWord } from './empty-words.ts'
import type { FieldOptions } from './field-type.ts'
import { type FieldTypeName, readOptions } from './index.ts'
import { plainDigits } from './notations.ts'
import { type DecimalMark, parseNumber, TRAILING_MINUS } from './number-text.ts'

/**
 * 1234, 1,234, 1'234, 12,34,567 (India), -1.5, .5, 1.5e-3; an exponent requires a point or a sign: 12E4 is a code.
 */
const ENGLISH =
  /^[-−]?(?:(?:\d{1,3}(?:[,'’]\d{3})+|\d{1,2}(?:,\d{2})+,\d{3}|\d+)(?:\.\d+(?:e[+-]?\d+)?|e[+-]\d+)?|\.\d+(?:e[+-]?\d+)?)$/i
/** 1234, 1.234, 1 234, 1'234, -1,5, ,5. */
const CONTINENTAL = /^[-−]?(?:(?:\d+|\d{1,3}(?:[.\s\u00a0\u202f'’]\d{3})+)(?:,\d+)?|,\d+)$/
/**
 * A comma, or a point, that can only be a decimal mark, since it is not followed by exactly three digits, or since the other one
 * separates thousands twice: `1.234.567`.
 */
const COMMA_DECIMALS = /,(?:\d{1,2}|\d{4,})$|\.\d{3}[.,]\d+$|^[-−]?0?,\d+$/
const POINT_DECIMALS = /\.(?:\d{1,2}|\d{4,})$|,\d{2,3}[.,]\d+$|^[-−]?0?\.\d+$/
const MAX_SHOWN = 8

/** Default currency of each symbol, and the decimals of its amounts. */
const SIGNS: Record<string, { code: string; locale: string; decimals: number }> = {
  // Must precede `$`, which all of these contain.
  US$: { code: 'USD', locale: 'en-US', decimals: 2 },
  A$: { code: 'AUD', locale: 'en-AU', decimals: 2 },
  C$: { code: 'CAD', locale: 'en-CA', decimals: 2 },
  R$: { code: 'BRL', locale: 'pt-BR', decimals: 2 },
  HK$: { code: 'HKD', locale: 'en-HK', decimals: 2 },
  NZ$: { code: 'NZD', locale: 'en-NZ', decimals: 2 },
  $: { code: 'USD', locale: 'en-US', decimals: 2 },
  '€': { code: 'EUR', locale: 'de-DE', decimals: 2 },
  '£': { code: 'GBP', locale: 'en-GB', decimals: 2 },
  '¥': { code: 'JPY', locale: 'ja-JP', decimals: 0 },
  '₹': { code: 'INR', locale: 'en-IN', decimals: 2 },
  '₩': { code: 'KRW', locale: 'ko-KR', decimals: 0 },
  '₽': { code: 'RUB', locale: 'ru-RU', decimals: 2 },
  '₺': { code: 'TRY', locale: 'tr-TR', decimals: 2 },
  '₪': { code: 'ILS', locale: 'he-IL', decimals: 2 },
  '₫': { code: 'VND', locale: 'vi-VN', decimals: 0 },
  '₴': { code: 'UAH', locale: 'uk-UA', decimals: 2 },
  '฿': { code: 'THB', locale: 'th-TH', decimals: 2 },
  '₱': { code: 'PHP', locale: 'en-PH', decimals: 2 },
  zł: { code: 'PLN', locale: 'pl-PL', decimals: 2 },
  Kč: { code: 'CZK', locale: 'cs-CZ', decimals: 2 },
  Ft: { code: 'HUF', locale: 'hu-HU', decimals: 2 },
  円: { code: 'JPY', locale: 'ja-JP', decimals: 0 },
  元: { code: 'CNY', locale: 'zh-CN', decimals: 2 },
  원: { code: 'KRW', locale: 'ko-KR', decimals: 0 },
}

/** ISO 4217 codes that are recognized in amounts. Defaults: `en-US`, two decimals. */
const CODES: Record<string, { locale?: string; decimals?: number }> = {
  USD: {},
  EUR: { locale: 'de-DE' },
  GBP: { locale: 'en-GB' },
  CHF: { locale: 'de-CH' },
  JPY: { locale: 'ja-JP', decimals: 0 },
  CNY: { locale: 'zh-CN' },
  HKD: { locale: 'en-HK' },
  TWD: { locale: 'zh-TW' },
  KRW: { locale: 'ko-KR', decimals: 0 },
  INR: { locale: 'en-IN' },
  AUD: { locale: 'en-AU' },
  NZD: { locale: 'en-NZ' },
  CAD: { locale: 'en-CA' },
  SGD: { locale: 'en-SG' },
  SEK: { locale: 'sv-SE' },
  NOK: { locale: 'nb-NO' },
  DKK: { locale: 'da-DK' },
  PLN: { locale: 'pl-PL' },
  CZK: { locale: 'cs-CZ' },
  HUF: { locale: 'hu-HU' },
  RSD: { locale: 'sr-RS' },
  RON: { locale: 'ro-RO' },
  BGN: { locale: 'bg-BG' },
  RUB: { locale: 'ru-RU' },
  UAH: { locale: 'uk-UA' },
  TRY: { locale: 'tr-TR' },
  ILS: { locale: 'he-IL' },
  AED: { locale: 'en-AE' },
  SAR: { locale: 'en-SA' },
  EGP: { locale: 'en-EG' },
  MAD: { locale: 'fr-MA' },
  KWD: { locale: 'en-KW', decimals: 3 },
  QAR: { locale: 'en-QA' },
  ZAR: { locale: 'en-ZA' },
  NGN: { locale: 'en-NG' },
  KES: { locale: 'en-KE' },
  BRL: { locale: 'pt-BR' },
  MXN: { locale: 'es-MX' },
  ARS: { locale: 'es-AR' },
  CLP: { locale: 'es-CL', decimals: 0 },
  COP: { locale: 'es-CO' },
  PEN: { locale: 'es-PE' },
  IDR: { locale: 'id-ID' },
  MYR: { locale: 'en-MY' },
  PHP: { locale: 'en-PH' },
  THB: { locale: 'th-TH' },
  VND: { locale: 'vi-VN', decimals: 0 },
  PKR: { locale: 'en-PK' },
  LKR: { locale: 'en-LK' },
  NPR: { locale: 'en-NP' },
  BDT: { locale: 'en-BD' },
  ISK: { locale: 'is-IS', decimals: 0 },
}

/** Amounts in yuan have decimals, those in yen have none, and the sign is the same. */
const YEN = '¥'

/** A column of only such numbers has codes, such as those of credit cards. */
const LONG_CODE = /^\d{16,}$/

/** Symbol or code of a currency, or the percent sign. */
const unitOf = (value: string): string | undefined =>
  [...Object.keys(SIGNS), '%', ...Object.keys(CODES)].find((mark) => hasUnit(value, mark))

/** The currency that a symbol or an ISO 4217 code stands for in amounts, as written; null for other texts. */
export const currencyOf = (mark: string): string | null =>
  Object.hasOwn(SIGNS, mark) || Object.hasOwn(CODES, mark) ? mark : null

/** A plus sign before an amount; before other digits, it may be one of a telephone number. */
const PLUS = /^\+(?=\s?\d[\d,.'’\s]*[.,]\d{1,2}$)/

/** Rewrites accounting notations, `(5.00)`, `5.00-` and `+5.00`, with a minus sign in front of negative amounts only. */
const withSign = (value: string): string =>
  value
    .trim()
    .replace(PLUS, '')
    .replace(/^\(([^()+−-]+)\)$/, '-$1')
    .replace(TRAILING_MINUS, '-$1')
    .replace(/^([-−])\s+/, '$1')

/**
 * Detects integers, decimals, amounts that all name the same currency, or percentages that all end with %.
 * Leading zeros and plus signs indicate codes and telephone numbers, which must stay text.
 *
 * @param decimal the file's decimal mark, for ambiguous numbers
 */
export function detectNumbers(values: string[], decimal: DecimalMark = '.'): Detected {
  // A column of only (1), (2), (3) contains footnote numbers.
  if (values.every((value) => /^\s*\(\d+\)\s*$/.test(value))) return null
  const signed = values.map((value) => withSign(plainDigits(value, decimal)))
  if (signed.every((value) => LONG_CODE.test(value))) return null
  const worded = readCurrencyWords(signed)
  const unit = worded?.code ?? unitOf(signed[0] ?? '')
  if (worded === null && unit !== undefined && !signed.every((value) => hasUnit(value, unit))) return null
  // With a unit, a plus sign is no part of a telephone number.
  const bare =
    worded?.numbers.map(withSign) ??
    (unit === undefined ? signed : signed.map((value) => withoutUnit(value, unit).replace(/^\+\s*/, '')))
  if (!bare.every((value) => isPlain(value, decimal)) || !hasOneForm(bare, decimal)) return null
  const precision = Math.min(
    MAX_SHOWN,
    bare.reduce((most, value) => Math.max(most, decimalsOf(value, decimal)), 0),
  )
  if (unit === '%') return { type: 'Percent', options: { precision } }
  if (unit !== undefined)
    return {
      type: 'Currency',
      options: currencyOptions(unit === YEN && precision > 0 ? 'CNY' : unit, precision),
      ...(worded?.isAmbiguous && { ambiguous: true as const }),
    }
  const numbers = bare.map((value) => parseNumber(value, decimal))
  // Amounts such as 5.00, whose decimals happen to be zeros.
  if (bare.every((value) => /[.,]\d\d$/.test(value))) return { type: 'Decimal', options: { precision: 2 } }
  if (numbers.every((number) => Number.isSafeInteger(number))) return { type: 'Number' }
  // Identifiers beyond 2^53, among which no number has an exponent.
  const areIds = numbers.some((number) => Number.isInteger(number) && !Number.isSafeInteger(number))
  if (areIds && !bare.some((value) => /e/i.test(value))) return null
  return { type: 'Decimal', options: { precision: Math.max(1, precision) } }
}

/**
 * A column of plain numbers whose cells are formatted as amounts; a Currency field if all are amounts of one currency.
 * @param formatted symbols or codes, as `currencyOf` gives them
 */
export function asAmounts<Field extends { type: FieldTypeName; options: FieldOptions }>(
  field: Field,
  formatted: { marks: readonly string[]; ofAll: boolean } | undefined,
): Field & { currencies?: string[] } {
  const [mark, ...others] = formatted?.marks ?? []
  if (mark === undefined || (field.type !== 'Number' && field.type !== 'Decimal')) return field
  const noted = { ...field, currencies: [mark, ...others] }
  if (others.length > 0 || !formatted?.ofAll) return noted
  const options = currencyOptions(mark, Number(field.options.precision ?? 0))
  return { ...noted, type: 'Currency', options: readOptions('Currency', options) }
}

/** ISO 4217 code of the currency that an amount names, if it is not this one; null for all other texts. */
export function otherCurrency(text: string, code: string, decimal: DecimalMark = '.'): string | null {
  const found = detectNumbers([text], decimal)
  const named = found?.type === 'Currency' ? String(found.options?.code) : code
  return named === code ? null : named
}

/** A column of plain numbers as text, because the file says that its cells are texts: codes, not amounts. */
export const asDigits = <Field extends { type: FieldTypeName; options: FieldOptions }>(
  field: Field,
): Field =>
  field.type === 'Number' || field.type === 'Decimal' || field.type === 'Year'
    ? { ...field, type: 'SingleLineText', options: readOptions('SingleLineText', {}) }
    : field

/** Options of a Currency field for amounts with this symbol or code. */
export function currencyOptions(
  unit: string,
  precision = 0,
): { code: string; locale: string; precision: number } {
  const sign = SIGNS[unit]
  const { locale = 'en-US', decimals = 2 } = sign ?? CODES[unit] ?? {}
  return { code: sign?.code ?? unit, locale, precision: Math.max(decimals, precision) }
}

/** The decimal mark that the numbers of a column can only be read with; null if both fit, or neither. */
export function requiredDecimalMark(values: string[]): DecimalMark | null {
  const bare = values
    .filter((value) => !isMissingWord(value))
    .map((value) => withoutAnyUnit(plainDigits(value)))
  if (bare.length === 0) return null
  if (bare.every((value) => ENGLISH.test(value)))
    return bare.some(
      (value) => POINT_DECIMALS.test(value) || (value.includes('.') && !CONTINENTAL.test(value)),
    )
      ? '.'
      : commaOf(bare)
  return commaOf(bare)
}

/** A comma if the numbers can only be read with it, also one after more digits than a group of thousands has: `1234,567`. */
function commaOf(bare: readonly string[]): DecimalMark | null {
  const isRequired = (value: string) =>
    COMMA_DECIMALS.test(value) || (value.includes(',') && !ENGLISH.test(value))
  return bare.every((value) => CONTINENTAL.test(value)) && bare.some(isRequired) ? ',' : null
}

/** True if nothing in a column of numbers tells the decimal mark, and they are others with the other one: `1.234`, `2,500`. */
export function hasUnclearMark(values: string[]): boolean {
  if (!values.some((value) => /[.,]\d{3}/.test(value))) return false
  const bare = values
    .filter((value) => !isMissingWord(value))
    .map((value) => withoutAnyUnit(plainDigits(value)))
  return (
    requiredDecimalMark(values) === null &&
    bare.every((value) => ENGLISH.test(value) && CONTINENTAL.test(value)) &&
    bare.some((value) => parseNumber(value, '.') !== parseNumber(value, ','))
  )
}

/**
 * Detects a file's decimal mark, which decides whether 1.000 is one or a thousand in an ambiguous column: a comma if
 * some column requires it and no column requires a point. Where none requires either, three digits after the points of all amounts
 * in a currency of countries with decimal commas are thousands: `kr 1.234`. Otherwise, programs separate columns by semicolons where the
 * comma is the decimal mark, and where days have points, it most likely is.
 * @param delimiter of a text file
 */
export function detectDecimalMark(columns: string[][], delimiter = ''): DecimalMark {
  const marks = columns.map(requiredDecimalMark)
  if (marks.includes('.')) return '.'
  if (marks.includes(',') || columns.some(groupsByPoints)) return ','
  const hasPointedDays = delimiter !== ',' && delimiter !== '' && columns.some(arePointedDays)
  return delimiter === ';' || hasPointedDays ? ',' : '.'
}

const arePointedDays = (values: string[]): boolean =>
  values.length > 0 && values.every((value) => /^\s*\d{1,2}\.\d{1,2}\.(?:\d{2}|\d{4})\s*$/.test(value))

const GROUPED_BY_POINT = /^[-−]?[1-9]\d{0,2}\.\d{3}$/

/** True for amounts of a currency of countries with decimal commas, of which some have a point and all could be whole. */
function groupsByPoints(values: string[]): boolean {
  const amounts = values.filter((value) => !isMissingWord(value)).map((value) => plainDigits(value))
  const bare = amounts.map(withoutAnyUnit)
  if (!bare.some((value) => GROUPED_BY_POINT.test(value))) return false
  if (!bare.every((value) => GROUPED_BY_POINT.test(value) || /^[-−]?\d+$/.test(value))) return false
  const found = detectNumbers(amounts, ',')
  return found?.type === 'Currency' && hasDecimalComma(String(found.options?.locale))
}

export const hasDecimalComma = (locale: string): boolean =>
  new Intl.NumberFormat(locale)
    .formatToParts(1.5)
    .some(({ type, value }) => type === 'decimal' && value === ',')

const withoutAnyUnit = (value: string): string => {
  const signed = withSign(value)
  const worded = splitCurrencyWord(signed)
  if (worded) return withSign(worded.number)
  const unit = unitOf(signed)
  return unit === undefined ? signed : withoutUnit(signed, unit)
}

/** True if the unit is at the start (after a minus sign) or the end. */
function hasUnit(value: string, unit: string): boolean {
  return value.replace(/^[-−+]/, '').startsWith(unit) || value.endsWith(unit)
}

const withoutUnit = (value: string, unit: string): string =>
  value
    .replace(unit, '')
    .trim()
    .replace(/^([-−])\s+/, '$1')

/** True for a number without leading zeros that a double represents with all digits. */
function isPlain(value: string, decimal: DecimalMark): boolean {
  if (/^[-−]?0\d/.test(value)) return false
  const number = parseNumber(value, decimal)
  return number !== null && digitsOf(value) === digitsOf(number.toExponential())
}

/** Significant digits: without leading and trailing zeros. */
const digitsOf = (text: string): string =>
  trimTrailing(withoutExponent(text).replace(/\D/g, '').replace(/^0+/, ''), '0')

const withoutExponent = (value: string): string => value.split(/e/i, 1)[0] ?? ''

/** True if all values share one notation that also applies when each value is parsed alone. */
function hasOneForm(values: string[], decimal: DecimalMark): boolean {
  if (decimal === ',') return values.every((value) => CONTINENTAL.test(value))
  if (values.every((value) => ENGLISH.test(value))) return true
  return values.every((value) => CONTINENTAL.test(value) && parseNumber(value) === parseNumber(value, ','))
}

function decimalsOf(value: string, decimal: DecimalMark): number {
  const [, fraction = ''] = /[.,](\d+)$/.exec(withoutExponent(value)) ?? []
  // The comma in "1,234" separates thousands.
  return Number.isInteger(parseNumber(value, decimal)) ? 0 : fraction.length
}
