import { Columns3, Eye, FileText, Paperclip, Table2, Trash2, Undo2, X } from 'lucide-react'
import { useState } from 'react'
import type { Base, Person } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import {
  MAX_TRASH_ITEMS,
  PURGE_ORDER,
  RESTORE_ORDER,
  TRASH_KIND_NAMES,
  TRASH_KINDS,
  type TrashFailure,
  type TrashItem,
  type TrashKind,
  type TrashRef,
} from '../../../src/core/trash.ts'
import { formatBytes } from '../../attachments/format-bytes.ts'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { useParams, useSearch } from '../../navigation/router.tsx'
import { useDocumentTitle } from '../../navigation/use-document-title.ts'
import { runOnceInQueue } from '../../records/base-queue.ts'
import { timeZone } from '../../time-zone.ts'
import { api, cache, trpc } from '../../trpc.ts'
import { attempt } from '../../ui/attempt.ts'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/confirm.tsx'
import { Main } from '../../ui/main.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { EmptyState, QueryError, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import { TableFilter } from '../history/history-filters.tsx'
import lists from '../layout/list-screen.module.css'
import { useDebounced } from '../layout/use-debounced.ts'
import { WorkBar } from '../records/bars/status-bars.tsx'
import { offerUndo } from '../records/undo/undo-commands.tsx'
import styles from './trash.module.css'
import { DeletionFacts, TrashRow, TrashSkeleton, tellRestored } from './trash-row.tsx'

/** Items per page. */
const PAGE = 50
const OFFERED_DAYS = [7, 30, 90, 180, 365]

const KINDS: Record<TrashKind, { icon: typeof Table2; label: () => string }> = {
  record: { icon: FileText, label: m.common_records },
  file: { icon: Paperclip, label: m.common_files },
  field: { icon: Columns3, label: m.common_fields },
  view: { icon: Eye, label: m.trash_views },
  table: { icon: Table2, label: m.common_tables },
}

/** What the list is limited to. */
interface Filter {
  kinds?: TrashKind[]
  tableId?: string
  deletedBy?: string
  search?: string
}

/** The trash of a base: deleted records, files, fields, views and tables that can be restored. */
export function TrashScreen() {
  const { baseId = '' } = useParams()
  useDocumentTitle(m.common_trash())
  const base = trpc.bases.get.useQuery({ baseId })
  if (base.error && !base.data) return <QueryError title={m.trash_load_failed()} query={base} />
  if (!base.data) {
    return (
      <Main className={lists.screen} aria-busy="true">
        <Skeleton width={160} height={28} />
        <Skeleton height={40} />
        <Skeleton height={40} />
      </Main>
    )
  }
  const { role } = base.data
  return (
    <Main className={lists.screen}>
      <header className={lists.header}>
        <h1 className={lists.heading}>{m.common_trash()}</h1>
        {roleCan(role, 'record.restore') && <Retention base={base.data} />}
      </header>
      <WorkBar baseId={baseId} canCancel={roleCan(role, 'record.undo')} />
      {roleCan(role, 'record.restore') ? (
        <TrashList key={baseId} base={base.data} />
      ) : (
        <EmptyState icon={Trash2} title={m.trash_only_editors()} />
      )}
    </Main>
  )
}

