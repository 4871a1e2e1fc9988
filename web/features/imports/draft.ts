import { readFileList } from '../../../src/core/fields/attachment-item.ts'
import { titlesIn } from '../../../src/core/fields/choices.ts'
import { isEmptyWord } from '../../../src/core/fields/empty-words.ts'
import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import { FIELD_TYPES, type FieldTypeName, fieldType, readOptions } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { DecimalMark } from '../../../src/core/fields/number-text.ts'
import { holdsFiles, isImportable, isOfferedForImport } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import type { Inputs } from '../../trpc.ts'
import type { Analysis } from './analysis.ts'

/** What will become of one column of the file. */
export interface DraftColumn {
  /** Position in the file. */
  index: number
  isOn: boolean
  /** Title of the new field; the header's, for columns that go to a field that exists. */
  title: string
  type: FieldTypeName
  options: FieldOptions
  /** The field that it fills, in a table that exists; null: none. */
  fieldId: string | null
  /** True where the person chose it as the display field of a new table. */
  isDisplay?: boolean
  /** Cells that name records which are not there, as far as they have been looked for. */
  missing?: ReadonlySet<string>
}

/** Where the rows go. `null`: the name of a new table. */
export type DraftTarget =
  | { kind: 'new'; title: string }
  | { kind: 'append'; tableId: string; fields: Field[] }

type StartInput = Inputs['imports']['start']

/** Types that a column of a new table can have, in the order in which people are offered them. */
export const IMPORTABLE_TYPES: readonly FieldTypeName[] = FIELD_TYPES.map(({ name }) => name).filter(
  isOfferedForImport,
)

/** Fields of a table that a file can fill: links too, by the names of the linked records. */
export const importableFields = (fields: Field[]): Field[] =>
  fields.filter((field) => {
    if (field.isSystem || field.isPrimaryKey) return false
    return linkOf(field) === null ? isImportable(field.type) : field.error === null
  })

/** Columns as the file suggests them: for a new table as detected, else each to the field of its name. */
export function draftColumns({ fields: detected }: Analysis, target: DraftTarget): DraftColumn[] {
  const free = target.kind === 'append' ? importableFields(target.fields) : []
  const byTitle = new Map(free.map((field) => [keyOf(field.title), field]))
  return detected.map(({ title, type, options }, index) => {
    const field = byTitle.get(keyOf(title))
    byTitle.delete(keyOf(title))
    const fieldId = field?.id ?? null
    return { index, isOn: target.kind === 'new' || fieldId !== null, title, type, options, fieldId }
  })
}

/** Titles are alike where they differ only in case, spaces and underscores. */
const keyOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[\s_-]+/g, ' ')
    .trim()

/** The column with another type: as detected where it is that one, else with options that suit the values. */
export function withType(column: DraftColumn, type: FieldTypeName, analysis: Analysis): DraftColumn {
  const detected = analysis.fields[column.index]
  if (detected?.type === type) return { ...column, type, options: detected.options }
  return { ...column, type, options: readOptions(type, suitable(type, valuesOf(analysis, column.index))) }
}

const MAX_CHOICES = 64 // spec §5

function suitable(type: FieldTypeName, values: string[]): FieldOptions | undefined {
  const { choices } = fieldType(type)
  if (choices === undefined) return undefined
  const titles = choices === 'multiple' ? values.flatMap(titlesIn) : values.map((value) => value.trim())
  const known = [...new Set(titles.filter((title) => title !== '' && title.length <= 255))]
  return { choices: known.slice(0, MAX_CHOICES).map((title) => ({ title })) }
}

const valuesOf = ({ rows }: Analysis, index: number): string[] => rows.map((row) => row[index] ?? '')

/** Whether the cell will be left empty because it does not fit what it goes to. */
export function isMisfit(
  text: string,
  column: DraftColumn,
  target: DraftTarget,
  decimal: DecimalMark = '.',
): boolean {
  if (text.trim() === '') return false
  if (target.kind === 'append') {
    const field = target.fields.find(({ id }) => id === column.fieldId)
    if (field === undefined) return false
    if (linkOf(field)) return column.missing?.has(text) ?? false
    if (holdsFiles(field)) return readFileList(text, 'all') === null
    const type = fieldType(field.type)
    return type.parse(text, field.options, decimal) === null && !isEmptyWord(text, type)
  }
  if (holdsFiles(column)) return readFileList(text, 'all') === null
  const type = fieldType(column.type)
  // Options that a new select field lacks are added to it.
  if (type.choices !== undefined) return false
  return type.parse(text, column.options, decimal) === null && !isEmptyWord(text, type)
}

/** How many of the sampled cells of a column will not fit. */
export const countMisfits = (analysis: Analysis, column: DraftColumn, target: DraftTarget): number =>
  column.isOn
    ? valuesOf(analysis, column.index).filter((text) =>
        isMisfit(text, column, target, analysis.format.decimal),
      ).length
    : 0

/** What stands in the way of the import, by words to show; null: nothing. */
export function problemOf(
  columns: DraftColumn[],
  target: DraftTarget,
): 'none' | 'untitled' | 'twice' | 'required' | null {
  const on = columns.filter((column) => column.isOn)
  if (on.length === 0) return 'none'
  if (target.kind === 'new') return on.some(({ title }) => title.trim() === '') ? 'untitled' : null
  const ids = on.map(({ fieldId }) => fieldId)
  if (new Set(ids).size < ids.length) return 'twice'
  return missingFields(columns, target).length > 0 ? 'required' : null
}

/** Required fields of the table that no column goes to. */
export function missingFields(columns: DraftColumn[], target: DraftTarget): Field[] {
  if (target.kind === 'new') return []
  const filled = new Set(columns.filter(({ isOn }) => isOn).map(({ fieldId }) => fieldId))
  return importableFields(target.fields).filter(
    (field) =>
      field.required &&
      field.defaultValue === null &&
      !filled.has(field.id) &&
      (linkOf(field)?.holdsKey ?? true),
  )
}

/** The display field of a new table: as chosen, else the most readable of the columns that are imported. */
export function displayColumn(columns: DraftColumn[], { fields }: Analysis): DraftColumn | undefined {
  const readability = ({ index }: DraftColumn) => fields[index]?.readability ?? 0
  const on = columns.filter(({ isOn }) => isOn)
  const chosen = on.find(({ isDisplay }) => isDisplay)
  return chosen ?? on.toSorted((a, b) => readability(b) - readability(a))[0]
}

/** What the server is asked. */
export function toStartInput(
  { baseId, uploadId, analysis }: { baseId: string; uploadId: string; analysis: Analysis },
  columns: DraftColumn[],
  target: DraftTarget,
): StartInput {
  const on = columns.filter((column) => column.isOn)
  const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const { format, fields: detected } = analysis
  const common = { baseId, uploadId, format, width: detected.length, timeZone }
  if (target.kind === 'append') {
    const mapped = on.map(({ index, fieldId }) => ({ index, fieldId: fieldId ?? '' }))
    return { ...common, tableId: target.tableId, columns: mapped }
  }
  const display = displayColumn(columns, analysis)
  const fields = on.map((column) => ({
    title: column.title.trim(),
    type: column.type,
    options: column.options,
    isDisplay: column === display,
  }))
  return {
    ...common,
    columns: on.map(({ index }) => ({ index })),
    table: { title: target.title.trim(), fields },
  }
}
