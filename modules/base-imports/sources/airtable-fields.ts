import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../../src/core/fields/index.ts'
import { ROLLUP_FUNCTIONS, type RollupFunction } from '../../../src/core/fields/rollup.ts'
import { m } from '../../../src/messages.gen.ts'
import type { Candidate, ComputedPlan, SourceCell, SourceField, SourcePerson, StoredPlan } from '../source.ts'
import { translateFormula } from './airtable-formula.ts'
import type { AirtableField, AirtableTable } from './airtable-types.ts'

/** How a stored value of Airtable becomes a cell. */
interface ValueType extends Pick<StoredPlan, 'type' | 'options'> {
  cell(value: unknown): SourceCell
}

type Options = Record<string, unknown>

/** Colours of options, from the names of the API such as `blueLight2`. */
const COLORS: Record<string, string> = {
  blue: '#2d7ff9',
  cyan: '#18bfff',
  teal: '#20d9d2',
  green: '#20c933',
  yellow: '#fcb400',
  orange: '#ff6f2c',
  red: '#f82b60',
  pink: '#ff08c2',
  purple: '#8b46ff',
  gray: '#666666',
}
const LIGHT_COLORS: Record<string, string> = {
  blue: '#cfdfff',
  cyan: '#d0f0fd',
  teal: '#c2f5e9',
  green: '#d1f7c4',
  yellow: '#ffeab6',
  orange: '#fee2d5',
  red: '#ffdce5',
  pink: '#ffdaf6',
  purple: '#ede2fe',
  gray: '#eeeeee',
}

/** The colour of `blueLight2`, `blueBright`, `blueDark1` or `blue`; undefined for an unknown name. */
export function airtableColor(name: unknown): string | undefined {
  const [, hue = '', shade = ''] =
    /^([a-z]+)((?:Light|Bright|Dark)\d?)?$/.exec(String(name ?? '').slice(0, 40)) ?? []
  return shade.startsWith('Light') ? LIGHT_COLORS[hue] : COLORS[hue]
}

const plain = (value: unknown): SourceCell =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null

/** Any value as text. */
export function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  if (Array.isArray(value)) {
    const texts = value.map(textOf).filter((text) => text !== null && text !== '')
    return texts.length === 0 ? null : texts.join(', ')
  }
  if (typeof value !== 'object') return String(value)
  const { name, email, text, value: inner, filename, label, url, error, specialValue } = value as Options
  const named = [name, email, text, inner, filename, label, url, error, specialValue].find(
    (one) => typeof one === 'string' || typeof one === 'number',
  )
  return named === undefined ? JSON.stringify(value) : String(named)
}

const texts = (type: FieldTypeName, options: FieldOptions = {}): ValueType => ({
  type,
  options,
  cell: textOf,
})
const values = (type: FieldTypeName, options: FieldOptions = {}): ValueType => ({
  type,
  options,
  cell: plain,
})

/** Decimals of a number field; Airtable has up to 8, as here. */
const precisionOf = ({ precision }: Options): number =>
  typeof precision === 'number' ? Math.max(0, Math.min(8, Math.round(precision))) : 0

const numbers = (options: Options): ValueType => {
  const precision = precisionOf(options)
  return precision === 0 ? values('Number') : values('Decimal', { precision })
}

/** Codes of the symbols that users enter for currency fields; the API has no code. */
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
  Ft: 'HUF',
  Fr: 'CHF',
}

function currencyCode(symbol: unknown): string | null {
  const text = String(symbol ?? '').trim()
  const known = CURRENCIES[text] ?? CURRENCIES[text.replace(/\.$/, '')]
  if (known) return known
  return /^[A-Z]{3}$/.test(text) ? text : null
}

/** Formats of days, from the names of the API. */
const DATE_FORMATS: Record<string, string> = {
  local: 'YYYY-MM-DD',
  friendly: 'DD MMM YYYY',
  us: 'MM/DD/YYYY',
  european: 'DD/MM/YYYY',
  iso: 'YYYY-MM-DD',
}

