import { FolderOutput, TableProperties } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { TablePlace } from '../../../src/core/model.ts'
import { appCodeOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { withNewIds } from '../../records/moved-edits.ts'
import { moveUnsaved } from '../../records/unsaved-edits.ts'
import { forgetPlace } from '../../session/last-places.ts'
import { cache, trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState, QueryError } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import { movedTables } from '../copies/moved-tables.ts'
import { TableSkeleton } from '../layout/table-skeleton.tsx'

interface MissingTableProps {
  baseId: string
  /** Of a table or, in older links, a view. */
  tableId: string
  /** Set if the table was open here until now. */
  title?: string | undefined
}

/**
 * In place of a table that its base does not have: says where it was moved to. One that was deleted while it was open is
 * reported, and the base opens.
 */
export function MissingTable({ baseId, tableId, title }: MissingTableProps) {
  const place = trpc.schema.place.useQuery({ tableId }, { retry: false, staleTime: 0 })
  const code = appCodeOf(place.error)
  const isGone = place.data === null || code?.endsWith('NOT_FOUND') === true
  const isDeleted = title !== undefined && isGone

  useEffect(() => {
    forgetPlace({ baseId, tableId })
    // Whoever moves a table goes along.
    const moved = movedTables.get(tableId)
    if (moved) goTo(paths.table(moved.baseId, moved.tableId), { replace: true })
  }, [baseId, tableId])

  useEffect(() => {
    if (!isDeleted || movedTables.has(tableId)) return
    toast.error({ text: m.shell_table_title_was_deleted({ title }) })
    goTo(paths.base(baseId), { replace: true })
  }, [isDeleted, baseId, tableId, title])

  if (place.isPending || isDeleted || movedTables.has(tableId)) return <TableSkeleton />
  if (place.data) return <MovedTable tableId={tableId} place={place.data} />
  if (!isGone && code === null) return <QueryError title={m.shell_table_load_failed()} query={place} />
  if (title !== undefined)
    return (
      <EmptyState
        icon={FolderOutput}
        title={m.shell_table_moved({ title })}
        text={m.shell_table_moved_away_hint()}
      >
        <OpenBase baseId={baseId} />
      </EmptyState>
    )
  return (
    <EmptyState icon={TableProperties} title={m.shell_table_not_found()} text={m.shell_table_missing_hint()}>
      <OpenBase baseId={baseId} />
    </EmptyState>
  )
}

/** The place of a moved table. Edits that it did not save before the move are shown there. */
function MovedTable({ tableId, place }: { tableId: string; place: TablePlace }) {
  const [former] = useState(() => cache.schema.table.getData({ tableId }))
  const moved = trpc.schema.table.useQuery({ tableId: place.tableId })

  useEffect(() => {
    if (!former || !moved.data) return
    const { fields } = moved.data
    const fieldIds = new Map<string, string>()
    for (const { id, title, type } of former.fields) {
      const same = fields.find((field) => field.title === title && field.type === type)
      if (same) fieldIds.set(id, same.id)
    }
    moveUnsaved(tableId, {
      tableId: place.tableId,
      moved: (unsaved) => withNewIds(unsaved, fieldIds),
    })
  }, [former, moved.data, tableId, place.tableId])

  if (moved.isPending) return <TableSkeleton />
  return (
    <EmptyState
      icon={FolderOutput}
      title={m.shell_table_moved_to({ title: place.title, base: place.baseTitle })}
      text={former ? m.shell_table_moved_edits_hint() : m.shell_table_moved_hint()}
    >
      <Button variant="primary" onClick={() => goTo(paths.table(place.baseId, place.tableId))}>
        {m.shell_open_table()}
      </Button>
    </EmptyState>
  )
}

function OpenBase({ baseId }: { baseId: string }) {
  return (
    <Button variant="primary" onClick={() => goTo(paths.base(baseId))}>
      {m.shell_open_base()}
    </Button>
  )
}
