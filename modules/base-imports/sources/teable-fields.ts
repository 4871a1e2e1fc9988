import { dayIn, isTimeZone } from '../../../src/core/dates.ts'
import { DATE_FORMATS } from '../../../src/core/fields/date-text.ts'
import type { RollupFunction } from '../../../src/core/fields/rollup.ts'
import { m } from '../../../src/messages.gen.ts'
import type { ComputedPlan, LinkPlan, SourceCell, SourceField, SourceFile } from '../source.ts'
import {
  brokenField,
  createdTimePlan,
  formulaPlan,
  keptValues,
  lookupPlan,
  rollupPlan,
} from './computed-plans.ts'
import { type TeableFormulaField, teableDialect } from './teable-formula.ts'
import type { TeableField, TeableTable } from './teable-types.ts'
import {
  amounts,
  asPercentage,
  attachments,
  commaNote,
  currencyNote,
  decimals,
  fractions,
  isRecord,
  multiSelect,
  namedColor,
  type Options,
  people,
  personId,
  ratings,
  type SourceChoice,
  singleSelect,
  storedPlan,
  texts,
  type ValueType,
  values,
} from './value-types.ts'

const optionsOf = ({ options }: TeableField): Options => options ?? {}
const partOf = (options: Options, key: string): Options => (isRecord(options[key]) ? options[key] : {})
const idIn = (options: Options | null | undefined, key: string): string | null => {
  const value = options?.[key]
  return typeof value === 'string' && value !== '' ? value : null
}

/** Types of texts by what they are shown as. */
const TEXTS: Record<string, ValueType> = {
  email: texts('Email'),
  url: texts('URL'),
  phone: texts('PhoneNumber'),
}

function formattedNumber(formatting: Options): ValueType {
  const { type, precision, symbol } = formatting
  if (type === 'percent') return fractions(precision)
  if (type === 'currency') return amounts(symbol, precision)
  return decimals(precision)
}

/** Formats of days, which have one-digit days and months there. */
const dayFormat = ({ date }: Options): string | undefined => {
  const padded = String(date ?? 'YYYY-MM-DD').replace(/\b[MD]\b/g, '$&$&')
  return DATE_FORMATS.find((format) => format === padded)
}

const zoneOf = ({ timeZone }: Options): string =>
  typeof timeZone === 'string' && isTimeZone(timeZone) ? timeZone : 'UTC'

const isDay = ({ time }: Options): boolean => time === undefined || time === null || time === 'None'

/** A day of the source, which is the instant at which it begins in the zone of its field. */
function dayOf(value: unknown, formatting: Options): string | null {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? null : dayIn(ms, zoneOf(formatting))
}

/** Days, or days with a time. */
function dates(formatting: Options): ValueType {
  const format = dayFormat(formatting) ?? 'YYYY-MM-DD'
  if (isDay(formatting)) {
    return { type: 'Date', options: { format }, cell: (value) => dayOf(value, formatting) }
  }
  return values('DateTime', {
    format,
    time12h: formatting.time === 'hh:mm',
    timeZone: zoneOf(formatting),
  })
}

const choicesOf = ({ choices }: Options): SourceChoice[] =>
  (Array.isArray(choices) ? choices : [])
    .filter(isRecord)
    .map(({ name, color }) => ({ title: name, color: namedColor(color) }))

const RATING_ICONS: Record<string, string> = { star: 'star', heart: 'heart', 'thumb-up': 'thumb' }

const persons = (multiple: boolean): ValueType =>
  people(multiple, ({ id, email, title }) => ({
    id: personId(id),
    email: typeof email === 'string' ? email : null,
    name: typeof title === 'string' ? title : null,
  }))

/** Stored types by the names of the API. `addressOf` completes the address of a file; null for an invalid one. */
const storedTypes = (
  addressOf: (address: string) => string | null,
): Record<string, (field: TeableField) => ValueType> => ({
  singleLineText: (field) =>
    TEXTS[String(partOf(optionsOf(field), 'showAs').type)] ?? texts('SingleLineText'),
  longText: (field) => texts('LongText', { rich: partOf(optionsOf(field), 'showAs').type === 'markdown' }),
  number: (field) => formattedNumber(partOf(optionsOf(field), 'formatting')),
  checkbox: () => ({ type: 'Checkbox', options: {}, cell: (value) => value === true }),
  date: (field) => dates(partOf(optionsOf(field), 'formatting')),
  singleSelect: (field) => singleSelect(choicesOf(optionsOf(field))),
  multipleSelect: (field) => multiSelect(choicesOf(optionsOf(field))),
  rating(field) {
    const { max, icon, color } = optionsOf(field)
    const shade = namedColor(color)
    return ratings(max, {
      icon: RATING_ICONS[String(icon)] ?? 'star',
      ...(shade !== undefined && { color: shade }),
    })
  },
  user: ({ isMultipleCellValue }) => persons(isMultipleCellValue === true),
  attachment: () => attachments((entry) => fileOf(entry, addressOf)),
  autoNumber: () => values('Number'),
  lastModifiedTime: (field) => dates(partOf(optionsOf(field), 'formatting')),
  createdBy: () => persons(false),
  lastModifiedBy: () => persons(false),
})

