import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType, describeValue, formatPlain, readFail, readOk } from './field-type.ts'
import { precision, readNumber } from './number.ts'
import { type DecimalMark, parseNumber } from './number-text.ts'

const options = z.object({
  /** BCP 47 tag for formatting the amount, e.g. `de-DE`. */
  locale: z._default(
    z.string().check(z.maxLength(35), z.refine(isLocale, { error: () => m.field_error_locale() })),
    'en-US',
  ),
  /** ISO 4217, e.g. `EUR`. */
  code: z._default(
    z.string().check(z.regex(/^[A-Z]{3}$/, { error: () => m.field_error_currency_code() })),
    'USD',
  ),
  precision: precision(2),
})

function isLocale(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** Letters after amounts in their country, where its usual sign is another. */
const LETTERS: Record<string, string> = { CNY: '元', JPY: '円', KRW: '원' }

/** Parses an amount with or without the currency's code or sign: `EUR 12`, `-EUR 12`, `(12 EUR)`, `€12`, `12 zł`. */
function parseAmount(text: string, code: string, locale: string, decimal?: DecimalMark): number | null {
  const trimmed = text.trim()
  const open = /^[(+−-]/.exec(trimmed)?.[0] ?? ''
  const close = trimmed.length > open.length && trimmed.endsWith(')') ? ')' : ''
  const body = trimmed.slice(open.length, trimmed.length - close.length).trim()
  const marks = [code, LETTERS[code] ?? code, ...signsOf(code, locale)]
  const mark = marks.find((each) => body.startsWith(each) || body.endsWith(each)) ?? ''
  const bare = body.startsWith(mark) ? body.slice(mark.length) : body.slice(0, -mark.length)
  return bare === body ? parseNumber(text, decimal) : parseNumber(`${open}${bare.trim()}${close}`, decimal)
}

/**
 * True unless the text names another currency. Accepts no symbol, a symbol of this currency (`$`, `US$`), or its
 * symbol after a prefix of its code. Percentages are rejected.
 */
function isOfCurrency(text: string, code: string, locale: string): boolean {
  if (text.includes('%')) return false
  const marks = text.match(/[A-Z]{0,3}\p{Sc}/gu) ?? []
  return marks.every((mark) => {
    const sign = mark.slice(-1)
    const letters = mark.slice(0, -1)
    const own = signsOf(code, locale)
    return own.has(mark) || (own.has(sign) && code.startsWith(letters))
  })
}

const knownSigns = new Map<string, ReadonlySet<string>>()

/** Symbols of a currency, e.g. `$` and `US$`. Cached, because `Intl.NumberFormat` is slow to construct. */
function signsOf(code: string, locale: string): ReadonlySet<string> {
  const key = `${code} ${locale}`
  const known = knownSigns.get(key)
  if (known) return known
  const signs = new Set<string>()
  for (const each of ['en', locale]) {
    for (const currencyDisplay of ['symbol', 'narrowSymbol'] as const) {
      const parts = new Intl.NumberFormat(each, {
        style: 'currency',
        currency: code,
        currencyDisplay,
      }).formatToParts(0)
      signs.add((parts.find(({ type }) => type === 'currency')?.value ?? code).replaceAll('¥', '¥'))
    }
  }
  knownSigns.set(key, signs)
  return signs
}

/** An amount of money in one currency. */
export const currency = defineFieldType({
  name: 'Currency',
  label: m.field_type_currency,
  group: 'number',
  help: m.field_type_currency_help,
  example: '$1,250.00',
  storage: 'real',
  options,
  filters: 'number',
  summaries: 'number',
  family: 'decimal',
  isAmount: true,
  fill: 'number',
  formRules: ['number', 'step'],
  read(input, { code, locale }) {
    if (typeof input !== 'string') return readNumber(input)
    // "$9" is 9 on the wire (wire §15).
    const value = parseAmount(input, code, locale)
    return value === null ? readFail(m.value_error_amount({ value: describeValue(input) })) : readOk(value)
  },
  // Rejects "€ 99" in a dollar field. `read` accepts it, as the wire reference requires.
  parse: (text, { code, locale }, decimal) =>
    isOfCurrency(text, code, locale) ? parseAmount(text, code, locale, decimal) : null,
  format: formatPlain,
  summaryText(value, { code, precision }, locale) {
    const digits = precision ?? 2
    const format = {
      style: 'currency',
      currency: code,
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    } as const
    return new Intl.NumberFormat(locale, format).format(value)
  },
  databaseTypes: { sqlite3: 'double precision', pg: 'decimal' },
})
