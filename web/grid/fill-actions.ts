import type { CellValue } from '../../src/core/fields/field-type.ts'
import { t, tn } from '../i18n.ts'
import type { Engine } from './engine.ts'
import { continueValues, type FillTarget, fillKind } from './fill.ts'
import { allBounds, type Bounds, lastBounds } from './selection.ts'
import type { CellWrite } from './source.ts'

/** Most cells that one change may name; larger ones go through the owner's own ways (import, "edit all"). */
export const MAX_CHANGED_CELLS = 200_000 // 10,000 × 20, ui.md §4.5

/** Fills the target from the source cells as one change, and selects both. */
export function applyFill(engine: Engine, source: Bounds, target: FillTarget, toggled: boolean): void {
  const writes = fillWrites(engine, source, target, toggled)
  if (writes === null) return
  engine.setCells(writes)
  const { bounds } = target
  const top = Math.min(source.top, bounds.top)
  const start = Math.min(source.start, bounds.start)
  const corner = { row: Math.max(source.bottom, bounds.bottom), column: Math.max(source.end, bounds.end) }
  engine.selection.set({ ranges: [{ kind: 'cells', anchor: { row: top, column: start }, focus: corner }] })
  engine.announce(tn('1 cell filled', '{n} cells filled', writes.length))
}

/** Ctrl+D and Ctrl+R: the first row or column of the selection over the rest of it; for one row or column, the cell before it. */
export function fillFromEdge(engine: Engine, direction: 'down' | 'end'): void {
  const selection = engine.selection.get()
  if (!selection) return
  const bounds = lastBounds(selection, engine.size)
  const isFlat = direction === 'down' ? bounds.top === bounds.bottom : bounds.start === bounds.end
  const from = { ...bounds }
  if (direction === 'down') from.top = isFlat ? bounds.top - 1 : bounds.top
  else from.start = isFlat ? bounds.start - 1 : bounds.start
  if (from.top < 0 || from.start < 0) return
  const source = direction === 'down' ? { ...from, bottom: from.top } : { ...from, end: from.start }
  const rest = direction === 'down' ? { ...from, top: from.top + 1 } : { ...from, start: from.start + 1 }
  const writes = fillWrites(engine, source, { direction, bounds: rest }, false, true)
  if (writes) engine.setCells(writes)
}

function fillWrites(
  engine: Engine,
  source: Bounds,
  { direction, bounds }: FillTarget,
  toggled: boolean,
  copyOnly = false,
): CellWrite[] | null {
  const cells = (bounds.bottom - bounds.top + 1) * (bounds.end - bounds.start + 1)
  if (cells > MAX_CHANGED_CELLS) {
    engine.props.commands.notify(t('That is too much to fill at once'), 'error')
    return null
  }
  const writes: CellWrite[] = []
  const write = (row: number, column: number, value: CellValue) => {
    if (!engine.canEdit(column)) return
    const { fieldId } = engine.columns[column]!
    const record = engine.rowAt(row)
    if (record && Object.is(record.values(fieldId), value)) return
    writes.push({ rowIndex: row, recordId: record?.id, fieldId, value })
  }
  const valueAt = (row: number, column: number) =>
    engine.rowAt(row)?.values(engine.columns[column]!.fieldId) ?? null
  const backwards = direction === 'up' || direction === 'start'
  if (direction === 'down' || direction === 'up') {
    for (let column = bounds.start; column <= bounds.end; column++) {
      const kind = copyOnly ? 'other' : fillKind(engine.columns[column]!.type.name)
      const values = span(source.top, source.bottom).map((row) => valueAt(row, column))
      const filled = continueValues(values, kind, bounds.bottom - bounds.top + 1, { toggled, backwards })
      for (const [at, value] of filled.entries()) {
        write(backwards ? bounds.bottom - at : bounds.top + at, column, value)
      }
    }
    return writes
  }
  for (let row = bounds.top; row <= bounds.bottom; row++) {
    const values = span(source.start, source.end).map((column) => valueAt(row, column))
    const kind = copyOnly ? 'other' : fillKind(engine.columns[source.start]!.type.name)
    const filled = continueValues(values, kind, bounds.end - bounds.start + 1, { toggled, backwards })
    for (const [at, value] of filled.entries()) {
      const column = backwards ? bounds.end - at : bounds.start + at
      const from = backwards ? source.end - (at % values.length) : source.start + (at % values.length)
      const converted = convert(engine, value, from, column)
      if (converted !== undefined) write(row, column, converted)
    }
  }
  return writes
}

const span = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at)

/** A value as the neighbouring column's type has it; undefined where it does not fit, so that the cell is left alone. */
function convert(engine: Engine, value: CellValue, from: number, to: number): CellValue | undefined {
  const source = engine.columns[from]!
  const target = engine.columns[to]!
  if (value === null) return target.type.initial ?? null
  if (source.type.name === target.type.name && !Array.isArray(target.options.choices)) return value
  return target.type.parse(source.type.format(value, source.options), target.options) ?? undefined
}

/** Cells of every selected range; for messages and limits. */
export const selectedBounds = (engine: Engine): Bounds[] => {
  const selection = engine.selection.get()
  return selection ? allBounds(selection, engine.size) : []
}
