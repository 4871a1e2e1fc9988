/** Most automatic redraws within a time; more would loop. */
const MAX_TIMES = 3
const WITHIN_MS = 10_000

let times: number[] = []

/**
 * Whether an error says that the page is no longer as React has left it: translators and extensions move its
 * elements about (spec §2). Drawing it anew mends that.
 */
export const isForeignHand = (error: unknown): boolean =>
  (error instanceof Error || error instanceof DOMException) &&
  (error.name === 'NotFoundError' ||
    /insertBefore|Cannot read properties of null \(reading '?parentNode'?\)/.test(error.message))

/** Records an automatic redraw; false if redraws have not helped recently. */
export function mayDrawAnew(now = Date.now()): boolean {
  times = times.filter((time) => now - time < WITHIN_MS)
  if (times.length >= MAX_TIMES) return false
  times.push(now)
  return true
}
