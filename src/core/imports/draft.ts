import { readFileList } from '../fields/attachment-item.ts'
import { titlesIn } from '../fields/choice-titles.ts'
import type { DateFormat } from '../fields/date-text.ts'
import type { DayReading } from '../fields/day-reading.ts'
import { detectType } from '../fields/detect.ts'
import { currencyOptions } from '../fields/detect-numbers.ts'
import { isEmptyWord } from '../fields/empty-words.ts'
import type { FieldOptions } from '../fields/field-type.ts'
import { FIELD_TYPES, type FieldTypeName, fieldType, readOptions } from '../fields/index.ts'
import { linkOf } from '../fields/link-options.ts'
import { parseCell } from '../fields/notations.ts'
import type { DecimalMark } from '../fields/number-text.ts'
import {
  findsRecords,
  hasCurrency,
  holdsAddresses,
  holdsFiles,
  isFilledByImport,
  isOfferedForImport,
  takesPlainNumbers,
} from '../fields/traits.ts'
import type { Field } from '../model.ts'
import type { Analysis } from './analysis.ts'
import { fitToColumn } from './fit-to-column.ts'
import type { ImportFormat } from './format.ts'

/** Import settings of a column. */
export interface DraftColumn {
  /** Position in the file. */
  index: number
  isOn: boolean
  /** Title of the new field; the header, when appending. */
  title: string
  type: FieldTypeName
  options: FieldOptions
  /** Target field when appending; null: not mapped. */
  fieldId: string | null
  /** Chosen as the display field of a new table. */
  isDisplay?: boolean
  /** Checked cells of a link column that match no record. */
  missing?: ReadonlySet<string>
  /** True if names in a column for a link field create the records that are missing, when appending. */
  creates?: boolean
  /** The link that a column of a new table becomes; null: none; undefined: the proposed one, if there is any. */
  link?: DraftLink | null
  /** Chosen notation of dates, when appending. */
  dateFormat?: DateFormat
  /** Whether years are read as those of the Thai Buddhist era; undefined: as detected. */
  isBuddhist?: boolean
  /** Whether days such as `24/3/13` have the year first; undefined: as detected. */
  yearFirst?: boolean
  /** Chosen decimal mark of numbers; undefined: as detected. */
  decimal?: DecimalMark
}

/** A column that becomes a link after the import. */
export interface DraftLink {
  /** A table of this import by its key, or an existing one. */
  to: { draft: number } | { tableId: string }
  /** Title of the linked table. */
  title: string
  /** `row`: by the rows of the records whose lists the table holds. */
  by: 'name' | 'row'
  missing: 'create' | 'report'
  /** Distinct sampled values, and those that name records; null if that is not known. */
  found: { count: number; of: number } | null
}

/** Target of the rows. */
export type DraftTarget =
  /** `sourceId`: the connected database in which the table is created; absent: the base's own. */
  | { kind: 'new'; title: string; sourceId?: string }
  | ({
      kind: 'append'
      tableId: string
      title: string
      fields: Field[]
      update?: DraftUpdate
    } & Partial<ImportTargetFacts>)

/** A table that rows may be imported into. */
export interface ImportTargetFacts {
  /** Why it takes no import; null if it does. */
  refusal: string | null
  /** True if its database keeps to the sizes that columns declare. */
  keepsToTypes: boolean
}

/** How rows find and change existing records. */
export interface DraftUpdate {
  /** Whether rows change existing records, add new ones, or both. */
  mode: 'updateAndAdd' | 'update' | 'add'
  /** Whether an empty cell keeps the value of an existing record or clears it. */
  emptyCells: 'keep' | 'clear'
  /** Chosen key fields; null: the suggested one. */
  keys: readonly string[] | null
}

/** Field types offered for columns of a new table, in display order. */
export const IMPORTABLE_TYPES: readonly FieldTypeName[] = FIELD_TYPES.map(({ name }) => name).filter(
  isOfferedForImport,
)

/** Fields that a column can be mapped to, including links (by record name). */
const importableFields = (fields: Field[]): Field[] => fields.filter(isFilledByImport)

/** As `importableFields`, with the primary key if it can find existing records. */
export const targetFields = (target: DraftTarget): Field[] => {
  if (target.kind === 'new') return []
  const filled = importableFields(target.fields)
  const ids = target.update
    ? target.fields.filter((field) => field.isPrimaryKey && !filled.includes(field) && findsRecords(field))
    : []
  return [...ids, ...filled]
}