const nameIn = (value: unknown): string =>
  typeof value === 'object' && value !== null && 'name' in value ? String(value.name) : ''

const dateFormat = ({ dateFormat }: Options): string => DATE_FORMATS[nameIn(dateFormat)] ?? 'YYYY-MM-DD'

function instants(options: Options): ValueType {
  const { timeZone } = options
  return values('DateTime', {
    format: dateFormat(options),
    time12h: nameIn(options.timeFormat) === '12hour',
    timeZone: timeZone === 'client' || typeof timeZone !== 'string' ? 'local' : timeZone,
  })
}

/** Dates, with a time or without, of fields that name their format under `result`. */
function resultDates(options: Options): ValueType {
  const result = options.result as { type?: unknown; options?: Options } | null | undefined
  return result?.type === 'date'
    ? values('Date', { format: dateFormat(result.options ?? {}) })
    : instants(result?.options ?? {})
}

const DURATIONS: Record<string, string> = {
  'h:mm': 'h:mm',
  'h:mm:ss': 'h:mm:ss',
  'h:mm:ss.S': 'h:mm:ss.s',
  'h:mm:ss.SS': 'h:mm:ss.ss',
  'h:mm:ss.SSS': 'h:mm:ss.sss',
}

const RATING_ICONS: Record<string, string> = {
  star: 'star',
  heart: 'heart',
  thumbsUp: 'thumb',
  flag: 'flag',
  dot: 'circle',
}
const CHECKBOX_ICONS: Record<string, string> = {
  check: 'square',
  xCheckbox: 'square',
  star: 'star',
  heart: 'heart',
  thumbsUp: 'thumb',
  flag: 'flag',
  dot: 'circle',
}

const colored = (options: Options): FieldOptions => {
  const color = airtableColor(options.color)
  return color === undefined ? {} : { color }
}

/** Options of a select; the titles of a multi select cannot contain commas here. */
function choicesOf(options: Options, { noComma }: { noComma: boolean }): FieldOptions {
  const given = Array.isArray(options.choices) ? (options.choices as Options[]) : []
  const taken = new Set<string>()
  const choices = given.flatMap((choice) => {
    const title = choiceTitle(choice.name, noComma)
    if (title === '' || taken.has(title)) return []
    taken.add(title)
    const color = airtableColor(choice.color)
    return [{ title, ...(color !== undefined && { color }) }]
  })
  return { choices }
}

const choiceTitle = (name: unknown, noComma: boolean): string => {
  const title = String(name ?? '')
    .trim()
    .slice(0, 255)
  return noComma ? title.replaceAll(',', ';') : title
}

const personIn = (value: unknown): SourcePerson | null => {
  if (typeof value !== 'object' || value === null) return null
  const { email, name } = value as Options
  return { email: typeof email === 'string' ? email : null, name: typeof name === 'string' ? name : null }
}

const people = (multiple: boolean): ValueType => ({
  type: 'User',
  options: { multiple },
  cell(value) {
    const found = (Array.isArray(value) ? value : [value]).map(personIn).filter((one) => one !== null)
    return found.length === 0 ? null : { people: found }
  },
})

const files: ValueType = {
  type: 'Attachment',
  // As many as Airtable allows; the server's default is lower.
  options: { maxCount: 100 },
  cell(value) {
    if (!Array.isArray(value)) return null
    const found = (value as Options[]).flatMap(({ id, url, filename, size }) =>
      typeof id === 'string' && typeof url === 'string'
        ? [{ id, url, name: String(filename ?? 'file'), size: typeof size === 'number' ? size : null }]
        : [],
    )
    return found.length === 0 ? null : { files: found }
  },
}

