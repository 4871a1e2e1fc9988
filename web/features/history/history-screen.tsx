import { History, KeyRound, MessageSquare, Redo2, RotateCcw, Undo2 } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { actionText } from '../../../src/core/actions.ts'
import type { ActivityItem } from '../../../src/core/activity.ts'
import { replaceMentions } from '../../../src/core/mentions.ts'
import type { Person, Table } from '../../../src/core/model.ts'
import { type BaseRole, roleCan } from '../../../src/core/roles.ts'
import { formatAgo, localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { goTo, hrefOf, paths } from '../../navigation/paths.ts'
import { useParams, useSearch } from '../../navigation/router.tsx'
import { useDocumentTitle } from '../../navigation/use-document-title.ts'
import { readAgain, refetchPages } from '../../read-again.ts'
import { plainText } from '../../rich-text/markdown.ts'
import { useMe } from '../../session/use-me.ts'
import { onAudit, onChange, onComment, onReconnect, onSchemaChange } from '../../socket.ts'
import { timeZone } from '../../time-zone.ts'
import { cache, trpc } from '../../trpc.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Main } from '../../ui/main.tsx'
import { EmptyState, QueryError, Skeleton } from '../../ui/states.tsx'
import lists from '../layout/list-screen.module.css'
import { WorkBar } from '../records/bars/status-bars.tsx'
import { undoChosen } from '../records/undo/undo-commands.tsx'
import { auditText } from './audit-text.ts'
import { EntryDetails } from './entry-details.tsx'
import styles from './history.module.css'
import { type HistoryFilter, HistoryFilters, readFilter } from './history-filters.tsx'
import { momentOf } from './moment-of.ts'
import { openTableRestore } from './restore-table.tsx'
import { nameOf, revert } from './revert.tsx'

// In the same chunk: chunks that both share would lengthen the first load by their names.
export { AuditPage } from './audit-page.tsx'

/** Entries per page. */
const PAGE = 50
/** What happens in quick succession is read at once. */
const READ_AFTER_MS = 400

/** What was done in a base, by whom and when, with the ways to take it back. */
export function HistoryScreen() {
  const { baseId = '' } = useParams()
  const filter = readFilter(useSearch())
  useDocumentTitle(m.common_history())
  const base = trpc.bases.get.useQuery({ baseId }).data
  const tables = trpc.schema.tables.useQuery({ baseId }).data
  const { user } = useMe()
  const pages = trpc.activity.list.useInfiniteQuery(
    { baseId, filter: wireFilter(filter), limit: PAGE, timeZone },
    { getNextPageParam: ({ next }) => next ?? undefined, staleTime: 0 },
  )
  useNews(baseId, () => refetchPages(pages))
  const items = pages.data?.pages.flatMap((page) => page.items)
  const people = new Map(
    pages.data?.pages.flatMap((page) => page.people).map((person) => [person.id, person]),
  )
  const since = pages.data?.pages[0]?.historySince ?? null
  const role = base?.role ?? null
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const table = tables?.find(({ id }) => id === filter.tableId)
  return (
    <Main className={lists.screen}>
      <header className={lists.header}>
        <h1 className={lists.heading}>{m.common_history()}</h1>
        {table && roleCan(role, 'record.rewind') && (
          <Button size="small" icon={RotateCcw} onClick={() => openTableRestore(baseId, table)}>
            {m.history_restore_table()}
          </Button>
        )}
      </header>
      <HistoryFilters
        baseId={baseId}
        tables={tables}
        filter={filter}
        onFilter={(next) => goTo(paths.history(baseId, next), { replace: true })}
      />
      <WorkBar baseId={baseId} canCancel={roleCan(role, 'record.undo')} />
      {pages.error && !pages.data ? (
        <QueryError title={m.history_history_load_failed()} query={pages} />
      ) : items?.length === 0 && !pages.hasNextPage ? (
        <EmptyState
          icon={History}
          title={isFiltered ? m.history_no_match() : m.history_nothing_has_been_changed_yet()}
          text={isFiltered ? m.history_no_match_text() : m.history_every_change_records_fields_views()}
        />
      ) : (
        <ul className={lists.list} aria-busy={pages.isPending} data-testid="history-list">
          {items?.map((item) => (
            <ItemRow
              key={item.id}
              baseId={baseId}
              item={item}
              people={people}
              ownId={user?.id}
              role={role}
              tables={tables ?? []}
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

/** The filter of the address as the server takes it: days begin and end in the user's time zone. */
function wireFilter({ tableId, rowId, by, kind, from, to }: HistoryFilter) {
  return {
    ...(tableId !== undefined && rowId !== undefined
      ? { record: { tableId, recordId: rowId } }
      : tableId !== undefined && { tableId }),
    actorId: by,
    kinds: kind === undefined ? undefined : [kind],
    from: momentOf(from, 'start'),
    to: momentOf(to, 'end'),
  }
}

/** Reads again soon after anything has happened in the base. */
function useNews(baseId: string, refetch: () => Promise<unknown>): void {
  const latest = useRef(refetch)
  latest.current = refetch
  useEffect(() => {
    const reading = readAgain(() => latest.current(), READ_AFTER_MS)
    const ofBase = (news: { baseId: string }) => {
      if (news.baseId === baseId) reading.due()
    }
    const stop = [
      onChange(ofBase),
      onSchemaChange(ofBase),
      onComment(ofBase),
      onAudit(ofBase),
      onReconnect(reading.due),
    ]
    return () => {
      reading.stop()
      for (const end of stop) end()
    }
  }, [baseId])
}

interface ItemRowProps {
  baseId: string
  item: ActivityItem
  people: ReadonlyMap<string, Person>
  ownId: string | undefined
  role: BaseRole | null
  tables: readonly Table[]
}

function ItemRow(props: ItemRowProps) {
  const { baseId, item, people } = props
  if (item.kind === 'change') return <ChangeRow {...props} item={item} />
  if (item.kind === 'comment') {
    const record = item.recordTitle || m.common_record_id({ id: String(item.recordId) })
    const path = `${paths.table(baseId, item.tableId)}?rowId=${encodeURIComponent(item.recordId)}`
    const text = replaceMentions(item.text, (userId) => `@${nameOf(people.get(userId))}`)
    return (
      <Row
        {...props}
        icon={<MessageSquare size={14} aria-hidden />}
        label={plainText(text)}
        name={item.authorName ?? undefined}
      >
        <a href={hrefOf(path)} dir="auto">
          {item.isReply
            ? m.history_replied_on({ record, table: item.tableTitle })
            : m.history_commented_on({ record, table: item.tableTitle })}
        </a>
      </Row>
    )
  }
  return (
    <Row
      {...props}
      icon={<KeyRound size={14} aria-hidden />}
      label={auditText(item.auditKind, item.detail)}
    />
  )
}

function ChangeRow(props: ItemRowProps & { item: Extract<ActivityItem, { kind: 'change' }> }) {
  const { baseId, item, ownId, role, tables } = props
  const { action, step } = item
  const { state, tableId, tableTitle } = action
  const [isOpen, setOpen] = useState(false)
  const isOwn = item.actorId === ownId
  const mayUndo =
    step === 'did' && state !== 'final' && roleCan(role, isOwn ? 'record.undo' : 'record.undo-others')
  const isUndone = state === 'undone'
  const table = tables.find(({ id }) => id === tableId)
  const text = actionText(action)
  const run = async () => {
    await (isUndone ? undoChosen({ baseId }, 'redo', action) : revert(baseId, action))
    await cache.activity.list.invalidate()
  }
  const hasRecords = action.kind.startsWith('records.') && action.records > 0
  return (
    <Row
      {...props}
      label={
        step === 'did'
          ? text
          : step === 'undid'
            ? m.history_undid({ what: text })
            : m.history_redid({ what: text })
      }
      details={isOpen && <EntryDetails baseId={baseId} entryId={action.id} />}
      buttons={
        <>
          {hasRecords && (
            <Button size="small" variant="ghost" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {m.history_details()}
            </Button>
          )}
          {table && hasRecords && roleCan(role, 'record.rewind') && (
            <IconButton
              icon={RotateCcw}
              size="small"
              label={m.history_restore_before({ table: table.title })}
              onClick={() => openTableRestore(baseId, table, action.id)}
            />
          )}
          {mayUndo && (
            <Button size="small" icon={isUndone ? Redo2 : Undo2} onClick={() => void run()}>
              {isUndone ? m.common_redo() : m.common_undo()}
            </Button>
          )}
        </>
      }
    >
      {tableId !== null && tableTitle !== null && (
        <a href={hrefOf(paths.table(baseId, tableId))} dir="auto">
          {tableTitle}
        </a>
      )}
      {step === 'did' && isUndone && <span>{m.history_undone()}</span>}
      {step === 'did' && state === 'final' && <span>{m.history_cannot_be_undone()}</span>}
    </Row>
  )
}

interface RowProps {
  item: ActivityItem
  people: ReadonlyMap<string, Person>
  /** Name of somebody without an account here. */
  name?: string | undefined
  label: string
  icon?: ReactNode
  /** Facts after the person and the time. */
  children?: ReactNode
  buttons?: ReactNode
  /** Shown below the row. */
  details?: ReactNode
}

function Row({ item, people, name, label, icon, children, buttons, details }: RowProps) {
  const person = item.actorId === null ? undefined : people.get(item.actorId)
  const isUndone = item.kind === 'change' && item.step === 'did' && item.action.state === 'undone'
  return (
    <li
      className={styles.item}
      data-state={isUndone ? 'undone' : undefined}
      data-step={item.kind === 'change' ? item.step : item.kind}
      data-testid="history-action"
    >
      <div className={lists.row}>
        {person ? <Avatar person={person} size={24} /> : <span className={lists.nobody} />}
        <div className={lists.text}>
          <p className={isUndone ? `${lists.label} ${styles.undone}` : lists.label}>
            {icon} <bdi>{label}</bdi>
          </p>
          <p className={lists.facts}>
            <span dir="auto">{name ?? nameOf(person)}</span>
            <time dateTime={item.at} data-tip={new Date(item.at).toLocaleString(localeTag())}>
              {formatAgo(item.at)}
            </time>
            {children}
          </p>
        </div>
        {buttons}
      </div>
      {details}
    </li>
  )
}
