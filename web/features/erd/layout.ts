import { Graph, layout } from '@dagrejs/dagre'
import type { ShownDiagram, ShownLink, ShownTable } from './shown-diagram.ts'

/** Measures of a box, in pixels: what is drawn and what is exported agree on them. */
export const BOX_WIDTH = 240
export const HEAD_HEIGHT = 36
export const ROW_HEIGHT = 26
const FOOT = 6

export interface Place {
  x: number
  y: number
}

export const boxHeight = ({ fields, isFoldable }: Pick<ShownTable, 'fields' | 'isFoldable'>): number =>
  HEAD_HEIGHT + (fields.length + (isFoldable ? 1 : 0)) * ROW_HEIGHT + (fields.length > 0 ? FOOT : 0)

/** The middle of a field's row below the top of its box; of the head where the field is not shown. */
export function rowCentre({ fields }: Pick<ShownTable, 'fields'>, fieldId: string | null): number {
  const index = fields.findIndex(({ id }) => id === fieldId)
  return index === -1 ? HEAD_HEIGHT / 2 : HEAD_HEIGHT + (index + 0.5) * ROW_HEIGHT
}

/** Gap between groups of boxes that nothing links with each other. */
const GAP = 56
/** Width of the whole to its height, about that of a screen. */
const SHAPE = 1.6

/** Boxes that links hold together, each by its place within the group. */
interface Group {
  places: Map<string, Place>
  width: number
  height: number
}

/**
 * Where each box goes, by its top left corner: linked ones beside each other, and the groups that this makes in
 * rows, the large ones first, so that the whole has about the shape of a screen.
 */
export function placeBoxes(diagram: ShownDiagram): Map<string, Place> {
  const groups = groupsOf(diagram).map((tables) => placeGroup(tables, diagram))
  // Groups of the same height keep their order, which is that of the tables.
  groups.sort((one, other) => other.height - one.height)
  const area = groups.reduce((sum, { width, height }) => sum + (width + GAP) * (height + GAP), 0)
  const rowWidth = Math.max(...groups.map(({ width }) => width), Math.sqrt(area * SHAPE))
  const places = new Map<string, Place>()
  let [x, y, rowHeight] = [0, 0, 0]
  for (const { places: within, width, height } of groups) {
    if (x > 0 && x + width > rowWidth) {
      y += rowHeight + GAP
      ;[x, rowHeight] = [0, 0]
    }
    for (const [id, place] of within) places.set(id, { x: x + place.x, y: y + place.y })
    x += width + GAP
    rowHeight = Math.max(rowHeight, height)
  }
  return places
}

/** The tables by what links hold together, in their order. */
function groupsOf({ tables, links }: ShownDiagram): ShownTable[][] {
  const neighbours = new Map<string, string[]>(tables.map(({ id }) => [id, []]))
  for (const { from, to } of links) {
    neighbours.get(from.tableId)?.push(to.tableId)
    neighbours.get(to.tableId)?.push(from.tableId)
  }
  const byId = new Map(tables.map((table) => [table.id, table]))
  const seen = new Set<string>()
  return tables.flatMap(({ id }) => {
    if (seen.has(id)) return []
    const group: ShownTable[] = []
    const waiting = [id]
    seen.add(id)
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const table = byId.get(next)
      if (table) group.push(table)
      for (const other of neighbours.get(next) ?? []) {
        if (seen.has(other)) continue
        seen.add(other)
        waiting.push(other)
      }
    }
    return [group]
  })
}

function placeGroup(tables: readonly ShownTable[], { links }: ShownDiagram): Group {
  const graph = new Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'LR', nodesep: 40, ranksep: 120, marginx: 0, marginy: 0 })
  graph.setDefaultEdgeLabel(() => ({}))
  const ids = new Set(tables.map(({ id }) => id))
  for (const table of tables) graph.setNode(table.id, { width: BOX_WIDTH, height: boxHeight(table) })
  for (const { id, from, to } of links) {
    if (ids.has(from.tableId) && from.tableId !== to.tableId) graph.setEdge(from.tableId, to.tableId, {}, id)
  }
  layout(graph)
  const places = new Map<string, Place>()
  let [width, height] = [0, 0]
  for (const table of tables) {
    const node = graph.node(table.id) as { x: number; y: number; height: number }
    places.set(table.id, { x: node.x - BOX_WIDTH / 2, y: node.y - node.height / 2 })
    width = Math.max(width, node.x + BOX_WIDTH / 2)
    height = Math.max(height, node.y + node.height / 2)
  }
  return { places, width, height }
}

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

/** How far a line goes straight before it turns. */
export const STUB = 36

/** 1: the line leaves to the right; -1: to the left. */
export function sidesOf(from: number, to: number): [1 | -1, 1 | -1] {
  if (to >= from + BOX_WIDTH) return [1, -1]
  if (from >= to + BOX_WIDTH) return [-1, 1]
  return [1, 1]
}

/** Place of the sign beside a box. */
export const SIGN = 12

/** A line's SVG path and the positions of the "1" and "n" labels at its ends. */
export interface Line {
  path: string
  ends: { x: number; y: number; text: '1' | 'n' }[]
}
