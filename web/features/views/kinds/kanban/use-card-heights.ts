import { useEffect, useState } from 'react'
import type { RecordId } from '../../../../../src/core/model.ts'

/** Heights of cards that have been drawn. */
export interface CardHeights {
  of(id: RecordId): number | undefined
  /** Follows the height of a card; gives the way to stop. */
  observe(element: HTMLElement, id: RecordId): () => void
}

/** Measures cards as they are drawn, all of a stack with one observer; `onChange` when one is not as tall as thought. */
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
