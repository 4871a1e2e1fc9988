import { Graph, layout } from '@dagrejs/dagre'
import type { ShownDiagram, ShownLink, ShownTable } from './shown-diagram.ts'

/** Measures of a box in pixels, for the screen and the exported image. */
export const BOX_WIDTH = 240
export const HEAD_HEIGHT = 36
export const ROW_HEIGHT = 26
const FOOTER_HEIGHT = 6

export interface Point {
  x: number
  y: number
}

export const boxHeight = ({ fields, isFoldable }: Pick<ShownTable, 'fields' | 'isFoldable'>): number =>
  HEAD_HEIGHT + (fields.length + (isFoldable ? 1 : 0)) * ROW_HEIGHT + (fields.length > 0 ? FOOTER_HEIGHT : 0)

/** Vertical centre of a field's row, from the top of the box; of the head if the field is not shown. */
function rowCentre({ fields }: Pick<ShownTable, 'fields'>, fieldId: string | null): number {
  const index = fields.findIndex(({ id }) => id === fieldId)
  return index === -1 ? HEAD_HEIGHT / 2 : HEAD_HEIGHT + (index + 0.5) * ROW_HEIGHT
}

/** Gap between groups of boxes without links between them. */
const GAP = 56
/** Width of the diagram divided by its height, about that of a screen. */
const ASPECT_RATIO = 1.6

/** Boxes connected by links, with their positions within the group. */
interface Group {
  positions: Map<string, Point>
  width: number
  height: number
}

/**
 * Positions of the boxes (top left corners), by table id: linked tables beside each other; groups without links between
 * them in rows, highest first, so that the diagram has about the aspect ratio of a screen.
 */
export function layoutBoxes(diagram: ShownDiagram): Map<string, Point> {
  const groups = groupsOf(diagram).map((tables) => layoutGroup(tables, diagram))
  // The sort is stable: groups of the same height keep the order of the tables.
  groups.sort((one, other) => other.height - one.height)
  const area = groups.reduce((sum, { width, height }) => sum + (width + GAP) * (height + GAP), 0)
  const rowWidth = Math.max(...groups.map(({ width }) => width), Math.sqrt(area * ASPECT_RATIO))
  const positions = new Map<string, Point>()
  let [x, y, rowHeight] = [0, 0, 0]
  for (const { positions: inGroup, width, height } of groups) {
    if (x > 0 && x + width > rowWidth) {
      y += rowHeight + GAP
      ;[x, rowHeight] = [0, 0]
    }
    for (const [id, point] of inGroup) positions.set(id, { x: x + point.x, y: y + point.y })
    x += width + GAP
    rowHeight = Math.max(rowHeight, height)
  }
  return positions
}

/** Connected components of the tables, in table order. */
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
    const pending = [id]
    seen.add(id)
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const table = byId.get(next)
      if (table) group.push(table)
      for (const other of neighbours.get(next) ?? []) {
        if (seen.has(other)) continue
        seen.add(other)
        pending.push(other)
      }
    }
    return [group]
  })
}

function layoutGroup(tables: readonly ShownTable[], { links }: ShownDiagram): Group {
  const graph = new Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'LR', nodesep: 40, ranksep: 120, marginx: 0, marginy: 0 })
  graph.setDefaultEdgeLabel(() => ({}))
  const ids = new Set(tables.map(({ id }) => id))
  for (const table of tables) graph.setNode(table.id, { width: BOX_WIDTH, height: boxHeight(table) })
  for (const { id, from, to } of links) {
    if (ids.has(from.tableId) && from.tableId !== to.tableId) graph.setEdge(from.tableId, to.tableId, {}, id)
  }
  layout(graph)
  const positions = new Map<string, Point>()
  let [width, height] = [0, 0]
  for (const table of tables) {
    const node = graph.node(table.id) as { x: number; y: number; height: number }
    positions.set(table.id, { x: node.x - BOX_WIDTH / 2, y: node.y - node.height / 2 })
    width = Math.max(width, node.x + BOX_WIDTH / 2)
    height = Math.max(height, node.y + node.height / 2)
  }
  return { positions, width, height }
}

/** The line between two boxes: between the sides that face each other, or round the right if one is above the other. */
export function lineBetween(
  link: ShownLink,
  box: (tableId: string) => { table: ShownTable; place: Point } | undefined,
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
      { x: start.x + fromSide * LABEL_OFFSET, y: start.y - 8, text: from.isMany ? 'n' : '1' },
      { x: end.x + toSide * LABEL_OFFSET, y: end.y - 8, text: to.isMany ? 'n' : '1' },
    ],
  }
}

/** Least horizontal distance of a curve's control points from the boxes. */
const STUB = 36

/** Sides at which a line leaves its two boxes; 1: right, -1: left. */
export function sidesOf(from: number, to: number): [1 | -1, 1 | -1] {
  if (to >= from + BOX_WIDTH) return [1, -1]
  if (from >= to + BOX_WIDTH) return [-1, 1]
  return [1, 1]
}

/** Horizontal distance of the “1” and “n” labels from a box. */
const LABEL_OFFSET = 12

/** A line's SVG path and the positions of the "1" and "n" labels at its ends. */
export interface Line {
  path: string
  ends: { x: number; y: number; text: '1' | 'n' }[]
}