/** Titles of the file's columns that belong to fields which the database fills itself. */
export function unfilledColumns({ fields: detected }: Analysis, target: DraftTarget): string[] {
  if (target.kind === 'new') return []
  const mapped = new Set(targetFields(target))
  const readOnly = target.fields.filter((field) => field.databaseType !== null && !mapped.has(field))
  const titles = new Set(readOnly.map(({ title }) => keyOf(title)))
  return detected.flatMap(({ title }) => (titles.has(keyOf(title)) ? title : []))
}

/** The mapped fields that can find records. */
export function keyCandidates(columns: readonly DraftColumn[], target: DraftTarget): Field[] {
  const mapped = new Set(columns.filter(({ isOn }) => isOn).map(({ fieldId }) => fieldId))
  return targetFields(target).filter((field) => mapped.has(field.id) && findsRecords(field))
}

/**
 * The key fields of an update: the chosen ones that are mapped, otherwise the likeliest. The record's id always is one,
 * as it cannot be written.
 */
export function keyFields(columns: readonly DraftColumn[], target: DraftTarget): Field[] {
  if (target.kind === 'new' || !target.update) return []
  const { keys } = target.update
  const candidates = keyCandidates(columns, target)
  // The key of a connected table may have several columns.
  const ids = candidates.filter((field) => field.isPrimaryKey)
  if (keys !== null) return candidates.filter((field) => field.isPrimaryKey || keys.includes(field.id))
  if (ids.length > 0) return ids
  const unique = candidates.find((field) => field.unique)
  const likely = unique ?? candidates.find((field) => field.isDisplay) ?? candidates[0]
  return likely ? [likely] : []
}

/** Initial columns: with detected types for a new table, otherwise mapped to the fields with the same title. */
export function draftColumns(analysis: Analysis, target: DraftTarget): DraftColumn[] {
  const { fields: detected, isComplete, format } = analysis
  // Lists begin with the rows of the records that they belong to.
  const rowsAt = 'nested' in format && (format.nested ?? []).length > 0 ? 0 : -1
  const free = targetFields(target)
  const byTitle = new Map(free.map((field) => [keyOf(field.title), field]))
  return detected.map(({ title, type, options, confidence }, index) => {
    const field = index === rowsAt ? undefined : byTitle.get(keyOf(title))
    if (field) byTitle.delete(keyOf(title))
    const fieldId = field?.id ?? null
    // Such as the empty columns between the blocks of a sheet, and objects in JSON whose values are columns of their own.
    const isUnnamed = title === `Field ${index + 1}`
    const hasParts = detected.some((other) => other.title.startsWith(`${title}.`))
    const isBlank = isComplete && confidence.filled === 0 && (isUnnamed || hasParts)
    const isOn = target.kind === 'new' ? !isBlank : fieldId !== null
    return { index, isOn, title, type, options, fieldId }
  })
}

/** Ignores case, spaces, hyphens and underscores when comparing titles. */
const keyOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[\s_-]+/g, ' ')
    .trim()

/** The column with another type, and with the detected options or options derived from its values. */
export function withType(column: DraftColumn, type: FieldTypeName, analysis: Analysis): DraftColumn {
  const detected = analysis.fields[column.index]
  if (detected?.type === type) return { ...column, type, options: detected.options }
  const [currency, ...others] = detected?.currencies ?? []
  const isOfCurrency = currency !== undefined && others.length === 0
  if (isOfCurrency && hasCurrency({ type, options: readOptions(type, undefined) }))
    return { ...column, type, options: readOptions(type, currencyOptions(currency)) }
  return { ...column, type, options: readOptions(type, suitable(type, valuesOf(analysis, column.index))) }
}

/** The column with another decimal mark, and with the type that its numbers have with it if a new field gets them. */
export function withMark(
  column: DraftColumn,
  decimal: DecimalMark,
  analysis: Analysis,
  target: DraftTarget,
): Partial<DraftColumn> {
  if (target.kind !== 'new' || column.link || !isPlainAmount(column)) return { decimal }
  const values = valuesOf(analysis, column.index).filter((value) => value.trim() !== '')
  const { type, options } = detectType(values, { decimal, title: column.title })
  const found = { type, options: readOptions(type, options) }
  return isPlainAmount(found) ? { decimal, ...found } : { decimal }
}

