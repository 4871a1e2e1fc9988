import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { m } from '../../messages.gen.ts'
import { useOnChange } from '../../ui/effects.ts'
import { useDraggedId } from '../../ui/sortable.tsx'
import { withIndexes } from '../../ui/with-indexes.ts'
import { type TableLinesProps, useLineKeys } from './table-lines.ts'
import styles from './table-tree.module.css'
import { useOpenPlace } from './use-place.ts'

/** As in table-tree.module.css. */
const LINE_PX = window.matchMedia('(pointer: coarse)').matches ? 44 : 32
const EDGE_PX = 8

/** The visible lines of a long tree, the focused and the dragged one. A line is as high as its table with the expanded views. */
export function VisibleLines({ tables, draw }: TableLinesProps) {
  const { tableId: openId } = useOpenPlace()
  const draggedId = useDraggedId()
  const [focusedId, setFocusedId] = useState<string | null>(null)
  const box = useRef<HTMLElement>(null)
  const indexOf = (id: unknown) => tables.findIndex((table) => table.id === id)
  const kept = [indexOf(focusedId), indexOf(draggedId)]
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

  // Scroll to the open table.
  const openAt = indexOf(openId)
  const isListed = openAt !== -1
  useOnChange([openId, isListed], () => {
    if (isListed) lines.scrollToIndex(openAt)
  })

  // The focused line is always rendered, so it is rendered before it gets the focus.
  const onKeyDown = useLineKeys(box, tables.length, (index) =>
    flushSync(() => setFocusedId(tables[index]?.id ?? null)),
  )

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
