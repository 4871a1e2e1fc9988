/**
 * Native scrolling over more rows than an element can be tall.
 *
 * Browsers limit the height of elements (Firefox to 17.9 M px, Chromium to 33.5 M px, with rounding errors below that),
 * but a million rows of 120 px are 120 M px high. So the scrolled element is never taller than `MAX_HEIGHT`, and there
 * are two positions:
 *
 * - `scrollTop`, where the browser's scrollbar is, in the scrolled element ("physical"), and
 * - `top`, the first visible pixel of the content at full height ("virtual").
 *
 * Small moves by wheel, finger or keys change `top` by the same number of pixels, so that rows follow 1:1. Dragging the
 * thumb of a capped scrollbar always causes large moves: one pixel of a 700 px track is 11,000 px of an 8 M px element.
 * Such jumps are mapped proportionally (`toVirtual`), so that the thumb reaches all rows.
 *
 * 1:1 moves shift the scrollbar from its proportional position. When scrolling stops, and before the physical end is
 * reached, `realign` corrects the scrollbar; rows are positioned relative to `top - scrollTop`, so nothing moves on the
 * screen.
 *
 * The first and last `END_ZONE` pixels always map 1:1. Otherwise the scrollbar would reach its end before the last rows
 * are visible.
 */

/** Maximum height of the scrolled element, well below all browsers' limits and exact at 1/64 px. */
export const MAX_HEIGHT = 8_000_000

/** Pixels at either end that map 1:1. */
const END_ZONE = 200_000

/** Distance to the physical end at which the scrollbar is corrected at once. */
const END_MARGIN = 50_000

export interface ScrollSize {
  /** Height of the content at full size. */
  virtual: number
  /** Height of the element that is scrolled. */
  physical: number
  /** Height of the visible part. */
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

/** The content position for a scrollbar position. */
export function toVirtual(size: ScrollSize, scrollTop: number): number {
  const physicalEnd = size.physical - size.viewport
  const virtualEnd = size.virtual - size.viewport
  const at = clamp(scrollTop, physicalEnd)
  if (!isScaled(size) || at <= END_ZONE) return at
  if (at >= physicalEnd - END_ZONE) return virtualEnd - (physicalEnd - at)
  return END_ZONE + ((at - END_ZONE) / (physicalEnd - 2 * END_ZONE)) * (virtualEnd - 2 * END_ZONE)
}

/** The scrollbar position for a content position; reverses `toVirtual`. */
export function toPhysical(size: ScrollSize, top: number): number {
  const physicalEnd = size.physical - size.viewport
  const virtualEnd = size.virtual - size.viewport
  const at = clamp(top, virtualEnd)
  if (!isScaled(size) || at <= END_ZONE) return at
  if (at >= virtualEnd - END_ZONE) return physicalEnd - (virtualEnd - at)
  return Math.round(END_ZONE + ((at - END_ZONE) / (virtualEnd - 2 * END_ZONE)) * (physicalEnd - 2 * END_ZONE))
}

/**
 * The content position after the browser moved its scrollbar. Moves of less than a quarter of a thumb pixel
 * cannot come from the thumb (high-density screens report fractions of a pixel) and map 1:1.
 */
export function follow(size: ScrollSize, from: ScrollPosition, scrollTop: number): ScrollPosition {
  if (!isScaled(size)) return { scrollTop, top: toVirtual(size, scrollTop) }
  const delta = scrollTop - from.scrollTop
  const thumbStep = size.physical / Math.max(1, size.viewport) / 4
  if (Math.abs(delta) >= thumbStep) return { scrollTop, top: toVirtual(size, scrollTop) }
  return { scrollTop, top: clamp(from.top + delta, size.virtual - size.viewport) }
}

/** Corrects the scrollbar position without moving the content. */
export function realign(size: ScrollSize, at: ScrollPosition): ScrollPosition {
  return { scrollTop: toPhysical(size, at.top), top: at.top }
}

/** True if the scrollbar may reach its end before the content does, or is beyond it. */
export function mustRealign(size: ScrollSize, at: ScrollPosition): boolean {
  if (!isScaled(size)) return false
  const physicalEnd = size.physical - size.viewport
  const nearEnd = at.scrollTop < END_MARGIN || at.scrollTop > physicalEnd - END_MARGIN
  return nearEnd && at.scrollTop !== toPhysical(size, at.top)
}