const isPlainAmount = (field: Pick<DraftColumn, 'type' | 'options'>): boolean =>
  takesPlainNumbers(field) && fieldType(field.type).isAmount === true

const MAX_CHOICES = 64 // spec §5

function suitable(type: FieldTypeName, values: string[]): FieldOptions | undefined {
  const { choices } = fieldType(type)
  if (choices === undefined) return undefined
  const titles = choices === 'multiple' ? values.flatMap(titlesIn) : values.map((value) => value.trim())
  const known = [...new Set(titles.filter((title) => title !== '' && title.length <= 255))]
  return { choices: known.slice(0, MAX_CHOICES).map((title) => ({ title })) }
}

/** True for new tables of the base's own: connected databases have no place for links by names. */
export const takesLinks = (target: DraftTarget): target is Extract<DraftTarget, { kind: 'new' }> =>
  target.kind === 'new' && target.sourceId === undefined

const valuesOf = ({ rows }: Analysis, index: number): string[] => rows.map((row) => row[index] ?? '')

/** The notation in which the dates of a column are read; undefined for other columns. */
export function dateFormatOf(
  { fields: detected }: Pick<Analysis, 'fields'>,
  column: DraftColumn,
  target: DraftTarget,
): DateFormat | undefined {
  if (target.kind === 'new')
    return fieldType(column.type).filters === 'date' ? (column.options.format as DateFormat) : undefined
  const field = target.fields.find(({ id }) => id === column.fieldId)
  const found = detected[column.index]
  const isDate = field && fieldType(field.type).filters === 'date'
  if (!isDate || !found || fieldType(found.type).filters !== 'date') return undefined
  const own = String(field.options.format ?? '')
  // Where no value tells the order, that of the field does.
  const isOwn = found.confidence.ambiguous && /^(?:DD|MM)\W/.test(own)
  return column.dateFormat ?? ((isOwn ? own : found.options.format) as DateFormat)
}

interface Notation {
  decimal?: DecimalMark
  dateFormat?: DateFormat
  reading?: DayReading
  /** True for amounts of several currencies, which plain number fields get without them. */
  hasCurrencies?: boolean
  /** True if cells give the addresses of their links to fields for web addresses. */
  hasLinks?: boolean
  /** The currency of all plain numbers, as the workbook shows them. */
  currency?: string | undefined
}

/** Whether the cell is left empty because its text is no value of the target. */
export function isMisfit(
  cell: string,
  column: DraftColumn,
  target: DraftTarget,
  { decimal = '.', dateFormat, reading, hasCurrencies = false, hasLinks = false, currency }: Notation = {},
): boolean {
  if (cell.trim() === '' || column.link) return false
  const filled = filledField(column, target)
  if (hasLinks && filled && holdsAddresses(filled)) return false
  const isPlain = hasCurrencies && filled !== undefined && takesPlainNumbers(filled)
  const isAmount = currency !== undefined && filled !== undefined && hasCurrency(filled)
  const amount = isAmount && /^[-\d.e+]+$/.test(cell) ? `${cell} ${currency}` : cell
  const text = isPlain ? cell.replace(/ \S+$/, '') : amount
  if (target.kind === 'append') {
    const field = target.fields.find(({ id }) => id === column.fieldId)
    if (field === undefined) return false
    if (linkOf(field)) return !column.creates && (column.missing?.has(text) ?? false)
    if (holdsFiles(field)) return readFileList(text, 'all') === null
    const type = fieldType(field.type)
    const { databaseType } = field
    const options = dateFormat ? { ...field.options, format: dateFormat } : field.options
    const parse = (cell: string) => parseCell(type, cell, options, decimal, reading)
    const value =
      databaseType === null
        ? parse(text)
        : fitToColumn(
            field.type,
            { databaseType, keepsToTypes: target.keepsToTypes ?? false },
            parse,
            decimal,
          ).read(text)
    return value === null && !isEmptyWord(text, type)
  }
  if (holdsFiles(column)) return readFileList(text, 'all') === null
  const type = fieldType(column.type)
  // A new select field gets all options that occur.
  if (type.choices !== undefined) return false
  return parseCell(type, text, column.options, decimal, reading) === null && !isEmptyWord(text, type)
}

