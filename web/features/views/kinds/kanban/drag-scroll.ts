/** Within this many pixels of an edge a drag scrolls. */
const EDGE_PX = 56
/** Pixels per frame at the very edge. */
const FASTEST_PX = 18

/** How far to scroll in one frame, for a pointer between two edges. */
export function scrollStep(at: number, start: number, end: number): number {
  const before = start + EDGE_PX - at
  const after = at - (end - EDGE_PX)
  if (before > 0) return -Math.ceil((Math.min(before, EDGE_PX) / EDGE_PX) * FASTEST_PX)
  if (after > 0) return Math.ceil((Math.min(after, EDGE_PX) / EDGE_PX) * FASTEST_PX)
  return 0
}
