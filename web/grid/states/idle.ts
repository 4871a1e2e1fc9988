import { isMac } from '../../ui/shortcuts.ts'
import { perform } from '../actions.ts'
import type { Engine, Hit, Mode, Part } from '../engine.ts'
import { fillTarget } from '../fill.ts'
import { applyFill } from '../fill-actions.ts'
import { intentOf } from '../keys.ts'
import {
  addRange,
  type CellPosition,
  clampCell,
  extendTo,
  focusCell,
  lastBounds,
  rangeAt,
  type Selection,
  selectCell,
  selectColumn,
  selectRow,
} from '../selection.ts'
import { dragMode, fitColumns, movingColumn, movingRow, resizing } from './dragging.ts'
import { startEditing } from './editing.ts'

/** No interaction: keys act on the selection, and a press starts one. */
export function idle(): Mode {
  return {
    name: 'idle',
    onKeyDown(event, engine) {
      const intent = intentOf(event, { rtl: engine.viewport.rtl, mac: isMac })
      return intent !== null && perform(engine, intent, event)
    },
    onPointerDown(hit, event, engine) {
      if (event.button === 0) press(hit, event, engine)
    },
    onDoubleClick(hit, _event, engine) {
      const { commands } = engine
      const { rights } = engine.props
      const field = engine.columns[hit.column]
      if (hit.part === 'cell' && !startEditing(engine, { row: hit.row, column: hit.column }, null)) {
        const row = engine.rowAt(hit.row)
        if (field) field.cell.open?.(row?.values(field.fieldId) ?? null, field.field, row?.id ?? null)
      }
      if (hit.part === 'resize') fitColumns(engine, hit.column)
      if (hit.part === 'header' && field && rights.arrangeColumns) {
        commands.editField(field.fieldId, { element: hit.element })
      }
    },
  }
}

function press(hit: Hit, event: PointerEvent, engine: Engine): void {
  const begin: Partial<Record<Part, () => void>> = {
    cell: () => pressCell(hit, event, engine),
    rowNumber: () => pressRow(hit, event, engine),
    header: () => pressHeader(hit, event, engine),
    resize: () => engine.enter(resizing(engine, hit.column, event)),
    freezeDivider: () => engine.enter(movingColumn(engine, { divider: true }, event)),
    fillHandle: () => engine.enter(filling(engine)),
    rowHandle: () => engine.enter(movingRow(engine, hit.row, event)),
  }
  begin[hit.part]?.()
}

function pressCell({ row, column }: Hit, event: PointerEvent, engine: Engine): void {
  const cell = { row, column }
  if (!keepsSelection(event, engine)) engine.select(selectCell(cell))
  else if (event.shiftKey)
    onceLocated(engine, cell, (before, to) => engine.select(extendTo(before ?? selectCell(to), to), to))
  else
    onceLocated(engine, cell, (before, to) =>
      engine.select(before ? addRange(before, rangeAt(to)) : selectCell(to)),
    )
  // Touch scrolls; only mouse and pen select a range.
  if (event.pointerType !== 'touch') engine.enter(selecting(engine, 'cells'))
}

function pressRow({ row }: Hit, event: PointerEvent, engine: Engine): void {
  const cell = { row, column: 0 }
  if (!keepsSelection(event, engine)) engine.select(selectRow(row), null)
  else if (event.shiftKey)
    onceLocated(engine, cell, (before, focus) =>
      engine.select({ ranges: [{ ...asRows((before ?? selectCell(focus)).ranges.at(-1)!), focus }] }, null),
    )
  else
    onceLocated(engine, cell, (before, to) =>
      engine.select(before ? addRange(before, rangeAt(to, 'rows')) : selectRow(to.row), null),
    )
  if (event.pointerType !== 'touch') engine.enter(selecting(engine, 'rows'))
}

/** True for a press that extends the selection or adds to it. */
const keepsSelection = (
  { shiftKey, ctrlKey, metaKey }: PointerEvent,
  { selection, followed }: Engine,
): boolean => (shiftKey || ctrlKey || metaKey) && (selection.get() !== null || followed.isLocating)

/** Changes the selection, with the cell where its record is, once the selected records are located. */
function onceLocated(
  engine: Engine,
  cell: CellPosition,
  select: (selection: Selection | null, to: CellPosition) => void,
): void {
  const id = engine.rowAt(cell.row)?.id
  engine.followed.whenLocated(() => {
    const row = (id === undefined ? undefined : engine.props.source.indexOf(id)) ?? cell.row
    select(engine.selection.get(), clampCell({ ...cell, row }, engine.size))
  })
}

const asRows = <R extends { kind: string }>(range: R) => ({ ...range, kind: 'rows' as const })

function pressHeader({ column }: Hit, event: PointerEvent, engine: Engine): void {
  const top = { row: 0, column }
  const isKept = keepsSelection(event, engine)
  if (isKept && event.shiftKey) {
    onceLocated(engine, top, (before, { column: to }) => {
      const last = (before ?? selectColumn(to)).ranges.at(-1)!
      engine.select({ ranges: [{ ...last, kind: 'columns', focus: { row: 0, column: to } }] }, null)
    })
    return
  }
  // A press on a selected column may start moving all selected ones.
  const last = engine.selection.get()?.ranges.at(-1)
  const isSelected = last?.kind === 'columns' && isBetween(column, last.anchor.column, last.focus.column)
  if (isKept)
    onceLocated(engine, top, (before, { column: to }) => {
      const added = selectColumn(to)
      engine.select(before ? addRange(before, added.ranges[0]) : added, null)
    })
  else if (!isSelected) engine.select(selectColumn(column), null)
  if (engine.props.rights.arrangeColumns && event.pointerType !== 'touch') {
    engine.enter(movingColumn(engine, { column }, event))
  }
}

const isBetween = (value: number, a: number, b: number): boolean =>
  value >= Math.min(a, b) && value <= Math.max(a, b)

/** Drags the fill handle: a dotted frame follows, and the drop fills it as one change. */
function filling(engine: Engine): Mode {
  const selection = engine.selection.get()
  const source = selection && lastBounds(selection, engine.size)
  return dragMode({
    name: 'filling',
    scrolls: 'both',
    move({ clientX, clientY }) {
      const cell = clampCell(engine.viewport.cellAt(clientX, clientY), engine.size)
      const target = source && fillTarget(source, cell)
      engine.preview.set(target ? { kind: 'fill', target } : null)
    },
    drop({ ctrlKey, metaKey }) {
      const preview = engine.preview.get()
      if (source && preview?.kind === 'fill') applyFill(engine, source, preview.target, ctrlKey || metaKey)
    },
    end: () => engine.preview.set(null),
  })
}

/** Selects a range of cells or rows by dragging. */
function selecting(engine: Engine, kind: 'cells' | 'rows'): Mode {
  return dragMode({
    name: 'selecting',
    scrolls: kind === 'rows' ? 'rows' : 'both',
    move({ clientX, clientY }) {
      const selection = engine.selection.get()
      // A press extends the selection once its records are located; to change the part found so far would end that.
      if (!selection || engine.followed.isLocating) return
      const cell = clampCell(engine.viewport.cellAt(clientX, clientY), engine.size)
      const before = focusCell(selection)
      if (cell.row === before.row && cell.column === before.column) return
      engine.selection.set(extendTo(selection, cell))
    },
    drop() {},
  })
}