/** How long deleted items are kept; owners choose it. */
function Retention({ base }: { base: Base }) {
  const baseId = base.id
  const retention = trpc.trash.retention.useQuery({ baseId }, { staleTime: 0 }).data
  if (!retention) return <Skeleton width={220} height={20} />
  const { days, defaultDays, keptDays } = retention
  const text = keptDays === 0 ? m.trash_kept_forever() : m.trash_kept_for_days({ count: keptDays })
  if (!roleCan(base.role, 'base.storage')) return <p className={lists.facts}>{text}</p>

  async function setDays(value: string): Promise<void> {
    const chosen = value === '' ? null : Number(value)
    const next = chosen ?? defaultDays
    const isShorter = next !== 0 && (keptDays === 0 || next < keptDays)
    const agreed =
      !isShorter ||
      (await confirm({
        title: m.trash_keep_for_days_confirm({ count: next }),
        text: m.trash_keep_shorter_consequences(),
        confirmLabel: m.trash_keep_for_days({ count: next }),
        danger: true,
      }))
    if (!agreed) return
    await attempt(() => api.trash.setRetention.mutate({ baseId, days: chosen }))
    await Promise.all([
      cache.trash.retention.invalidate({ baseId }),
      cache.trash.list.invalidate(),
      cache.bases.get.invalidate({ baseId }),
    ])
  }

  const offered = [...new Set([...OFFERED_DAYS, ...(days ? [days] : [])])].sort((a, b) => a - b)
  return (
    <div className={styles.retention}>
      <p className={lists.facts}>{text}</p>
      <select
        className={lists.filter}
        aria-label={m.trash_keep_items_for()}
        value={days ?? ''}
        onChange={(event) => void setDays(event.target.value)}
      >
        <option value="">
          {defaultDays === 0 ? m.trash_default_as_history() : m.trash_default_days({ count: defaultDays })}
        </option>
        {offered.map((each) => (
          <option key={each} value={each}>
            {m.trash_days({ count: each })}
          </option>
        ))}
        <option value="0">{m.trash_as_history()}</option>
      </select>
    </div>
  )
}

function TrashList({ base }: { base: Base }) {
  const baseId = base.id
  const { tableId } = useSearch()
  const [kind, setKind] = useState<TrashKind>()
  const [deletedBy, setDeletedBy] = useState<string>()
  const [text, setText] = useState('')
  const search = useDebounced(text.trim(), 300) || undefined
  const filter: Filter = { kinds: kind && [kind], tableId, deletedBy, search }
  const pages = trpc.trash.list.useInfiniteQuery(
    { baseId, ...filter, limit: PAGE, timeZone },
    { getNextPageParam: ({ next }) => next ?? undefined, staleTime: 0 },
  )
  const items = pages.data?.pages.flatMap((page) => page.items)
  const people = new Map(
    pages.data?.pages.flatMap((page) => page.people).map((person) => [person.id, person]),
  )
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const clear = () => {
    setKind(undefined)
    setDeletedBy(undefined)
    setText('')
    goTo(paths.trash(baseId), { replace: true })
  }
  return (
    <div className={lists.panel}>
      <search className={lists.tools} aria-label={m.trash_filter()}>
        <SearchInput label={m.trash_search()} value={text} onSearch={setText} className={lists.search} />
        <KindFilter base={base} kind={kind} onChoose={setKind} />
        <TableOfBaseFilter baseId={baseId} tableId={tableId} />
        <PersonFilter baseId={baseId} personId={deletedBy} onChoose={setDeletedBy} />
        {isFiltered && (
          <Button size="small" variant="ghost" onClick={clear}>
            {m.trash_clear_filters()}
          </Button>
        )}
      </search>
      {pages.error && !pages.data ? (
        <QueryError title={m.trash_load_failed()} query={pages} />
      ) : !items ? (
        <TrashSkeleton />
      ) : items.length === 0 ? (
        <EmptyState
          icon={Trash2}
          title={isFiltered ? m.trash_nothing_matches() : m.trash_is_empty()}
          text={isFiltered ? undefined : m.trash_is_empty_hint()}
        >
          {isFiltered && <Button onClick={clear}>{m.trash_clear_filters()}</Button>}
        </EmptyState>
      ) : (
        <Items base={base} items={items} people={people} filter={isFiltered ? filter : null} />
      )}
      {pages.hasNextPage && (
        <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {m.trash_show_older()}
        </Button>
      )}
    </div>
  )
}

function KindFilter(props: {
  base: Base
  kind: TrashKind | undefined
  onChoose: (kind: TrashKind | undefined) => void
}) {
  const allowed = TRASH_KIND_NAMES.filter((kind) => roleCan(props.base.role, TRASH_KINDS[kind].restore))
  return (
    <select
      className={lists.filter}
      aria-label={m.trash_kind()}
      value={props.kind ?? ''}
      onChange={(event) => props.onChoose(allowed.find((kind) => kind === event.target.value))}
    >
      <option value="">{m.trash_all_kinds()}</option>
      {allowed.map((kind) => (
        <option key={kind} value={kind}>
          {KINDS[kind].label()}
        </option>
      ))}
    </select>
  )
}

