import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import { ROLLUP_FUNCTIONS, type RollupFunction } from '../../../src/core/fields/rollup.ts'
import { m } from '../../../src/messages.gen.ts'
import type { ComputedPlan, SourceCell, SourceField } from '../source.ts'
import { airtableDialect } from './airtable-formula.ts'
import type { AirtableField, AirtableTable } from './airtable-types.ts'
import {
  brokenField,
  countPlan,
  createdTimePlan,
  formulaPlan,
  keptValues,
  lookupPlan,
  rollupPlan,
} from './computed-plans.ts'
import {
  amounts,
  attachments,
  commaNote,
  currencyNote,
  decimals,
  decimalsOf,
  fractions,
  isRecord,
  multiSelect,
  namedColor,
  numbers,
  type Options,
  people,
  ratings,
  type SourceChoice,
  scalar,
  singleSelect,
  storedPlan,
  textOf,
  texts,
  type ValueType,
  values,
} from './value-types.ts'

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
  const color = namedColor(options.color)
  return color === undefined ? {} : { color }
}

const choicesOf = ({ choices }: Options): SourceChoice[] =>
  (Array.isArray(choices) ? choices : [])
    .filter(isRecord)
    .map(({ name, color }) => ({ title: name, color: namedColor(color) }))

const files = attachments(({ id, url, filename, size }) =>
  typeof id === 'string' && typeof url === 'string'
    ? { id, url, name: String(filename ?? 'file'), size: typeof size === 'number' ? size : null }
    : null,
)

/** Stored types by the names of the API. */
const STORED: Record<string, (options: Options) => ValueType> = {
  singleLineText: () => texts('SingleLineText'),
  multilineText: () => texts('LongText'),
  richText: () => texts('LongText', { rich: true }),
  // The text is null until it has been generated.
  aiText: () => ({ ...texts('LongText'), cell: (value) => textOf(isRecord(value) ? value.value : value) }),
  email: () => texts('Email'),
  url: () => texts('URL'),
  phoneNumber: () => texts('PhoneNumber'),
  number: ({ precision }) => numbers(precision),
  percent: ({ precision }) => fractions(precision),
  currency: ({ symbol, precision }) => amounts(symbol, precision),
  rating: (options) =>
    ratings(options.max, { icon: RATING_ICONS[String(options.icon)] ?? 'star', ...colored(options) }),
  duration: (options) => values('Duration', { format: DURATIONS[String(options.durationFormat)] ?? 'h:mm' }),
  checkbox: (options) => ({
    type: 'Checkbox',
    options: { icon: CHECKBOX_ICONS[String(options.icon)] ?? 'square', ...colored(options) },
    cell: (value) => value === true,
  }),
  date: (options) => values('Date', { format: dateFormat(options) }),
  dateTime: instants,
  singleSelect: (options) => singleSelect(choicesOf(options)),
  multipleSelects: (options) => multiSelect(choicesOf(options)),
  externalSyncSource: () => texts('SingleLineText'),
  multipleAttachments: () => files,
  singleCollaborator: () => people(false),
  multipleCollaborators: () => people(true),
  barcode: () => texts('SingleLineText'),
  button: () => ({
    type: 'URL',
    options: {},
    cell: (value) => scalar((value as Options | null)?.url),
  }),
  autoNumber: () => values('Number'),
  lastModifiedTime: resultDates,
  lastModifiedBy: () => people(false),
  createdBy: () => people(false),
}

/** Remarks about types that lose something. */
const NOTES: Record<string, (options: Options) => string | undefined> = {
  currency: ({ symbol }) => currencyNote(symbol),
  multipleSelects: (options) => commaNote(choicesOf(options).map(({ title }) => title)),
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
  const isScalar = known && known.cell === scalar
  const first = (value: unknown) => scalar(Array.isArray(value) ? value[0] : value)
  // Results are given with all their decimals, whatever is shown.
  if (type === 'number') return { ...decimals(options?.precision), cell: first }
  if (isScalar) return { ...known, cell: first }
  if (type === 'percent') return fractions(options?.precision)
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
    return storedPlan(STORED[type]?.(options), type)
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
    const result = resultType(options.result)
    if (options.isValid === false) return brokenField('formulas', result)
    return formulaPlan(String(options.formula ?? ''), [airtableDialect(table.fields)], result)
  },
  multipleLookupValues(_table, options) {
    const plain = texts('LongText')
    const { type = '' } = (options.result ?? {}) as { type?: string }
    return throughLink('lookups', options, plain, (relation, target) =>
      target === null ? brokenField('lookups', plain) : lookupPlan(relation, target, plain, OPAQUE.has(type)),
    )
  },
  count: (_table, options) =>
    throughLink('rollups', options, linkedResult(options.result), (relation) =>
      countPlan(relation, linkedResult(options.result)),
    ),
  rollup(_table, options) {
    const plain = linkedResult(options.result)
    return throughLink('rollups', options, plain, (relation, target) => {
      if (target === null) return brokenField('rollups', plain)
      const functions = rollupFunctions(options.formula)
      if (functions.length === 0) {
        const formula = String(options.formula).slice(0, 200)
        return keptValues('rollups', plain, m.base_imports_reason_rollup({ formula }), [relation, target])
      }
      const { precision } = ((options.result as { options?: Options } | null)?.options ?? {}) as Options
      const shown = typeof precision === 'number' ? { precision: decimalsOf(precision) } : {}
      return rollupPlan(relation, target, functions, plain, shown)
    })
  },
  createdTime: (_table, options) => createdTimePlan(resultDates(options)),
}

/** A field that reads through a link. */
function throughLink(
  group: ComputedPlan['group'],
  options: Options,
  plain: ValueType,
  plan: (relationId: string, targetId: string | null) => ComputedPlan,
): ComputedPlan {
  const relation = idIn(options.recordLinkFieldId)
  if (relation === null || options.isValid === false) return brokenField(group, plain)
  return plan(relation, idIn(options.fieldIdInLinkedTable))
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
  if (type === 'percent') return values('Percent', { precision: decimalsOf(options?.precision) })
  return resultType(result ?? { type: 'number' })
}

/** The functions of a rollup: of its formula where it is known (shared links), else all that are likely. */
function rollupFunctions(formula: unknown): readonly RollupFunction[] {
  if (typeof formula !== 'string') return LIKELY_ROLLUPS
  const name = /^\s*([A-Z]+)\s*\(\s*values\s*\)\s*$/i.exec(formula.slice(0, 200))?.[1]?.toUpperCase() ?? ''
  const known = ROLLUPS[name]
  return known && ROLLUP_FUNCTIONS.includes(known) ? [known] : []
}
