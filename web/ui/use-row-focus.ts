import { useRef } from 'react'
import { useOnChange } from './effects.ts'

const CONTROLS = 'input, button, a'

/**
 * Moves the focus to the row that takes the place of a removed one, which went with the button that had it.
 *
 * @param items change when a row is removed
 * @param selector of the rows in the list; a control after them gets the focus when none is left
 * @returns the ref of the list, and a function that is told the position of the row to remove, or null if it stays
 */
export function useRowFocus<T extends HTMLElement>(items: unknown, selector: string) {
  const list = useRef<T>(null)
  const removed = useRef<{ at: number; button: Element | null } | null>(null)
  useOnChange([items], () => {
    const { current } = removed
    if (!current || current.button?.isConnected || document.activeElement !== document.body) return
    removed.current = null
    const rows = list.current?.querySelectorAll(selector)
    const row = rows?.[Math.min(current.at, rows.length - 1)]
    const control = row?.matches(CONTROLS) ? row : row?.querySelector(CONTROLS)
    if (control instanceof HTMLElement) control.focus()
  })
  const onRemove = (at: number | null): void => {
    removed.current = at === null ? null : { at, button: document.activeElement }
  }
  return { list, onRemove }
}
