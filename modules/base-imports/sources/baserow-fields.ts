import { dayIn, isTimeZone } from '../../../src/core/dates.ts'
import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import type { RollupFunction } from '../../../src/core/fields/rollup.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  type ComputedPlan,
  emptyRecord,
  type SourceCell,
  type SourceField,
  type SourceFile,
  type SourcePerson,
  type SourceRecord,
} from '../source.ts'
import {
  type BaserowFormulaField,
  baserowDialects,
  readWholeLookup,
  replaceLookups,
  type WholeLookup,
} from './baserow-formula.ts'
import type { BaserowField, BaserowRow, BaserowTable } from './baserow-types.ts'
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
  currencyCode,
  currencyNote,
  decimals,
  decimalsOf,
  isRecord,
  multiSelect,
  namedColor,
  numbers,
  type Options,
  people,
  personId,
  ratings,
  type SourceChoice,
  singleSelect,
  storedPlan,
  textOf,
  texts,
  type ValueType,
  values,
} from './value-types.ts'

/** The id of a field for imports: rows have their values by the same name. */
export const fieldKey = (id: unknown): string => `field_${String(id)}`

const keyIn = (field: BaserowField, name: string): string | null =>
  typeof field[name] === 'number' ? fieldKey(field[name]) : null

/** The signs beside the numbers of a field, such as `€` or `kg`. */
const affixes = ({ number_prefix, number_suffix }: BaserowField): string[] =>
  [number_prefix, number_suffix].map((sign) => String(sign ?? '').trim()).filter((sign) => sign !== '')

/** Known currencies by their codes, so that a unit in capitals is none. */
const CURRENCY_CODES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

function currencyOf(field: BaserowField): string | null {
  const codes = affixes(field).map(currencyCode)
  return codes.find((code) => code !== null && CURRENCY_CODES.has(code)) ?? null
}

/** Numbers with a percent sign are percentages, those with the symbol of a currency are amounts. */
function numberType(field: BaserowField): ValueType {
  const places = field.number_decimal_places
  const currency = currencyOf(field)
  if (currency !== null) return amounts(currency, places)
  if (affixes(field).includes('%')) return values('Percent', { precision: decimalsOf(places) })
  return places === 0 ? numbers(0) : decimals(places)
}

const DATE_FORMATS: Record<string, string> = {
  EU: 'DD/MM/YYYY',
  US: 'MM/DD/YYYY',
  ISO: 'YYYY-MM-DD',
}

/** Days, or days with a time. */
function dates(field: BaserowField): ValueType {
  const format = DATE_FORMATS[String(field.date_format)] ?? 'YYYY-MM-DD'
  const forced = field.date_force_timezone
  const zone = typeof forced === 'string' && isTimeZone(forced) ? forced : null
  if (field.date_include_time === true) {
    return values('DateTime', {
      format,
      time12h: String(field.date_time_format) === '12',
      timeZone: zone ?? 'local',
    })
  }
  return {
    type: 'Date',
    options: { format },
    cell(value) {
      if (typeof value !== 'string') return null
      // The times of creation and modification are instants, also where only their day is shown.
      const ms = value.length > 10 ? Date.parse(value) : Number.NaN
      return Number.isNaN(ms) ? value : dayIn(ms, zone ?? 'UTC')
    },
  }
}

/** Durations are seconds; formats with days have no counterpart. */
function durations({ duration_format }: BaserowField): ValueType {
  const format = String(duration_format ?? 'h:mm')
  const known = ['h:mm', 'h:mm:ss', 'h:mm:ss.s', 'h:mm:ss.ss', 'h:mm:ss.sss'].includes(format)
  return values('Duration', { format: known ? format : /s/.test(format) ? 'h:mm:ss' : 'h:mm' })
}

const choicesOf = ({ select_options }: BaserowField): SourceChoice[] =>
  (Array.isArray(select_options) ? select_options : [])
    .filter(isRecord)
    .map(({ value, color }) => ({ title: value, color: namedColor(color) }))

