import type { FocusEvent } from 'react'

/**
 * True if the focus leaves an editor. Popups it opened elsewhere in the document (`data-cell-popover`) count as
 * inside, and so does another window.
 */
export function isFocusLeaving({ currentTarget, relatedTarget }: FocusEvent): boolean {
  const isWithin =
    relatedTarget instanceof Element &&
    (currentTarget.contains(relatedTarget) || relatedTarget.closest('[data-cell-popover]') !== null)
  return !isWithin && document.hasFocus()
}
