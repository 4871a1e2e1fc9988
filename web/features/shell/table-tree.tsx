import { Table2 } from 'lucide-react'
import { useRef } from 'react'
import type { Base } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { m } from '../../messages.gen.ts'
import { lazyPart } from '../../navigation/lazy-screen.ts'
import { trpc } from '../../trpc.ts'
import { showError } from '../../ui/attempt.ts'
import { Button } from '../../ui/button.tsx'
import { useOnChange } from '../../ui/effects.ts'
import { matches } from '../../ui/matches.ts'
import { SortableList } from '../../ui/sortable.tsx'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import { menus } from './later.tsx'
import { type TableLinesProps, useLineKeys } from './table-lines.ts'
import { TableNode } from './table-node.tsx'
import styles from './table-tree.module.css'
import { useOpenPlace } from './use-place.ts'

/** From this number of tables on, only the visible lines are rendered. */
const MANY = 100

const VisibleLines = lazyPart(() => import('./visible-lines.tsx'), 'VisibleLines', <TreeSkeleton />)

/** Tree of tables and views of a base. */
export function TableTree({ base, search }: { base: Base; search: string }) {
  const tables = trpc.schema.tables.useQuery({ baseId: base.id })
  // Read again for each search: views may have changed since the last one.
  const views = trpc.views.titles.useQuery({ baseId: base.id }, { enabled: search !== '', staleTime: 0 })
  if (tables.error && !tables.data) {
    return (
      <div className={styles.tree}>
        <QueryError title={m.shell_tables_load_failed()} query={tables} />
      </div>
    )
  }
  if (!tables.data) {
    return <TreeSkeleton />
  }
  if (tables.data.length === 0) {
    return (
      <div className={styles.empty}>
        <p>{m.shell_no_tables_yet()}</p>
        {roleCan(base.role, 'table.create') && (
          <Button
            size="small"
            icon={Table2}
            onClick={() => menus().then(({ createTable }) => createTable(base.id), showError)}
          >
            {m.common_new_table()}
          </Button>
        )}
      </div>
    )
  }

  const withView = new Set(
    views.data?.flatMap(({ tableId, title }) => (matches(title, search) ? [tableId] : [])),
  )
  const found = tables.data.filter(({ id, title }) => matches(title, search) || withView.has(id))
  if (found.length === 0 && !views.data) {
    if (!views.error) return <TreeSkeleton />
    return (
      <div className={styles.tree}>
        <QueryError title={m.shell_views_load_failed()} query={views} />
      </div>
    )
  }
  if (found.length === 0) {
    return (
      <div className={styles.tree}>
        <p className={styles.empty}>{m.shell_no_tables_match_search({ search })}</p>
      </div>
    )
  }
  const Lines = found.length < MANY ? AllLines : VisibleLines
  return (
    <SortableList
      ids={found.map((table) => table.id)}
      disabled={search !== '' || !roleCan(base.role, 'table.update')}
      onMove={(id, before) =>
        menus().then(({ reorderTable }) => reorderTable(base.id, id, before), showError)
      }
    >
      <Lines tables={found} draw={(table) => <TableNode base={base} table={table} search={search} />} />
    </SortableList>
  )
}

function TreeSkeleton() {
  return (
    <div className={styles.skeleton} aria-busy="true">
      {[64, 48, 72].map((width) => (
        <Skeleton key={width} width={`${width}%`} />
      ))}
    </div>
  )
}

/** All lines of a short tree. */
function AllLines({ tables, draw }: TableLinesProps) {
  const { tableId: openId } = useOpenPlace()
  const box = useRef<HTMLElement>(null)
  const onKeyDown = useLineKeys(box, tables.length)
  const openAt = tables.findIndex((table) => table.id === openId)
  useOnChange([openId, openAt !== -1], () => {
    box.current?.querySelector(`[data-index="${openAt}"]`)?.scrollIntoView({ block: 'nearest' })
  })
  return (
    <nav ref={box} className={styles.tree} aria-label={m.common_tables()} onKeyDown={onKeyDown}>
      <ul className={styles.allLines}>
        {tables.map((table, index) => (
          <li key={table.id} data-index={index}>
            {draw(table)}
          </li>
        ))}
      </ul>
    </nav>
  )
}