const RATING_ICONS: Record<string, string> = {
  star: 'star',
  heart: 'heart',
  'thumbs-up': 'thumb',
  flag: 'flag',
}

function ratingOptions({ style, color }: BaserowField): FieldOptions {
  const shade = namedColor(color)
  return { icon: RATING_ICONS[String(style)] ?? 'star', ...(shade !== undefined && { color: shade }) }
}

const files = (readFile: BaserowSettings['readFile']) =>
  attachments(({ name, url, visible_name, size }): SourceFile | null => {
    if (typeof name !== 'string') return null
    return {
      // The same content has the same name in all cells.
      id: `${name} ${String(visible_name ?? '')}`,
      url: typeof url === 'string' ? url : null,
      name: String(visible_name ?? name),
      size: typeof size === 'number' ? size : null,
      ...(readFile && { read: () => readFile(name) }),
    }
  })

/** The people of a workspace by their ids. */
export type BaserowPeople = ReadonlyMap<number, SourcePerson>

/** A person by the id, or by what is given. */
const memberOf = ({ id, name, email }: Options, members: BaserowPeople): SourcePerson =>
  members.get(Number(id)) ?? {
    id: personId(id),
    email: typeof email === 'string' ? email : null,
    name: typeof name === 'string' ? name : null,
  }

export interface BaserowSettings {
  members: BaserowPeople
  /** The content of a file by its name, for a source without addresses. */
  readFile?: (name: string) => AsyncIterable<Uint8Array>
  /** False for a source without the values of computed fields. */
  hasComputedValues: boolean
}

/** Stored types by the names of the API. */
const storedTypes = ({
  members,
  readFile,
}: BaserowSettings): Record<string, (field: BaserowField) => ValueType> => {
  const persons = (multiple: boolean) => people(multiple, (entry) => memberOf(entry, members))
  return {
    text: () => texts('SingleLineText'),
    long_text: ({ long_text_enable_rich_text }) =>
      texts('LongText', { rich: long_text_enable_rich_text === true }),
    url: () => texts('URL'),
    email: () => texts('Email'),
    phone_number: () => texts('PhoneNumber'),
    uuid: () => texts('SingleLineText'),
    number: numberType,
    rating: (field) => ratings(field.max_value, ratingOptions(field)),
    boolean: () => ({ type: 'Checkbox', options: {}, cell: (value) => value === true }),
    date: dates,
    last_modified: dates,
    duration: durations,
    file: () => files(readFile),
    single_select: (field) => singleSelect(choicesOf(field)),
    multiple_select: (field) => multiSelect(choicesOf(field)),
    multiple_collaborators: () => persons(true),
    created_by: () => persons(false),
    last_modified_by: () => persons(false),
    autonumber: () => values('Number'),
    ai: (field) => (field.ai_output_type === 'choice' ? singleSelect(choicesOf(field)) : texts('LongText')),
  }
}

/** Remarks about types that lose something. */
const NOTES: Record<string, (field: BaserowField) => string | undefined> = {
  number(field) {
    const currency = currencyOf(field)
    const isShown = (sign: string) => (currency === null ? sign === '%' : currencyCode(sign) === currency)
    const sign = affixes(field).find((one) => !isShown(one))
    if (sign !== undefined) return m.base_imports_note_affix({ sign: sign.slice(0, 20) })
    return currency === null
      ? undefined
      : affixes(field)
          .map(currencyNote)
          .find((note) => note !== undefined)
  },
  duration: ({ duration_format: format }) =>
    String(format).startsWith('d')
      ? m.base_imports_note_duration({ format: String(format).slice(0, 40) })
      : undefined,
  multiple_select: (field) => commaNote(choicesOf(field).map(({ title }) => title)),
  uuid: () => m.base_imports_note_uuid(),
  autonumber: () => m.base_imports_note_auto_number(),
  last_modified: () => m.base_imports_note_last_modified(),
  last_modified_by: () => m.base_imports_note_last_modified(),
  created_by: () => m.base_imports_note_created_by(),
  ai: () => m.base_imports_note_ai(),
}