/** True if names in the column create the linked records that are missing. */
export const createsRecords = ({ isOn, creates, fieldId }: DraftColumn, target: DraftTarget): boolean =>
  isOn === true &&
  creates === true &&
  target.kind === 'append' &&
  target.fields.some((field) => field.id === fieldId && linkOf(field) !== null)

/** What a column fills: its new field, or the field that it is mapped to. */
const filledField = (column: DraftColumn, target: DraftTarget): DraftColumn | Field | undefined =>
  target.kind === 'new' ? column : target.fields.find(({ id }) => id === column.fieldId)

/** True if the cells of the column become numbers. */
export function readsNumbers(column: DraftColumn, target: DraftTarget): boolean {
  const field = column.link ? undefined : filledField(column, target)
  return field !== undefined && fieldType(field.type).filters === 'number'
}

/** Currencies of amounts that stay empty because the field has another one, and its code; null for none. */
export function refusedCurrencies(
  { fields: detected }: Analysis,
  column: DraftColumn,
  target: DraftTarget,
): { currencies: string[]; code: string } | null {
  const field = column.isOn && !column.link ? filledField(column, target) : undefined
  if (!field || !hasCurrency(field)) return null
  const type = fieldType(field.type)
  const found = detected[column.index]
  const named = found && hasCurrency(found) ? [String(found.options.code)] : []
  const currencies = (found?.currencies ?? named).filter(
    (mark) => parseCell(type, `1 ${mark}`, field.options) === null,
  )
  return currencies.length === 0 ? null : { currencies, code: String(field.options.code) }
}

/** Cells of a workbook with links in the column, and whether the import gives their addresses to the field; null for none. */
export function linksOf(
  { fields: detected }: Analysis,
  column: DraftColumn,
  target: DraftTarget,
): { count: number; areImported: boolean } | null {
  const count = detected[column.index]?.links
  const field = filledField(column, target)
  if (count === undefined || !column.isOn || !field) return null
  return { count, areImported: !column.link && holdsAddresses(field) }
}

/** How the days of a column are read. */
function readingOf(
  { fields: detected }: Pick<Analysis, 'fields'>,
  { index, fieldId, dateFormat, isBuddhist, yearFirst }: DraftColumn,
  target: DraftTarget,
): DayReading {
  const found = detected[index]
  const field = target.kind === 'append' ? target.fields.find(({ id }) => id === fieldId) : undefined
  // Where no value tells the order, that of the field does.
  const isOwn =
    found?.orders !== undefined &&
    (dateFormat !== undefined || /^(?:DD|MM)\W/.test(String(field?.options.format ?? '')))
  return {
    isBuddhist: isBuddhist ?? found?.isBuddhist,
    yearFirst: yearFirst ?? (isOwn ? false : found?.yearFirst),
    monthLanguage: found?.monthLanguage,
    isPast: found?.isPast,
  }
}

/** Notations of a column's numbers and dates. */
export function notationOf({ fields: detected, format }: Analysis, column: DraftColumn, target: DraftTarget) {
  const found = detected[column.index]
  return {
    decimal: column.decimal ?? found?.decimal ?? format.decimal,
    dateFormat: dateFormatOf({ fields: detected }, column, target),
    reading: readingOf({ fields: detected }, column, target),
    hasCurrencies: 'amounts' in format && format.amounts?.includes(column.index) === true,
    hasLinks: found?.links !== undefined,
    currency: found && hasCurrency(found) ? found.currencies?.[0] : undefined,
  }
}

/** Number of sampled cells of a column that are invalid. */
export const countMisfits = (analysis: Analysis, column: DraftColumn, target: DraftTarget): number =>
  column.isOn
    ? valuesOf(analysis, column.index).filter((text) =>
        isMisfit(text, column, target, notationOf(analysis, column, target)),
      ).length
    : 0

/** The first problem that blocks the import, or null. */
export function problemOf(
  columns: DraftColumn[],
  target: DraftTarget,
): 'none' | 'untitled' | 'twice' | 'required' | 'key' | 'refused' | null {
  if (target.kind === 'append' && target.refusal) return 'refused'
  const on = columns.filter((column) => column.isOn)
  if (on.length === 0) return 'none'
  if (target.kind === 'new') return on.some(({ title }) => title.trim() === '') ? 'untitled' : null
  const ids = on.map(({ fieldId }) => fieldId)
  if (new Set(ids).size < ids.length) return 'twice'
  if (target.update && keyFields(columns, target).length === 0) return 'key'
  return missingFields(columns, target).length > 0 ? 'required' : null
}