/** Stored types by the names of the API. */
const STORED: Record<string, (options: Options) => ValueType> = {
  singleLineText: () => texts('SingleLineText'),
  multilineText: () => texts('LongText'),
  richText: () => texts('LongText', { rich: true }),
  aiText: () => texts('LongText'),
  email: () => texts('Email'),
  url: () => texts('URL'),
  phoneNumber: () => texts('PhoneNumber'),
  number: numbers,
  percent: (options) => ({
    type: 'Percent',
    options: { precision: precisionOf(options) },
    // 0.5 is 50 % there.
    cell: (value) => (typeof value === 'number' ? shifted(value, 2) : null),
  }),
  currency: (options) =>
    values('Currency', { code: currencyCode(options.symbol) ?? 'USD', precision: precisionOf(options) }),
  rating: (options) =>
    values('Rating', {
      max: typeof options.max === 'number' ? Math.max(1, Math.min(10, options.max)) : 5,
      icon: RATING_ICONS[String(options.icon)] ?? 'star',
      ...colored(options),
    }),
  duration: (options) => values('Duration', { format: DURATIONS[String(options.durationFormat)] ?? 'h:mm' }),
  checkbox: (options) => ({
    type: 'Checkbox',
    options: { icon: CHECKBOX_ICONS[String(options.icon)] ?? 'square', ...colored(options) },
    cell: (value) => value === true,
  }),
  date: (options) => values('Date', { format: dateFormat(options) }),
  dateTime: instants,
  singleSelect: (options) => ({
    type: 'SingleSelect',
    options: choicesOf(options, { noComma: false }),
    cell: (value) => (value == null ? null : choiceTitle(textOf(value), false)),
  }),
  multipleSelects: (options) => ({
    type: 'MultiSelect',
    options: choicesOf(options, { noComma: true }),
    cell: (value) =>
      Array.isArray(value)
        ? value
            .map((one) => choiceTitle(textOf(one), true))
            .filter(Boolean)
            .join(',') || null
        : null,
  }),
  externalSyncSource: () => texts('SingleLineText'),
  multipleAttachments: () => files,
  singleCollaborator: () => people(false),
  multipleCollaborators: () => people(true),
  barcode: () => texts('SingleLineText'),
  button: () => ({
    type: 'URL',
    options: {},
    cell: (value) => plain((value as Options | null)?.url) ?? null,
  }),
  autoNumber: () => values('Number'),
  lastModifiedTime: resultDates,
  lastModifiedBy: () => people(false),
  createdBy: () => people(false),
}

/** A number with its decimal point moved, without the error of a multiplication: 0.07 becomes 7. */
export const shifted = (value: number, digits: number): number =>
  Number(`${value}e${digits}`) || value * 10 ** digits

/** Remarks about types that lose something. */
const NOTES: Record<string, (options: Options) => string | undefined> = {
  currency: ({ symbol }) =>
    currencyCode(symbol) === null
      ? m.base_imports_note_currency({ symbol: String(symbol ?? '') })
      : undefined,
  barcode: () => m.base_imports_note_barcode(),
  button: () => m.base_imports_note_button(),
  autoNumber: () => m.base_imports_note_auto_number(),
  lastModifiedTime: () => m.base_imports_note_last_modified(),
  lastModifiedBy: () => m.base_imports_note_last_modified(),
  createdBy: () => m.base_imports_note_created_by(),
  externalSyncSource: () => m.base_imports_note_text(),
  aiText: () => m.base_imports_note_text(),
}

/** The type of a computed field's result, and how it is stored if it is kept as values. */
function resultType(result: unknown): ValueType {
  const { type = '', options } = (result ?? {}) as { type?: string; options?: Options | null }
  const known = STORED[type]?.(options ?? {})
  // Selects, people and files of computed fields are kept as text: their options may not be complete.
  const isScalar = known && known.cell === plain
  if (isScalar) return { ...known, cell: (value) => plain(Array.isArray(value) ? value[0] : value) }
  if (type === 'percent') return { ...STORED.percent!(options ?? {}) }
  if (type === 'checkbox') return { ...texts('SingleLineText') }
  return texts(type === 'richText' || type === 'multilineText' ? 'LongText' : 'SingleLineText')
}

/** What a converter knows of the whole base. */
export interface AirtableFields {
  /** The plan of a field. */
  toField(table: AirtableTable, field: AirtableField): SourceField
  /** The cell of a stored field or link. */
  cellOf(field: AirtableField, value: unknown): SourceCell
  isComputed(field: AirtableField): boolean
}

