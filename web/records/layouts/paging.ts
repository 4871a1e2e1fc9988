import { positionKey, type RecordChange } from '../../../src/core/changes.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { RecordId, RecordPage } from '../../../src/core/model.ts'
import type { Query, Selection } from '../../../src/core/query.ts'
import type { GridRow, RangeRequest } from '../../grid/contract.ts'
import { orderOf } from '../record-order.ts'
import type { Columns, RecordsApi, StoreQuery } from '../types.ts'
import type { ListState, TableState } from './list.ts'
import type { RowRange } from './segments.ts'

/** Rows kept in memory; beyond that, the least recently visible ones are evicted. */
const MAX_ROWS = 6000

/** Rows per request when a range is read for the clipboard. */
const RANGE_PAGE = 1000

/** Changes of others within this time are followed by one read. */
const REFRESH_MS = 150

/** The table and query to read, and when a refresh is allowed. */
export interface PagingDeps {
  tableId: string
  api: Pick<RecordsApi, 'list' | 'count' | 'rememberPage'>
  state: TableState
  query(): StoreQuery
  /** False while a refresh would move the row that the user is on. */
  mayRefresh(): boolean
  /** The group that contains a range, and the offset within it, to query it alone; null: none. */
  groupAround?(range: RowRange): Pick<Query, 'group' | 'groups' | 'offset'> | null
  /** Reads data along with the rows. Returns a function that applies it in the same update. */
  readAlongside?(signal: AbortSignal): Promise<() => void>
  /** Null: the last read succeeded. */
  onError(error: unknown | null): void
}

export type Paging = ReturnType<typeof createPaging>

