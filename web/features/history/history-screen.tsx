import { History, Redo2, Undo2 } from 'lucide-react'
import type { Action } from '../../../src/core/actions.ts'
import { actionText } from '../../../src/core/actions.ts'
import type { Person, Table } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { formatAgo, localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { goTo, hrefOf, paths } from '../../navigation/paths.ts'
import { useParams, useSearch } from '../../navigation/router.tsx'
import { useDocumentTitle } from '../../navigation/use-document-title.ts'
import { useMe } from '../../session/use-me.ts'
import { cache, trpc } from '../../trpc.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Button } from '../../ui/button.tsx'
import { Main } from '../../ui/main.tsx'
import { EmptyState, QueryError, Skeleton } from '../../ui/states.tsx'
import lists from '../layout/list-screen.module.css'
import { WorkBar } from '../records/bars/status-bars.tsx'
import { undoChosen } from '../records/undo/undo-commands.tsx'
import styles from './history.module.css'

/** Actions per page. */
const PAGE = 50

/** History of a base or table: actions with author, time and undo. */
export function HistoryScreen() {
  const { baseId = '' } = useParams()
  const { tableId } = useSearch()
  useDocumentTitle(m.common_history())
  const base = trpc.bases.get.useQuery({ baseId }).data
  const tables = trpc.schema.tables.useQuery({ baseId }).data
  const { user } = useMe()
  const pages = trpc.records.actions.useInfiniteQuery(
    { baseId, tableId, limit: PAGE },
    {
      getNextPageParam: ({ next }) => next ?? undefined,
      staleTime: 0,
      enabled: base !== undefined && roleCan(base.role, 'record.undo'),
    },
  )
  const actions = pages.data?.pages.flatMap((page) => page.actions)
  const people = new Map(
    pages.data?.pages.flatMap((page) => page.people).map((person) => [person.id, person]),
  )
  const since = pages.data?.pages[0]?.historySince ?? null
  if (base && !roleCan(base.role, 'record.undo')) {
    return (
      <Main className={lists.screen}>
        <EmptyState icon={History} title={m.history_only_editors_base_see_history()} />
      </Main>
    )
  }
  return (
    <Main className={lists.screen}>
      <header className={lists.header}>
        <h1 className={lists.heading}>{m.common_history()}</h1>
        <TableFilter
          tables={tables}
          tableId={tableId}
          onChoose={(id) => goTo(paths.history(baseId, id), { replace: true })}
        />
      </header>
      <WorkBar baseId={baseId} canCancel />
      {pages.error && !pages.data ? (
        <QueryError title={m.history_history_load_failed()} query={pages} />
      ) : actions?.length === 0 ? (
        <EmptyState
          icon={History}
          title={m.history_nothing_has_been_changed_yet()}
          text={m.history_every_change_records_fields_views()}
        />
      ) : (
        <ul className={lists.list} aria-busy={pages.isPending} data-testid="history-list">
          {actions?.map((action) => (
            <ActionRow
              key={action.id}
              baseId={baseId}
              action={action}
              person={action.actorId === null ? undefined : people.get(action.actorId)}
              canUndo={action.actorId === user?.id || roleCan(base?.role ?? null, 'record.undo-others')}
            />
          )) ?? [1, 2, 3, 4, 5].map((n) => <Skeleton key={n} height={40} />)}
        </ul>
      )}
      {since !== null && !pages.hasNextPage && (
        <p className={styles.hint}>
          {m.history_changes_before_day_no_longer({
            day: new Date(since).toLocaleDateString(localeTag()),
          })}
        </p>
      )}
      {pages.hasNextPage && (
        <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {m.history_show_older()}
        </Button>
      )}
    </Main>
  )
}

/** Select that limits a list to one table of the base. */
export function TableFilter(props: {
  tables: readonly Table[] | undefined
  tableId: string | undefined
  onChoose: (tableId: string | undefined) => void
}) {
  const { tables, tableId, onChoose } = props
  return (
    <select
      className={styles.filter}
      aria-label={m.common_table()}
      value={tableId ?? ''}
      onChange={(event) => onChoose(event.target.value || undefined)}
    >
      <option value="">{m.history_all_tables()}</option>
      {tables?.map((table) => (
        <option key={table.id} value={table.id}>
          {table.title}
        </option>
      ))}
    </select>
  )
}

interface ActionRowProps {
  baseId: string
  action: Action
  person: Person | undefined
  canUndo: boolean
}

function ActionRow({ baseId, action, person, canUndo: mayUndo }: ActionRowProps) {
  const { state, tableId, tableTitle } = action
  const isUndone = state === 'undone'
  const run = async () => {
    await undoChosen({ baseId }, isUndone ? 'redo' : 'undo', action)
    await cache.records.actions.invalidate()
  }
  return (
    <li className={styles.row} data-state={state} data-testid="history-action">
      {person ? <Avatar person={person} size={24} /> : <span className={lists.nobody} />}
      <div className={styles.text}>
        <p className={styles.label}>
          <bdi>{actionText(action)}</bdi>
        </p>
        <p className={lists.facts}>
          <span dir="auto">{person ? person.displayName || person.email : m.history_someone()}</span>
          <time dateTime={action.at} data-tip={new Date(action.at).toLocaleString(localeTag())}>
            {formatAgo(action.at)}
          </time>
          {tableId !== null && tableTitle !== null && (
            <a href={hrefOf(paths.table(baseId, tableId))} dir="auto">
              {tableTitle}
            </a>
          )}
          {isUndone && <span>{m.history_undone()}</span>}
          {state === 'final' && <span>{m.history_cannot_be_undone()}</span>}
        </p>
      </div>
      {mayUndo && state !== 'final' && (
        <Button size="small" icon={isUndone ? Redo2 : Undo2} onClick={() => void run()}>
          {isUndone ? m.common_redo() : m.common_undo()}
        </Button>
      )}
    </li>
  )
}