const LINK = 'multipleRecordLinks'

/** Functions whose rollups are tried where the API does not tell which one it is. */
const LIKELY_ROLLUPS: readonly RollupFunction[] = [
  'sum',
  'count',
  'max',
  'min',
  'avg',
  'countDistinct',
  'sumDistinct',
  'avgDistinct',
]

/** Airtable's aggregation formulas that have a counterpart. */
const ROLLUPS: Record<string, RollupFunction> = {
  SUM: 'sum',
  AVERAGE: 'avg',
  MAX: 'max',
  MIN: 'min',
  COUNTA: 'count',
  COUNTALL: 'count',
  COUNT: 'count',
}

/** Converts the fields of a base. */
export function createAirtableFields(tables: readonly AirtableTable[]): AirtableFields {
  const byId = new Map(tables.flatMap(({ fields }) => fields.map((field) => [field.id, field] as const)))

  function planOf(table: AirtableTable, { type, options: given }: AirtableField): SourceField['plan'] {
    const options = given ?? {}
    if (type === LINK) {
      const { linkedTableId, inverseLinkFieldId } = options
      if (typeof linkedTableId !== 'string' || !tables.some(({ id }) => id === linkedTableId)) {
        return { as: 'skipped', reason: m.base_imports_reason_link_target() }
      }
      const inverse = typeof inverseLinkFieldId === 'string' && byId.has(inverseLinkFieldId)
      return {
        as: 'link',
        kind: 'mm',
        tableId: linkedTableId,
        inverseFieldId: inverse ? String(inverseLinkFieldId) : null,
      }
    }
    const computed = COMPUTED[type]?.(table, options, byId)
    if (computed) return computed
    const stored = STORED[type]?.(options)
    if (stored) return { as: 'stored', type: stored.type, options: stored.options }
    return { as: 'skipped', reason: m.base_imports_reason_unknown_type({ type: type.slice(0, 60) }) }
  }

  return {
    toField: (table, field) => ({
      id: field.id,
      title: field.name,
      description: field.description ?? null,
      plan: planOf(table, field),
      note: NOTES[field.type]?.(field.options ?? {}),
    }),
    cellOf({ type, options }, value) {
      if (type === LINK) {
        const ids = (Array.isArray(value) ? value : []).map((one) =>
          typeof one === 'string' ? one : String((one as Options | null)?.id ?? ''),
        )
        return ids.length === 0 ? null : { links: ids.filter((id) => id !== '') }
      }
      return value === null || value === undefined
        ? null
        : (STORED[type]?.(options ?? {}).cell(value) ?? null)
    },
    isComputed: ({ type }) => type in COMPUTED,
  }
}

type ComputedConverter = (
  table: AirtableTable,
  options: Options,
  byId: ReadonlyMap<string, AirtableField>,
) => ComputedPlan

const idIn = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** Computed types by the names of the API. */
const COMPUTED: Record<string, ComputedConverter> = {
  formula(table, options) {
    const translated = translateFormula(String(options.formula ?? ''), table.fields)
    const result = resultType(options.result)
    const base = { as: 'computed' as const, group: 'formulas' as const, plain: result }
    if (options.isValid === false) return invalid('formulas', result)
    if ('problem' in translated)
      return { ...base, candidates: [], dependsOn: [], problem: translated.problem }
    const display = displayOf(options.result)
    const write = (text: string): Candidate => ({
      type: 'Formula',
      options: (idOf) => ({
        formula: text.replace('@', () => translated.formula(idOf)),
        ...(display && { display }),
      }),
    })
    return {
      ...base,
      dependsOn: translated.fieldIds,
      readsClock: translated.readsClock,
      candidates: [
        write('@'),
        // A truth is a number there.
        ...(isNumber(options.result) ? [write('IF(@, 1, 0)')] : []),
        { type: 'Formula', options: (idOf) => ({ formula: translated.formula(idOf) }) },
      ],
    }
  },
  multipleLookupValues: (_table, options) => linked('lookups', options, ['Lookup']),
  count: (_table, options) => linked('rollups', options, ['Count']),
  rollup: (_table, options) => linked('rollups', options, ['Rollup']),
  createdTime: (_table, options) => {
    const shown = resultDates(options)
    return {
      as: 'computed',
      group: 'formulas',
      dependsOn: [],
      plain: shown,
      candidates: [{ type: 'CreatedTime', options: () => shown.options }],
    }
  },
}

