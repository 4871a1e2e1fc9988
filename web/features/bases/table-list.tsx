import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { Table2 } from 'lucide-react'
import { Fragment, type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import type { Base, Table } from '../../../src/core/model.ts'
import { formatAgo, formatNumber } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { trpc } from '../../trpc.ts'
import { openContextMenu } from '../../ui/menu.tsx'
import { scrollerOf } from '../../ui/scroller-of.ts'
import { Skeleton } from '../../ui/states.tsx'
import { withIndexes } from '../../ui/with-indexes.ts'
import { renameTableInDialog } from '../tables/rename-dialog.tsx'
import styles from './base-home-screen.module.css'
import { tableMenu } from './node-menus.ts'

/** Height of a row without a description, with its border. */
const ROW_PX = 49

/** The tables of a base, with what is in them. Without `base` and `tables` it is a skeleton. */
export function TableList({ base, tables }: { base?: Base; tables: Table[] | undefined }) {
  return (
    <table
      className={styles.list}
      aria-busy={tables === undefined}
      aria-rowcount={tables && tables.length + 1}
    >
      <thead>
        <tr>
          <th scope="col">{m.common_table()}</th>
          <th scope="col" className={styles.number}>
            {m.common_records()}
          </th>
          <th scope="col" className={styles.number}>
            {m.common_fields()}
          </th>
          <th scope="col" className={styles.when}>
            {m.bases_last_modified()}
          </th>
        </tr>
      </thead>
      {base && tables ? (
        <TableRows base={base} tables={tables} />
      ) : (
        <tbody>
          {[1, 2, 3].map((n) => (
            <tr key={n}>
              <td>
                <Skeleton width={160} />
              </td>
              <td colSpan={3} />
            </tr>
          ))}
        </tbody>
      )}
    </table>
  )
}

/** Only the rows in sight are drawn, and asked for: each counts its records and its fields. */
function TableRows({ base, tables }: { base: Base; tables: Table[] }) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [top, setTop] = useState(0)
  const [focusedId, setFocusedId] = useState<string | null>(null)
  const focusedAt = tables.findIndex((table) => table.id === focusedId)
  const rows = useVirtualizer({
    count: tables.length,
    estimateSize: () => ROW_PX,
    overscan: 6,
    scrollMargin: top,
    getScrollElement: () => scrollerOf(body.current),
    getItemKey: (index) => tables[index]?.id ?? index,
    rangeExtractor: (range) => withIndexes(defaultRangeExtractor(range), [focusedAt]),
  })
  // What stands above takes another height in a window of another width.
  useLayoutEffect(() => setTop(topIn(scrollerOf(body.current), body.current)))

  const drawn = rows.getVirtualItems()
  const end = top + rows.getTotalSize()
  return (
    <tbody ref={body}>
      {drawn.map(({ index, start, key }, at) => {
        const table = tables[index]
        return (
          table && (
            <Fragment key={key}>
              <Gap px={start - (drawn[at - 1]?.end ?? top)} />
              <tr
                ref={rows.measureElement}
                data-index={index}
                aria-rowindex={index + 2}
                onFocus={() => setFocusedId(table.id)}
                onContextMenu={(event) =>
                  openContextMenu(
                    event,
                    tableMenu(base, table, () => renameTableInDialog(table)),
                    m.bases_options_for_table_title({ title: table.title }),
                  )
                }
              >
                <TableCells base={base} table={table} />
              </tr>
            </Fragment>
          )
        )
      })}
      <Gap px={end - (drawn.at(-1)?.end ?? top)} />
    </tbody>
  )
}

/** The room of rows that are not drawn. */
const Gap = ({ px }: { px: number }): ReactNode =>
  px > 0 && (
    <tr aria-hidden className={styles.gap}>
      <td colSpan={4} style={{ blockSize: px }} />
    </tr>
  )

/** Where an element begins in what scrolls around it, in pixels. */
function topIn(scroller: Element | null, element: Element | null): number {
  if (!scroller || !element) return 0
  return Math.round(
    element.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop,
  )
}

function TableCells({ base, table }: { base: Base; table: Table }) {
  const count = trpc.records.count.useQuery({ selection: { tableId: table.id } })
  const schema = trpc.schema.table.useQuery({ tableId: table.id })
  const fields = schema.data?.fields.filter((field) => !field.isSystem).length
  return (
    <>
      <td className={styles.name}>
        <div className={styles.nameRow}>
          <Table2 size={16} />
          <a href={hrefOf(paths.table(base.id, table.id))} dir="auto" data-tip={table.title} data-tip-clipped>
            {table.title}
          </a>
        </div>
        {table.description && (
          <span className={styles.description} dir="auto">
            {table.description}
          </span>
        )}
      </td>
      <td className={styles.number}>{count.data ? formatNumber(count.data.count) : '–'}</td>
      <td className={styles.number}>{fields === undefined ? '–' : formatNumber(fields)}</td>
      <td className={styles.when}>{formatAgo(table.updatedAt)}</td>
    </>
  )
}