/** Required fields of the target table without a column. */
export function missingFields(columns: DraftColumn[], target: DraftTarget): Field[] {
  if (target.kind === 'new' || target.update?.mode === 'update') return []
  const filled = new Set(columns.filter(({ isOn }) => isOn).map(({ fieldId }) => fieldId))
  // Names of linked records give the key that stores them.
  for (const field of target.fields) {
    const keyId = filled.has(field.id) ? linkOf(field)?.keyFieldId : null
    if (keyId) filled.add(keyId)
  }
  return importableFields(target.fields).filter(
    (field) =>
      field.required &&
      field.defaultValue === null &&
      !filled.has(field.id) &&
      (linkOf(field)?.holdsKey ?? true),
  )
}

/** Display field of a new table: the chosen column, otherwise the most readable imported one. */
export function displayColumn(columns: DraftColumn[], { fields }: Analysis): DraftColumn | undefined {
  const readability = ({ index }: DraftColumn) => fields[index]?.readability ?? 0
  const on = columns.filter(({ isOn, link }) => isOn && !link)
  const chosen = on.find(({ isDisplay }) => isDisplay)
  return chosen ?? on.toSorted((a, b) => readability(b) - readability(a))[0]
}

/** Input of `imports.start`. */
export interface DraftStart {
  baseId: string
  uploadId: string
  format: ImportFormat
  width: number
  timeZone: string
  /** An existing table; `table` describes a new one. */
  tableId?: string
  table?: {
    title: string
    fields: { title: string; type: FieldTypeName; options?: FieldOptions; isDisplay: boolean }[]
  }
  sourceId?: string | undefined
  columns: (DayReading & {
    index: number
    decimal: DecimalMark | undefined
    fieldId?: string
    dateFormat?: DateFormat | undefined
    missing?: 'create' | undefined
    link?: (Pick<DraftLink, 'by' | 'missing'> & { to: { table: number } | { tableId: string } }) | undefined
  })[]
  update?: (Omit<DraftUpdate, 'keys'> & { keys: string[] }) | undefined
}

/**
 * The import of a table with these settings.
 * @param positionOf the position of a table of this import among all, for links to it
 */
export function toStartInput(
  { baseId, uploadId, analysis }: { baseId: string; uploadId: string; analysis: Analysis },
  columns: DraftColumn[],
  target: DraftTarget,
  positionOf: (draft: number) => number = () => -1,
): DraftStart {
  const on = columns.filter((column) => column.isOn)
  const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const { format, fields: detected } = analysis
  const placeOf = (column: DraftColumn) => ({
    index: column.index,
    decimal: column.decimal ?? detected[column.index]?.decimal,
    ...readingOf(analysis, column, target),
  })
  const common = { baseId, uploadId, format, width: detected.length, timeZone }
  const linkOfColumn = ({ link }: DraftColumn) =>
    link
      ? {
          to: 'draft' in link.to ? { table: positionOf(link.to.draft) } : link.to,
          by: link.by,
          missing: link.missing,
        }
      : undefined
  if (target.kind === 'append') {
    const mapped = on.map((column) => ({
      ...placeOf(column),
      fieldId: column.fieldId ?? '',
      dateFormat: dateFormatOf(analysis, column, target),
      missing: createsRecords(column, target) ? ('create' as const) : undefined,
      link: linkOfColumn(column),
    }))
    const keys = keyFields(columns, target).map(({ id }) => id)
    const update = target.update && { ...target.update, keys }
    return { ...common, tableId: target.tableId, columns: mapped, update }
  }
  const display = displayColumn(columns, analysis)
  const fields = on.map((column) => ({
    title: column.title.trim(),
    // What links is text of any length first.
    ...(column.link
      ? { type: column.link.by === 'row' ? ('Number' as const) : ('LongText' as const) }
      : { type: column.type, options: column.options }),
    isDisplay: column === display,
  }))
  return {
    ...common,
    columns: on.map((column) => ({ ...placeOf(column), link: linkOfColumn(column) })),
    table: { title: target.title.trim(), fields },
    sourceId: target.sourceId,
  }
}
