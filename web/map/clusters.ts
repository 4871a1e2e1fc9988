import { type WorldPoint, worldSize } from './mercator.ts'

/** Size of the clustering grid's cells in pixels. */
const CELL_PX = 64
/** Clusters closer than this would overlap and are merged. */
const MERGE_PX = 46

/** Pins drawn as one marker. */
export interface Cluster<P extends WorldPoint> extends WorldPoint {
  /** Stable while the cluster has the same pins, so that its element is reused. */
  key: string
  points: P[]
}

/** A rectangle of the world. */
export interface WorldBox {
  west: number
  north: number
  east: number
  south: number
}

/**
 * Clusters pins that are close together at a zoom. Pins outside the box are skipped, so the work depends on the screen
 * and not on the table. Zooms are rounded to half steps, so that clusters do not jump in between.
 */
export function clusterPoints<P extends WorldPoint & { key: string }>(
  points: readonly P[],
  zoom: number,
  box: WorldBox,
): Cluster<P>[] {
  const size = worldSize(Math.floor(zoom * 2) / 2)
  const cell = CELL_PX / size
  const cells = new Map<string, Cell<P>>()
  // Whole cells plus one on each side, so that clusters at the edge are stable while panning.
  const first = { column: Math.floor(box.west / cell) - 1, row: Math.floor(box.north / cell) - 1 }
  const last = { column: Math.floor(box.east / cell) + 1, row: Math.floor(box.south / cell) + 1 }
  for (const point of points) {
    const column = Math.floor(point.x / cell)
    const row = Math.floor(point.y / cell)
    if (column < first.column || column > last.column || row < first.row || row > last.row) continue
    const key = `${column}:${row}`
    const known = cells.get(key)
    if (!known) cells.set(key, { column, row, x: point.x, y: point.y, points: [point] })
    else {
      known.points.push(point)
      known.x += (point.x - known.x) / known.points.length
      known.y += (point.y - known.y) / known.points.length
    }
  }
  return mergeNeighbours(cells, MERGE_PX / size).map(asCluster)
}

interface Cell<P> extends WorldPoint {
  column: number
  row: number
  points: P[]
}

/** Merges overlapping clusters into the larger one. */
function mergeNeighbours<P>(cells: Map<string, Cell<P>>, distance: number): Cell<P>[] {
  const bySize = [...cells].sort(([, a], [, b]) => b.points.length - a.points.length)
  const taken = new Set<string>()
  const kept: Cell<P>[] = []
  for (const [key, cell] of bySize) {
    if (taken.has(key)) continue
    taken.add(key)
    kept.push(cell)
    const { column, row } = cell
    for (let down = -1; down <= 1; down++) {
      for (let across = -1; across <= 1; across++) {
        const otherKey = `${column + across}:${row + down}`
        const other = cells.get(otherKey)
        if (!other || taken.has(otherKey)) continue
        if (Math.hypot(other.x - cell.x, other.y - cell.y) >= distance) continue
        taken.add(otherKey)
        const count = cell.points.length + other.points.length
        cell.x += ((other.x - cell.x) * other.points.length) / count
        cell.y += ((other.y - cell.y) * other.points.length) / count
        cell.points = [...cell.points, ...other.points]
      }
    }
  }
  return kept
}

function asCluster<P extends WorldPoint & { key: string }>({
  x,
  y,
  column,
  row,
  points,
}: Cell<P>): Cluster<P> {
  const [only] = points
  const key = points.length === 1 && only ? `pin ${only.key}` : `cluster ${column}:${row} ${points.length}`
  return { key, x, y, points }
}
