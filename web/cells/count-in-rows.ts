/** Width in pixels of the "+n" for the items that do not fit. */
const MORE_PX = 30

interface Rows<T> {
  /** Pixels of a row, and the number of rows. */
  width: number
  rows: number
  /** Width of an item in pixels, with the gap after it. */
  pxOf: (item: T) => number
  /** The last item may be truncated if this many pixels are left for it; absent: it may not be. */
  leastPx?: number
}

/** Number of items that fit into a cell, by estimated widths: measuring would force a second layout. */
export function countInRows<T>(
  items: readonly T[],
  { width, rows, pxOf, leastPx = Number.POSITIVE_INFINITY }: Rows<T>,
): number {
  let row = 1
  let used = 0
  for (const [index, item] of items.entries()) {
    const px = Math.min(width, pxOf(item))
    const isLast = index === items.length - 1
    const room = width - (row === rows && !isLast ? MORE_PX : 0)
    if (used + px > room && used > 0) {
      if (row === rows) return room - used >= leastPx ? index + 1 : index
      row++
      used = 0
    }
    used += px
  }
  return items.length
}
