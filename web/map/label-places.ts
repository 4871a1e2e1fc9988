import type { WorldPoint } from './mercator.ts'

/** A label on the map: its position, and the width of the area it names. */
export interface MapLabel extends WorldPoint {
  name: string
  /** Fraction of the world's width. */
  width: number
}

/** Average letter width, and line height, in pixels. */
const LETTER_PX = 6.4
const LINE_PX = 16

/**
 * Labels that fit at a zoom: no wider than the area they name, and without overlaps. Larger areas win.
 *
 * @param labels largest first
 * @param size width of the world in pixels
 */
export function labelsThatFit(labels: readonly MapLabel[], size: number): MapLabel[] {
  const shown: { x: number; y: number; half: number; label: MapLabel }[] = []
  for (const label of labels) {
    const textWidth = label.name.length * LETTER_PX
    if (label.width * size < textWidth) continue
    const here = { x: label.x * size, y: label.y * size, half: textWidth / 2, label }
    const overlaps = shown.some(
      ({ x, y, half }) => Math.abs(y - here.y) < LINE_PX && Math.abs(x - here.x) < half + here.half,
    )
    if (!overlaps) shown.push(here)
  }
  return shown.map(({ label }) => label)
}
