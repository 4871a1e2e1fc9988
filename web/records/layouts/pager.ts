import type { RecordId, RecordPage } from '../../../src/core/model.ts'
import type { Query } from '../../../src/core/query.ts'
import type { Rows } from '../rows.ts'
import type { Columns } from '../types.ts'
import type { RowRange, Segments } from './segments.ts'

/** How a list is read in pages. */
export interface PageScheme {
  /** Rows per request. */
  size: number
  /** Parallel requests. */
  parallel: number
  /** Rows kept in memory; beyond that, the least recently visible ones are evicted. */
  maxRows: number
  /**
   * The next requests, most urgent first.
   *
   * @param direction 1: the user scrolls down, -1: up
   * @param gaps returns the rows of a range that are not loaded
   */
  requests(visible: RowRange, direction: 1 | -1, gaps: (range: RowRange) => RowRange[]): RowRange[]
  /** The rows of a reload; null: none is visible. */
  firstPage(visible: RowRange | null): RowRange
}

/** A page of a list as requested. */
interface LoadedPage {
  page: RecordPage
  range: RowRange
  /** `rows.now()` at the request. */
  askedAt: number
}

/** The rows of one list, and how to read and show them. */
export interface PagerDeps {
  list: {
    readonly segments: Pick<Segments, 'idAt' | 'indexOf' | 'gaps' | 'end'>
    /** Null while unknown. */
    count: number | null
    /** Changes when a row is added, removed or moved: responses to earlier requests would land at wrong indexes. */
    readonly shape?: number
  }
  rows: Rows
  columns: SharedColumns
  scheme: PageScheme
  query(): Omit<Query, 'limit' | 'offset'>
  read(query: Query, range: RowRange, signal: AbortSignal): Promise<RecordPage>
  /** Sets the records from a row on. Returns those that are no longer loaded. */
  put(start: number, ids: RecordId[]): RecordId[]
  evict: Segments['evict']
  /** Unloads all rows, before those of a reload are set. */
  clear(next: readonly RecordId[]): void
  /** Adds the unsaved new records, after a reload. */
  addDrafts(): void
  /** Redraws a page; `isMoved`: the count or the order changed. */
  redraw(ids: readonly RecordId[], range: RowRange, isMoved: boolean): void
  /** False while no request may start. */
  mayLoad(): boolean
  /** False while the number of rows has not been read: until then, a page without rows shows where the list ends. */
  isCounted?(): boolean
  /** Called after a page; `isStuck`: the server lacks rows that the count promises, and the list must be reloaded. */
  onLoad(isStuck: boolean): void
  /** Null: the last read succeeded. */
  onError(error: unknown | null): void
}

export type Pager = ReturnType<typeof createPager>

/** During fast scrolling, jumps over more pages than this wait for `REST_MS` without movement. */
const FAR_PAGES = 4
const REST_MS = 40

/**
 * Reads the visible rows of one list in pages. Requests for rows scrolled past are aborted; while the scroll bar is
 * dragged over a long list, none starts until it rests. After an error or a stuck page nothing is requested before the
 * next `setVisible` or `restart`.
 */
