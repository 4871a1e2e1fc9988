import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { loadPart } from '../navigation/lazy-screen.ts'
import { onNewDay, zonesOf } from '../new-day.ts'
import { session } from '../session/index.ts'
import { onChange, onReconnect } from '../socket.ts'
import { toast } from '../ui/toast.ts'
import { recordsApi } from './api.ts'
import { queueOf } from './base-queue.ts'
import { createRecordStore, type RecordStore, type StoreLayout } from './record-store.ts'
import type { StoreQuery } from './types.ts'
import { keepUnsaved, takeUnsaved } from './unsaved-edits.ts'

interface RecordStoreOptions {
  /** Called once; absent: one list. */
  layout?: () => StoreLayout
  /** False for a store beside another one of the table, which shows the unsaved edits; by default true. */
  showsUnsaved?: boolean
}

/** Record store of a view, connected to the socket while mounted. */
export function useRecordStore(
  baseId: string,
  tableId: string,
  query: StoreQuery,
  { layout, showsUnsaved = true }: RecordStoreOptions = {},
): RecordStore {
  const [store] = useState(() =>
    createRecordStore(
      {
        baseId,
        tableId,
        api: recordsApi,
        queue: queueOf(baseId),
        actorId: session.userId,
        keepUnsaved: (unsaved) => keepUnsaved(tableId, unsaved),
        async resolveConflict(field, conflict) {
          const { resolveConflict } = await loadPart(() => import('./resolve-conflict.tsx'))
          return resolveConflict(field, conflict)
        },
        notify: (text, kind) => (kind === 'error' ? toast.error({ text }) : toast.info({ text })),
      },
      query,
      layout?.(),
    ),
  )

  useEffect(() => {
    // Not while rendering: the former view hands its edits over when it is removed, which comes after.
    const unsaved = showsUnsaved ? takeUnsaved(tableId) : undefined
    if (unsaved) store.adopt(unsaved)
    void store.reload()
    const stops = [onChange(store.receive), onReconnect(store.missed)]
    return () => {
      for (const stop of stops) stop()
      store.dispose()
    }
  }, [store, tableId, showsUnsaved])

  useEffect(() => store.setQuery(query), [store, query])
  useReadOnNewDay(store, query)
  useReloadWithCache(store, tableId)
  return store
}

/**
 * Reads again what conditions, groups and formulas say of “today”. The server's clock decides, which may be a little
 * behind, and the browsers of a time zone should not come all at once.
 */
function useReadOnNewDay(store: RecordStore, { fields }: StoreQuery): void {
  const zones = zonesOf(fields).join()
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = onNewDay(zones.split(','), (sinceMs) => {
      clearTimeout(timer)
      timer = setTimeout(store.missed, Math.max(0, NEW_DAY_MS * (1 + Math.random()) - sinceMs))
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [store, zones])
}

/** Shortest pause after a midnight. */
const NEW_DAY_MS = 2000

/**
 * Reloads the store when the top bar's reload button invalidates all cached queries. The store's records are not in
 * the query cache, so a placeholder query is invalidated in their stead.
 */
function useReloadWithCache(store: RecordStore, tableId: string): void {
  const { data } = useQuery({
    queryKey: ['records-of-table', tableId],
    queryFn: () => Date.now(),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const first = useRef(data)
  useEffect(() => {
    if (data === undefined || data === first.current) return
    if (first.current !== undefined) void store.reload()
    first.current = data
  }, [data, store])
}
