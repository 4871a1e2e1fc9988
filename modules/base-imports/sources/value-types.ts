import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../../src/core/fields/index.ts'
import { m } from '../../../src/messages.gen.ts'
import type { SkippedPlan, SourceCell, SourceFile, SourcePerson, StoredPlan } from '../source.ts'

/** How the values of a field of a source become cells of a type here. */
export interface ValueType extends Pick<StoredPlan, 'type' | 'options'> {
  cell(value: unknown): SourceCell
}

/** The plan of a stored field; skipped where the type of the source is unknown. */
export const storedPlan = (stored: ValueType | undefined, sourceType: string): StoredPlan | SkippedPlan =>
  stored
    ? { as: 'stored', type: stored.type, options: stored.options }
    : { as: 'skipped', reason: m.base_imports_reason_unknown_type({ type: sourceType.slice(0, 60) }) }

export type Options = Record<string, unknown>

export const isRecord = (value: unknown): value is Options =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A text, number or truth as it is; anything else is empty. */
export const scalar = (value: unknown): SourceCell =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null

/** Any value as text: objects by their name, lists joined by commas. */
export function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  if (Array.isArray(value)) {
    const texts = value.map(textOf).filter((text) => text !== null && text !== '')
    return texts.length === 0 ? null : texts.join(', ')
  }
  if (typeof value !== 'object') return String(value)
  const {
    name,
    email,
    text,
    title,
    value: inner,
    filename,
    label,
    url,
    error,
    specialValue,
  } = value as Options
  const named = [name, email, text, title, inner, filename, label, url, error, specialValue].find(
    (one) => typeof one === 'string' || typeof one === 'number',
  )
  return named === undefined ? JSON.stringify(value) : String(named)
}

/** A type whose values are texts. */
export const texts = (type: FieldTypeName, options: FieldOptions = {}): ValueType => ({
  type,
  options,
  cell: textOf,
})

/** A type that takes the values as they are. */
export const values = (type: FieldTypeName, options: FieldOptions = {}): ValueType => ({
  type,
  options,
  cell: scalar,
})

/** Displayed decimals, of which there are up to 8 here; 0 if none are given. */
export const decimalsOf = (precision: unknown): number =>
  typeof precision === 'number' ? Math.max(0, Math.min(8, Math.round(precision))) : 0

/** A whole number, or one with decimals. */
export const numbers = (precision: unknown): ValueType => {
  const decimals = decimalsOf(precision)
  return decimals === 0 ? values('Number') : values('Decimal', { precision: decimals })
}

/** A number with all its decimals, of which a source may show fewer than it stores. */
export const decimals = (precision: unknown): ValueType =>
  values('Decimal', { precision: typeof precision === 'number' ? decimalsOf(precision) : null })

/** Percentages of a source that stores fractions: 0.5 is 50 % there. */
export const fractions = (precision: unknown): ValueType => ({
  type: 'Percent',
  options: { precision: decimalsOf(precision) },
  cell: asPercentage,
})

/** A fraction as a percentage; null for anything else. */
export const asPercentage = (value: unknown): number | null =>
  typeof value === 'number' ? shifted(value, 2) : null

/** A number with its decimal point moved, without the error of a multiplication: 0.07 becomes 7. */
const shifted = (value: number, digits: number): number =>
  Number(`${value}e${digits}`) || value * 10 ** digits

/** A rating of 1 to 10 signs. */
export const ratings = (max: unknown, options: FieldOptions): ValueType =>
  values('Rating', { ...options, max: typeof max === 'number' ? Math.max(1, Math.min(10, max)) : 5 })

/** Codes of the symbols that users enter for currencies; the sources have no codes. */
const CURRENCIES: Record<string, string> = {
  $: 'USD',
  US$: 'USD',
  '€': 'EUR',
  '£': 'GBP',
  '¥': 'JPY',
  '₹': 'INR',
  '₩': 'KRW',
  '₽': 'RUB',
  '₺': 'TRY',
  '₴': 'UAH',
  '₫': 'VND',
  '₪': 'ILS',
  '฿': 'THB',
  '₱': 'PHP',
  '₦': 'NGN',
  R$: 'BRL',
  C$: 'CAD',
  CA$: 'CAD',
  A$: 'AUD',
  AU$: 'AUD',
  NZ$: 'NZD',
  HK$: 'HKD',
  S$: 'SGD',
  MX$: 'MXN',
  zł: 'PLN',
  Kč: 'CZK',
  kr: 'SEK',
  'kr.': 'DKK',
  Ft: 'HUF',
  Fr: 'CHF',
}

/** Symbols of several currencies, of which the most likely is taken. The dollar sign, the default of most sources, is not doubted. */
const SHARED_SYMBOLS = new Set(['kr', 'kr.', '¥'])

const symbolText = (symbol: unknown): string => String(symbol ?? '').trim()

/** The ISO 4217 code of a currency's symbol; null for an unknown one. */
export function currencyCode(symbol: unknown): string | null {
  const text = symbolText(symbol)
  const known = CURRENCIES[text] ?? CURRENCIES[text.replace(/\.$/, '')]
  if (known) return known
  return /^[A-Z]{3}$/.test(text) ? text : null
}

