import { getQueryKey } from '@trpc/react-query'
import { Trash2 } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import type { Person, TableSchema, View } from '../../../../src/core/model.ts'
import { roleCan } from '../../../../src/core/roles.ts'
import type { UseDisplayField } from '../../../cells/links.tsx'
import { DisplayFieldProvider } from '../../../cells/links.tsx'
import { createFormerPeople, FormerPeopleProvider, PeopleProvider } from '../../../cells/people-context.ts'
import { PressRightProvider } from '../../../cells/pressed-record.ts'
import { m } from '../../../messages.gen.ts'
import { goTo, paths } from '../../../navigation/paths.ts'
import { session } from '../../../session/index.ts'
import { noteRecentView } from '../../../session/recent-views.ts'
import { api, isMissing, queryClient, trpc } from '../../../trpc.ts'
import { Button } from '../../../ui/button.tsx'
import { EmptyState, ErrorState } from '../../../ui/states.tsx'
import { TableSkeleton } from '../../layout/table-skeleton.tsx'
import { ownPosition } from '../../presence/presence-state.ts'
import { KIND_SCREENS } from './index.ts'

export interface TableScreenProps {
  baseId: string
  tableId: string
  /** Absent: the table's default view. */
  viewId?: string
  /** The open record. */
  rowId?: string
}

const NOBODY: Person[] = []

const FORMER_PEOPLE = createFormerPeople((tableId, ids) => api.records.formerPeople.query({ tableId, ids }))

/** A table in one of its views: the grid with its toolbar, and the open record. */
export function TableScreen({ baseId, tableId, viewId, rowId }: TableScreenProps) {
  const { query, schema } = useCurrentSchema(tableId)
  const base = trpc.bases.get.useQuery({ baseId })
  const people = trpc.records.people.useQuery({ baseId }).data ?? NOBODY
  const byId = useMemo(() => new Map(people.map((person) => [person.id, person])), [people])

  const shownViews = schema?.views
  const view = viewId
    ? shownViews?.find((one) => one.id === viewId)
    : (shownViews?.find((one) => one.isDefault) ?? shownViews?.[0])
  useRecentView(schema, view)
  useOwnScreen(view)

  if (isMissing(query.error)) return <Gone baseId={baseId} title={m.views_this_table_no_longer_exists()} />
  if (!schema || !base.data) {
    const failed = [query, base].find((query) => query.error)
    if (!failed) return <TableSkeleton />
    return (
      <ErrorState
        title={m.views_table_load_failed()}
        error={failed.error}
        onRetry={() => void failed.refetch()}
      />
    )
  }
  const { views } = schema
  if (!view) {
    return (
      <Gone
        baseId={baseId}
        title={m.views_view_deleted_hidden()}
        onOpenTable={viewId && views.length > 0 ? () => goTo(paths.table(baseId, tableId)) : undefined}
      />
    )
  }
  const Screen = KIND_SCREENS[view.kind]
  return (
    <DisplayFieldProvider value={useDisplayField}>
      <PeopleProvider value={byId}>
        <FormerPeopleProvider value={FORMER_PEOPLE}>
          <h1 className="visually-hidden">
            {m.views_table_and_view({ table: schema.table.title, view: view.title })}
          </h1>
          <PressRightProvider value={roleCan(base.data.role, 'record.update')}>
            <Screen
              // Each view has its own records, scroll position and selection.
              key={view.id}
              schema={schema}
              saved={view}
              role={base.data.role}
              people={people}
              rowId={rowId}
            />
          </PressRightProvider>
        </FormerPeopleProvider>
      </PeopleProvider>
    </DisplayFieldProvider>
  )
}

function Gone({ baseId, title, onOpenTable }: { baseId: string; title: string; onOpenTable?: () => void }) {
  return (
    <EmptyState icon={Trash2} title={title} text={m.views_record_missing_hint()}>
      {onOpenTable ? (
        <Button variant="primary" onClick={onOpenTable}>
          {m.views_open_table()}
        </Button>
      ) : (
        <Button variant="primary" onClick={() => goTo(paths.base(baseId))}>
          {m.views_open_base()}
        </Button>
      )}
    </EmptyState>
  )
}

const isOutdated = (tableId: string): boolean =>
  queryClient.getQueryState(getQueryKey(trpc.schema.table, { tableId }, 'query'))?.isInvalidated ?? false

/**
 * The schema of a table. If the cached one is outdated when the screen opens, it is withheld until it is reloaded,
 * because it may name deleted fields; offline it is used. A change while the screen is open keeps the old schema visible
 * during the reload.
 */
function useCurrentSchema(tableId: string) {
  const query = trpc.schema.table.useQuery({ tableId })
  const [arrival, setArrival] = useState(() => ({ tableId, outdated: isOutdated(tableId) }))
  if (arrival.tableId !== tableId) setArrival({ tableId, outdated: isOutdated(tableId) })
  const waits = arrival.outdated && query.isFetching && !query.isFetchedAfterMount
  return { query, schema: waits ? undefined : query.data }
}

/** The schema of a linked table is not reloaded within this time. */
const DISPLAY_FIELD_FRESH_MS = 60_000

/** The display field of a table, from the cache if possible. */
const useDisplayField: UseDisplayField = (tableId) => {
  const options = { enabled: tableId !== '', staleTime: DISPLAY_FIELD_FRESH_MS, retry: false }
  return trpc.schema.table.useQuery({ tableId }, options).data?.fields.find((field) => field.isDisplay)
}

/** Tells others in the base which view is open. */
function useOwnScreen(view: View | undefined): void {
  const { id: viewId, tableId } = view ?? {}
  useEffect(() => {
    if (!viewId || !tableId) return
    ownPosition.setState({ screen: { tableId, viewId } })
    return () => ownPosition.setState({ screen: null, cell: null, record: null })
  }, [viewId, tableId])
}

/** Adds the open view to “Recent views”, except for visitors of a shared link. */
function useRecentView(schema: TableSchema | undefined, view: View | undefined): void {
  const { baseId, title: tableTitle } = schema?.table ?? {}
  const { id: viewId, tableId, title, isDefault } = view ?? {}
  useEffect(() => {
    const userId = session.userId()
    if (!userId || !baseId || !tableId || !viewId) return
    noteRecentView({
      userId,
      baseId,
      tableId,
      viewId,
      isDefault: isDefault ?? false,
      title: title ?? '',
      tableTitle: tableTitle ?? '',
    })
  }, [baseId, tableId, viewId, isDefault, title, tableTitle])
}
