import { DatabaseZap, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Base } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { LISTED_TRASH_KINDS, type ListedTrashItem } from '../../../src/core/trash.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { useParams, useSearch } from '../../navigation/router.tsx'
import { useDocumentTitle } from '../../navigation/use-document-title.ts'
import { timeZone } from '../../time-zone.ts'
import { isMissing, trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { Main } from '../../ui/main.tsx'
import { EmptyState, QueryError, Skeleton } from '../../ui/states.tsx'
import lists from '../layout/list-screen.module.css'
import { useBaseTheme } from '../layout/theme.ts'
import { useDebounced } from '../layout/use-debounced.ts'
import { WorkBar } from '../records/bars/status-bars.tsx'
import { Retention } from './retention.tsx'
import { emptyTrash, type TrashFilter } from './trash-commands.ts'
import { TrashFilters, type TrashPlace } from './trash-filters.tsx'
import { TrashItems } from './trash-items.tsx'
import { TrashSkeleton } from './trash-row.tsx'

/** Items per page. */
const PAGE = 50

/** The trash of all bases, or of the base in the address: everything deleted that the user may restore. */
export function TrashScreen() {
  useDocumentTitle(m.common_trash())
  const { baseId } = useParams()
  const base = trpc.bases.get.useQuery({ baseId: baseId ?? '' }, { enabled: baseId !== undefined })
  const bases = trpc.bases.list.useQuery({})
  useBaseTheme(base.data?.meta)
  const chosen = baseId === undefined ? null : base.data
  if (chosen === undefined && base.error) return <BaseError query={base} />
  if (bases.error && !bases.data) return <QueryError title={m.trash_load_failed()} query={bases} />
  if (chosen === undefined || !bases.data) {
    return (
      <Main className={lists.screen} aria-busy="true">
        <Skeleton width={160} height={28} />
        <Skeleton height={40} />
        <Skeleton height={40} />
      </Main>
    )
  }
  const mayRestore = chosen === null || roleCan(chosen.role, 'record.restore')
  return (
    <Main className={lists.screen}>
      <header className={lists.header}>
        <h1 className={lists.heading}>{m.common_trash()}</h1>
        {chosen && mayRestore && <Retention base={chosen} />}
      </header>
      {chosen && <WorkBar baseId={chosen.id} canCancel={roleCan(chosen.role, 'record.undo')} />}
      {mayRestore ? (
        <TrashList base={chosen} bases={bases.data.filter(({ role }) => roleCan(role, 'record.restore'))} />
      ) : (
        <EmptyState icon={Trash2} title={m.trash_only_editors()}>
          <AllBasesButton />
        </EmptyState>
      )}
    </Main>
  )
}

/** Instead of the trash of a base that was deleted itself, or that the user may not open. */
function BaseError({ query }: { query: Parameters<typeof QueryError>[0]['query'] }) {
  if (!isMissing(query.error)) return <QueryError title={m.trash_load_failed()} query={query} />
  return (
    <Main className={lists.screen}>
      <EmptyState
        icon={DatabaseZap}
        headingLevel={1}
        title={m.shell_this_base_cant_be_opened()}
        text={m.trash_base_missing_hint()}
      >
        <AllBasesButton />
      </EmptyState>
    </Main>
  )
}

const AllBasesButton = () => (
  <Button onClick={() => goTo(paths.trash(null))}>{m.trash_show_all_bases()}</Button>
)

/** @param base the chosen one; null: all */
function TrashList({ base, bases }: { base: Base | null; bases: readonly Base[] }) {
  const { tableId, kind: kindName, by } = useSearch()
  const [text, setText] = useState('')
  const search = useDebounced(text.trim(), 300) || undefined
  const kind = LISTED_TRASH_KINDS.find((known) => known === kindName && (known !== 'base' || base === null))
  const place: TrashPlace = { baseId: base?.id, tableId: base ? tableId : undefined, kind, by }
  const filter: TrashFilter = { kinds: kind && [kind], tableId: place.tableId, deletedBy: by, search }
  const { pages, query } = useTrash(base, filter)
  const items = pages?.flatMap((page): readonly ListedTrashItem[] => page.items)
  const people = new Map(pages?.flatMap((page) => page.people).map((person) => [person.id, person]))
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const open = ({ baseId, ...rest }: TrashPlace) => goTo(paths.trash(baseId ?? null, rest), { replace: true })
  const clear = () => {
    setText('')
    open({ baseId: base?.id })
  }
  const canEmpty =
    roleCan(base?.role ?? null, 'record.purge') ||
    (base === null &&
      (bases.some(({ role }) => roleCan(role, 'record.purge')) || items?.some(({ canPurge }) => canPurge)))
  const unread = pages?.at(-1)?.unread ?? 0
  const unreadable = new Map(pages?.flatMap((page) => page.unreadable).map(({ id, title }) => [id, title]))
  const older = (
    <>
      {unread > 0 && <p role="status">{m.trash_bases_unread({ count: unread })}</p>}
      {query.hasNextPage && (
        <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          {unread > 0 ? m.trash_search_more_bases() : m.trash_show_older()}
        </Button>
      )}
    </>
  )
  return (
    <div className={lists.panel}>
      <TrashFilters
        place={place}
        onPlace={open}
        text={text}
        onText={setText}
        bases={bases}
        onClear={isFiltered ? clear : undefined}
      />
      {unreadable.size > 0 && (
        <p role="alert" className={lists.facts}>
          {m.trash_bases_unreadable({ titles: [...unreadable.values()].join(', ') })}
        </p>
      )}
      {query.error && !pages ? (
        <QueryError title={m.trash_load_failed()} query={query} />
      ) : !items ? (
        <TrashSkeleton />
      ) : items.length > 0 ? (
        <TrashItems
          key={base?.id}
          items={items}
          people={people}
          empty={
            canEmpty
              ? {
                  label: isFiltered ? m.trash_delete_matching() : m.trash_empty(),
                  run: () => void emptyTrash(base, isFiltered ? filter : null),
                }
              : undefined
          }
        />
      ) : query.hasNextPage ? (
        <EmptyState icon={Trash2} title={m.trash_nothing_in_newest()}>
          {older}
        </EmptyState>
      ) : (
        <EmptyState
          icon={Trash2}
          title={isFiltered ? m.trash_nothing_matches() : m.trash_is_empty()}
          text={isFiltered ? undefined : base ? m.trash_is_empty_hint() : m.trash_all_is_empty_hint()}
        >
          {isFiltered && <Button onClick={clear}>{m.trash_clear_filters()}</Button>}
        </EmptyState>
      )}
      {items && items.length > 0 && older}
    </div>
  )
}

/** The pages of the trash of a base (null: of all bases) so far. */
function useTrash(base: Base | null, { kinds, tableId, ...filter }: TrashFilter) {
  const options = {
    getNextPageParam: ({ next }: { next: string | null }) => next ?? undefined,
    staleTime: 0,
  }
  const shared = { ...filter, limit: PAGE, timeZone }
  const ofBase = trpc.trash.list.useInfiniteQuery(
    {
      baseId: base?.id ?? '',
      kinds: kinds?.flatMap((kind) => (kind === 'base' ? [] : kind)),
      tableId,
      ...shared,
    },
    { ...options, enabled: base !== null },
  )
  const ofAll = trpc.trash.listAll.useInfiniteQuery(
    { kinds, ...shared },
    { ...options, enabled: base === null },
  )
  return base ? { pages: ofBase.data?.pages, query: ofBase } : { pages: ofAll.data?.pages, query: ofAll }
}
