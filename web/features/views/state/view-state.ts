import { notifyManager } from '@tanstack/react-query'
import { getQueryKey } from '@trpc/react-query'
import { useCallback, useMemo, useRef } from 'react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import type { TableSchema, View, ViewKind } from '../../../../src/core/model.ts'
import { type BaseRole, roleCan } from '../../../../src/core/roles.ts'
import { type OptionsByKind, optionsOf } from '../../../../src/core/views/index.ts'
import { messageOf } from '../../../errors.ts'
import { m } from '../../../messages.gen.ts'
import { goTo, paths } from '../../../navigation/paths.ts'
import { runInQueue } from '../../../records/base-queue.ts'
import { session } from '../../../session/index.ts'
import { api, cache, queryClient, trpc } from '../../../trpc.ts'
import { toast } from '../../../ui/toast.ts'
import type { FieldArrangement } from './arrange-fields.ts'
import { filterAutoSave, useFilterAutoSave } from './filter-auto-save.ts'
import {
  applyChange,
  isFiltering,
  type KeptBecause,
  keptBecause,
  maySave,
  mergeChanges,
  type ViewChange,
  type ViewPatch,
  withOptions,
} from './view-changes.ts'

export type { ViewPatch } from './view-changes.ts'

/** A view with the user's local changes, and functions that change it. */
export interface ViewState {
  view: View
  /** False if changes are kept in the browser until the page is left. */
  isSaved: boolean
  /** Why changes are kept; null if they are saved at once, or some of those that are kept can be saved. */
  keptBecause: KeptBecause | null
  /** False if filters, sorts and groups are kept, independent of other changes. */
  savesFilters: boolean
  /** True while there are unsaved changes. */
  hasKept: boolean
  /** Applies a patch. A function receives the current view including pending changes. */
  update(patch: ViewPatch | ((view: View) => ViewPatch)): void
  /** Changes several columns as one action. */
  arrange(fields: FieldArrangement[]): void
  /** Saves the kept changes that the role may save, if `keptBecause` is null. */
  saveKept(): void
  /** Creates and opens a personal view with the kept changes. */
  saveKeptAsNew(): void
  /** Discards the kept changes, with an Undo message. */
  discardKept(): void
}

/** A local change over the saved view; `isKept`: not sent to the server. */
type Laid = ViewChange & { isKept: boolean }

/**
 * Changes applied over the server's views, by view id: pending ones and those kept for the visit. Prevents flicker when
 * the views are reloaded before a change is saved.
 */
const overlays = createStore<ReadonlyMap<string, readonly Laid[]>>(() => new Map())

const NO_CHANGES: readonly Laid[] = []
const laidOver = (viewId: string): readonly Laid[] => overlays.getState().get(viewId) ?? NO_CHANGES

function overlay(viewId: string, next: (changes: readonly Laid[]) => readonly Laid[]): void {
  overlays.setState((all) => new Map(all).set(viewId, next(laidOver(viewId))), true)
}

/** The view with its changes, which are saved for everyone if role and lock mode allow it, else kept for this visit. */
export function useViewState(schema: TableSchema, saved: View, role: BaseRole): ViewState {
  const { tableId, id, kind } = saved
  const { baseId } = schema.table
  const changes = useStore(overlays, () => laidOver(id))
  const view = useMemo(() => changes.reduce<View>(applyChange, saved), [saved, changes])
  const because = keptBecause(saved, roleCan(role, 'view.arrange'), session.userId())
  const savesFilters = useFilterAutoSave() && because === null
  const kept = changes.filter((change) => change.isKept)
  const hasKept = kept.length > 0
  const roleKeepsAll = hasKept && !kept.some((change) => maySave(kind, change, role))
  const shownReason = because ?? (roleKeepsAll ? 'role' : null)
  const latest = useRef(saved)
  latest.current = saved

  const carryOut = useCallback(
    (change: ViewChange) => {
      const isKept =
        because !== null || !maySave(kind, change, role) || (isFiltering(change) && !filterAutoSave())
      const laid = { ...change, isKept }
      overlay(id, (before) => [...before, laid])
      if (!isKept) void save({ baseId, tableId, viewId: id }, [laid])
    },
    [because, role, baseId, tableId, id, kind],
  )
  const update = useCallback<ViewState['update']>(
    (patch) => {
      const now = () => laidOver(id).reduce<View>(applyChange, latest.current)
      carryOut({ kind: 'update', patch: typeof patch === 'function' ? patch(now()) : patch })
    },
    [carryOut, id],
  )
  const arrange = useCallback(
    (fields: FieldArrangement[]) => {
      if (fields.length > 0) carryOut({ kind: 'arrange', fields })
    },
    [carryOut],
  )
  const saveKept = useCallback(
    () =>
      void save(
        { baseId, tableId, viewId: id },
        laidOver(id).filter((change) => change.isKept && maySave(kind, change, role)),
      ),
    [role, baseId, tableId, id, kind],
  )
  const saveKeptAsNew = useCallback(
    () => void saveAsNew({ baseId, tableId, viewId: id }, latest.current),
    [baseId, tableId, id],
  )
  const discardKept = useCallback(() => discard(id), [id])
  return useMemo(
    () => ({
      view,
      isSaved: because === null,
      keptBecause: shownReason,
      savesFilters,
      hasKept,
      update,
      arrange,
      saveKept,
      saveKeptAsNew,
      discardKept,
    }),
    [
      view,
      because,
      shownReason,
      savesFilters,
      hasKept,
      update,
      arrange,
      saveKept,
      saveKeptAsNew,
      discardKept,
    ],
  )
}

