import { Table2 } from 'lucide-react'
import type { Base, View } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { m } from '../../messages.gen.ts'
import { trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { matches } from '../../ui/matches.ts'
import { SortableList } from '../../ui/sortable.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { createTable, reorderTable } from '../tables/table-commands.tsx'
import { TableLines } from './table-lines.tsx'
import { TableNode } from './table-node.tsx'
import styles from './table-tree.module.css'

/** The tables of a base with their views: open, search, order, rename, menus. */
export function TableTree({ base, search }: { base: Base; search: string }) {
  const tables = trpc.schema.tables.useQuery({ baseId: base.id })
  const utils = trpc.useUtils()
  if (tables.error && !tables.data) {
    return (
      <div className={styles.tree}>
        <ErrorState
          title={m.shell_tables_load_failed()}
          error={tables.error}
          onRetry={() => void tables.refetch()}
        />
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

  // Views count only as far as they have been read: the tree does not read every table to search it.
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
