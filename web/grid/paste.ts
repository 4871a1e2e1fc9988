import type { Values } from '../../src/core/changes.ts'
import type { CellValue, FieldOptions, FieldType } from '../../src/core/fields/field-type.ts'
import { linkOf } from '../../src/core/fields/link-options.ts'
import type { DecimalMark } from '../../src/core/fields/number-text.ts'
import type { RecordId } from '../../src/core/model.ts'
import { type ClipboardBlock, type ClipboardField, optionsForCopied } from './clipboard.ts'
import type { PastePlan } from './contract.ts'
import { carryLinks } from './link-values.ts'
import type { Bounds } from './selection.ts'

/** A target column of a paste. */
export interface PasteColumn {
  fieldId: string
  type: FieldType
  /** Complete with the type's defaults. */
  options: FieldOptions
  /** False: skipped, its cells stay unchanged. */
  editable: boolean
}

/** Target of a paste. */
export interface PasteTarget {
  /** In positions among visible rows, like `rowCount`. */
  bounds: Bounds
  columns: readonly PasteColumn[]
  rowCount: number
  /** Maps such a position to a row; absent: all rows are visible. */
  rowOf?: (place: number) => number
  recordIdOf: (rowIndex: number) => RecordId | undefined
  /** False: rows beyond the last are dropped rather than offered. */
  canAddRows: boolean
  /** The decimal mark of the user's locale, for `1.234` from elsewhere; absent: a point. */
  decimal?: DecimalMark
}

/**
 * Plans a block over the cells from the selection's top start corner. A single cell fills the selection, and a
 * selection that is a multiple of the block repeats it; otherwise only the corner counts.
 */
export function planPaste(block: ClipboardBlock, target: PasteTarget): PastePlan {
  const { bounds, columns, rowCount, rowOf = (place: number) => place } = target
  const height = repeated(block.texts.length, bounds.bottom - bounds.top + 1)
  const width = repeated(block.texts[0]?.length ?? 0, bounds.end - bounds.start + 1)
  const plan: PastePlan = {
    cells: [],
    newRows: [],
    extraColumns: [],
    extraRows: [],
    rejected: [],
    names: [],
    newOptions: [],
    skipped: 0,
    covers: {
      top: rowOf(bounds.top),
      start: bounds.start,
      bottom: rowOf(bounds.top + height - 1),
      end: Math.min(columns.length, bounds.start + width) - 1,
    },
  }
  const decimal = block.own ? undefined : (block.decimal ?? target.decimal)
  const missing = new Map<string, Set<string>>()
  for (let down = 0; down < height; down++) {
    const place = bounds.top + down
    const rowIndex = rowOf(place)
    const isNew = place >= rowCount
    if (isNew && !target.canAddRows) continue
    const recordId = isNew ? undefined : target.recordIdOf(rowIndex)
    const newRow = isNew ? plan.newRows.length : null
    if (down < block.texts.length) plan.extraRows.push({ rowIndex, recordId, newRow })
    const values: Values = {}
    for (let along = 0; along < width; along++) {
      const column = columns[bounds.start + along]
      if (!column) continue
      if (!column.editable) {
        plan.skipped++
        continue
      }
      const read = readCell(block, down % block.texts.length, along % block.texts[0]!.length, column, decimal)
      if (read.kind === 'rejected') {
        plan.rejected.push({ rowIndex, fieldId: column.fieldId, text: read.text })
        continue
      }
      if (read.kind === 'names') {
        plan.names.push({ rowIndex, recordId, newRow, fieldId: column.fieldId, text: read.text })
        continue
      }
      for (const title of read.missing)
        missing.set(column.fieldId, (missing.get(column.fieldId) ?? new Set()).add(title))
      if (isNew) values[column.fieldId] = read.value
      else {
        plan.cells.push({
          rowIndex,
          recordId,
          fieldId: column.fieldId,
          value: read.value,
          needsOption: read.missing.length > 0,
        })
      }
    }
    if (isNew) plan.newRows.push(values)
  }
  plan.extraColumns = extraColumns(block, columns.length - bounds.start)
  plan.newOptions = [...missing].map(([fieldId, titles]) => ({ fieldId, titles: [...titles] }))
  return plan
}

/** The plan after the choice "paste only what fits". */
export const withoutNewRows = <Plan extends PastePlan>(plan: Plan): Plan => ({
  ...plan,
  newRows: [],
  names: plan.names.filter(({ newRow }) => newRow === null),
})

