import { cellText } from '../cells/cell-text.ts'
import type { ResolvedColumn } from './columns.ts'
import type { Engine } from './engine.ts'
import { clampWidth } from './layout.ts'

/** Padding of a cell at both sides, and a little air. */
const CELL_PADDING_PX = 20
/** Icon, gap and menu button of a header. */
const HEADER_EXTRA_PX = 60
const MOST_PX = 480

/** The width at which the header and every mounted value of a column can be read, within reason. */
export function contentWidth(engine: Engine, column: ResolvedColumn): number {
  const canvas = document.createElement('canvas').getContext('2d')
  const element = engine.viewport.element
  if (!canvas || !element) return column.width
  const { fontFamily } = getComputedStyle(element)
  canvas.font = `500 13px ${fontFamily}`
  let width = canvas.measureText(column.field.title).width + HEADER_EXTRA_PX
  canvas.font = `13px ${fontFamily}`
  const { first, last } = engine.viewport.mounted.get().rows
  for (let row = first; row <= last; row++) {
    const value = engine.rowAt(row)?.values(column.fieldId)
    if (value === null || value === undefined) continue
    const lines = cellText(column.field, value, engine.people).slice(0, 500).split('\n')
    const extra = CELL_PADDING_PX + (column.cell.extraWidth ?? 0)
    for (const line of lines) width = Math.max(width, canvas.measureText(line).width + extra)
  }
  return clampWidth(Math.min(MOST_PX, Math.ceil(width)), column.cell.minWidth)
}