/** Reads rows from the server on scroll, and again after their order changed. */
export function createPaging(deps: PagingDeps) {
  const { api, state, tableId } = deps
  let columns: Columns = new Map()
  let reading: AbortController | null = null
  let refreshTimer: ReturnType<typeof setTimeout> | undefined
  let isStale = false
  /** Rows of collapsed groups, which need not be read. */
  let collapsedRows: readonly RowRange[] = []

  const loader = createLoader({ gaps, load, onError: deps.onError })

  function request(range: RowRange): Query {
    const query = deps.query()
    const offset = Math.max(0, range.first - state.localBefore(range.first))
    return {
      ...selection(),
      fieldIds: [...query.fieldIds],
      ...orderOf(query),
      limit: range.last - range.first + 1,
      offset,
    }
  }

  function selection(): Pick<Selection, 'tableId' | 'filter' | 'search'> {
    const { filter, search } = deps.query()
    return { tableId, filter, search }
  }

  function gaps(range: RowRange): RowRange[] {
    const last = state.count === null ? range.last : Math.min(range.last, state.count - 1)
    if (range.first > last) return []
    return state.segments.gaps({ first: range.first, last }).flatMap((gap) => without(gap, collapsedRows))
  }

  async function load(block: RowRange, signal: AbortSignal): Promise<void> {
    for (const gap of gaps(block)) {
      const askedAt = state.rows.now()
      const page = await readRows(gap, signal)
      signal.throwIfAborted()
      insertPage(page, gap, askedAt)
      deps.onError(null)
    }
  }

  /** Reads rows, from one group where possible: the server then need not sort the whole list. */
  async function readRows(gap: RowRange, signal: AbortSignal): Promise<RecordPage> {
    const group = deps.groupAround?.(gap)
    if (group) {
      const page = await api.list({ ...request(gap), ...group }, signal)
      // Fewer rows: the group changed, so its offset in the list may be wrong.
      if (page.ids.length === gap.last - gap.first + 1) return page
      signal.throwIfAborted()
    }
    return api.list(request(gap), signal)
  }

  function insertPage(page: RecordPage, range: RowRange, askedAt: number): void {
    // All pages with the same columns share one map.
    if (page.fieldIds.some((id, at) => columns.get(id) !== at) || columns.size !== page.fieldIds.length) {
      columns = new Map(page.fieldIds.map((id, at) => [id, at]))
    }
    for (const [at, id] of page.ids.entries()) state.rows.store(id, columns, page.rows[at] ?? [], askedAt)
    const dropped = state.segments.put(range.first, page.ids)
    const isShort = page.ids.length < range.last - range.first + 1
    const end = range.first + page.ids.length
    const wasCount = state.count
    if (isShort && (page.ids.length > 0 || range.first === 0 || wasCount !== null))
      state.count = Math.max(end, state.segments.end)
    const evicted = state.segments.evict(MAX_ROWS, loader.visible(), (id) => isPinned(id))
    state.rows.forget([...dropped, ...evicted])
    if (dropped.length > 0 || state.count !== wasCount || wasCount === null) state.structureChanged()
    else state.rangeChanged(range)
  }

  const isPinned = (id: RecordId): boolean => state.rows.drafts.has(id) || state.rows.edits.has(id)

  /** The first range of a reload: the visible rows, or the top. */
  function firstBlock(fromTop: boolean): RowRange {
    const { first, last } = loader.visible()
    const start = fromTop || last < 0 ? 0 : Math.floor(first / BLOCK) * BLOCK
    const end = Math.max(start + BLOCK, fromTop ? 0 : last + 1)
    return { first: start, last: Math.min(end, start + RANGE_PAGE) - 1 }
  }

  /**
   * Reads the visible rows again and forgets the rest; the old rows stay on screen until the new ones arrive. The count
   * is a separate request (none with `keepsCount`), so that the first page never waits for it.
   *
   * @param yields drops the result, and reads again later, if the user began editing a row meanwhile
   */
  async function reload({ fromTop = false, keepsCount = false, yields = false } = {}): Promise<void> {
    clearTimeout(refreshTimer)
    isStale = false
    reading?.abort()
    loader.stop()
    const controller = new AbortController()
    reading = controller
    const range = firstBlock(fromTop)
    const askedAt = state.rows.now()
    const counting = keepsCount && state.count !== null ? null : readCount(controller.signal)
    const mayApply = () => !yields || deps.mayRefresh()
    try {
      const [page, applyAlongside] = await Promise.all([
        api.list({ ...request(range), offset: range.first }, controller.signal),
        deps.readAlongside?.(controller.signal),
      ])
      if (controller.signal.aborted) return
      const isApplied = mayApply()
      if (isApplied) {
        applyAlongside?.()
        replaceAll(page, range, askedAt)
      } else isStale = true
      deps.onError(null)
      const total = await counting
      if (controller.signal.aborted) return
      if (total && 'failure' in total) throw total.failure
      if (total && isApplied && mayApply()) setCount(total.counted)
    } catch (error) {
      if (controller.signal.aborted) return
      deps.onError(error)
    } finally {
      if (reading === controller) reading = null
    }
    if (controller.signal.aborted) return
    loader.restart()
    // The page may lack changes that were written or sent since it was requested.
    if (isStale || !deps.mayRefresh()) refreshSoon()
  }

  function replaceAll(page: RecordPage, range: RowRange, askedAt: number): void {
    const drafts = [...state.rows.drafts.keys()]
    state.segments.clear()
    state.rows.clear()
    if (page.ids.length === 0 && range.first > 0) state.count = Math.min(state.count ?? 0, range.first)
    insertPage(page, range, askedAt)
    // Unsaved new records are kept at the end.
    if (drafts.length > 0) state.segments.insert(state.segments.end, drafts)
    if (state.count !== null) state.count += drafts.length
    state.structureChanged()
  }

  /** Stores the first page, if loaded completely, for the next visit while offline. */
  function rememberTop(): void {
    const range = { first: 0, last: BLOCK - 1 }
    const end = Math.min(BLOCK, state.count ?? 0)
    if (end === 0 || state.localRows > 0) return
    const rows = Array.from({ length: end }, (_, index) => state.getRow(index))
    if (rows.includes(undefined)) return
    const query = request(range)
    const places = query.orderViewId === undefined ? [] : [positionKey(query.orderViewId)]
    const fieldIds = [...(query.fieldIds ?? []), ...places]
    api.rememberPage?.(query, {
      fieldIds,
      ids: rows.flatMap((row) => (row ? [row.id] : [])),
      rows: rows.flatMap((row) => (row ? [fieldIds.map((id) => row.values(id))] : [])),
      offset: 0,
    })
  }

  /** Returns a failure instead of throwing it, as it may come before the result is awaited. */
  async function readCount(signal: AbortSignal): Promise<{ counted: number } | { failure: unknown }> {
    try {
      return { counted: await api.count(selection(), signal) }
    } catch (failure) {
      return { failure }
    }
  }

  function setCount(counted: number): void {
    const total = counted + state.localRows
    if (state.count === total) return
    state.count = total
    state.structureChanged()
  }

  /** Schedules a reload, whichever records changed, as their new positions are unknown. */
  function refreshSoon(_touched?: readonly RecordChange[]): void {
    isStale = true
    clearTimeout(refreshTimer)
    refreshTimer = setTimeout(() => {
      if (isStale && deps.mayRefresh()) void reload({ yields: true })
    }, REFRESH_MS)
  }

  return {
    reload,
    refreshSoon,
    /** Runs a postponed reload, e.g. after the user left the row that forbade it. */
    refreshIfStale: (): void => {
      if (isStale) refreshSoon()
    },
    columns: (): Columns => columns,

    /** The visible records, from the top. */
    visibleIds(): RecordId[] {
      const { first, last } = loader.visible()
      const ids: RecordId[] = []
      for (let index = Math.max(0, first); index <= last; index++) {
        const id = state.segments.idAt(index)
        if (id !== undefined) ids.push(id)
      }
      return ids
    },

    requestRange(first: number, last: number, collapsed: readonly RowRange[] = []): void {
      if (last < first) return
      collapsedRows = collapsed
      if (reading) loader.setVisibleQuietly({ first, last })
      else loader.setVisible({ first, last })
    },

    /** Drops running requests after rows moved, as their results would land at wrong indexes. */
    restart: (): void => {
      if (reading) isStale = true
      else loader.restart()
    },

    stop(): void {
      rememberTop()
      clearTimeout(refreshTimer)
      reading?.abort()
      loader.stop()
    },

    /** All rows of a range, from memory where loaded. */
    async readRange({ first, last, fieldIds, signal, onProgress }: RangeRequest): Promise<GridRow[]> {
      const found: GridRow[] = []
      const total = last - first + 1
      const query = deps.query()
      const isHeld = fieldIds.every((id) => query.fieldIds.includes(id))
      for (let index = first; index <= last; ) {
        signal?.throwIfAborted()
        const loaded = isHeld ? state.getRow(index) : undefined
        if (loaded) {
          found.push(loaded)
          index++
          continue
        }
        const end = lastMissing(index, Math.min(last, index + RANGE_PAGE - 1), isHeld)
        const asked = { ...request({ first: index, last: end }), fieldIds }
        const page = await api.list(asked, signal ?? new AbortController().signal)
        found.push(...page.ids.map((id, at) => detachedRow(id, page.fieldIds, page.rows[at] ?? [])))
        index = end + 1
        onProgress?.(Math.min(index - first, total), total)
      }
      return found
    },
  }

  function lastMissing(from: number, last: number, isHeld: boolean): number {
    if (!isHeld) return last
    for (let index = from + 1; index <= last; index++)
      if (state.segments.idAt(index) !== undefined) return index - 1
    return last
  }
}

