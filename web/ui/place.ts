/** A rectangle in pixels of the window. */
export interface Box {
  left: number
  top: number
  width: number
  height: number
}

/** Below the anchor and in line with its start or end, or beside it. */
export type Placement = 'bottom-start' | 'bottom-end' | 'side'

const MARGIN = 8
const GAP = 4

/**
 * Where to put a popover of a given size so that it stays in the window: flips above (or to the other
 * side) where there is more room, and shifts in from the edges.
 */
export function place(
  anchor: Box,
  size: { width: number; height: number },
  window: { width: number; height: number },
  placement: Placement,
  direction: 'ltr' | 'rtl',
): { left: number; top: number; maxHeight: number } {
  const clampLeft = (left: number) => clamp(left, MARGIN, window.width - size.width - MARGIN)
  if (placement === 'side') {
    const after = anchor.left + anchor.width + GAP
    const before = anchor.left - size.width - GAP
    const fitsAfter = after + size.width <= window.width - MARGIN
    const prefersAfter = direction === 'ltr'
    const left = prefersAfter ? (fitsAfter ? after : before) : before >= MARGIN ? before : after
    const maxHeight = window.height - 2 * MARGIN
    const top = clamp(anchor.top - GAP, MARGIN, window.height - Math.min(size.height, maxHeight) - MARGIN)
    return { left: clampLeft(left), top, maxHeight }
  }
  const alignsLeft = (placement === 'bottom-start') === (direction === 'ltr')
  const left = alignsLeft ? anchor.left : anchor.left + anchor.width - size.width
  const below = window.height - (anchor.top + anchor.height) - GAP - MARGIN
  const above = anchor.top - GAP - MARGIN
  if (size.height <= below || below >= above) {
    return { left: clampLeft(left), top: anchor.top + anchor.height + GAP, maxHeight: Math.max(below, 80) }
  }
  const height = Math.min(size.height, above)
  return { left: clampLeft(left), top: anchor.top - GAP - height, maxHeight: above }
}

const clamp = (value: number, min: number, max: number) => Math.max(min, Math.min(value, max))