/** Aggregations that have a counterpart. */
const ROLLUPS: Record<string, RollupFunction> = {
  count: 'count',
  sum: 'sum',
  avg: 'avg',
  max: 'max',
  min: 'min',
}

/** Ends the ids of fields that formulas need for a list of values. */
const LIST = '_list'

const COMPUTED = new Set(['formula', 'lookup', 'rollup', 'count', 'created_on'])
const TEXTS = new Set(['text', 'long_text', 'url', 'email', 'phone_number', 'uuid', 'char', 'single_select'])
/** Lookups of these types are compared by names only, which may differ. */
const OPAQUE = new Set(['link_row', 'file', 'multiple_collaborators', 'created_by', 'last_modified_by'])

/** The type of a field's values: of a computed one that of its results. */
const valueTypeOf = (field: BaserowField): string =>
  typeof field.formula_type === 'string' && field.type !== 'created_on' ? field.formula_type : field.type

export type BaserowFields = ReturnType<typeof createBaserowFields>

/** Converts the fields of a database. */
export function createBaserowFields(tables: readonly BaserowTable[], settings: BaserowSettings) {
  const byKey = new Map(
    tables.flatMap(({ fields }) => fields.map((field) => [fieldKey(field.id), field] as const)),
  )
  const tableIds = new Set(tables.map(({ id }) => id))
  const STORED = storedTypes(settings)
  const { members, hasComputedValues } = settings
  const isComputed = ({ type }: BaserowField) => COMPUTED.has(type)

  /** How the results of a computed field are shown, and kept where they cannot be computed. */
  function resultType(field: BaserowField): ValueType {
    const type = valueTypeOf(field)
    if (type === 'number') return numberType(field)
    if (type === 'date') return dates(field)
    if (type === 'boolean') return STORED.boolean!(field)
    if (type === 'duration' || type === 'date_interval') return durations(field)
    if (type === 'url') return texts('URL')
    return texts(type === 'array' ? 'LongText' : 'SingleLineText')
  }

  function linkPlan(field: BaserowField): SourceField['plan'] {
    const { link_row_table_id: tableId } = field
    if (typeof tableId !== 'number' || !tableIds.has(tableId))
      return { as: 'skipped', reason: m.base_imports_reason_link_target() }
    const inverse = byKey.get(keyIn(field, 'link_row_related_field_id') ?? '')
    const hasInverse = inverse !== undefined && inverse.id !== field.id
    return {
      as: 'link',
      // Links to one record may still hold several from before.
      kind: 'mm',
      tableId: String(tableId),
      inverseFieldId: hasInverse ? fieldKey(inverse.id) : null,
      isSecondSide: hasInverse && inverse.id < field.id,
    }
  }

  const isOpaque = (key: string): boolean => OPAQUE.has(byKey.get(key)?.type ?? '')

  /** An aggregate over a field of linked records, or their number. */
  function aggregatePlan(name: string, relation: string, target: string, plain: ValueType): ComputedPlan {
    const aggregation = ROLLUPS[name]
    return aggregation
      ? rollupPlan(relation, target, [aggregation], plain)
      : keptValues('rollups', plain, m.base_imports_reason_rollup({ formula: name.slice(0, 60) }))
  }

  /** The fields that a lookup reads; null if one is gone. */
  function fieldsOf(table: BaserowTable, lookup: WholeLookup) {
    const relation = table.fields.find(({ name }) => name === lookup.linkTitle)
    const related = tables.find(({ id }) => id === relation?.link_row_table_id)
    const target = related?.fields.find(({ name }) => name === lookup.targetTitle)
    return relation && related && target ? { relation, related, target } : null
  }

  /** A formula that consists of a lookup: a field of its own kind here. */
  function wholeLookupPlan(table: BaserowTable, formula: string, plain: ValueType): ComputedPlan | null {
    const lookup = readWholeLookup(formula)
    const found = lookup && fieldsOf(table, lookup)
    if (!lookup || !found) return null
    const [relationKey, targetKey] = [fieldKey(found.relation.id), fieldKey(found.target.id)]
    const plan =
      lookup.aggregation === null
        ? lookupPlan(relationKey, targetKey, plain, isOpaque(targetKey))
        : aggregatePlan(lookup.aggregation, relationKey, targetKey, plain)
    return { ...plan, group: 'formulas' }
  }

  /** A field for a lookup within the longer formulas of a table; null if it cannot be one. */
  function innerLookup(table: BaserowTable, lookup: WholeLookup): SourceField | null {
    const found = fieldsOf(table, lookup)
    const aggregation = ROLLUPS[lookup.aggregation ?? '']
    // Several values in one operation are a list there, which only a comparison of the results can tell from one value.
    if (!found || (lookup.aggregation === null && !hasComputedValues)) return null
    const { relation, related, target } = found
    if (linkPlan(relation).as === 'skipped') return null
    if (!isComputed(target) && planOf(related, target).as === 'skipped') return null
    const [relationKey, targetKey] = [fieldKey(relation.id), fieldKey(target.id)]
    if (!aggregation && lookup.aggregation !== null && lookup.aggregation !== 'join') return null
    // The names in a list of links or people may differ from those there.
    if (!aggregation && isOpaque(targetKey)) return null
    const plan = aggregation
      ? rollupPlan(relationKey, targetKey, [aggregation], values('Decimal'))
      : lookupPlan(relationKey, targetKey, texts('LongText'))
    return {
      id: `${relationKey}_${targetKey}${aggregation ? `_${aggregation}` : LIST}`,
      title: `${relation.name} ${target.name} (${aggregation ?? 'list'})`,
      description: null,
      plan: { ...plan, group: 'formulas', notCompared: m.base_imports_note_inner_lookup() },
      isHelper: true,
    }
  }

  /** A formula, with the fields for the lookups in it. */
  function withLookups(table: BaserowTable, formula: string): { formula: string; lookups: SourceField[] } {
    const lookups = new Map<string, SourceField>()
    const replaced = replaceLookups(formula, (lookup) => {
      const field = innerLookup(table, lookup)
      if (field) lookups.set(field.id, field)
      return field?.id ?? null
    })
    return { formula: replaced, lookups: [...lookups.values()] }
  }

  /** A formula in terms of the fields of its table and of lookups of its own. */
  function longFormulaPlan(
    table: BaserowTable,
    text: string,
    plain: ValueType,
  ): { plan: ComputedPlan; lookups: SourceField[] } {
    const { formula, lookups } = withLookups(table, text)
    const inner = lookups.map(({ id }) => ({ id, name: id, isText: id.endsWith(LIST), isTruth: false }))
    const dialects = baserowDialects([...table.fields.map(toFormulaField), ...inner])
    const plan = formulaPlan(formula, dialects, plain)
    // Without a translation, nothing would read the lookups.
    return { plan, lookups: plan.candidates.length > 0 ? lookups : [] }
  }

  /** Fields that the longer formulas of a table need here. */
  function innerLookups(table: BaserowTable): SourceField[] {
    const found = new Map<string, SourceField>()
    for (const field of table.fields) {
      const text = String(field.formula ?? '')
      const isBroken = field.error || field.formula_type === 'invalid'
      if (field.type !== 'formula' || isBroken || wholeLookupPlan(table, text, resultType(field))) continue
      for (const lookup of longFormulaPlan(table, text, resultType(field)).lookups)
        found.set(lookup.id, lookup)
    }
    return [...found.values()]
  }

  function computedPlan(table: BaserowTable, field: BaserowField): ComputedPlan {
    const plain = resultType(field)
    if (field.type === 'created_on') return createdTimePlan(dates(field))
    const group = field.type === 'formula' ? 'formulas' : field.type === 'lookup' ? 'lookups' : 'rollups'
    if (field.error || field.formula_type === 'invalid') return brokenField(group, plain)
    if (field.type === 'formula') {
      const formula = String(field.formula ?? '')
      return wholeLookupPlan(table, formula, plain) ?? longFormulaPlan(table, formula, plain).plan
    }
    const relation = keyIn(field, 'through_field_id')
    const target = keyIn(field, 'target_field_id')
    if (relation !== null && field.type === 'count') return countPlan(relation, plain)
    if (relation === null || target === null) return brokenField(group, plain)
    if (field.type === 'lookup') return lookupPlan(relation, target, texts('LongText'), isOpaque(target))
    return aggregatePlan(String(field.rollup_function ?? ''), relation, target, plain)
  }

  const toFormulaField = (field: BaserowField): BaserowFormulaField => ({
    id: fieldKey(field.id),
    name: field.name,
    isText: TEXTS.has(valueTypeOf(field)),
    isTruth: valueTypeOf(field) === 'boolean',
  })

  /** Without values, a field that cannot be computed here would be empty. */
  function withValues(plan: ComputedPlan): SourceField['plan'] {
    if (hasComputedValues) return plan
    if (plan.candidates.length > 0) return { ...plan, notCompared: m.base_imports_note_no_values() }
    const reason = m.base_imports_reason_no_values({ reason: plan.problem ?? '' })
    return { as: 'skipped', reason }
  }

  function planOf(table: BaserowTable, field: BaserowField): SourceField['plan'] {
    if (isComputed(field)) return withValues(computedPlan(table, field))
    if (field.type === 'link_row') return linkPlan(field)
    if (field.type === 'password') return { as: 'skipped', reason: m.base_imports_reason_password() }
    return storedPlan(STORED[field.type]?.(field), field.type)
  }

  /** The cell of a stored field or link. */
  function cellOf(field: BaserowField, value: unknown): SourceCell {
    if (value === null || value === undefined || value === '') return null
    if (field.type !== 'link_row') return STORED[field.type]?.(field).cell(value) ?? null
    const ids = (Array.isArray(value) ? value : [])
      .filter(isRecord)
      .flatMap(({ id }) => (typeof id === 'number' ? [String(id)] : []))
    return ids.length === 0 ? null : { links: ids }
  }

  return {
    innerLookups,

    toField: (table: BaserowTable, field: BaserowField): SourceField => ({
      id: fieldKey(field.id),
      title: field.name,
      description: field.description || null,
      plan: planOf(table, field),
      note: NOTES[field.type]?.(field),
    }),

    toRecord(table: BaserowTable, row: BaserowRow): SourceRecord {
      const record = emptyRecord(String(row.id))
      for (const field of table.fields) {
        const key = fieldKey(field.id)
        const value = row[key]
        if (isComputed(field)) record.computed[key] = computedValue(field, value)
        else record.cells[key] = cellOf(field, value)
        if (field.type === 'created_on' && typeof value === 'string') record.createdAt ??= value
        if (field.type === 'created_by' && isRecord(value)) record.createdBy = memberOf(value, members)
      }
      return record
    },
  }
}

/** The value of a computed field: those of linked records without their ids, options and people by their names. */
function computedValue(field: BaserowField, value: unknown): unknown {
  if (field.type === 'created_on') return value ?? null
  const shown = (one: unknown): unknown => {
    if (Array.isArray(one)) return one.map(shown)
    if (!isRecord(one)) return one
    if ('value' in one) return shown(one.value)
    return textOf('visible_name' in one ? one.visible_name : one)
  }
  return shown(value ?? null)
}

/** The titles of the options with these ids. */
export function choicesById({ select_options }: BaserowField, ids: readonly string[]): string[] | null {
  const choices: Options[] = (Array.isArray(select_options) ? select_options : []).filter(isRecord)
  const titles = ids.map((id) => choices.find((choice) => String(choice.id) === id)?.value)
  return titles.every((title) => typeof title === 'string') ? titles : null
}
