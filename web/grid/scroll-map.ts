/**
 * Native scrolling over more rows than an element can be tall.
 *
 * Browsers stop at some height (Firefox at 17.9 M px, Chromium at 33.5 M px, with rounding errors
 * before that), and a million rows of 120 px are 120 M px. So the element that is scrolled is never
 * taller than `MAX_HEIGHT`, and one distinguishes
 *
 * - `scrollTop`, where the browser's scrollbar is, in the scrolled element ("physical"), and
 * - `top`, the first pixel in sight of the content as it would be at full height ("virtual").
 *
 * A wheel, finger or key moves by little: then `top` moves by the very same pixels, so the rows
 * follow the finger 1:1. A thumb on a capped scrollbar cannot move by little: one pixel of a 700 px
 * track is 11,000 px of an 8 M px element. Such a jump is read in proportion (`toVirtual`), which
 * takes the thumb from the first row to the last.
 *
 * Moving 1:1 leaves the scrollbar ahead of the proportion. Whenever the scrolling rests, and before
 * the physical end is reached, `settle` puts the scrollbar where it belongs; rows are placed relative
 * to `top - scrollTop`, so nothing moves on the screen.
 *
 * The first and last `END_ZONE` pixels map 1:1 in any case. Without that, the last physical pixels
 * would be used up before the last rows have come into sight.
 */

/** Tallest element we ask a browser for. Well inside each one's limit, and exact at 1/64 px. */
export const MAX_HEIGHT = 8_000_000

/** Pixels at either end in which both heights go together. */
const END_ZONE = 200_000

/** Closer than this to the physical end, the scrollbar is put in its place without waiting for a rest. */
const END_MARGIN = 50_000

export interface ScrollSize {
  /** Height of the content at full size. */
  virtual: number
  /** Height of the element that is scrolled. */
  physical: number
  /** Height of the part in sight. */
  viewport: number
}

export interface ScrollPosition {
  scrollTop: number
  top: number
}

/** The sizes for content of a height, capped. */
export function scrollSize(virtual: number, viewport: number): ScrollSize {
  return { virtual, physical: Math.min(virtual, MAX_HEIGHT), viewport }
}

const isScaled = ({ virtual, physical }: ScrollSize): boolean => virtual > physical

const clamp = (value: number, most: number): number => Math.max(0, Math.min(value, Math.max(0, most)))

/** The content position that belongs to a position of the scrollbar. */
export function toVirtual(size: ScrollSize, scrollTop: number): number {
  const physicalEnd = size.physical - size.viewport
  const virtualEnd = size.virtual - size.viewport
  const at = clamp(scrollTop, physicalEnd)
  if (!isScaled(size) || at <= END_ZONE) return at
  if (at >= physicalEnd - END_ZONE) return virtualEnd - (physicalEnd - at)
  return END_ZONE + ((at - END_ZONE) / (physicalEnd - 2 * END_ZONE)) * (virtualEnd - 2 * END_ZONE)
}

/** The position of the scrollbar that belongs to a content position; `toVirtual` turned round. */
export function toPhysical(size: ScrollSize, top: number): number {
  const physicalEnd = size.physical - size.viewport
  const virtualEnd = size.virtual - size.viewport
  const at = clamp(top, virtualEnd)
  if (!isScaled(size) || at <= END_ZONE) return at
  if (at >= virtualEnd - END_ZONE) return physicalEnd - (virtualEnd - at)
  return Math.round(END_ZONE + ((at - END_ZONE) / (virtualEnd - 2 * END_ZONE)) * (physicalEnd - 2 * END_ZONE))
}

/**
 * Where the content is after the browser moved its scrollbar. Moves of less than a quarter of what
 * one pixel of the thumb stands for cannot come from the thumb (a quarter: high-density screens give
 * fractions of a pixel) and are taken 1:1.
 */
export function follow(size: ScrollSize, from: ScrollPosition, scrollTop: number): ScrollPosition {
  if (!isScaled(size)) return { scrollTop, top: toVirtual(size, scrollTop) }
  const delta = scrollTop - from.scrollTop
  const thumbStep = size.physical / Math.max(1, size.viewport) / 4
  if (Math.abs(delta) >= thumbStep) return { scrollTop, top: toVirtual(size, scrollTop) }
  return { scrollTop, top: clamp(from.top + delta, size.virtual - size.viewport) }
}

/** The position with the scrollbar where it belongs, the content unmoved. */
export function settle(size: ScrollSize, at: ScrollPosition): ScrollPosition {
  return { scrollTop: toPhysical(size, at.top), top: at.top }
}

/** True where the scrollbar may hit its end before the content does, or rests beyond it. */
export function mustSettle(size: ScrollSize, at: ScrollPosition): boolean {
  if (!isScaled(size)) return false
  const physicalEnd = size.physical - size.viewport
  const nearEnd = at.scrollTop < END_MARGIN || at.scrollTop > physicalEnd - END_MARGIN
  return nearEnd && at.scrollTop !== toPhysical(size, at.top)
}
