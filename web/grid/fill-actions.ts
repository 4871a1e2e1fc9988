import { resolveZone } from '../../src/core/dates.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { optionsForTextOf } from '../../src/core/fields/traits.ts'
import { cellText } from '../cells/index.ts'
import { isEmptyList } from '../cells/link-value.ts'
import { m } from '../messages.gen.ts'
import type { ResolvedColumn } from './columns.ts'
import type { CellWrite, RejectedText } from './contract.ts'
import type { Engine, FillTarget } from './engine.ts'
import { continueValues, fillKind } from './fill.ts'
import { carryLinks, completeValues, partialCells, valuesOf } from './link-values.ts'
import { type Bounds, lastBounds } from './selection.ts'

/** Maximum cells per change; larger ones use import or "edit all". */
export const MAX_CHANGED_CELLS = 200_000 // 10,000 × 20, ui §4.5

/** Fills the target as one change, and selects source and target. */
export function applyFill(engine: Engine, source: Bounds, target: FillTarget, toggled: boolean): void {
  withSource(engine, source, target, (values) => fillNow(engine, source, target, toggled, values))
}

function fillNow(
  engine: Engine,
  source: Bounds,
  target: FillTarget,
  toggled: boolean,
  known: SourceValues,
): void {
  const writes = fillWrites(engine, source, target, { toggled, known })
  engine.setCells(writes)
  const { bounds } = target
  const top = Math.min(source.top, bounds.top)
  const start = Math.min(source.start, bounds.start)
  const corner = { row: Math.max(source.bottom, bounds.bottom), column: Math.max(source.end, bounds.end) }
  engine.selection.set({ ranges: [{ kind: 'cells', anchor: { row: top, column: start }, focus: corner }] })
  engine.announce(m.grid_cells_filled({ count: writes.length }))
}

/**
 * Ctrl+D and Ctrl+R: copies the first row or column of the selection over the rest; a single row or column takes the
 * one before it.
 */
export function fillFromEdge(engine: Engine, direction: 'down' | 'end'): void {
  const selection = engine.selection.get()
  if (!selection) return
  const bounds = lastBounds(selection, engine.size)
  const isFlat = direction === 'down' ? bounds.top === bounds.bottom : bounds.start === bounds.end
  const from = { ...bounds }
  const { lines } = engine
  // Rows of collapsed groups are passed over.
  if (direction === 'down') from.top = lines.rowOf(lines.placeOf(bounds.top) - (isFlat ? 1 : 0))
  else from.start = isFlat ? bounds.start - 1 : bounds.start
  if (from.top < 0 || from.start < 0 || from.top > bounds.bottom) return
  const source = direction === 'down' ? { ...from, bottom: from.top } : { ...from, end: from.start }
  const rest = direction === 'down' ? { ...from, top: from.top + 1 } : { ...from, start: from.start + 1 }
  const target = { direction, bounds: rest }
  withSource(engine, source, target, (known) =>
    engine.setCells(fillWrites(engine, source, target, { copyOnly: true, known })),
  )
}

/** Values of source cells that had to be read, by row and column. */
type SourceValues = ReadonlyMap<string, CellValue>

const NOTHING_KNOWN: SourceValues = new Map()

/**
 * Runs at once, or after reading source rows that are not loaded and the links of cells that list only the first. Refuses fills
 * of too many cells.
 */
function withSource(
  engine: Engine,
  source: Bounds,
  target: FillTarget,
  run: (known: SourceValues) => void,
): void {
  const { notify } = engine.commands
  if (Math.max(cellsIn(source), cellsIn(target.bounds)) > MAX_CHANGED_CELLS) {
    notify(m.grid_too_many_cells_fill_once(), 'error')
    return
  }
  const columns = engine.columns.slice(source.start, source.end + 1)
  const loaded = shownRows(engine, source).map((index) => engine.rowAt(index))
  if (loaded.length === 0) return
  if (
    loaded.every((row) => row !== undefined) &&
    partialCells(columns, valuesOf(columns, loaded)).length === 0
  ) {
    run(NOTHING_KNOWN)
    return
  }
  engine.announce(m.grid_loading_selected_records())
  readSource(engine, source, columns).then(
    (known) => (known ? run(known) : notify(m.grid_these_records_load_failed(), 'error')),
    (error) =>
      notify(
        m.grid_records_load_failed({ reason: error instanceof Error ? error.message : String(error) }),
        'error',
      ),
  )
}

