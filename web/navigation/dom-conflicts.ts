import { useEffect, useState } from 'react'

/** Most automatic redraws within a time; more would loop. */
const MAX_TIMES = 3
const WITHIN_MS = 10_000

let times: number[] = []

/**
 * True for errors that React throws after translators or extensions have changed its DOM (spec §2). Rendering again
 * fixes them.
 */
export const isDomConflict = (error: unknown): boolean =>
  (error instanceof Error || error instanceof DOMException) &&
  (error.name === 'NotFoundError' ||
    /insertBefore|Cannot read properties of null \(reading '?parentNode'?\)/.test(error.message))

/** Records an automatic redraw; false if redraws have not helped recently. */
export function mayRenderAgain(now = Date.now()): boolean {
  times = times.filter((time) => now - time < WITHIN_MS)
  if (times.length >= MAX_TIMES) return false
  times.push(now)
  return true
}

/** True while a page with such an error is rendered again by `retry`, instead of showing the error. */
export function useRenderAgain(error: unknown, retry: () => void): boolean {
  const [isRenderedAgain] = useState(() => isDomConflict(error) && mayRenderAgain())
  useEffect(() => {
    if (isRenderedAgain) retry()
  }, [isRenderedAgain, retry])
  return isRenderedAgain
}