/** A remark on a symbol that is unknown or that of several currencies. */
export function currencyNote(symbol: unknown): string | undefined {
  const text = symbolText(symbol)
  const code = currencyCode(text)
  if (code === null) return m.base_imports_note_currency({ symbol: text.slice(0, 20) })
  return SHARED_SYMBOLS.has(text) ? m.base_imports_note_shared_symbol({ symbol: text, code }) : undefined
}

/** Amounts in the currency of a symbol, in US dollars if it is unknown. */
export const amounts = (symbol: unknown, precision: unknown): ValueType =>
  values('Currency', { code: currencyCode(symbol) ?? 'USD', precision: decimalsOf(precision) })

export interface SourceChoice {
  title: unknown
  color: string | undefined
}

/** A select with the options of the source. */
export const singleSelect = (choices: readonly SourceChoice[]): ValueType => ({
  type: 'SingleSelect',
  options: choiceOptions(choices, choiceTitle),
  cell: (value) => choiceTitle(textOf(value)) || null,
})

/** A multi select, whose titles cannot contain commas here. */
export const multiSelect = (choices: readonly SourceChoice[]): ValueType => ({
  type: 'MultiSelect',
  options: choiceOptions(choices, titleInList),
  cell: (value) =>
    Array.isArray(value)
      ? value
          .map((one) => titleInList(textOf(one)))
          .filter(Boolean)
          .join(',') || null
      : null,
})

/** A remark on options of a multi select whose commas become semicolons. */
export const commaNote = (titles: readonly unknown[]): string | undefined =>
  titles.some((title) => choiceTitle(title) !== titleInList(title)) ? m.base_imports_note_commas() : undefined

/** The titles of options as one value of a filter on a select. */
export const choiceTitles = (titles: readonly unknown[]): string => titles.map(titleInList).join(',')

function choiceOptions(choices: readonly SourceChoice[], titleOf: (title: unknown) => string): FieldOptions {
  const taken = new Set<string>()
  const unique = choices.flatMap(({ title, color }) => {
    const shown = titleOf(title)
    if (shown === '' || taken.has(shown)) return []
    taken.add(shown)
    return [{ title: shown, ...(color !== undefined && { color }) }]
  })
  return { choices: unique }
}

const choiceTitle = (title: unknown): string =>
  String(title ?? '')
    .trim()
    .slice(0, 255)

const titleInList = (title: unknown): string => choiceTitle(title).replaceAll(',', ';')

/** Colours by names such as `blueLight2`, from dark to light. */
const HUES: Record<string, { strong: string; light: string }> = {
  blue: { strong: '#2d7ff9', light: '#cfdfff' },
  cyan: { strong: '#18bfff', light: '#d0f0fd' },
  teal: { strong: '#20d9d2', light: '#c2f5e9' },
  green: { strong: '#20c933', light: '#d1f7c4' },
  yellow: { strong: '#fcb400', light: '#ffeab6' },
  orange: { strong: '#ff6f2c', light: '#fee2d5' },
  brown: { strong: '#a0522d', light: '#ecd9cd' },
  red: { strong: '#f82b60', light: '#ffdce5' },
  pink: { strong: '#ff08c2', light: '#ffdaf6' },
  purple: { strong: '#8b46ff', light: '#ede2fe' },
  gray: { strong: '#666666', light: '#eeeeee' },
}

/** The colour of `blueLight2`, `blueBright`, `light-blue` or `blue`, or of `#2d7ff9`; undefined for an unknown name. */
export function namedColor(name: unknown): string | undefined {
  const text = String(name ?? '').slice(0, 40)
  if (/^#[0-9a-f]{6}$/i.test(text)) return text
  const [, prefix = '', hue = '', shade = ''] =
    /^(?:(light|lighter|dark|darker|deep-dark)-)?([a-z]+)((?:Light|Bright|Dark)\d?)?$/.exec(text) ?? []
  const isLight = prefix.startsWith('light') || shade.startsWith('Light')
  return HUES[hue]?.[isLight ? 'light' : 'strong']
}

/** The id of a person, which is a text or a number. */
export const personId = (id: unknown): string | null =>
  (typeof id === 'string' && id !== '') || typeof id === 'number' ? String(id) : null

/** A field of people. `personOf` gives the person of an entry. */
export const people = (
  multiple: boolean,
  personOf: (entry: Options) => SourcePerson | null = ({ id, email, name }) => ({
    id: personId(id),
    email: typeof email === 'string' ? email : null,
    name: typeof name === 'string' ? name : null,
  }),
): ValueType => ({
  type: 'User',
  options: { multiple },
  cell(value) {
    const entries = (Array.isArray(value) ? value : [value]).filter(isRecord)
    const found = entries.map(personOf).filter((one) => one !== null)
    return found.length === 0 ? null : { people: found }
  },
})

/** A field of files. `fileOf` gives the file of an entry; null for one without an address. */
export const attachments = (fileOf: (entry: Options) => SourceFile | null): ValueType => ({
  type: 'Attachment',
  // The default of the server is lower.
  options: { maxCount: 100 },
  cell(value) {
    if (!Array.isArray(value)) return null
    const found = value.filter(isRecord).map(fileOf)
    const files = found.filter((file) => file !== null)
    return files.length === 0 ? null : { files }
  },
})