/** The values of the source with all of their links; null if some of its records are gone. */
async function readSource(
  engine: Engine,
  { top, bottom, start }: Bounds,
  columns: readonly ResolvedColumn[],
): Promise<SourceValues | null> {
  const fieldIds = columns.map(({ fieldId }) => fieldId)
  const known = new Map<string, CellValue>()
  for (const { first, last } of engine.runsOf('cells', top, bottom)) {
    const rows = await engine.props.source.readRange({ first, last, fieldIds, inPlace: true })
    if (rows.length <= last - first) return null
    const values = valuesOf(columns, rows)
    await completeValues(engine.commands.completeLinks, columns, rows, values, new AbortController().signal)
    for (const [row, line] of values.entries())
      for (const [column, value] of line.entries()) known.set(keyOf(first + row, start + column), value)
  }
  return known
}

const cellsIn = ({ top, bottom, start, end }: Bounds): number => (bottom - top + 1) * (end - start + 1)

/** Rows in collapsed groups are neither read nor filled. */
const shownRows = (engine: Engine, { top, bottom }: Bounds): number[] =>
  engine.runsOf('cells', top, bottom).flatMap(({ first, last }) => span(first, last))

const keyOf = (row: number, column: number): string => `${row} ${column}`

function fillWrites(
  engine: Engine,
  source: Bounds,
  { direction, bounds }: FillTarget,
  {
    toggled = false,
    copyOnly = false,
    known,
  }: { toggled?: boolean; copyOnly?: boolean; known: SourceValues },
): CellWrite[] {
  const writes: CellWrite[] = []
  const write = (row: number, column: number, given: CellValue) => {
    if (!engine.canEdit(column) || !engine.lines.isShown(row)) return
    const { fieldId, type } = engine.columns[column]!
    const record = engine.rowAt(row)
    const value = type.computed === 'link' && isEmptyList(given) ? null : given
    if (record && isSameValue(record.values(fieldId), value)) return
    writes.push({ rowIndex: row, recordId: record?.id, fieldId, value })
  }
  const valueAt = (row: number, column: number): CellValue => {
    const whole = known.get(keyOf(row, column))
    return whole ?? engine.rowAt(row)?.values(engine.columns[column]!.fieldId) ?? null
  }
  const backwards = direction === 'up' || direction === 'start'
  if (direction === 'down' || direction === 'up') {
    const rows = shownRows(engine, source)
    for (let column = bounds.start; column <= bounds.end; column++) {
      const kind = copyOnly ? 'other' : fillKind(engine.columns[column]!.type.name)
      const values = rows.map((row) => valueAt(row, column))
      const zone = zoneOf(engine.columns[column]!)
      const filled = continueValues(values, kind, bounds.bottom - bounds.top + 1, {
        toggled,
        backwards,
        zone,
      })
      for (const [at, value] of filled.entries()) {
        write(backwards ? bounds.bottom - at : bounds.top + at, column, value)
      }
    }
    return writes
  }
  const rejected: RejectedText[] = []
  for (const row of shownRows(engine, bounds)) {
    const values = span(source.start, source.end).map((column) => valueAt(row, column))
    const kind = copyOnly ? 'other' : fillKind(engine.columns[source.start]!.type.name)
    const zone = zoneOf(engine.columns[source.start]!)
    const filled = continueValues(values, kind, bounds.end - bounds.start + 1, { toggled, backwards, zone })
    for (const [at, value] of filled.entries()) {
      const column = backwards ? bounds.end - at : bounds.start + at
      const from = backwards ? source.end - (at % values.length) : source.start + (at % values.length)
      const converted = convert(engine, value, from, column)
      if (converted !== undefined) write(row, column, converted)
      else if (engine.canEdit(column)) {
        const text = cellText(engine.columns[from]!.field, value, engine.people)
        rejected.push({ rowIndex: row, fieldId: engine.columns[column]!.fieldId, text })
      }
    }
  }
  if (rejected.length > 0) engine.commands.leftOut(rejected)
  return writes
}

/** The zone in which a column's instants are shown. */
const zoneOf = ({ options }: ResolvedColumn): string =>
  resolveZone(typeof options.timeZone === 'string' ? options.timeZone : 'local')

const isSameValue = (a: CellValue, b: CellValue): boolean =>
  Object.is(a, b) || (b === null && isEmptyList(a) && a !== '')

const span = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at)

/** Converts a value to the target column's type; undefined if it does not fit. */
function convert(engine: Engine, value: CellValue, from: number, to: number): CellValue | undefined {
  const source = engine.columns[from]!
  const target = engine.columns[to]!
  if (value === null) return target.type.initial ?? null
  if (target.type.computed === 'link') {
    const carried = carryLinks(value, source.field, target.field)
    return carried.ok ? carried.value : undefined
  }
  const options = optionsForTextOf(source.field, { type: target.type.name, options: target.options })
  if (source.type.computed) return target.type.parse(cellText(source.field, value), options) ?? undefined
  if (source.type.name === target.type.name && !Array.isArray(target.options.choices)) return value
  return target.type.parse(source.type.format(value, source.options), options) ?? undefined
}
