import { Columns3, Eye, Table2, Trash2, Undo2, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Base, Field, Person, Table } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { cellText } from '../../cells/index.ts'
import { messageOf } from '../../errors.ts'
import { formatAgo, localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { useParams, useSearch } from '../../navigation/router.tsx'
import { useDocumentTitle } from '../../navigation/use-document-title.ts'
import { runInQueue } from '../../records/base-queue.ts'
import { api, cache, type Outputs, trpc } from '../../trpc.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { confirm } from '../../ui/confirm.tsx'
import { Main } from '../../ui/main.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { EmptyState, ErrorState, QueryError, Skeleton } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { toast } from '../../ui/toast.ts'
import lists from '../layout/list-screen.module.css'
import { useDebounced } from '../layout/use-debounced.ts'
import { WorkBar } from '../records/bars/status-bars.tsx'
import { offerUndo, undoChosen } from '../records/undo/undo-commands.tsx'
import { restoreTable } from '../tables/table-commands.tsx'
import styles from './history.module.css'
import { TableFilter } from './history-filters.tsx'

type Tab = 'records' | 'fields' | 'views' | 'tables'
type TrashedRecord = Outputs['records']['trash']['records'][number]

/** Records per page. */
const PAGE = 50
/** Values shown of a deleted record. */
const SHOWN_VALUES = 5

/** The trash of a base: deleted records, fields, views and tables that can be restored. */
export function TrashScreen() {
  const { baseId = '' } = useParams()
  useDocumentTitle(m.common_trash())
  const base = trpc.bases.get.useQuery({ baseId }).data
  const [tab, setTab] = useState<Tab>('records')
  if (!base) {
    return (
      <Main className={lists.screen} aria-busy="true">
        <Skeleton width={160} height={28} />
        <Skeleton height={40} />
        <Skeleton height={40} />
      </Main>
    )
  }
  const tabs: { id: Tab; label: string; isAllowed: boolean }[] = [
    { id: 'records', label: m.common_records(), isAllowed: roleCan(base.role, 'record.restore') },
    { id: 'fields', label: m.common_fields(), isAllowed: roleCan(base.role, 'field.create') },
    { id: 'views', label: m.history_views(), isAllowed: roleCan(base.role, 'view.create') },
    { id: 'tables', label: m.common_tables(), isAllowed: roleCan(base.role, 'table.restore') },
  ]
  const allowed = tabs.filter(({ isAllowed }) => isAllowed)
  return (
    <Main className={lists.screen}>
      <header className={lists.header}>
        <h1 className={lists.heading}>{m.common_trash()}</h1>
        <p className={lists.facts}>
          {base.keepsDays === 0
            ? m.history_trash_kept_forever()
            : m.history_trash_kept_for_days({ count: base.keepsDays })}
        </p>
      </header>
      <WorkBar baseId={baseId} canCancel={roleCan(base.role, 'record.undo')} />
      {allowed.length === 0 ? (
        <EmptyState icon={Trash2} title={m.history_only_editors_base_see_trash()} />
      ) : (
        <Tabs
          label={m.common_trash()}
          tabs={allowed}
          selected={tab}
          onSelect={setTab}
          className={styles.tabs}
          panelClassName={styles.panel}
        >
          {tab === 'records' && <RecordTrash base={base} />}
          {tab === 'fields' && <FieldTrash base={base} />}
          {tab === 'views' && <ViewTrash base={base} />}
          {tab === 'tables' && <TableTrash base={base} />}
        </Tabs>
      )}
    </Main>
  )
}

/** Deleted records of the table in the URL, else of the first table with any. */
function RecordTrash({ base }: { base: Base }) {
  const { tableId } = useSearch()
  const tables = trpc.schema.tables.useQuery({ baseId: base.id })
  const counts = trpc.records.trashCounts.useQuery({ baseId: base.id }, { staleTime: 0 })
  const error = tables.error ?? counts.error
  if (error && !(tables.data && counts.data)) {
    return (
      <ErrorState
        title={m.history_trash_load_failed()}
        error={error}
        onRetry={() => {
          void tables.refetch()
          void counts.refetch()
        }}
      />
    )
  }
  if (!tables.data || !counts.data) return <ListSkeleton />
  const byTable = new Map(counts.data.map((one) => [one.tableId, one.count]))
  const filled = tables.data.filter(({ id }) => byTable.has(id) || id === tableId)
  const shown = filled.find(({ id }) => id === tableId) ?? filled[0]
  if (!shown) {
    return (
      <EmptyState
        icon={Trash2}
        title={m.history_no_deleted_records()}
        text={m.history_deleted_records_appear_here_until()}
      />
    )
  }
  return (
    <>
      <select
        className={styles.filter}
        aria-label={m.common_table()}
        value={shown.id}
        onChange={(event) => goTo(paths.trash(base.id, event.target.value), { replace: true })}
      >
        {filled.map(({ id, title }) => (
          <option key={id} value={id}>
            {m.history_table_deleted({ table: title, count: byTable.get(id) ?? 0 })}
          </option>
        ))}
      </select>
      <RecordsOfTable key={shown.id} base={base} table={shown} />
    </>
  )
}

function RecordsOfTable({ base, table }: { base: Base; table: Table }) {
  const [text, setText] = useState('')
  const search = useDebounced(text.trim(), 300) || undefined
  const [checked, setChecked] = useState<ReadonlySet<TrashedRecord['recordId']>>(new Set())
  const schema = trpc.schema.table.useQuery({ tableId: table.id }).data
  const pages = trpc.records.trash.useInfiniteQuery(
    { tableId: table.id, search, limit: PAGE },
    { getNextPageParam: ({ next }) => next ?? undefined, staleTime: 0 },
  )
  const records = pages.data?.pages.flatMap((page) => page.records)
  const people = new Map(
    pages.data?.pages.flatMap((page) => page.people).map((person) => [person.id, person]),
  )
  const canPurge = roleCan(base.role, 'record.purge')
  // Limited to the listed records, so that no action affects a record that the search hides.
  const checkedIds =
    records?.filter(({ recordId }) => checked.has(recordId)).map(({ recordId }) => recordId) ?? []
  const target = { base, table, onDone: () => setChecked(new Set()) }
  return (
    <>
      <div className={styles.tools}>
        <SearchInput
          label={m.history_search_deleted_records()}
          value={text}
          onSearch={setText}
          className={styles.search}
        />
        {checkedIds.length > 0 && (
          <>
            <Button
              size="small"
              icon={Undo2}
              onClick={() => void restore(target, { recordIds: checkedIds }, checkedIds.length)}
            >
              {m.history_restore_records({ count: checkedIds.length })}
            </Button>
            {canPurge && (
              <Button
                size="small"
                icon={X}
                onClick={() => void purge(target, { recordIds: checkedIds }, checkedIds.length)}
              >
                {m.history_delete_forever()}
              </Button>
            )}
          </>
        )}
        {canPurge && checkedIds.length === 0 && (
          <Button
            size="small"
            variant="ghost"
            icon={Trash2}
            onClick={() => void purge(target, { all: true }, null)}
          >
            {m.history_empty_trash()}
          </Button>
        )}
      </div>
      {pages.error && !pages.data ? (
        <QueryError title={m.history_trash_load_failed()} query={pages} />
      ) : !records ? (
        <ListSkeleton />
      ) : records.length === 0 ? (
        <EmptyState
          icon={Trash2}
          title={
            search === undefined
              ? m.history_no_deleted_records()
              : m.history_no_deleted_record_matches_search({ search })
          }
        />
      ) : (
        <ul className={lists.list} data-testid="trashed-records">
          {records.map((record, at) => (
            <RecordRow
              key={`${record.changeId} ${record.recordId}`}
              record={record}
              isFirst={records[at - 1]?.changeId !== record.changeId}
              fields={schema?.fields ?? []}
              people={people}
              isChecked={checked.has(record.recordId)}
              onCheck={(isChecked) => {
                const next = new Set(checked)
                if (isChecked) next.add(record.recordId)
                else next.delete(record.recordId)
                setChecked(next)
              }}
              onRestore={() => void restore(target, { recordIds: [record.recordId] }, 1)}
              onRestoreAll={() => void restore(target, { changeId: record.changeId }, record.deletedWith)}
              onPurge={canPurge ? () => void purge(target, { recordIds: [record.recordId] }, 1) : undefined}
            />
          ))}
        </ul>
      )}
      {pages.hasNextPage && (
        <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {m.history_show_older()}
        </Button>
      )}
    </>
  )
}

interface RecordRowProps {
  record: TrashedRecord
  /** First of the records deleted together: a row above it restores all of them. */
  isFirst: boolean
  fields: readonly Field[]
  people: ReadonlyMap<string, Person>
  isChecked: boolean
  onCheck: (isChecked: boolean) => void
  onRestore: () => void
  onRestoreAll: () => void
  onPurge?: () => void
}

function RecordRow(props: RecordRowProps) {
  const { record, fields, people } = props
  const person = record.deletedBy === null ? undefined : people.get(record.deletedBy)
  const values = fields
    .filter((field) => !field.isDisplay && field.id in record.values)
    .map((field) => ({ field, text: cellText(field, record.values[field.id] ?? null, people) }))
    .filter(({ text }) => text !== '')
  return (
    <>
      {props.isFirst && record.deletedWith > 1 && (
        <li className={styles.row} data-testid="trashed-together">
          <span className={styles.text}>
            <strong>{m.history_records_deleted_together({ count: record.deletedWith })}</strong>{' '}
            <Facts at={record.deletedAt} person={person} />
          </span>
          <Button size="small" icon={Undo2} onClick={props.onRestoreAll}>
            {m.history_restore_all()}
          </Button>
        </li>
      )}
      <TrashRow
        testId="trashed-record"
        lead={
          <input
            type="checkbox"
            aria-label={m.history_select_title({ title: record.title })}
            checked={props.isChecked}
            onChange={(event) => props.onCheck(event.target.checked)}
          />
        }
        title={record.title}
        onRestore={props.onRestore}
        onPurge={props.onPurge}
      >
        <p className={styles.values}>
          {values.slice(0, SHOWN_VALUES).map(({ field, text }) => (
            <span key={field.id} dir="auto">
              <b>{field.title}</b> {text}
            </span>
          ))}
        </p>
        {record.deletedWith === 1 && <Facts at={record.deletedAt} person={person} />}
      </TrashRow>
    </>
  )
}

interface TrashRowProps {
  testId: string
  /** Checkbox or icon before the title. */
  lead: ReactNode
  title: string
  children: ReactNode
  onRestore: () => void
  /** Absent: the user may not delete the item forever. */
  onPurge?: () => void
}

/** A deleted item with the buttons that restore it and delete it forever. */
function TrashRow({ testId, lead, title, children, onRestore, onPurge }: TrashRowProps) {
  return (
    <li className={styles.row} data-testid={testId}>
      {lead}
      <div className={styles.text}>
        <p className={styles.label}>
          <bdi>{title}</bdi>
        </p>
        {children}
      </div>
      <Button size="small" icon={Undo2} onClick={onRestore}>
        {m.history_restore()}
      </Button>
      {onPurge && (
        <IconButton
          icon={X}
          size="small"
          label={m.history_delete_title_forever({ title })}
          onClick={onPurge}
        />
      )}
    </li>
  )
}

function Facts({ at, person }: { at: string; person: Person | undefined }) {
  return (
    <span className={lists.facts}>
      <span dir="auto">{person ? person.displayName || person.email : m.history_someone()}</span>
      <time dateTime={at} data-tip={new Date(at).toLocaleString(localeTag())}>
        {m.history_deleted_when({ when: formatAgo(at) })}
      </time>
    </span>
  )
}

interface TrashTarget {
  base: Base
  table: Table
  onDone: () => void
}

/** Restores records and shows the result. @param count number of records requested */
async function restore(
  { base, table, onDone }: TrashTarget,
  which: { recordIds: TrashedRecord['recordId'][] } | { changeId: number },
  count: number,
): Promise<void> {
  try {
    const { restored, changeId } = await runInQueue(base.id, () =>
      api.records.restoreTrashed.mutate({ tableId: table.id, ...which }),
    )
    onDone()
    await refreshRecords(base.id)
    const text =
      restored === 0 && count > 0
        ? m.history_nothing_restored_records_already()
        : m.history_records_restored_to_table({ count: restored, table: table.title })
    if ('changeId' in which) toast.success({ text })
    else offerUndo({ baseId: base.id }, text, changeId, () => refreshRecords(base.id))
  } catch (error) {
    toast.error({ text: messageOf(error) })
  }
}

/** Deletes records forever, after a confirmation. @param count number of records; null: all of the table */
async function purge(
  { base, table, onDone }: TrashTarget,
  which: { recordIds: TrashedRecord['recordId'][] } | { all: true },
  count: number | null,
): Promise<void> {
  const agreed = await confirm({
    title:
      count === null
        ? m.history_empty_the_trash_of_confirm({ table: table.title })
        : m.history_delete_records_forever_confirm({ count }),
    text: m.history_delete_records_forever_consequences(),
    confirmLabel: m.history_delete_forever(),
    danger: true,
  })
  if (!agreed) return
  try {
    const { deleted } = await api.records.purgeTrashed.mutate({ tableId: table.id, ...which })
    onDone()
    await refreshRecords(base.id)
    toast.success({ text: m.history_records_deleted_forever({ count: deleted }) })
  } catch (error) {
    toast.error({ text: messageOf(error) })
  }
}

async function refreshRecords(baseId: string): Promise<void> {
  await Promise.all([
    cache.records.trash.invalidate(),
    cache.records.trashCounts.invalidate({ baseId }),
    cache.records.actions.invalidate(),
  ])
}

function FieldTrash({ base }: { base: Base }) {
  const [tableId, setTableId] = useState<string>()
  const tables = trpc.schema.tables.useQuery({ baseId: base.id }).data
  const fields = trpc.schema.trashedFieldsOfBase.useQuery({ baseId: base.id }, { staleTime: 0 })
  const titles = new Map(tables?.map(({ id, title }) => [id, title]))
  const shown = fields.data?.filter((field) => tableId === undefined || field.tableId === tableId)
  const restoreField = async (field: Field) => {
    try {
      await runInQueue(base.id, () => api.schema.restoreField.mutate({ fieldId: field.id }))
      await Promise.all([fields.refetch(), cache.schema.table.invalidate({ tableId: field.tableId })])
      toast.success({ text: m.history_field_title_was_restored({ title: field.title }) })
    } catch (error) {
      toast.error({ text: messageOf(error) })
    }
  }
  const purgeField = (field: Field) =>
    purgeAfterAsking(
      {
        title: m.history_delete_field_forever_confirm({ title: field.title }),
        text: m.history_delete_field_forever_consequences(),
      },
      async () => {
        await runInQueue(base.id, () => api.storage.deleteFieldForever.mutate({ fieldId: field.id }))
        await fields.refetch()
      },
    )
  return (
    <>
      <TableFilter tables={tables} tableId={tableId} onChoose={setTableId} />
      <DeletedList
        query={fields}
        items={shown}
        emptyTitle={m.history_no_deleted_fields()}
        emptyText={m.history_deleted_fields_appear_here_values()}
        describe={(field) => ({
          icon: <Columns3 size={18} />,
          title: field.title,
          facts: [
            titles.get(field.tableId) ?? '',
            field.deletedAt === null ? '' : m.history_deleted_when({ when: formatAgo(field.deletedAt) }),
          ],
          onRestore: () => void restoreField(field),
          onPurge: roleCan(base.role, 'field.purge') ? () => void purgeField(field) : undefined,
        })}
      />
    </>
  )
}

function ViewTrash({ base }: { base: Base }) {
  const views = trpc.records.deletedViews.useQuery({ baseId: base.id }, { staleTime: 0 })
  const people = new Map(views.data?.people.map((person) => [person.id, person]))
  const purgeView = (action: Outputs['records']['deletedViews']['actions'][number]) =>
    purgeAfterAsking(
      {
        title: m.history_delete_view_forever_confirm({ title: action.viewTitle ?? m.common_view() }),
        text: m.history_delete_view_forever_consequences(),
      },
      async () => {
        await runInQueue(base.id, () =>
          api.records.deleteViewForever.mutate({ baseId: base.id, entryId: action.id }),
        )
        await views.refetch()
      },
    )
  return (
    <DeletedList
      query={views}
      items={views.data?.actions}
      emptyTitle={m.history_no_deleted_views()}
      emptyText={m.history_deleted_views_appear_here()}
      describe={(action) => {
        const person = action.actorId === null ? undefined : people.get(action.actorId)
        return {
          icon: <Eye size={18} />,
          title: action.viewTitle ?? m.common_view(),
          facts: [
            action.tableTitle ?? '',
            person ? person.displayName || person.email : m.history_someone(),
            m.history_deleted_when({ when: formatAgo(action.at) }),
          ],
          onRestore: () =>
            void undoChosen({ baseId: base.id }, 'undo', { ...action, confirm: null }).then(() =>
              views.refetch(),
            ),
          onPurge: roleCan(base.role, 'view.purge') ? () => void purgeView(action) : undefined,
        }
      }}
    />
  )
}

function TableTrash({ base }: { base: Base }) {
  const tables = trpc.schema.tables.useQuery({ baseId: base.id, trash: true }, { staleTime: 0 })
  const purgeTable = (table: Table) =>
    purgeAfterAsking(
      {
        title: m.history_delete_table_forever_confirm({ title: table.title }),
        text: m.history_delete_table_forever_consequences(),
        typed: table.title,
      },
      async () => {
        await runInQueue(base.id, () => api.storage.deleteTableForever.mutate({ tableId: table.id }))
        await tables.refetch()
      },
    )
  return (
    <DeletedList
      query={tables}
      items={tables.data}
      emptyTitle={m.history_no_deleted_tables()}
      emptyText={m.history_deleted_tables_appear_here_records()}
      describe={(table) => ({
        icon: <Table2 size={18} />,
        title: table.title,
        facts: [table.deletedAt === null ? '' : m.history_deleted_when({ when: formatAgo(table.deletedAt) })],
        onRestore: () => void restoreTable(table),
        onPurge: roleCan(base.role, 'table.purge') ? () => void purgeTable(table) : undefined,
      })}
    />
  )
}

interface DeletedItem extends Pick<TrashRowProps, 'title' | 'onRestore' | 'onPurge'> {
  icon: ReactNode
  facts: string[]
}

/** Deletes an item forever, after a confirmation. @param typed name to type first, for items that hold records */
async function purgeAfterAsking(
  { title, text, typed }: { title: string; text: string; typed?: string },
  run: () => Promise<unknown>,
): Promise<void> {
  const confirmLabel = m.history_delete_forever()
  if (!(await confirm({ title, text, confirmLabel, danger: true, typed }))) return
  try {
    await run()
    await cache.records.actions.invalidate()
    toast.success({ text: m.history_deleted_forever() })
  } catch (error) {
    toast.error({ text: messageOf(error) })
  }
}

interface DeletedListProps<T extends { id: string | number }> {
  query: { error: unknown; refetch: () => unknown }
  items: readonly T[] | undefined
  emptyTitle: string
  emptyText: string
  describe: (item: T) => DeletedItem
}

/** Deleted items of one kind, each with a restore button. */
function DeletedList<T extends { id: string | number }>(props: DeletedListProps<T>) {
  const { query, items, emptyTitle, emptyText, describe } = props
  if (query.error && !items) return <QueryError title={m.history_trash_load_failed()} query={query} />
  if (!items) return <ListSkeleton />
  if (items.length === 0) return <EmptyState icon={Trash2} title={emptyTitle} text={emptyText} />
  return (
    <ul className={lists.list}>
      {items.map((item) => {
        const { icon, facts, ...row } = describe(item)
        return (
          <TrashRow key={item.id} testId="trashed-item" lead={icon} {...row}>
            <p className={lists.facts}>
              {facts.filter(Boolean).map((fact) => (
                <span key={fact} dir="auto">
                  {fact}
                </span>
              ))}
            </p>
          </TrashRow>
        )
      })}
    </ul>
  )
}

const ListSkeleton = () => (
  <div className={lists.list} aria-busy="true">
    {[1, 2, 3].map((n) => (
      <Skeleton key={n} height={40} />
    ))}
  </div>
)
