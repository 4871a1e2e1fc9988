import { createStore } from 'zustand/vanilla'
import type { RecordPage } from '../../../src/core/model.ts'
import type { Query, Selection } from '../../../src/core/query.ts'
import type { GridRow, GridSource } from '../../grid/contract.ts'
import type { RecordsApi } from '../types.ts'

/** Records of a period per request, enough for a typical month. */
export const PERIOD_PAGE = 1000

/** How long a prefetched page may be used. */
const FRESH_MS = 60_000

type ReadApi = Pick<RecordsApi, 'list' | 'count'>

/**
 * Record requests of a view that needs all rows at once (calendar, timeline): reads whole pages instead of the store's
 * blocks, derives the count from an incomplete page, and prefetches the neighbouring periods. A prefetched page is used
 * once.
 */
export function createPeriodReader(api: ReadApi, now = () => performance.now()) {
  /** Pages of the current query, by number. */
  let current = { key: '', pages: new Map<number, Promise<RecordPage>>() }
  const prefetched = new Map<string, { page: Promise<RecordPage>; at: number }>()
  const running = createStore(() => 0)

  function trackRunning(page: Promise<RecordPage>): Promise<RecordPage> {
    addRunning(1)
    const end = () => addRunning(-1)
    page.then(end, end)
    return page
  }

  function addRunning(by: 1 | -1): void {
    running.setState((before) => before + by)
  }

  function readPage(query: Query, at: number, signal: AbortSignal): Promise<RecordPage> {
    const { pages } = current
    const known = pages.get(at)
    if (known) return known
    const page = trackRunning(api.list({ ...query, limit: PERIOD_PAGE, offset: at * PERIOD_PAGE }, signal))
    pages.set(at, page)
    // The callers that wait get the error; the next call reads again.
    page.catch(() => pages.delete(at))
    return page
  }

  function takePrefetched(key: string): Promise<RecordPage> | null {
    const found = prefetched.get(key)
    prefetched.delete(key)
    return found && now() - found.at < FRESH_MS ? found.page : null
  }

  async function list(query: Query, signal: AbortSignal): Promise<RecordPage> {
    // Reads of single records, e.g. of their computed values, bypass the cache.
    if (query.recordIds) return api.list(query, signal)
    const key = keyOf(query)
    const at = Math.floor(query.offset / PERIOD_PAGE)
    // Offset 0 is a reload of the store: earlier pages may be out of date.
    if (query.offset === 0 || current.key !== key) {
      current = { key, pages: new Map() }
      const found = at === 0 ? takePrefetched(key) : null
      if (found) current.pages.set(0, found)
    }
    const page = await readPage(query, at, signal)
    const skipped = query.offset - at * PERIOD_PAGE
    return { ...page, offset: query.offset, ids: page.ids.slice(skipped), rows: page.rows.slice(skipped) }
  }

  return {
    list,

    async count(selection: Selection, signal: AbortSignal): Promise<number> {
      // The store requests the count just before the rows: wait until the page is requested.
      await Promise.resolve()
      const first = current.key.startsWith(selectionKey(selection))
        ? await current.pages.get(0)?.catch(() => null)
        : null
      signal.throwIfAborted()
      return first && first.ids.length < PERIOD_PAGE ? first.ids.length : api.count(selection, signal)
    },

    /**
     * Reads the first pages of queries in advance, and forgets all other prefetched pages. Errors are ignored, as a
     * missing page is read on demand.
     */
    prefetch(queries: readonly Omit<Query, 'limit' | 'offset'>[]): void {
      const keys = queries.map(keyOf)
      for (const key of prefetched.keys()) if (!keys.includes(key)) prefetched.delete(key)
      for (const [at, query] of queries.entries()) {
        const key = keys[at] ?? ''
        if (prefetched.has(key) || current.key === key) continue
        const page = api.list({ ...query, limit: PERIOD_PAGE, offset: 0 }, new AbortController().signal)
        prefetched.set(key, { page, at: now() })
        page.catch(() => prefetched.delete(key))
      }
    },

    /** Forgets prefetched pages, after records changed. */
    forget: (): void => prefetched.clear(),

    isReading: (): boolean => running.getState() > 0,
    subscribe: running.subscribe,
  }
}

/** Starts with `selectionKey`, so that a count finds the pages of its selection. */
const keyOf = (query: Omit<Query, 'limit' | 'offset'>): string =>
  selectionKey(query) + JSON.stringify([query.sorts ?? [], query.fieldIds ?? []])

const selectionKey = ({ viewId, filter, search }: Pick<Query, 'viewId' | 'filter' | 'search'>): string =>
  JSON.stringify([viewId ?? null, filter ?? null, search ?? null])

/**
 * All rows of a source up to a limit, as one list that changes with any of them: a calendar needs the dates of all rows
 * to know which are visible.
 */
export function createRowList(source: GridSource, start: number) {
  let limit = start
  let rows: readonly GridRow[] = []
  let isStale = true
  let isDue = false
  const listeners = new Set<() => void>()
  /** Unsubscribe functions, one per row. */
  const stops: (() => void)[] = []

  // Rows notify one by one, a page at a time: collect them once per burst.
  function changed(): void {
    if (isDue) return
    isDue = true
    queueMicrotask(() => {
      isDue = false
      isStale = true
      subscribeRows()
      for (const listener of [...listeners]) listener()
    })
  }

  function subscribeRows(): void {
    const count = Math.min(limit, source.rowCount ?? limit)
    for (let index = stops.length; index < count; index++) stops.push(source.subscribeRow(index, changed))
    source.requestRange(0, count - 1)
  }

  return {
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      const stop = source.subscribe(changed)
      subscribeRows()
      return () => {
        listeners.delete(listener)
        stop()
        for (const end of stops.splice(0)) end()
      }
    },

    /** The loaded rows, in the source's order; the same list until one of them changes. */
    rows(): readonly GridRow[] {
      if (!isStale) return rows
      isStale = false
      const count = Math.min(limit, source.rowCount ?? limit)
      const found: GridRow[] = []
      for (let index = 0; index < count; index++) {
        const row = source.getRow(index)
        if (row) found.push(row)
      }
      rows = found
      return rows
    },

    limit: (): number => limit,

    /** Reads up to `next` rows: more on demand, fewer after a change of the period. */
    setLimit(next: number): void {
      if (next === limit) return
      limit = next
      for (const end of stops.splice(limit)) end()
      changed()
    },
  }
}