/** Options of the view's kind with a setter: `const [{ hideEmpty }, change] = …`. */
export function useKindOptions<K extends ViewKind>(
  { view, update }: Pick<ViewState, 'view' | 'update'>,
  kind: K,
): [OptionsByKind[K], (patch: Partial<OptionsByKind[K]>) => void] {
  const { options } = view
  const parsed = useMemo(() => optionsOf({ kind, options }, kind), [kind, options])
  const change = useCallback(
    (patch: Partial<OptionsByKind[K]>) => update((now) => ({ options: withOptions(now, kind, patch) })),
    [update, kind],
  )
  return [parsed, change]
}

interface Place {
  baseId: string
  tableId: string
  viewId: string
}

/** Sends changes through the base's queue, which orders them before an undo; a rejection restores the saved state. */
async function save({ baseId, tableId, viewId }: Place, changes: readonly Laid[]): Promise<void> {
  const input = { tableId }
  const wasKept = changes.some((change) => change.isKept)
  const { patch, fields } = mergeChanges(changes)
  try {
    if (Object.keys(patch).length > 0) {
      await runInQueue(baseId, () => api.views.update.mutate({ viewId, patch: onWire(patch) }))
    }
    if (fields.length > 0) await runInQueue(baseId, () => api.views.arrange.mutate({ viewId, fields }))
    // A read that started before the save returns the old state, but may be the one that shows a change by others.
    const wasReading =
      queryClient.isFetching({ queryKey: getQueryKey(trpc.schema.table, input, 'query') }) > 0
    await cache.schema.table.cancel(input)
    cache.schema.table.setData(
      input,
      (schema) =>
        schema && {
          ...schema,
          views: schema.views.map((view) =>
            view.id === viewId ? changes.reduce<View>(applyChange, view) : view,
          ),
        },
    )
    if (wasReading) void cache.schema.table.invalidate(input)
  } catch (error) {
    toast.error({ text: messageOf(error) })
    void cache.schema.table.invalidate(input)
    // Unsaved local changes stay when saving them fails.
    if (wasKept) return
  }
  // Scheduled after the cache's own notification; otherwise the old state would show for a frame.
  notifyManager.schedule(() => overlay(viewId, (all) => all.filter((one) => !changes.includes(one))))
}

const onWire = ({ options, ...others }: ViewPatch) => ({
  ...others,
  ...(options && { options: { ...options } }),
})

async function saveAsNew({ baseId, tableId, viewId }: Place, { title, kind }: View): Promise<void> {
  const kept = laidOver(viewId).filter((change) => change.isKept)
  const { patch, fields } = mergeChanges(kept)
  try {
    const view = await api.views.create.mutate({ tableId, title, kind, copyOf: viewId })
    if (Object.keys(patch).length > 0)
      await api.views.update.mutate({ viewId: view.id, patch: onWire(patch) })
    if (fields.length > 0) await api.views.arrange.mutate({ viewId: view.id, fields })
    await cache.schema.table.invalidate({ tableId })
    overlay(viewId, (changes) => changes.filter((change) => !kept.includes(change)))
    goTo(paths.table(baseId, tableId, view.id))
  } catch (error) {
    toast.error({ text: messageOf(error) })
    void cache.schema.table.invalidate({ tableId })
  }
}

function discard(viewId: string): void {
  const kept = laidOver(viewId).filter((change) => change.isKept)
  overlay(viewId, (changes) => changes.filter((change) => !change.isKept))
  toast.success({
    text: m.views_your_changes_were_discarded(),
    action: { label: m.common_undo(), run: () => overlay(viewId, (changes) => [...changes, ...kept]) },
  })
}
