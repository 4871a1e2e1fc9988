import { placeKey, type RecordChange } from '../../../src/core/changes.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { RecordId, RecordPage } from '../../../src/core/model.ts'
import type { Query, Selection } from '../../../src/core/query.ts'
import type { GridRow, RangeRequest } from '../../grid/contract.ts'
import { orderOf } from '../record-order.ts'
import type { Columns, RecordsApi, StoreQuery } from '../types.ts'
import type { ListState, TableState } from './list.ts'
import type { RowRange } from './segments.ts'

/** Rows kept at most: past it the ones out of sight longest are forgotten, so the heap stays flat. */
const MAX_ROWS = 6000

/** Rows per request when a whole range is read for the clipboard. */
const RANGE_PAGE = 1000

/** A burst of changes from elsewhere is answered with one reading. */
const REFRESH_MS = 150

/** The table to read, what of it, and when it may be read anew. */
export interface PagingDeps {
  tableId: string
  api: Pick<RecordsApi, 'list' | 'count' | 'leave'>
  state: TableState
  query(): StoreQuery
  /** False while reading again would lose the place of a row that the person is on. */
  mayRefresh(): boolean
  /** Where rows lie within a part of the list that can be asked for by itself; null: in none. */
  partOf?(range: RowRange): Pick<Query, 'group' | 'groups' | 'offset'> | null
  /** Data read along with the rows. Returns a function that applies it in the same update. */
  beside?(signal: AbortSignal): Promise<() => void>
  /** Null: reading works (again). */
  onError(error: unknown | null): void
}

export type Paging = ReturnType<typeof createPaging>

