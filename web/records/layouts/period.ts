import { createStore } from 'zustand/vanilla'
import type { RecordPage } from '../../../src/core/model.ts'
import type { Query, Selection } from '../../../src/core/query.ts'
import type { GridRow, GridSource } from '../../grid/contract.ts'
import type { RecordsApi } from '../types.ts'

/** Records of a period that one request reads: a usual month comes whole. */
export const PERIOD_PAGE = 1000

/** How long what was read ahead may be used. */
const FRESH_MS = 60_000

type ReadApi = Pick<RecordsApi, 'list' | 'count'>

/**
 * Reads for a store whose rows are all wanted at once, not as they come in sight: where the store asks for
 * a block it gets the page around it, and a count that such a page tells is not asked for. What was read
 * ahead of time is given out once.
 */
export function createPeriodReader(api: ReadApi, now = () => performance.now()) {
  /** The pages of what is read at present, by number. */
  let held = { key: '', pages: new Map<number, Promise<RecordPage>>() }
  const ahead = new Map<string, { page: Promise<RecordPage>; at: number }>()
  const running = createStore(() => 0)

  function follow(page: Promise<RecordPage>): Promise<RecordPage> {
    count(1)
    const end = () => count(-1)
    page.then(end, end)
    return page
  }

  function count(by: 1 | -1): void {
    running.setState((before) => before + by)
  }

  function readPage(query: Query, at: number, signal: AbortSignal): Promise<RecordPage> {
    const { pages } = held
    const known = pages.get(at)
    if (known) return known
    const page = follow(api.list({ ...query, limit: PERIOD_PAGE, offset: at * PERIOD_PAGE }, signal))
    pages.set(at, page)
    // Whoever waits for it hears of the error; the next who asks reads anew.
    page.catch(() => pages.delete(at))
    return page
  }

  function takeAhead(key: string): Promise<RecordPage> | null {
    const found = ahead.get(key)
    ahead.delete(key)
    return found && now() - found.at < FRESH_MS ? found.page : null
  }

  async function list(query: Query, signal: AbortSignal): Promise<RecordPage> {
    // Single records, e.g. for what is computed.
    if (query.recordIds) return api.list(query, signal)
    const key = keyOf(query)
    const at = Math.floor(query.offset / PERIOD_PAGE)
    // The store begins anew at the top: what it was given before may have changed since.
    if (query.offset === 0 || held.key !== key) {
      held = { key, pages: new Map() }
      const found = at === 0 ? takeAhead(key) : null
      if (found) held.pages.set(0, found)
    }
    const page = await readPage(query, at, signal)
    const skipped = query.offset - at * PERIOD_PAGE
    return { ...page, offset: query.offset, ids: page.ids.slice(skipped), rows: page.rows.slice(skipped) }
  }

  return {
    list,

    async count(selection: Selection, signal: AbortSignal): Promise<number> {
      // The store asks for the count first and for the rows right behind it.
      await Promise.resolve()
      const first = held.key.startsWith(selectionKey(selection))
        ? await held.pages.get(0)?.catch(() => null)
        : null
      signal.throwIfAborted()
      return first && first.ids.length < PERIOD_PAGE ? first.ids.length : api.count(selection, signal)
    },

    /**
     * Reads the first pages of queries before they are wanted, and lets go of all others that were read so.
     * Failing is of no matter: what is missing is read when it is wanted.
     */
    prefetch(queries: readonly Omit<Query, 'limit' | 'offset'>[]): void {
      const keys = queries.map(keyOf)
      for (const key of ahead.keys()) if (!keys.includes(key)) ahead.delete(key)
      for (const [at, query] of queries.entries()) {
        const key = keys[at] ?? ''
        if (ahead.has(key) || held.key === key) continue
        const page = api.list({ ...query, limit: PERIOD_PAGE, offset: 0 }, new AbortController().signal)
        ahead.set(key, { page, at: now() })
        page.catch(() => ahead.delete(key))
      }
    },

    /** Records changed: what was read ahead may be out of date. */
    forget: (): void => ahead.clear(),

    isReading: (): boolean => running.getState() > 0,
    subscribe: running.subscribe,
  }
}

/** Begins with what says which records are meant. */
const keyOf = (query: Omit<Query, 'limit' | 'offset'>): string =>
  selectionKey(query) + JSON.stringify([query.sorts ?? [], query.fieldIds ?? []])

const selectionKey = ({ filter, search }: Pick<Query, 'filter' | 'search'>): string =>
  JSON.stringify([filter ?? null, search ?? null])

/**
 * All rows of a source up to a limit as one list, which changes when any of them does: a calendar cannot
 * say which rows are in sight before it knows their dates.
 */
export function createRowList(source: GridSource, start: number) {
  let limit = start
  let rows: readonly GridRow[] = []
  let isStale = true
  let isDue = false
  const listeners = new Set<() => void>()
  /** Unsubscribe functions, one per row. */
  const stops: (() => void)[] = []

  // Rows are told of one by one, a page of them at a time: they are gathered once for all of these.
  function changed(): void {
    if (isDue) return
    isDue = true
    queueMicrotask(() => {
      isDue = false
      isStale = true
      follow()
      for (const listener of [...listeners]) listener()
    })
  }

  function follow(): void {
    const wanted = Math.min(limit, source.rowCount ?? limit)
    for (let index = stops.length; index < wanted; index++) stops.push(source.subscribeRow(index, changed))
    source.requestRange(0, wanted - 1)
  }

  return {
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      const stop = source.subscribe(changed)
      follow()
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

    /** Reads further, or (after another period was chosen) no further than this. */
    setLimit(next: number): void {
      if (next === limit) return
      limit = next
      for (const end of stops.splice(limit)) end()
      changed()
    },
  }
}
