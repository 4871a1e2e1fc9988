import { useEffect } from 'react'
import { highlightText } from '../../grid/highlight.ts'

/** Marks a text in the cells of the grid on the screen; none for an empty text. */
export function useHighlight(text: string): void {
  useEffect(() => {
    const grid = document.querySelector('[data-grid]')
    return grid && text !== '' ? highlightText(grid, text) : undefined
  }, [text])
}