/** Reads rows from the server as they come in sight, and all of them again when their order changed. */
export function createPaging(deps: PagingDeps) {
  const { api, state, tableId } = deps
  let columns: Columns = new Map()
  let reading: AbortController | null = null
  let refreshTimer: ReturnType<typeof setTimeout> | undefined
  let isStale = false
  /** Rows in sight that are not shown, and need not be read. */
  let hidden: readonly RowRange[] = []

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
    return state.segments.gaps({ first: range.first, last }).flatMap((gap) => without(gap, hidden))
  }

  async function load(block: RowRange, signal: AbortSignal): Promise<void> {
    for (const gap of gaps(block)) {
      const askedAt = state.rows.now()
      const page = await readRows(gap, signal)
      signal.throwIfAborted()
      place(page, gap, askedAt)
      deps.onError(null)
    }
  }

  /** Rows as a part of the list, where that is known to be one: the whole of it need not be put in order. */
  async function readRows(gap: RowRange, signal: AbortSignal): Promise<RecordPage> {
    const part = deps.partOf?.(gap)
    if (part) {
      const page = await api.list({ ...request(gap), ...part }, signal)
      // Fewer: the part is not what it was, which only the list as a whole can tell.
      if (page.ids.length === gap.last - gap.first + 1) return page
      signal.throwIfAborted()
    }
    return api.list(request(gap), signal)
  }

  function place(page: RecordPage, range: RowRange, askedAt: number): void {
    // One map for all pages of the same columns: rows share it.
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
    const evicted = state.segments.evict(MAX_ROWS, loader.wanted(), (id) => isPinned(id))
    state.rows.forget([...dropped, ...evicted])
    if (dropped.length > 0 || state.count !== wasCount || wasCount === null) state.structureChanged()
    else state.rangeChanged(range)
  }

  const isPinned = (id: RecordId): boolean => state.rows.drafts.has(id) || state.rows.edits.has(id)

  /** The rows to begin with: those in sight, or the top. */
  function firstBlock(fromTop: boolean): RowRange {
    const { first, last } = loader.wanted()
    const start = fromTop || last < 0 ? 0 : Math.floor(first / BLOCK) * BLOCK
    const end = Math.max(start + BLOCK, fromTop ? 0 : last + 1)
    return { first: start, last: Math.min(end, start + RANGE_PAGE) - 1 }
  }

  /**
   * Reads what is in sight anew and forgets the rest; the old rows stay on the screen until the new
   * ones are here. The count comes separately (`keepsCount`: not at all): the first page never waits for it.
   *
   * @param yields what was read is left aside where the person has begun on a row meanwhile, and read again later
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
    const mayPlace = () => !yields || deps.mayRefresh()
    try {
      const [page, placeBeside] = await Promise.all([
        api.list({ ...request(range), offset: range.first }, controller.signal),
        deps.beside?.(controller.signal),
      ])
      if (controller.signal.aborted) return
      const isPlaced = mayPlace()
      if (isPlaced) {
        placeBeside?.()
        replaceAll(page, range, askedAt)
      } else isStale = true
      deps.onError(null)
      const total = await counting
      if (controller.signal.aborted) return
      if (total && 'failure' in total) throw total.failure
      if (total && isPlaced && mayPlace()) placeCount(total.counted)
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
    place(page, range, askedAt)
    // Unsaved new records are kept at the end.
    if (drafts.length > 0) state.segments.insert(state.segments.end, drafts)
    if (state.count !== null) state.count += drafts.length
    state.structureChanged()
  }

  /** Tells the first page as it stands now, where all of it is loaded: the next visit begins with it. */
  function rememberTop(): void {
    const range = { first: 0, last: BLOCK - 1 }
    const end = Math.min(BLOCK, state.count ?? 0)
    if (end === 0 || state.localRows > 0) return
    const rows = Array.from({ length: end }, (_, index) => state.getRow(index))
    if (rows.includes(undefined)) return
    const query = request(range)
    const places = query.orderViewId === undefined ? [] : [placeKey(query.orderViewId)]
    const fieldIds = [...(query.fieldIds ?? []), ...places]
    api.leave?.(query, {
      fieldIds,
      ids: rows.flatMap((row) => (row ? [row.id] : [])),
      rows: rows.flatMap((row) => (row ? [fieldIds.map((id) => row.values(id))] : [])),
      offset: 0,
    })
  }

  /** Gives what went wrong rather than throwing it: nobody may be waiting when it fails. */
  async function readCount(signal: AbortSignal): Promise<{ counted: number } | { failure: unknown }> {
    try {
      return { counted: await api.count(selection(), signal) }
    } catch (failure) {
      return { failure }
    }
  }

  function placeCount(counted: number): void {
    const total = counted + state.localRows
    if (state.count === total) return
    state.count = total
    state.structureChanged()
  }

  /** Reads again soon: what came in from elsewhere may stand anywhere, whichever records it touched. */
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
    /** Carries out a postponed reading, now that the person has left the row that forbade it. */
    refreshIfStale: (): void => {
      if (isStale) refreshSoon()
    },
    columns: (): Columns => columns,

    /** The records in sight, from the top. */
    inSight(): RecordId[] {
      const { first, last } = loader.wanted()
      const ids: RecordId[] = []
      for (let index = Math.max(0, first); index <= last; index++) {
        const id = state.segments.idAt(index)
        if (id !== undefined) ids.push(id)
      }
      return ids
    },

    requestRange(first: number, last: number, notShown: readonly RowRange[] = []): void {
      if (last < first) return
      hidden = notShown
      if (reading) loader.note({ first, last })
      else loader.want({ first, last })
    },

    /** Rows have moved: answers under way would land in the wrong place. */
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

    /** Rows of a range in full, from memory where they are loaded. */
    async readRange({ first, last, fieldIds, signal, onProgress }: RangeRequest): Promise<GridRow[]> {
      const found: GridRow[] = []
      const total = last - first + 1
      const query = deps.query()
      const isHeld = fieldIds.every((id) => query.fieldIds.includes(id))
      for (let index = first; index <= last; ) {
        signal?.throwIfAborted()
        const held = isHeld ? state.getRow(index) : undefined
        if (held) {
          found.push(held)
          index++
          continue
        }
        const end = nextHeld(index, Math.min(last, index + RANGE_PAGE - 1), isHeld)
        const asked = { ...request({ first: index, last: end }), fieldIds }
        const page = await api.list(asked, signal ?? new AbortController().signal)
        found.push(...page.ids.map((id, at) => detachedRow(id, page.fieldIds, page.rows[at] ?? [])))
        index = end + 1
        onProgress?.(Math.min(index - first, total), total)
      }
      return found
    },
  }

  function nextHeld(from: number, last: number, isHeld: boolean): number {
    if (!isHeld) return last
    for (let index = from + 1; index <= last; index++)
      if (state.segments.idAt(index) !== undefined) return index - 1
    return last
  }
}