/** Limits the list to a table, which the address names. */
function TableOfBaseFilter({ baseId, tableId }: { baseId: string; tableId: string | undefined }) {
  const tables = trpc.schema.tables.useQuery({ baseId }).data
  return (
    <TableFilter
      tables={tables}
      tableId={tableId}
      onChoose={(chosen) => goTo(paths.trash(baseId, chosen), { replace: true })}
    />
  )
}

function PersonFilter(props: {
  baseId: string
  personId: string | undefined
  onChoose: (personId: string | undefined) => void
}) {
  const people = trpc.records.people.useQuery({ baseId: props.baseId }, { staleTime: 60_000 }).data
  return (
    <select
      className={lists.filter}
      aria-label={m.trash_deleted_by()}
      value={props.personId ?? ''}
      onChange={(event) => props.onChoose(event.target.value || undefined)}
    >
      <option value="">{m.trash_everyone()}</option>
      {people?.map((person) => (
        <option key={person.id} value={person.id}>
          {person.displayName || person.email}
        </option>
      ))}
    </select>
  )
}

interface ItemsProps {
  base: Base
  items: readonly TrashItem[]
  people: ReadonlyMap<string, Person>
  /** What the list is limited to; null: it has everything. */
  filter: Filter | null
}

function Items({ base, items, people, filter }: ItemsProps) {
  const baseId = base.id
  const [checked, setChecked] = useState<ReadonlySet<string>>(new Set())
  // Limited to the listed items, so that no action affects one that a filter hides.
  const chosen = items.filter((item) => checked.has(keyOf(item.ref)))
  const purgeable = chosen.filter(({ canPurge }) => canPurge)
  const canEmpty = roleCan(base.role, 'record.purge')
  const uncheck = () => setChecked(new Set())
  const check = (keys: readonly string[], isChecked: boolean) => {
    const next = new Set(checked)
    for (const key of keys) {
      if (isChecked) next.add(key)
      else next.delete(key)
    }
    setChecked(next)
  }
  return (
    <>
      <div className={lists.tools}>
        <label className={styles.checkAll}>
          <input
            type="checkbox"
            checked={chosen.length === items.length}
            onChange={(event) =>
              check(
                items.map(({ ref }) => keyOf(ref)),
                event.target.checked,
              )
            }
          />
          {chosen.length === 0 ? m.trash_select_all() : m.trash_selected({ count: chosen.length })}
        </label>
        {chosen.length > 0 && (
          <Button
            size="small"
            icon={Undo2}
            onClick={() => void restoreItems(baseId, chosen).then((isDone) => isDone && uncheck())}
          >
            {m.trash_restore_selected({ count: chosen.length })}
          </Button>
        )}
        {purgeable.length > 0 && (
          <Button
            size="small"
            icon={X}
            onClick={() => void purgeItems(baseId, purgeable).then((isDone) => isDone && uncheck())}
          >
            {m.trash_delete_forever()}
          </Button>
        )}
        {canEmpty && chosen.length === 0 && (
          <Button size="small" variant="ghost" icon={Trash2} onClick={() => void emptyTrash(base, filter)}>
            {filter === null ? m.trash_empty() : m.trash_delete_matching()}
          </Button>
        )}
      </div>
      <ul className={lists.list} data-testid="trash-list">
        {items.map((item, at) => (
          <ItemRow
            key={keyOf(item.ref)}
            baseId={baseId}
            item={item}
            isFirst={items[at - 1]?.deletion?.changeId !== item.deletion?.changeId}
            people={people}
            isChecked={checked.has(keyOf(item.ref))}
            onCheck={(isChecked) => check([keyOf(item.ref)], isChecked)}
          />
        ))}
      </ul>
    </>
  )
}

