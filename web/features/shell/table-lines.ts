import type { KeyboardEvent, ReactNode, RefObject } from 'react'
import type { Table } from '../../../src/core/model.ts'

/** A line per table, with its views where it is expanded. */
export interface TableLinesProps {
  tables: Table[]
  draw: (table: Table) => ReactNode
}

/**
 * Arrow keys move between the lines of a tree, Home and End to its ends; Enter opens the link.
 *
 * @param box holds the lines, `[data-index]`
 * @param reveal renders a line that may not be there yet
 */
export function useLineKeys(
  box: RefObject<HTMLElement | null>,
  count: number,
  reveal?: (index: number) => void,
): (event: KeyboardEvent) => void {
  const linksAt = (index: number): HTMLElement[] => [
    ...(box.current?.querySelectorAll<HTMLElement>(`[data-index="${index}"] a`) ?? []),
  ]
  return (event) => {
    const step = STEPS[event.key]
    const { target } = event
    if (step === undefined || !(target instanceof Element) || target instanceof HTMLInputElement) return
    event.preventDefault()
    const from = Number(target.closest<HTMLElement>('[data-index]')?.dataset.index)
    const links = linksAt(from)
    const beside = links[links.findLastIndex((link) => isAtOrAhead(link, target)) + step]
    if (beside) return beside.focus()
    const to = Math.max(0, Math.min(from + step, count - 1))
    if (to === from && Number.isFinite(step)) return
    reveal?.(to)
    linksAt(to)
      .at(event.key === 'ArrowUp' || event.key === 'End' ? -1 : 0)
      ?.focus()
  }
}

const STEPS: Record<string, number> = {
  ArrowDown: 1,
  ArrowUp: -1,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
}

/** Whether a link is this element or precedes it, as a row's link precedes its buttons. */
const isAtOrAhead = (link: Element, element: Element): boolean =>
  link === element || (link.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0