export function createPager(deps: PagerDeps) {
  const { list, rows, scheme } = deps
  const running = new Map<AbortController, RowRange>()
  let visible: RowRange | null = null
  let visibleSince = Number.NEGATIVE_INFINITY
  let direction: 1 | -1 = 1
  let timer: ReturnType<typeof setTimeout> | undefined
  let isBlocked = false
  /** Rows that need not be read. */
  let skipped: readonly RowRange[] = []

  const isPinned = (id: RecordId): boolean => rows.drafts.has(id) || rows.edits.has(id)

  function gaps({ first, last }: RowRange): RowRange[] {
    const end = list.count === null ? last : Math.min(last, list.count - 1)
    const start = Math.max(0, first)
    if (start > end) return []
    return list.segments.gaps({ first: start, last: end }).flatMap((gap) => without(gap, skipped))
  }

  /** Drafts before the range are unknown to the server. */
  function request(range: RowRange): Query {
    let local = 0
    for (const id of rows.drafts.keys()) if ((list.segments.indexOf(id) ?? range.first) < range.first) local++
    return { ...deps.query(), limit: lengthOf(range), offset: Math.max(0, range.first - local) }
  }

  function pump(): void {
    if (!visible) return
    const { first, last } = visible
    const near = { first: first - 1.5 * scheme.size, last: last + 1.5 * scheme.size }
    for (const [controller, range] of running) {
      if (overlaps(range, near)) continue
      running.delete(controller)
      controller.abort()
    }
    if (isBlocked) return
    for (const range of scheme.requests(visible, direction, gaps)) {
      if (running.size >= scheme.parallel || !deps.mayLoad()) return
      const isUnderWay = [...running.values()].some((other) => overlaps(other, range))
      if (!isUnderWay) void load(range)
    }
  }

  async function load(range: RowRange): Promise<void> {
    const controller = new AbortController()
    const { shape } = list
    const askedAt = rows.now()
    running.set(controller, range)
    try {
      const page = await deps.read(request(range), range, controller.signal)
      if (controller.signal.aborted) return
      running.delete(controller)
      const isCurrent = list.shape === shape
      if (isCurrent) insert({ page, range, askedAt })
      deps.onError(null)
      const isStuck = isCurrent && gaps(range)[0]?.first === range.first
      if (isStuck) isBlocked = true
      deps.onLoad(isStuck)
    } catch (error) {
      if (controller.signal.aborted) return
      running.delete(controller)
      isBlocked = true
      deps.onError(error)
    }
  }

  function insert({ page, range, askedAt }: LoadedPage): void {
    const columns = deps.columns.of(page.fieldIds)
    for (const [at, id] of page.ids.entries()) rows.store(id, columns, page.rows[at] ?? [], askedAt)
    const before = list.count
    const dropped = deps.put(range.first, page.ids)
    const showsEnd = page.ids.length > 0 || range.first === 0 || deps.isCounted?.() === false
    if (page.ids.length < lengthOf(range) && showsEnd)
      list.count = Math.max(range.first + page.ids.length, list.segments.end)
    const evicted = deps.evict(scheme.maxRows, visible ?? { first: 0, last: -1 }, isPinned)
    rows.forget([...dropped, ...evicted])
    deps.redraw(page.ids, range, dropped.length > 0 || before === null || list.count !== before)
  }

  function stop(): void {
    clearTimeout(timer)
    for (const controller of running.keys()) controller.abort()
    running.clear()
    isBlocked = false
  }

  return {
    request,
    pump,

    /** Sets the visible rows and reads the missing ones. Cheap: called on every scroll event. */
    setVisible(range: RowRange, skip: readonly RowRange[] = []): void {
      const now = performance.now()
      const jump = visible ? range.first - visible.first : 0
      const isFlying = Math.abs(jump) > FAR_PAGES * scheme.size && now - visibleSince < 2 * REST_MS
      if (jump !== 0) direction = jump > 0 ? 1 : -1
      visible = range
      visibleSince = now
      skipped = skip
      isBlocked = false
      clearTimeout(timer)
      if (isFlying) timer = setTimeout(pump, REST_MS)
      else pump()
    },

    /** Starts no more requests until the next `setVisible`. */
    hide(): void {
      visible = null
    },

    isShown: (): boolean => visible !== null,

    /** The loaded records of the visible rows, from the top. */
    visibleIds(): RecordId[] {
      const { first, last } = visible ?? { first: 0, last: -1 }
      const ids: RecordId[] = []
      for (let index = Math.max(0, first); index <= last; index++) {
        const id = list.segments.idAt(index)
        if (id !== undefined) ids.push(id)
      }
      return ids
    },

    /** Reads the visible rows, or the top, for `replace`. Drafts are left out of the offset: `replace` adds them afterwards. */
    async readAgain(signal: AbortSignal, { fromTop = false } = {}): Promise<LoadedPage> {
      const range = scheme.firstPage(fromTop ? null : visible)
      const askedAt = rows.now()
      const page = await deps.read({ ...request(range), offset: range.first }, range, signal)
      return { page, range, askedAt }
    },

    /** Replaces all loaded rows by a page, to which drafts are added. */
    replace(loaded: LoadedPage): void {
      const { page, range } = loaded
      deps.clear(page.ids)
      if (page.ids.length === 0 && range.first > 0) list.count = Math.min(list.count ?? 0, range.first)
      insert(loaded)
      deps.addDrafts()
    },

    /** Aborts running requests and reads the visible rows, after rows moved. */
    restart(): void {
      stop()
      pump()
    },

    /** Aborts all requests. */
    stop,

    isBusy: (): boolean => running.size > 0,
  }
}

/** Maps of the columns of pages: all pages with the same columns share one. */
export type SharedColumns = ReturnType<typeof createSharedColumns>

/** Creates an empty map, for the pages of one store. */
export function createSharedColumns() {
  let columns: Columns = new Map()
  return {
    /** The map of a page with these fields. */
    of(fieldIds: readonly string[]): Columns {
      if (columns.size !== fieldIds.length || fieldIds.some((id, at) => columns.get(id) !== at))
        columns = new Map(fieldIds.map((id, at) => [id, at]))
      return columns
    },
    /** The map of the last page. */
    current: (): Columns => columns,
  }
}

const lengthOf = ({ first, last }: RowRange): number => last - first + 1

const overlaps = (a: RowRange, b: RowRange): boolean => a.first <= b.last && b.first <= a.last

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