interface ItemRowProps {
  baseId: string
  item: TrashItem
  /** First of the records deleted together: a row above it restores all of them. */
  isFirst: boolean
  people: ReadonlyMap<string, Person>
  isChecked: boolean
  onCheck: (isChecked: boolean) => void
}

function ItemRow({ baseId, item, isFirst, people, isChecked, onCheck }: ItemRowProps) {
  const { icon: Icon, label } = KINDS[item.ref.kind]
  const person = item.deletedBy === null ? undefined : people.get(item.deletedBy)
  const { deletion, file, table } = item
  return (
    <>
      {isFirst && table && deletion && deletion.records > 1 && (
        <li className={lists.row} data-testid="trashed-together">
          <div className={lists.text}>
            <strong>{m.trash_records_deleted_together({ count: deletion.records })}</strong>
            <p className={lists.facts}>
              <span dir="auto">{table.title}</span>
              <DeletionFacts at={item.deletedAt} person={person} />
            </p>
          </div>
          <Button
            size="small"
            icon={Undo2}
            onClick={() => void restoreDeletion(baseId, table, deletion.changeId)}
          >
            {m.trash_restore_all()}
          </Button>
        </li>
      )}
      <TrashRow
        title={item.title}
        icon={<Icon size={18} aria-label={label()} />}
        isChecked={isChecked}
        onCheck={onCheck}
        place={
          <>
            {table && <span dir="auto">{table.title}</span>}
            {file && (
              <span dir="auto">{m.trash_file_place({ field: file.field, record: file.recordId })}</span>
            )}
            {file && file.size > 0 && <span>{formatBytes(file.size)}</span>}
          </>
        }
        deletedAt={item.deletedAt}
        deletedBy={person}
        expiresAt={item.expiresAt}
        onRestore={() => void restoreItems(baseId, [item])}
        onPurge={item.canPurge ? () => void purgeItems(baseId, [item]) : undefined}
      >
        {item.preview && item.preview.length > 0 && (
          <p className={lists.values}>
            {item.preview.map(({ title, text }) => (
              <span key={title} dir="auto">
                <b>{title}</b> {text}
              </span>
            ))}
          </p>
        )}
      </TrashRow>
    </>
  )
}

const keyOf = (ref: TrashRef): string => JSON.stringify(ref)

/** Restores items and shows the result. @returns true if something was restored */
async function restoreItems(baseId: string, items: readonly TrashItem[]): Promise<boolean> {
  return attempt(async () => {
    const { results, failed } = await callInParts(baseId, items, RESTORE_ORDER, (part) =>
      api.trash.restore.mutate({ baseId, items: part }),
    )
    await refresh(baseId)
    const restored = sumOf(results.map((result) => result.restored))
    // Undo reverts a single change.
    const changeId = results.length === 1 ? (results[0]?.changeId ?? null) : null
    const [only] = items
    const text =
      items.length === 1 && only
        ? m.trash_title_restored({ title: only.title })
        : m.trash_items_restored({ count: restored })
    if (restored === 0 && failed.length === 0) {
      toast.success({ text: m.trash_nothing_restored() })
    } else if (changeId !== null) {
      offerUndo({ baseId }, text, changeId, () => refresh(baseId))
    } else {
      tellRestored(text, {
        renamed: results.flatMap(({ renamed }) => renamed),
        closedLinks: sumOf(results.map(({ closedLinks }) => closedLinks)),
      })
    }
    tellFailed(items, failed)
  })
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0)

/**
 * Restores or deletes items with as many calls as needed, since one call takes `MAX_TRASH_ITEMS`. The items of a call that
 * fails are among those that failed.
 *
 * @throws the error of the only call
 */
