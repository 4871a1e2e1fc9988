import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { Table2 } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Base, Table, View } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { m } from '../../messages.gen.ts'
import { trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { useOnChange } from '../../ui/effects.ts'
import { matches } from '../../ui/matches.ts'
import { SortableList, useDraggedId } from '../../ui/sortable.tsx'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import { withIndexes } from '../../ui/with-indexes.ts'
import { createTable, reorderTable } from '../tables/table-commands.tsx'
import { TableNode } from './table-node.tsx'
import styles from './table-tree.module.css'
import { useOpenPlace } from './use-place.ts'

/** Tree of tables and views of a base. */
export function TableTree({ base, search }: { base: Base; search: string }) {
  const tables = trpc.schema.tables.useQuery({ baseId: base.id })
  const utils = trpc.useUtils()
  if (tables.error && !tables.data) {
    return (
      <div className={styles.tree}>
        <QueryError title={m.shell_tables_load_failed()} query={tables} />
      </div>
    )
  }
  if (!tables.data) {
    return (
      <div className={styles.skeleton} aria-busy="true">
        {[64, 48, 72].map((width) => (
          <Skeleton key={width} width={`${width}%`} />
        ))}
      </div>
    )
  }
  if (tables.data.length === 0) {
    return (
      <div className={styles.empty}>
        <p>{m.shell_no_tables_yet()}</p>
        {roleCan(base.role, 'table.create') && (
          <Button size="small" icon={Table2} onClick={() => createTable(base.id)}>
            {m.common_new_table()}
          </Button>
        )}
      </div>
    )
  }

  // Only views that are loaded already are searched.
  const viewsOf = (tableId: string): View[] => utils.schema.table.getData({ tableId })?.views ?? []
  const found = tables.data.filter(
    (table) => matches(table.title, search) || viewsOf(table.id).some((view) => matches(view.title, search)),
  )
  if (found.length === 0) {
    return (
      <div className={styles.tree}>
        <p className={styles.empty}>{m.shell_no_tables_match_search({ search })}</p>
      </div>
    )
  }
  return (
    <SortableList
      ids={found.map((table) => table.id)}
      disabled={search !== '' || !roleCan(base.role, 'table.update')}
      onMove={(id, before) => void reorderTable(base.id, id, before)}
    >
      <TableLines tables={found} draw={(table) => <TableNode base={base} table={table} search={search} />} />
    </SortableList>
  )
}

/** As in table-tree.module.css. */
const LINE_PX = window.matchMedia('(pointer: coarse)').matches ? 44 : 32
const EDGE_PX = 8

interface TableLinesProps {
  tables: Table[]
  draw: (table: Table) => ReactNode
}

/**
 * Virtualized rows of the tree: renders the visible ones, the focused and the dragged one. A row is as high as its
 * table with the expanded views.
 */
function TableLines({ tables, draw }: TableLinesProps) {
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

  const linksAt = (index: number): HTMLElement[] => [
    ...(box.current?.querySelectorAll<HTMLElement>(`[data-index="${index}"] a`) ?? []),
  ]

  /** Arrow keys move between rows, Home and End to the ends; Enter opens the link. */
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
    // The focused row is always rendered, so render it before focusing it.
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

/** Whether a link is this element or precedes it, as a row's link precedes its buttons. */
const isAtOrAhead = (link: Element, element: Element): boolean =>
  link === element || (link.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0
