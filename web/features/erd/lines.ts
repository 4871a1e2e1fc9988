import { BOX_WIDTH, type Place, rowCentre } from './layout.ts'
import type { ShownLink, ShownTable } from './shown-diagram.ts'

/** A line as it is drawn: its path, and where "1" or "n" stands at either end. */
export interface Line {
  path: string
  ends: { x: number; y: number; text: '1' | 'n' }[]
}

/** How far a line goes straight before it turns. */
const STUB = 36
/** Place of the sign beside a box. */
const SIGN = 12

/** The line between two boxes: from the sides that face each other, or round the right where they lie above another. */
export function lineBetween(
  link: ShownLink,
  box: (tableId: string) => { table: ShownTable; place: Place } | undefined,
): Line | null {
  const [from, to] = [link.from, link.to].map(({ tableId, fieldId, isMany }) => {
    const found = box(tableId)
    if (!found) return null
    return { ...found.place, y: found.place.y + rowCentre(found.table, fieldId), isMany }
  })
  if (!from || !to) return null
  const [fromSide, toSide] = sidesOf(from.x, to.x)
  const start = { x: from.x + (fromSide > 0 ? BOX_WIDTH : 0), y: from.y }
  const end = { x: to.x + (toSide > 0 ? BOX_WIDTH : 0), y: to.y }
  const bend = Math.max(STUB, Math.abs(end.x - start.x) / 2)
  const path = `M${start.x} ${start.y}C${start.x + fromSide * bend} ${start.y} ${end.x + toSide * bend} ${end.y} ${end.x} ${end.y}`
  return {
    path,
    ends: [
      { x: start.x + fromSide * SIGN, y: start.y - 8, text: from.isMany ? 'n' : '1' },
      { x: end.x + toSide * SIGN, y: end.y - 8, text: to.isMany ? 'n' : '1' },
    ],
  }
}

/** 1: the line leaves to the right; -1: to the left. */
function sidesOf(from: number, to: number): [1 | -1, 1 | -1] {
  if (to >= from + BOX_WIDTH) return [1, -1]
  if (from >= to + BOX_WIDTH) return [-1, 1]
  return [1, 1]
}
