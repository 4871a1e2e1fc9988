import { DatabaseZap } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { appCodeOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { lazyPart } from '../../navigation/lazy-screen.ts'
import { goTo, paths, setQuery } from '../../navigation/paths.ts'
import { Outlet, useParams, useSearch } from '../../navigation/router.tsx'
import { useDocumentTitle } from '../../navigation/use-document-title.ts'
import { session } from '../../session/index.ts'
import { forgetPlace, rememberPlace } from '../../session/last-places.ts'
import { isMissing, trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState, ErrorState, QueryError } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import { TableSkeleton } from '../layout/table-skeleton.tsx'
import { useBaseTheme } from '../layout/theme.ts'
import { useOpenPlace } from './use-place.ts'

/** Layout of all screens of a base; reports a base that is missing or cannot be read. */
export function BaseLayout() {
  const { baseId = '', tableId, viewId } = useOpenPlace()
  const base = trpc.bases.get.useQuery({ baseId })
  useBaseTheme(base.data?.meta)
  const title = useRef<string | null>(null)
  const code = appCodeOf(base.error)
  // Members with the role "no access" get the same error as callers without a valid token.
  const isTurnedAway = code === 'AUTHENTICATION_REQUIRED' && session.status() === 'signedIn'
  const missing = isMissing(base.error) || isTurnedAway
  // The base exists, but is not accessible.
  const isGuest = missing && !code?.endsWith('NOT_FOUND')
  // When the base is deleted or access is revoked, the list of tables fails first.
  const tablesAreMissing = isMissing(trpc.schema.tables.useQuery({ baseId }).error)

  useEffect(() => {
    if (base.data && !missing) rememberPlace({ baseId, tableId, viewId })
  }, [base.data, missing, baseId, tableId, viewId])

  useEffect(() => {
    if (base.data) title.current = base.data.title
  }, [base.data])

  const { refetch } = base
  useEffect(() => {
    if (tablesAreMissing) void refetch()
  }, [tablesAreMissing, refetch])

  useEffect(() => {
    if (!missing) return
    forgetPlace({ baseId })
    // The open base was deleted, or access was revoked.
    const wasHere = title.current !== null
    if (!wasHere && !isGuest) return
    toast.error({
      text: wasHere
        ? m.shell_no_longer_access_title({ title: title.current ?? '' })
        : m.shell_dont_permission_open_base(), // spec §8
    })
    goTo(paths.bases(), { replace: true })
  }, [missing, isGuest, baseId])

  if (isGuest) return null
  if (missing) {
    return (
      <EmptyState
        icon={DatabaseZap}
        title={m.shell_this_base_cant_be_opened()}
        text={m.shell_base_missing_hint()}
      >
        <Button variant="primary" onClick={() => goTo(paths.bases())}>
          {m.common_go_to_your_bases()}
        </Button>
      </EmptyState>
    )
  }
  if (base.error && !base.data) {
    return (
      <ErrorState title={m.shell_base_load_failed()} error={base.error} onRetry={() => void base.refetch()}>
        <Button onClick={() => goTo(paths.bases())}>{m.common_go_to_your_bases()}</Button>
      </ErrorState>
    )
  }
  return <Outlet />
}

const TableScreen = lazyPart(
  () => import('../views/kinds/table-screen.tsx'),
  'TableScreen',
  <TableSkeleton />,
)

const MissingTable = lazyPart(() => import('./missing-table.tsx'), 'MissingTable', <TableSkeleton />)

/** Screen of the table and view in the URL; reports an unknown table. */
export function TableRouteScreen() {
  const { baseId = '', tableId = '', viewId } = useParams()
  const { rowId } = useSearch()
  const tables = trpc.schema.tables.useQuery({ baseId })
  const table = tables.data?.find(({ id }) => id === tableId)
  useDocumentTitle(table?.title)
  const [seen, setSeen] = useState<{ tableId: string; title: string }>()
  if (table && (seen?.tableId !== tableId || seen.title !== table.title))
    setSeen({ tableId, title: table.title })

  if (tableId.startsWith('vw')) return <ViewLink baseId={baseId} viewId={tableId} rowId={rowId} />
  if (tables.error && !tables.data) {
    return <QueryError title={m.shell_table_load_failed()} query={tables} />
  }
  if (tables.data && !table) {
    const title = seen?.tableId === tableId ? seen.title : undefined
    return <MissingTable key={tableId} baseId={baseId} tableId={tableId} title={title} />
  }
  return <TableScreen key={tableId} baseId={baseId} tableId={tableId} viewId={viewId} rowId={rowId} />
}

/** Older links name only the view: finds its table and completes the URL. */
function ViewLink({ baseId, viewId, rowId }: { baseId: string; viewId: string; rowId?: string }) {
  const views = trpc.views.titles.useQuery({ baseId }, { staleTime: 0 })
  const owner = views.data?.find(({ id }) => id === viewId)?.tableId
  useEffect(() => {
    if (!owner) return
    goTo(paths.table(baseId, owner, viewId), { replace: true })
    if (rowId) setQuery('rowId', rowId, { replace: true })
  }, [owner, baseId, viewId, rowId])
  if (views.error && !owner) return <QueryError title={m.shell_table_load_failed()} query={views} />
  const isRead = views.data !== undefined && !views.isFetching
  return isRead && !owner ? <MissingTable baseId={baseId} tableId={viewId} /> : <TableSkeleton />
}
