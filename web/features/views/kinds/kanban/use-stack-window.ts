import { type RefObject, useCallback, useLayoutEffect, useMemo, useState } from 'react'
import { useIsNarrow } from '../../../layout/sidebar-state.ts'
import type { StackKey } from './stack-by.ts'
import type { Stack } from './stacks.ts'

/** Pixels across. */
const STACK_PX = 296
const COLLAPSED_PX = 48
const GAP_PX = 12
/** Room between the edge of a stack and its cards, both sides. */
const INSET_PX = 16
/** Of more stacks than this only those in sight are drawn. */
const MOST_DRAWN = 30
const AHEAD_PX = 600

export interface StackWindow {
  /** The stacks to draw, both ends included. */
  first: number
  last: number
  /** Room of those that are not drawn. */
  before: number
  after: number
  cardWidth: number
  onScroll: () => void
  reveal: (key: StackKey) => void
}

/** Which stacks of a board are drawn, by how far it is scrolled. In a narrow window each takes all of it. */
export function useStackWindow(root: RefObject<HTMLElement | null>, stacks: readonly Stack[]): StackWindow {
  const isNarrow = useIsNarrow()
  const [view, setView] = useState({ start: 0, width: 1600 })
  const width = isNarrow ? Math.max(240, view.width - 40) : STACK_PX
  const starts = useMemo(() => {
    const all = [0]
    for (const { isCollapsed } of stacks)
      all.push((all.at(-1) ?? 0) + (isCollapsed ? COLLAPSED_PX : width) + GAP_PX)
    return all
  }, [stacks, width])

  const look = useCallback(() => {
    const element = root.current
    if (!element) return
    // Counted from the start of reading: negative in a page from right to left.
    const next = { start: Math.abs(element.scrollLeft), width: element.clientWidth }
    setView((old) => {
      const isNear = Math.abs(old.start - next.start) < AHEAD_PX / 3 && old.width === next.width
      return isNear ? old : next
    })
  }, [root])
  useLayoutEffect(() => {
    const element = root.current
    if (!element) return
    look()
    const observer = new ResizeObserver(look)
    observer.observe(element)
    return () => observer.disconnect()
  }, [root, look])

  const isWhole = stacks.length <= MOST_DRAWN
  const at = (place: number) =>
    Math.max(
      0,
      starts.findLastIndex((start) => start <= place),
    )
  const first = isWhole ? 0 : Math.min(stacks.length - 1, at(view.start - AHEAD_PX))
  const last = isWhole
    ? stacks.length - 1
    : Math.min(stacks.length - 1, at(view.start + view.width + AHEAD_PX))
  const end = starts.at(-1) ?? 0

  return {
    first,
    last,
    before: starts[first] ?? 0,
    after: end - (starts[last + 1] ?? end),
    cardWidth: width - INSET_PX,
    onScroll: look,
    reveal(key) {
      const element = root.current
      const index = stacks.findIndex((stack) => stack.key === key)
      if (!element || index < 0) return
      const start = starts[index] ?? 0
      const stop = (starts[index + 1] ?? start) - GAP_PX
      const sign = element.scrollLeft < 0 || getComputedStyle(element).direction === 'rtl' ? -1 : 1
      const shown = Math.abs(element.scrollLeft)
      if (start < shown) element.scrollLeft = sign * start
      else if (stop > shown + element.clientWidth - GAP_PX)
        element.scrollLeft = sign * (stop - element.clientWidth + 2 * GAP_PX)
    },
  }
}