function fileOf(
  { id, name, size, presignedUrl }: Options,
  addressOf: (address: string) => string | null,
): SourceFile | null {
  if (typeof id !== 'string') return null
  return {
    id,
    url: typeof presignedUrl === 'string' ? addressOf(presignedUrl) : null,
    name: String(name ?? 'file'),
    size: typeof size === 'number' ? size : null,
  }
}

/** Remarks about types that lose something. */
function noteOf(field: TeableField): string | undefined {
  const formatting = partOf(optionsOf(field), 'formatting')
  if (field.aiConfig !== null && field.aiConfig !== undefined) return m.base_imports_note_ai()
  if (field.type === 'autoNumber') return m.base_imports_note_auto_number()
  if (field.type === 'createdBy') return m.base_imports_note_created_by()
  if (field.type.startsWith('lastModified')) return m.base_imports_note_last_modified()
  if (formatting.type === 'currency') return currencyNote(formatting.symbol)
  if (field.type === 'multipleSelect') return commaNote(choicesOf(optionsOf(field)).map(({ title }) => title))
  if (field.type === 'date' && dayFormat(formatting) === undefined)
    return m.base_imports_note_date_format({ format: String(formatting.date).slice(0, 40) })
  return undefined
}

const KINDS: Record<string, LinkPlan['kind']> = {
  oneOne: 'oo',
  oneMany: 'hm',
  manyOne: 'bt',
  manyMany: 'mm',
}

/** Aggregations that have a counterpart. */
const ROLLUPS: Record<string, RollupFunction> = {
  countall: 'count',
  counta: 'count',
  count: 'count',
  sum: 'sum',
  average: 'avg',
  max: 'max',
  min: 'min',
}

/** Lookups of these types are compared by their names only, which may differ. */
const OPAQUE = new Set(['link', 'attachment', 'user', 'createdBy', 'lastModifiedBy'])

export type TeableFields = ReturnType<typeof createTeableFields>

