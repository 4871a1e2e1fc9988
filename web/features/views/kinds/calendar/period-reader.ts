import { createStore } from 'zustand/vanilla'
import type { RecordPage } from '../../../../../src/core/model.ts'
import type { Query, Selection } from '../../../../../src/core/query.ts'
import type { RecordsApi } from '../../../records/store/types.ts'

/** Records of a period that one request reads: a usual month comes whole. */
export const PERIOD_PAGE = 1000

/** How long what was read ahead may be used. */
const FRESH_MS = 60_000

type ReadApi = Pick<RecordsApi, 'list' | 'count'>

export type PeriodReader = ReturnType<typeof createPeriodReader>

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