const invalid = (group: ComputedPlan['group'], shown: ComputedPlan['plain']): ComputedPlan => ({
  as: 'computed',
  group,
  plain: shown,
  candidates: [],
  dependsOn: [],
  problem: m.base_imports_reason_invalid_there(),
})

/** A field that reads through a link. */
function linked(
  group: ComputedPlan['group'],
  options: Options,
  [type]: readonly [FieldTypeName],
): ComputedPlan {
  const relation = idIn(options.recordLinkFieldId)
  const target = idIn(options.fieldIdInLinkedTable)
  const shown = group === 'lookups' ? texts('LongText') : linkedResult(options.result)
  if (relation === null || options.isValid === false) return invalid(group, shown)
  const over = (more: FieldOptions, withTarget: boolean): Candidate => ({
    type,
    options: (idOf) => ({
      relationFieldId: idOf(relation),
      ...(withTarget && target !== null && { targetFieldId: idOf(target) }),
      ...more,
    }),
  })
  const dependsOn = [relation, ...(target === null ? [] : [target])]
  const base = { as: 'computed' as const, group, plain: shown, dependsOn }
  if (target === null) return { ...base, candidates: [over({}, false)] }
  if (group === 'lookups') {
    const { type: shownType = '' } = (options.result ?? {}) as { type?: string }
    return { ...base, isComparable: !OPAQUE.has(shownType), candidates: [over({}, true)] }
  }
  const { precision } = ((options.result as { options?: Options } | null)?.options ?? {}) as Options
  const decimals = typeof precision === 'number' ? { precision: Math.min(8, precision) } : {}
  return {
    ...base,
    emptyIsZero: true,
    candidates: rollupFunctions(options.formula).map((name) => over({ function: name, ...decimals }, true)),
    ...(rollupFunctions(options.formula).length === 0 && {
      problem: m.base_imports_reason_rollup({ formula: String(options.formula).slice(0, 200) }),
    }),
  }
}

/** Lookups of these types give ids and addresses instead of names. */
const OPAQUE = new Set([
  'multipleRecordLinks',
  'multipleAttachments',
  'singleCollaborator',
  'multipleCollaborators',
  'createdBy',
  'lastModifiedBy',
])

/** The type of a rollup's or count's result; percentages are given as they are shown. */
function linkedResult(result: unknown): ValueType {
  const { type, options } = (result ?? { type: 'number' }) as { type?: string; options?: Options | null }
  if (type === 'percent') return values('Percent', { precision: precisionOf(options ?? {}) })
  return resultType(result ?? { type: 'number' })
}

/** The functions of a rollup: of its formula where it is known (shared links), else all that are likely. */
function rollupFunctions(formula: unknown): readonly RollupFunction[] {
  if (typeof formula !== 'string') return LIKELY_ROLLUPS
  const name = /^\s*([A-Z]+)\s*\(\s*values\s*\)\s*$/i.exec(formula.slice(0, 200))?.[1]?.toUpperCase() ?? ''
  const known = ROLLUPS[name]
  return known && ROLLUP_FUNCTIONS.includes(known) ? [known] : []
}

const isNumber = (result: unknown): boolean => (result as { type?: unknown } | null)?.type === 'number'

/** How a formula's result is shown. */
function displayOf(result: unknown): { type: FieldTypeName; options: FieldOptions } | null {
  const { type = '', options } = (result ?? {}) as { type?: string; options?: Options | null }
  const shown = STORED[type]?.(options ?? {})
  // The value of a percentage stays a fraction in a formula, which would be shown as such.
  return shown && type !== 'percent' && shown.cell === plain
    ? { type: shown.type, options: shown.options }
    : null
}
