import { useDndContext } from '@dnd-kit/core'
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Table } from '../../../src/core/model.ts'
import { m } from '../../messages.gen.ts'
import { useOnChange } from '../../ui/effects.ts'
import { withIndexes } from '../../ui/with-indexes.ts'
import styles from './table-tree.module.css'
import { useOpenPlace } from './use-place.ts'

/** As in table-tree.module.css: fingers need more. */
const LINE_PX = window.matchMedia('(pointer: coarse)').matches ? 44 : 32
/** Space above the first line and below the last one. */
const EDGE_PX = 8

export interface TableLinesProps {
  tables: Table[]
  draw: (table: Table) => ReactNode
}

/**
 * The lines of the tree: of hundreds of tables those in sight are in the document, the one that has the focus and the
 * one that is dragged. Lines may be of any height, as a table stands in its line with its views.
 */
export function TableLines({ tables, draw }: TableLinesProps) {
  const { tableId: openId } = useOpenPlace()
  const { active } = useDndContext()
  const [focusedId, setFocusedId] = useState<string | null>(null)
  const box = useRef<HTMLElement>(null)
  const indexOf = (id: unknown) => tables.findIndex((table) => table.id === id)
  const kept = [indexOf(focusedId), indexOf(active?.id)]
  const lines = useVirtualizer({
    count: tables.length,
    estimateSize: () => LINE_PX,
    overscan: 8,
    paddingStart: EDGE_PX,
    paddingEnd: EDGE_PX,
    getScrollElement: () => box.current,
    getItemKey: (index) => tables[index]?.id ?? index,
    rangeExtractor: (range) => withIndexes(defaultRangeExtractor(range), kept),
  })

  // Whoever comes to a table by search, palette or address sees where it stands.
  const openAt = indexOf(openId)
  const isListed = openAt !== -1
  useOnChange([openId, isListed], () => {
    if (isListed) lines.scrollToIndex(openAt)
  })

  const linksAt = (index: number): HTMLElement[] => [
    ...(box.current?.querySelectorAll<HTMLElement>(`[data-index="${index}"] a`) ?? []),
  ]

  /** Up and down move between the lines, Home and End to the ends; Enter opens, as on any link. */
  function onKeyDown(event: KeyboardEvent) {
    const step = STEPS[event.key]
    const { target } = event
    if (step === undefined || !(target instanceof Element) || target instanceof HTMLInputElement) return
    event.preventDefault()
    const from = Number(target.closest<HTMLElement>('[data-index]')?.dataset.index)
    const links = linksAt(from)
    const beside = links[links.findLastIndex((link) => isAtOrAhead(link, target)) + step]
    if (beside) return beside.focus()
    const to = Math.max(0, Math.min(from + step, tables.length - 1))
    if (to === from && Number.isFinite(step)) return
    // What has the focus is in the document, so that it can be given to a line far out of sight.
    flushSync(() => setFocusedId(tables[to]?.id ?? null))
    linksAt(to)
      .at(event.key === 'ArrowUp' || event.key === 'End' ? -1 : 0)
      ?.focus()
  }

  return (
    <nav ref={box} className={styles.tree} aria-label={m.common_tables()} onKeyDown={onKeyDown}>
      <ul className={styles.lines} style={{ blockSize: lines.getTotalSize() }}>
        {lines.getVirtualItems().map(({ index, start, key }) => {
          const table = tables[index]
          return (
            table && (
              <li
                key={key}
                ref={lines.measureElement}
                data-index={index}
                aria-posinset={index + 1}
                aria-setsize={tables.length}
                style={{ insetBlockStart: start }}
                onFocus={() => setFocusedId(table.id)}
              >
                {draw(table)}
              </li>
            )
          )
        })}
      </ul>
    </nav>
  )
}

const STEPS: Record<string, number> = {
  ArrowDown: 1,
  ArrowUp: -1,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
}

/** Whether a link is this element or stands ahead of it, as that of a line does of the line's buttons. */
const isAtOrAhead = (link: Element, element: Element): boolean =>
  link === element || (link.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0
