import type { FocusEvent } from 'react'

/**
 * True where the focus leaves an editor for good. In a list or a dialog that the editor opened elsewhere in the
 * document (`data-cell-popover`) it is still within; in another window the person is coming back.
 */
export function isFocusLeaving({ currentTarget, relatedTarget }: FocusEvent): boolean {
  const isWithin =
    relatedTarget instanceof Element &&
    (currentTarget.contains(relatedTarget) || relatedTarget.closest('[data-cell-popover]') !== null)
  return !isWithin && document.hasFocus()
}
