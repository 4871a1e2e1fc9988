import type { Engine } from '../engine.ts'
import { contentWidth } from '../fit.ts'
import { clampWidth } from '../layout.ts'
import { boundsOf } from '../selection.ts'
import { dragMode } from './drag.ts'
import type { Mode, Pointer } from './mode.ts'

/** Dragging a column's end edge. With several whole columns selected, all of them get the width. */
export function resizing(engine: Engine, column: number, from: Pointer): Mode {
  const columns = columnsWith(engine, column)
  const before = engine.columns[column]!.width
  return dragMode({
    name: 'resizing',
    scrolls: 'none',
    move({ clientX }) {
      const delta = (clientX - from.clientX) * (engine.viewport.rtl ? -1 : 1)
      const width = clampWidth(before + delta)
      engine.widths.set(new Map(columns.map((each) => [engine.columns[each]!.fieldId, width])))
    },
    drop: () => saveWidths(engine, engine.widths.get()),
    end: () => engine.widths.set(new Map()),
  })
}

/** Gives the column of a double-clicked edge, and those selected with it, the width of their content. */
export function fitColumns(engine: Engine, column: number): void {
  const widths = columnsWith(engine, column).map((each): [string, number] => {
    const { fieldId } = engine.columns[each]!
    return [fieldId, contentWidth(engine, engine.columns[each]!)]
  })
  saveWidths(engine, new Map(widths))
}

function saveWidths(engine: Engine, widths: ReadonlyMap<string, number>): void {
  const changed = [...widths]
    .filter(([fieldId, width]) => engine.columns.find((each) => each.fieldId === fieldId)?.width !== width)
    .map(([fieldId, width]) => ({ fieldId, width }))
  if (changed.length > 0) engine.props.commands.resizeColumns(changed)
}

/** The column, or every column of a selection of whole columns that it is part of. */
export function columnsWith(engine: Engine, column: number): number[] {
  const columns = new Set<number>()
  for (const range of engine.selection.get()?.ranges ?? []) {
    if (range.kind !== 'columns' && range.kind !== 'all') continue
    const { start, end } = boundsOf(range, engine.size)
    for (let each = start; each <= end; each++) columns.add(each)
  }
  return columns.has(column) ? [...columns].sort((a, b) => a - b) : [column]
}
