import {
  type ListedTrashItem,
  type ListedTrashKind,
  MAX_TRASH_ITEMS,
  PURGE_ORDER,
  RESTORE_ORDER,
  type TrashItemOfBase,
  type TrashKind,
  type TrashRef,
  type TrashRestored,
} from '../../../src/core/trash.ts'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { runOnceInQueue } from '../../records/base-queue.ts'
import { timeZone } from '../../time-zone.ts'
import { api, cache } from '../../trpc.ts'
import { attempt } from '../../ui/attempt.ts'
import { confirm } from '../../ui/confirm.tsx'
import { toast } from '../../ui/toast.ts'
import { offerUndo } from '../records/undo/undo-commands.tsx'

/** What the list is limited to, besides the base. */
export interface TrashFilter {
  kinds?: ListedTrashKind[]
  tableId?: string
  deletedBy?: string
  search?: string
}

/** An item that could not be restored or deleted. */
interface Failure {
  title: string
  reason: string
}

/** Restores items, of one or several bases, and shows the result. @returns true unless the only call failed */
export function restoreItems(items: readonly ListedTrashItem[]): Promise<boolean> {
  return attempt(async () => {
    const { results, failed } = await callInParts(items, RESTORE_ORDER, {
      base: async (baseId) => {
        const { renamed, closedLinks } = await api.trash.restoreBase.mutate({ baseId })
        return { restored: 1, renamed, closedLinks, changeId: null, failed: [] }
      },
      items: (baseId, refs) => api.trash.restore.mutate({ baseId, items: refs }),
    })
    await refresh()
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
    } else if (changeId !== null && only) {
      offerUndo({ baseId: only.base.id }, text, changeId, refresh)
    } else if (restored > 0) {
      tellRestored(text, {
        renamed: results.flatMap(({ renamed }) => renamed),
        closedLinks: sumOf(results.map(({ closedLinks }) => closedLinks)),
      })
    }
    tellFailed(failed)
  })
}

/** Restores all records that were deleted together. */
export async function restoreDeletion(
  baseId: string,
  table: { id: string; title: string },
  changeId: number,
): Promise<void> {
  await attempt(async () => {
    const { restored } = await runOnceInQueue(baseId, () =>
      api.records.restoreTrashed.mutate({ tableId: table.id, changeId }),
    )
    await refresh()
    toast.success({ text: m.trash_records_restored_to_table({ count: restored, table: table.title }) })
  })
}

/**
 * Deletes items forever, after a confirmation: a single table or base once its name is typed, several items with a base once their
 * number is.
 *
 * @returns false if the user has not confirmed it, or the only call failed
 */
export async function purgeItems(items: readonly ListedTrashItem[]): Promise<boolean> {
  const [only] = items
  const isOne = items.length === 1 && only !== undefined
  const hasBase = items.some(({ ref }) => ref.kind === 'base')
  const agreed = await confirm({
    title: isOne
      ? m.trash_delete_title_forever_confirm({ title: only.title })
      : m.trash_delete_items_forever_confirm({ count: items.length }),
    text: isOne
      ? CONSEQUENCES[only.ref.kind]()
      : hasBase
        ? m.trash_delete_bases_forever_consequences()
        : m.trash_delete_items_forever_consequences(),
    confirmLabel: m.trash_delete_forever(),
    danger: true,
    typed: isOne ? typedName(only) : hasBase ? String(items.length) : undefined,
  })
  if (!agreed) return false
  return attempt(async () => {
    const { results, failed } = await callInParts(items, PURGE_ORDER, {
      base: async (baseId) => {
        await api.trash.purgeBase.mutate({ baseId })
        return { deleted: 1, failed: [] }
      },
      items: (baseId, refs) => api.trash.purge.mutate({ baseId, items: refs }),
    })
    await refresh()
    const deleted = sumOf(results.map((result) => result.deleted))
    if (deleted > 0 || failed.length === 0)
      toast.success({ text: m.trash_items_deleted_forever({ count: deleted }) })
    tellFailed(failed)
  })
}

const typedName = ({ ref: { kind }, title }: ListedTrashItem): string | undefined =>
  kind === 'table' || kind === 'base' ? title : undefined

const CONSEQUENCES: Record<ListedTrashKind, () => string> = {
  record: m.trash_purge_record_consequences,
  file: m.trash_purge_file_consequences,
  field: m.trash_purge_field_consequences,
  view: m.trash_purge_view_consequences,
  table: m.trash_purge_table_consequences,
  base: m.trash_purge_base_consequences,
}