/** Converts the fields of a base. */
export function createTeableFields(
  tables: readonly TeableTable[],
  addressOf: (address: string) => string | null,
) {
  const byId = new Map(tables.flatMap(({ fields }) => fields.map((field) => [field.id, field] as const)))
  const tableIds = new Set(tables.map(({ id }) => id))
  const STORED = storedTypes(addressOf)

  const isLookup = (field: TeableField) => field.isLookup === true || field.isConditionalLookup === true
  const isComputed = (field: TeableField) =>
    isLookup(field) || ['formula', 'rollup', 'conditionalRollup', 'createdTime'].includes(field.type)

  /** True for values that are percentages here and fractions there. */
  function isFraction(field: TeableField | undefined, depth = 0): boolean {
    if (!field || depth > 20) return false
    const readsThrough = isLookup(field) || field.type === 'rollup'
    if (readsThrough) return isFraction(byId.get(idIn(field.lookupOptions, 'lookupFieldId') ?? ''), depth + 1)
    return field.type === 'number' && partOf(optionsOf(field), 'formatting').type === 'percent'
  }

  /** The type of a computed field's values. */
  function resultType(field: TeableField): ValueType {
    const formatting = partOf(optionsOf(field), 'formatting')
    if (field.isMultipleCellValue) return texts('LongText')
    if (field.cellValueType === 'dateTime') return dates(formatting)
    if (field.cellValueType === 'boolean') return STORED.checkbox!(field)
    if (field.cellValueType !== 'number') return texts('SingleLineText')
    return isFraction(field) ? values('Percent') : formattedNumber(formatting)
  }

  function linkPlan(field: TeableField): SourceField['plan'] {
    const options = optionsOf(field)
    const kind = KINDS[String(options.relationship)]
    const tableId = idIn(options, 'foreignTableId')
    if (tableId === null || !kind || !tableIds.has(tableId))
      return { as: 'skipped', reason: m.base_imports_reason_link_target() }
    const inverse = byId.get(idIn(options, 'symmetricFieldId') ?? '')
    const hasInverse = inverse !== undefined && inverse.id !== field.id && options.isOneWay !== true
    return {
      as: 'link',
      kind,
      tableId,
      inverseFieldId: hasInverse ? inverse.id : null,
      // A single link holds the key; of two equal sides the one with the smaller id.
      isSecondSide: hasInverse && (kind === 'hm' || (kind !== 'bt' && inverse.id < field.id)),
    }
  }

  function computedPlan(table: TeableTable, field: TeableField): ComputedPlan {
    const plain = resultType(field)
    const options = optionsOf(field)
    const relation = idIn(field.lookupOptions, 'linkFieldId')
    const target = idIn(field.lookupOptions, 'lookupFieldId')
    const isFiltered = isRecord(field.lookupOptions?.filter)
    if (isLookup(field)) {
      if (field.hasError) return brokenField('lookups', plain)
      if (field.isConditionalLookup || isFiltered)
        return keptValues('lookups', plain, m.base_imports_reason_conditional())
      if (relation === null || target === null) return brokenField('lookups', plain)
      return lookupPlan(relation, target, texts('LongText'), OPAQUE.has(field.type))
    }
    if (field.type === 'createdTime') return createdTimePlan(dates(partOf(options, 'formatting')))
    if (field.type === 'formula') {
      if (field.hasError) return brokenField('formulas', plain)
      return formulaPlan(
        String(options.expression ?? ''),
        [teableDialect(table.fields.map(toFormulaField))],
        plain,
      )
    }
    if (field.hasError) return brokenField('rollups', plain)
    if (field.type === 'conditionalRollup' || isFiltered)
      return keptValues('rollups', plain, m.base_imports_reason_conditional())
    if (relation === null || target === null) return brokenField('rollups', plain)
    const expression = String(options.expression ?? '').slice(0, 200)
    const [, name = ''] = /^\s*(\w+)\s*\(\s*\{values\}\s*\)\s*$/.exec(expression) ?? []
    const aggregation = ROLLUPS[name.toLowerCase()]
    if (!aggregation) {
      const reason = m.base_imports_reason_rollup({ formula: expression })
      return keptValues('rollups', plain, reason, [relation, target])
    }
    return rollupPlan(relation, target, [aggregation], plain)
  }

  const toFormulaField = (field: TeableField): TeableFormulaField => ({
    id: field.id,
    name: field.name,
    values: isFraction(field) ? 'fraction' : (VALUES[String(field.cellValueType)] ?? 'text'),
    isLookup: isLookup(field),
  })

  function planOf(table: TeableTable, field: TeableField): SourceField['plan'] {
    if (isComputed(field)) return computedPlan(table, field)
    if (field.type === 'link') return linkPlan(field)
    if (field.type === 'button') return { as: 'skipped', reason: m.base_imports_reason_button() }
    return storedPlan(STORED[field.type]?.(field), field.type)
  }

  return {
    isComputed,
    isFraction,

    toField: (table: TeableTable, field: TeableField): SourceField => ({
      id: field.id,
      title: field.name,
      description: field.description ?? null,
      plan: planOf(table, field),
      note: isComputed(field) ? undefined : noteOf(field),
    }),

    /** The cell of a stored field or link. */
    cellOf(field: TeableField, value: unknown): SourceCell {
      if (value === null || value === undefined) return null
      if (field.type !== 'link') return STORED[field.type]?.(field).cell(value) ?? null
      const ids = (Array.isArray(value) ? value : [value])
        .filter(isRecord)
        .flatMap(({ id }) => (typeof id === 'string' ? [id] : []))
      return ids.length === 0 ? null : { links: ids }
    },

    /** The value of a computed field as ours shows it: people and links by their titles, days without a time. */
    computedValue(field: TeableField, value: unknown): unknown {
      if (field.type === 'createdTime') return value ?? null
      const formatting = partOf(optionsOf(field), 'formatting')
      const readsThrough = field.type !== 'formula' || isLookup(field)
      const scales = readsThrough && isFraction(field)
      const isDate = field.cellValueType === 'dateTime' && isDay(formatting)
      const shown = (one: unknown): unknown => {
        if (isRecord(one)) return one.title ?? one.name ?? one
        if (scales) return asPercentage(one) ?? one
        return isDate ? (dayOf(one, formatting) ?? one) : one
      }
      return Array.isArray(value) ? value.map(shown) : shown(value ?? null)
    },
  }
}

const VALUES: Record<string, TeableFormulaField['values']> = {
  number: 'number',
  boolean: 'truth',
  dateTime: 'date',
}