/** A range minus others. */
function without(range: RowRange, cut: readonly RowRange[]): RowRange[] {
  return cut.reduce<RowRange[]>(
    (parts, { first, last }) =>
      parts.flatMap((part) => {
        if (last < part.first || first > part.last) return [part]
        const rest = [
          { first: part.first, last: first - 1 },
          { first: last + 1, last: part.last },
        ]
        return rest.filter((each) => each.first <= each.last)
      }),
    [range],
  )
}

/** A row read for the clipboard, not stored. */
function detachedRow(id: RecordId, fieldIds: string[], values: CellValue[]): GridRow {
  return { id, values: (fieldId) => values[fieldIds.indexOf(fieldId)] ?? null }
}

/** The loaded rows of a range; reads fields that the view does not load. */
export async function readLoadedRange(
  { api, tableId, query }: Pick<PagingDeps, 'api' | 'tableId' | 'query'>,
  { first, last, fieldIds, signal = new AbortController().signal }: RangeRequest,
  { segments, rows }: Pick<ListState, 'segments' | 'rows'>,
): Promise<GridRow[]> {
  const ids: RecordId[] = []
  for (let index = first; index <= last; index++) {
    const id = segments.idAt(index)
    if (id !== undefined) ids.push(id)
  }
  const isHeld = fieldIds.every((id) => query().fieldIds.includes(id))
  if (isHeld || ids.length === 0) return ids.flatMap((id) => rows.row(id) ?? [])
  const wanted = { tableId, recordIds: ids, fieldIds: [...fieldIds], sorts: [], limit: ids.length, offset: 0 }
  const page = await api.list(wanted, signal)
  const found = new Map(page.ids.map((id, at) => [id, detachedRow(id, page.fieldIds, page.rows[at] ?? [])]))
  return ids.flatMap((id) => found.get(id) ?? [])
}

