import { notifyManager } from '@tanstack/react-query'
import { useCallback, useMemo, useSyncExternalStore } from 'react'
import type { TableSchema, View } from '../../../src/core/model.ts'
import { messageOf } from '../../errors.ts'
import { api, cache } from '../../trpc.ts'
import { toast } from '../../ui/toast.ts'
import { inLine } from '../records/base-queue.ts'
import { arrangeFields, type FieldArrangement } from './arrange-fields.ts'

/** How a view shows its records, apart from its columns. */
export type ViewPatch = Partial<Pick<View, 'rowHeight' | 'frozen' | 'filter' | 'sorts'>>

/** A view as this person sees it, and the ways to change it. */
export interface ViewState {
  view: View
  /** False: changes are kept in this browser until the page is left. */
  isSaved: boolean
  update(patch: ViewPatch): void
  /** Changes several columns as one action. */
  arrange(fields: FieldArrangement[]): void
}

type Change = (view: View) => View

/**
 * Changes that lie over the views the server told of, by view id: those on their way, and all of a
 * person who may not save them. What is read from the server meanwhile cannot make them flicker.
 */
const overlays = new Map<string, readonly Change[]>()
const listeners = new Set<() => void>()

const NO_CHANGES: readonly Change[] = []

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function overlay(viewId: string, next: (changes: readonly Change[]) => readonly Change[]): void {
  overlays.set(viewId, next(overlays.get(viewId) ?? NO_CHANGES))
  for (const listener of listeners) listener()
}

/** The view with its changes: saved for everyone where the role may, else kept for this visit. */
export function useViewState(schema: TableSchema, saved: View, canArrange: boolean): ViewState {
  const { tableId, id } = saved
  const { baseId } = schema.table
  const changes = useSyncExternalStore(subscribe, () => overlays.get(id) ?? NO_CHANGES)
  const view = useMemo(() => changes.reduce((current, change) => change(current), saved), [saved, changes])

  const carryOut = useCallback(
    (change: Change, call: () => Promise<unknown>) => {
      overlay(id, (before) => [...before, change])
      if (canArrange) void save({ baseId, tableId, viewId: id }, change, call)
    },
    [canArrange, baseId, tableId, id],
  )
  const update = useCallback(
    (patch: ViewPatch) =>
      carryOut(
        (current) => ({ ...current, ...patch }),
        () => api.views.update.mutate({ viewId: id, patch }),
      ),
    [carryOut, id],
  )
  const arrange = useCallback(
    (fields: FieldArrangement[]) => {
      if (fields.length === 0) return
      carryOut(
        (current) => ({ ...current, fields: arrangeFields(current.fields, fields) }),
        () => api.views.arrange.mutate({ viewId: id, fields }),
      )
    },
    [carryOut, id],
  )
  return useMemo(() => ({ view, isSaved: canArrange, update, arrange }), [view, canArrange, update, arrange])
}

interface Place {
  baseId: string
  tableId: string
  viewId: string
}

/** To the server in the base's line, so that undo finds it there; a refusal shows what is saved. */
async function save(
  { baseId, tableId, viewId }: Place,
  change: Change,
  call: () => Promise<unknown>,
): Promise<void> {
  const input = { tableId }
  try {
    await inLine(baseId, call)
    // A reading that began before this was saved does not know of it.
    await cache.schema.table.cancel(input)
    cache.schema.table.setData(
      input,
      (schema) =>
        schema && {
          ...schema,
          views: schema.views.map((view) => (view.id === viewId ? change(view) : view)),
        },
    )
  } catch (error) {
    toast.error({ text: messageOf(error) })
    void cache.schema.table.invalidate(input)
  } finally {
    // Behind the cache's own notice, which comes later: in between, the old state would show for a frame.
    notifyManager.schedule(() => overlay(viewId, (changes) => changes.filter((one) => one !== change)))
  }
}