/** Deletes everything in the trash of a base (null: of all bases) forever, or what the filter shows. */
export async function emptyTrash(
  base: { id: string; title: string } | null,
  filter: TrashFilter | null,
): Promise<void> {
  const agreed = await confirm({
    title:
      filter !== null
        ? m.trash_delete_matching_confirm()
        : base
          ? m.trash_empty_confirm({ base: base.title })
          : m.trash_empty_all_confirm(),
    text: base ? m.trash_delete_items_forever_consequences() : m.trash_empty_all_consequences(),
    confirmLabel: m.trash_delete_forever(),
    danger: true,
    typed: base ? (filter === null ? base.title : undefined) : m.trash_all_bases(),
  })
  if (!agreed) return
  await attempt(async () => {
    const { deleted, failed } = base ? await emptyBase(base.id, filter) : await emptyAll(filter)
    await refresh()
    toast.success({ text: m.trash_items_deleted_forever({ count: deleted }) })
    const [reason] = failed
    if (reason === undefined) return
    toast.error({ text: m.trash_items_not_deleted({ count: failed.length, reason }) })
  })
}

async function emptyBase(baseId: string, filter: TrashFilter | null) {
  const kinds = filter?.kinds?.flatMap((kind) => (kind === 'base' ? [] : kind))
  const { deleted, failed } = await runOnceInQueue(baseId, () =>
    api.trash.empty.mutate({ baseId, ...filter, kinds, timeZone }),
  )
  return { deleted, failed: failed.map(({ message }) => message) }
}

/** Part by part, as the bases may be many. */
async function emptyAll(filter: TrashFilter | null) {
  const { tableId: _, ...ofAll } = filter ?? {}
  const total = { deleted: 0, failed: new Set<string>() }
  let cursor: string | null = null
  do {
    const part: { deleted: number; failed: string[]; next: string | null } = await api.trash.emptyAll.mutate({
      ...ofAll,
      timeZone,
      cursor,
    })
    total.deleted += part.deleted
    for (const reason of part.failed) total.failed.add(reason)
    cursor = part.next
  } while (cursor !== null)
  return { deleted: total.deleted, failed: [...total.failed] }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0)

/**
 * Restores or deletes items with as many calls as needed: one for each deleted base, and one for `MAX_TRASH_ITEMS` items of each
 * other base. The items of a call that fails are among those that failed.
 *
 * @throws the error of the only call
 */
async function callInParts<R extends { failed: { ref: TrashRef; message: string }[] }>(
  items: readonly ListedTrashItem[],
  order: readonly TrashKind[],
  call: { base: (baseId: string) => Promise<R>; items: (baseId: string, refs: TrashRef[]) => Promise<R> },
): Promise<{ results: R[]; failed: Failure[] }> {
  const parts: { items: readonly ListedTrashItem[]; run: () => Promise<R> }[] = []
  for (const [baseId, ofBase] of Map.groupBy(items, ({ base }) => base.id)) {
    if (ofBase.some(({ ref }) => ref.kind === 'base'))
      parts.push({ items: ofBase, run: () => call.base(baseId) })
    const inBase = ofBase
      .flatMap((item) => (isOfBase(item) ? item : []))
      .sort((a, b) => order.indexOf(a.ref.kind) - order.indexOf(b.ref.kind))
    for (let at = 0; at < inBase.length; at += MAX_TRASH_ITEMS) {
      const some = inBase.slice(at, at + MAX_TRASH_ITEMS)
      const refs = some.map(({ ref }) => ref)
      parts.push({ items: some, run: () => runOnceInQueue(baseId, () => call.items(baseId, refs)) })
    }
  }
  const results: R[] = []
  const failed: Failure[] = []
  for (const part of parts) {
    try {
      const result = await part.run()
      results.push(result)
      const titles = new Map(part.items.map(({ ref, title }) => [JSON.stringify(ref), title]))
      for (const { ref, message } of result.failed)
        failed.push({ title: titles.get(JSON.stringify(ref)) ?? '', reason: message })
    } catch (error) {
      if (parts.length === 1) throw error
      failed.push(...part.items.map(({ title }) => ({ title, reason: messageOf(error) })))
    }
  }
  return { results, failed }
}

const isOfBase = (item: ListedTrashItem): item is TrashItemOfBase => item.ref.kind !== 'base'

/** Shows what was restored, with new names and closed links. */
function tellRestored(
  text: string,
  { renamed, closedLinks }: Pick<TrashRestored, 'renamed' | 'closedLinks'>,
): void {
  const notes = renamed.map((names) => m.trash_renamed(names))
  if (closedLinks > 0) notes.push(m.trash_links_closed({ count: closedLinks }))
  toast.success({ text: [text, ...notes].join('. ') })
}

function tellFailed(failed: readonly Failure[]): void {
  const [first] = failed
  if (first) toast.error({ text: m.trash_items_failed({ count: failed.length, ...first }) })
}

async function refresh(): Promise<void> {
  await Promise.all([
    cache.trash.list.invalidate(),
    cache.trash.listAll.invalidate(),
    cache.records.actions.invalidate(),
    cache.schema.invalidate(),
    cache.bases.invalidate(),
  ])
}