interface LoaderDeps {
  /** The rows of a range that are not loaded. */
  gaps(range: RowRange): RowRange[]
  /** Reads and stores rows. Rejects when the signal aborts or the request fails. */
  load(range: RowRange, signal: AbortSignal): Promise<void>
  onError(error: unknown): void
}

/** Rows per request; loaded rows are aligned to such blocks. */
const BLOCK = 200

/** Parallel requests. */
const PARALLEL = 2

/** During fast scrolling, jumps over more rows than this wait for `REST_MS` without movement. */
const FAR = 4 * BLOCK
const REST_MS = 40

/**
 * Reads the visible rows in blocks. Requests for rows scrolled past are aborted; while the scroll bar is dragged over a
 * long table, none starts until it rests.
 */
function createLoader({ gaps, load, onError }: LoaderDeps) {
  const running = new Map<AbortController, RowRange>()
  let visible: RowRange = { first: 0, last: -1 }
  let visibleSince = Number.NEGATIVE_INFINITY
  let direction = 1
  let timer: ReturnType<typeof setTimeout> | undefined

  /** The visible rows and one more block in the scroll direction. */
  const ahead = (): RowRange => {
    const { first, last } = visible
    const range = direction > 0 ? { first, last: last + BLOCK / 2 } : { first: first - BLOCK / 2, last }
    return { first: Math.max(0, range.first), last: range.last }
  }

  function pump(): void {
    const near = ahead()
    for (const [controller, range] of running) {
      if (range.last < near.first - BLOCK || range.first > near.last + BLOCK) {
        running.delete(controller)
        controller.abort()
      }
    }
    for (const range of blocksOf([visible, near].flatMap(gaps))) {
      if (running.size >= PARALLEL) return
      const isUnderWay = [...running.values()].some((other) => overlaps(other, range))
      if (!isUnderWay) void start(range)
    }
  }

  async function start(range: RowRange): Promise<void> {
    const controller = new AbortController()
    running.set(controller, range)
    try {
      await load(range, controller.signal)
    } catch (error) {
      if (!controller.signal.aborted) {
        // No `pump` after an error, so that a failing block is not requested in a loop.
        running.delete(controller)
        onError(error)
      }
      return
    }
    if (running.delete(controller)) pump()
  }

  return {
    /** Sets the visible rows and reads the missing ones. Cheap: called on every scroll event. */
    setVisible(range: RowRange): void {
      const now = performance.now()
      const jump = Math.abs(range.first - visible.first)
      const isFlying = jump > FAR && now - visibleSince < 2 * REST_MS
      if (range.first !== visible.first) direction = range.first > visible.first ? 1 : -1
      visible = range
      visibleSince = now
      clearTimeout(timer)
      if (isFlying) timer = setTimeout(pump, REST_MS)
      else pump()
    },

    /** Aborts running requests and reads the visible rows, after rows moved. */
    restart(): void {
      this.stop()
      pump()
    },

    /** Aborts all requests. */
    stop(): void {
      clearTimeout(timer)
      for (const controller of running.keys()) controller.abort()
      running.clear()
    },

    /** Sets the visible rows without reading them, while a reload is running. */
    setVisibleQuietly(range: RowRange): void {
      visible = range
    },

    visible: (): RowRange => visible,
    isBusy: (): boolean => running.size > 0,
  }
}

const overlaps = (a: RowRange, b: RowRange): boolean => a.first <= b.last && b.first <= a.last

/** The blocks that gaps touch: scrolling row by row requests a block, not single rows. */
function blocksOf(gaps: RowRange[]): RowRange[] {
  const blocks = new Map<number, RowRange>()
  for (const gap of gaps) {
    for (let block = Math.floor(gap.first / BLOCK); block <= Math.floor(gap.last / BLOCK); block++) {
      blocks.set(block, { first: block * BLOCK, last: block * BLOCK + BLOCK - 1 })
    }
  }
  return [...blocks.values()]
}