async function callInParts<R extends { failed: TrashFailure[] }>(
  baseId: string,
  items: readonly TrashItem[],
  order: readonly TrashKind[],
  call: (part: TrashRef[]) => Promise<R>,
): Promise<{ results: R[]; failed: TrashFailure[] }> {
  const refs = items.map(({ ref }) => ref).sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
  const results: R[] = []
  const failed: TrashFailure[] = []
  for (let at = 0; at < refs.length; at += MAX_TRASH_ITEMS) {
    const part = refs.slice(at, at + MAX_TRASH_ITEMS)
    try {
      const result = await runOnceInQueue(baseId, () => call(part))
      results.push(result)
      failed.push(...result.failed)
    } catch (error) {
      if (part.length === refs.length) throw error
      failed.push(...part.map((ref) => ({ ref, message: messageOf(error) })))
    }
  }
  return { results, failed }
}

/** Restores all records that were deleted together. */
async function restoreDeletion(
  baseId: string,
  table: { id: string; title: string },
  changeId: number,
): Promise<void> {
  await attempt(async () => {
    const { restored } = await runOnceInQueue(baseId, () =>
      api.records.restoreTrashed.mutate({ tableId: table.id, changeId }),
    )
    await refresh(baseId)
    toast.success({ text: m.trash_records_restored_to_table({ count: restored, table: table.title }) })
  })
}

/** Deletes items forever, after a confirmation: a single table once its name is typed. */
async function purgeItems(baseId: string, items: readonly TrashItem[]): Promise<boolean> {
  const [only] = items
  const isOne = items.length === 1 && only !== undefined
  const agreed = await confirm({
    title: isOne
      ? m.trash_delete_title_forever_confirm({ title: only.title })
      : m.trash_delete_items_forever_confirm({ count: items.length }),
    text: isOne ? CONSEQUENCES[only.ref.kind]() : m.trash_delete_items_forever_consequences(),
    confirmLabel: m.trash_delete_forever(),
    danger: true,
    typed: isOne && only.ref.kind === 'table' ? only.title : undefined,
  })
  if (!agreed) return false
  return attempt(async () => {
    const { results, failed } = await callInParts(baseId, items, PURGE_ORDER, (part) =>
      api.trash.purge.mutate({ baseId, items: part }),
    )
    await refresh(baseId)
    const deleted = sumOf(results.map((result) => result.deleted))
    toast.success({ text: m.trash_items_deleted_forever({ count: deleted }) })
    tellFailed(items, failed)
  })
}

const CONSEQUENCES: Record<TrashKind, () => string> = {
  record: m.trash_purge_record_consequences,
  file: m.trash_purge_file_consequences,
  field: m.trash_purge_field_consequences,
  view: m.trash_purge_view_consequences,
  table: m.trash_purge_table_consequences,
}

/** Deletes everything in the trash of a base forever, or what the filter shows. */
async function emptyTrash(base: Base, filter: Filter | null): Promise<void> {
  const baseId = base.id
  const agreed = await confirm({
    title: filter === null ? m.trash_empty_confirm({ base: base.title }) : m.trash_delete_matching_confirm(),
    text: m.trash_delete_items_forever_consequences(),
    confirmLabel: m.trash_delete_forever(),
    danger: true,
    typed: filter === null ? base.title : undefined,
  })
  if (!agreed) return
  await attempt(async () => {
    const { deleted, failed } = await runOnceInQueue(baseId, () =>
      api.trash.empty.mutate({ baseId, ...filter }),
    )
    await refresh(baseId)
    toast.success({ text: m.trash_items_deleted_forever({ count: deleted }) })
    const [first] = failed
    if (!first) return
    toast.error({ text: m.trash_items_not_deleted({ count: failed.length, reason: first.message }) })
  })
}

function tellFailed(items: readonly TrashItem[], failed: readonly TrashFailure[]): void {
  if (failed.length === 0) return
  const titles = new Map(items.map(({ ref, title }) => [keyOf(ref), title]))
  const [first] = failed
  toast.error({
    text: m.trash_items_failed({
      count: failed.length,
      title: titles.get(keyOf(first!.ref)) ?? '',
      reason: first!.message,
    }),
  })
}

async function refresh(baseId: string): Promise<void> {
  await Promise.all([
    cache.trash.list.invalidate(),
    cache.records.actions.invalidate(),
    cache.schema.invalidate(),
    cache.bases.get.invalidate({ baseId }),
  ])
}