/** The plan without new options: cells that need one stay unchanged. */
export function withoutNewOptions<Plan extends PastePlan>(plan: Plan): Plan {
  const unknown = new Map(plan.newOptions.map(({ fieldId, titles }) => [fieldId, new Set(titles)]))
  // The title of a single select may contain commas.
  const isKnown = ([fieldId, value]: [string, CellValue]): boolean => {
    const text = String(value ?? '')
    return ![text, ...text.split(',')].some((title) => unknown.get(fieldId)?.has(title.trim()))
  }
  return {
    ...plan,
    newOptions: [],
    cells: plan.cells.filter((cell) => !cell.needsOption),
    newRows: plan.newRows.map((values) => Object.fromEntries(Object.entries(values).filter(isKnown))),
  }
}

const repeated = (block: number, selected: number): number => (selected % block === 0 ? selected : block)

type CellRead =
  | { kind: 'value'; value: CellValue; missing: string[] }
  | { kind: 'rejected'; text: string }
  | { kind: 'names'; text: string }

const NONE: string[] = []

function readCell(
  block: ClipboardBlock,
  row: number,
  column: number,
  target: PasteColumn,
  decimal: DecimalMark | undefined,
): CellRead {
  const text = block.texts[row]![column]!
  const copied = block.own?.fields[column]
  if (target.type.computed === 'link') return readLinkCell(block, row, column, target)
  if (block.own && copied && isSameKind(copied, target)) {
    const value = block.own.values[row]?.[column] ?? null
    return { kind: 'value', value: value ?? emptyValue(target), missing: NONE }
  }
  if (text.trim() === '') return { kind: 'value', value: emptyValue(target), missing: NONE }
  const missing = unknownTitles(text, target)
  if (missing.length > 0) {
    // The server compares titles with the known options as they are written there.
    const titles = titlesOf(text, target).map((title) => target.type.parse(title, target.options) ?? title)
    return { kind: 'value', value: [...new Set(titles)].join(','), missing }
  }
  const options = optionsForCopied(copied, { type: target.type.name, options: target.options })
  const value = target.type.parse(text, options, decimal)
  return value === null ? { kind: 'rejected', text } : { kind: 'value', value, missing: NONE }
}

/** Links to the same table are copied; any other text is looked up by title. */
export function readLinkCell(
  block: ClipboardBlock,
  row: number,
  column: number,
  target: Pick<PasteColumn, 'type' | 'options'>,
): CellRead {
  const text = block.texts[row]![column]!
  const copied = block.own?.fields[column]
  const to = { type: target.type.name, options: target.options }
  const value = block.own?.values[row]?.[column] ?? null
  if (copied && linkOf(copied)) {
    const carried = carryLinks(value, copied, to)
    if (carried.ok) return { kind: 'value', value: carried.value, missing: NONE }
    // The same table, but some links are unknown.
    if (linkOf(copied)?.relatedTableId === linkOf(to)?.relatedTableId) return { kind: 'rejected', text }
  }
  if (text.trim() === '') return { kind: 'value', value: null, missing: NONE }
  return { kind: 'names', text: text.trim() }
}

/** Value of a cleared cell: false for a check box, null for most types. */
const emptyValue = ({ type }: Pick<PasteColumn, 'type'>): CellValue => type.initial ?? null

// Options determine the meaning of choices, the range of limited types such as ratings, and the precision of times.
function isSameKind(copied: ClipboardField, target: PasteColumn): boolean {
  if (copied.type !== target.type.name) return false
  return copied.id === target.fieldId || !target.type.optionsLimitValues
}

function titlesOf(text: string, { type }: PasteColumn): string[] {
  if (type.choices === 'single') return [text.trim()]
  if (type.choices !== 'multiple') return NONE
  return [...new Set(text.split(/[,\n]/).map((title) => title.trim()))].filter((title) => title !== '')
}

function unknownTitles(text: string, target: PasteColumn): string[] {
  const titles = titlesOf(text, target)
  if (titles.length === 0) return NONE
  const known = new Set(choiceTitles(target.options))
  return titles.filter((title) => !known.has(title) && target.type.parse(title, target.options) === null)
}

/** Titles of a select field's options. */
function choiceTitles(options: FieldOptions): string[] {
  const choices: unknown = options.choices
  if (!Array.isArray(choices)) return NONE
  return choices.map((choice: { title?: unknown }) => String(choice.title ?? ''))
}

function extraColumns({ texts }: ClipboardBlock, room: number): string[][] {
  const width = texts[0]?.length ?? 0
  const columns: string[][] = []
  for (let column = Math.max(0, room); column < width; column++)
    columns.push(texts.map((row) => row[column]!))
  return columns
}
