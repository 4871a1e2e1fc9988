import { type RefObject, useEffect, useLayoutEffect, useMemo, useState } from 'react'
import type { RecordId } from '../../../../../src/core/model.ts'
import { isEmptyList } from '../../../../cells/link-value.ts'
import type { LoadedStack } from '../../../../records/layouts/stacks-state.ts'
import type { RecordStore } from '../../../../records/record-store.ts'
import { picturesOf } from '../../cards/card-cover.tsx'
import { cardHeight } from '../../cards/card-layout.ts'
import { useKanbanContext } from './kanban-context.ts'
import { cardTops, cardWindow } from './kanban-geometry.ts'

/** Gap between cards in pixels. */
const CARD_GAP = 8

interface CardScrollInput {
  cards: LoadedStack
  length: number
  heights: CardHeights
  /** Changes with the cards or their heights. */
  revision: string
  store: RecordStore
}

/** Virtual scrolling of a stack's cards. */
export function useCardScroll(
  list: RefObject<HTMLDivElement | null>,
  { cards, length, heights, revision, store }: CardScrollInput,
) {
  const { fields, cover } = useKanbanContext()
  const [view, setView] = useState({ top: 0, height: 800 })

  const heightOf = (index: number): number => {
    const id = cards.segments.idAt(index)
    const known = id === undefined ? undefined : heights.of(id)
    if (known !== undefined) return known
    const row = id === undefined ? undefined : store.row(id)
    if (!row) return cardHeight(Math.min(3, fields.rest.length), false)
    const filled = fields.rest.filter(({ field }) => !isEmptyList(row.values(field.id)))
    return cardHeight(filled.length, cover !== null && picturesOf(cover, row.values(cover.id)).length > 0)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: `revision` represents the cards and their heights
  const tops = useMemo(() => cardTops(length, heightOf, CARD_GAP), [revision, length, fields, cover])
  const { first, last } = cardWindow(tops, view.top, view.height)

  function look(): void {
    const element = list.current
    if (!element) return
    const next = { top: element.scrollTop, height: element.clientHeight }
    const now = cardWindow(tops, next.top, next.height)
    // Most scroll steps do not change the mounted cards.
    if (now.first !== first || now.last !== last) setView(next)
  }

  useLayoutEffect(() => {
    const element = list.current
    if (!element) return
    const update = () => setView({ top: element.scrollTop, height: element.clientHeight })
    update()
    const observer = new ResizeObserver(update)
    observer.observe(element)
    return () => observer.disconnect()
  }, [list])

  return {
    mounted: { first, last: Math.min(last, length - 1), tops },
    heightOf,
    onScroll: look,

    /** Scrolls just far enough to show a card. */
    reveal(index: number): void {
      const element = list.current
      const top = tops[index]
      const end = tops[index + 1]
      if (!element || top === undefined || end === undefined) return
      if (top < element.scrollTop) element.scrollTop = Math.max(0, top - CARD_GAP)
      else if (end > element.scrollTop + element.clientHeight)
        element.scrollTop = end - element.clientHeight + CARD_GAP
      look()
    },
  }
}

/** Measured heights of cards. */
interface CardHeights {
  of(id: RecordId): number | undefined
  /** Observes the height of a card; returns a function that stops. */
  observe(element: HTMLElement, id: RecordId): () => void
}

/** Measures the cards of a stack with one observer; calls `onChange` when a height differs from the estimate. */
export function useCardHeights(onChange: () => void): CardHeights {
  const [heights] = useState(() => createHeights(onChange))
  useEffect(() => heights.stop, [heights])
  return heights
}

function createHeights(onChange: () => void) {
  const known = new Map<RecordId, number>()
  const ids = new WeakMap<Element, RecordId>()
  let observer: ResizeObserver | null = null

  function start(): ResizeObserver {
    observer ??= new ResizeObserver((entries) => {
      let isOther = false
      for (const { target, borderBoxSize } of entries) {
        const id = ids.get(target)
        const height = Math.round(borderBoxSize[0]?.blockSize ?? 0)
        if (id === undefined || height === 0 || known.get(id) === height) continue
        known.set(id, height)
        isOther = true
      }
      if (isOther) onChange()
    })
    return observer
  }

  return {
    of: (id: RecordId) => known.get(id),
    observe(element: HTMLElement, id: RecordId) {
      ids.set(element, id)
      const own = start()
      own.observe(element)
      return () => own.unobserve(element)
    },
    stop() {
      observer?.disconnect()
      observer = null
    },
  }
}