/** A range with others cut out of it. */
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

/** A row that was read for the clipboard and is not kept. */
function detachedRow(id: RecordId, fieldIds: string[], values: CellValue[]): GridRow {
  return { id, values: (fieldId) => values[fieldIds.indexOf(fieldId)] ?? null }
}

/** The loaded rows of a range; fields that the view does not read are fetched for them. */
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

/** How rows are read, and which of them are missing. */
interface LoaderDeps {
  /** The rows of a range that are missing. */
  gaps(range: RowRange): RowRange[]
  /** Reads rows; resolves when they are in their place. Rejects when the signal aborts or reading failed. */
  load(range: RowRange, signal: AbortSignal): Promise<void>
  onError(error: unknown): void
}

/** Rows that one request reads at most, and the grain of the cache. */
const BLOCK = 200

/** Requests under way at one time. */
const PARALLEL = 2

/** A jump further than this many rows, while still jumping, waits until the movement rests. */
const FAR = 4 * BLOCK
const REST_MS = 40

/**
 * Reads the rows that are wanted, in blocks. What is wanted changes with every step of a scroll: loads
 * that no longer matter are aborted, and while the thumb of the scroll bar flies over a long table none
 * is started until it rests.
 */
function createLoader({ gaps, load, onError }: LoaderDeps) {
  const running = new Map<AbortController, RowRange>()
  let wanted: RowRange = { first: 0, last: -1 }
  let wantedAt = Number.NEGATIVE_INFINITY
  let direction = 1
  let timer: ReturnType<typeof setTimeout> | undefined

  /** The visible rows and one more block in the scroll direction. */
  const ahead = (): RowRange => {
    const { first, last } = wanted
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
    for (const range of blocksOf([wanted, near].flatMap(gaps))) {
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
        // Left out of `running` only after the error was told, so that a failing block is not asked for in a loop.
        running.delete(controller)
        onError(error)
      }
      return
    }
    if (running.delete(controller)) pump()
  }

  return {
    /** Rows `first` to `last` are in sight now. Cheap: called on every step of a scroll. */
    want(range: RowRange): void {
      const now = performance.now()
      const jump = Math.abs(range.first - wanted.first)
      const isFlying = jump > FAR && now - wantedAt < 2 * REST_MS
      if (range.first !== wanted.first) direction = range.first > wanted.first ? 1 : -1
      wanted = range
      wantedAt = now
      clearTimeout(timer)
      if (isFlying) timer = setTimeout(pump, REST_MS)
      else pump()
    },

    /** Starts again with what is in sight; rows have moved, so answers under way would land wrongly. */
    restart(): void {
      this.stop()
      pump()
    },

    /** Aborts everything under way. */
    stop(): void {
      clearTimeout(timer)
      for (const controller of running.keys()) controller.abort()
      running.clear()
    },

    /** Remembers what is in sight without reading it: everything is about to be read anew. */
    note(range: RowRange): void {
      wanted = range
    },

    wanted: (): RowRange => wanted,
    isBusy: (): boolean => running.size > 0,
  }
}

const overlaps = (a: RowRange, b: RowRange): boolean => a.first <= b.last && b.first <= a.last

/**
 * Cuts gaps at the borders of blocks and widens each to what of its block is missing, so that scrolling
 * line by line asks for a block and not for single rows.
 */
function blocksOf(gaps: RowRange[]): RowRange[] {
  const blocks = new Map<number, RowRange>()
  for (const gap of gaps) {
    for (let block = Math.floor(gap.first / BLOCK); block <= Math.floor(gap.last / BLOCK); block++) {
      blocks.set(block, { first: block * BLOCK, last: block * BLOCK + BLOCK - 1 })
    }
  }
  return [...blocks.values()]
}
