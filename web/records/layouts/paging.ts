import { positionKey, type RecordChange } from '../../../src/core/changes.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { RecordId, RecordPage } from '../../../src/core/model.ts'
import type { Query } from '../../../src/core/query.ts'
import type { GridRow, RangeRequest } from '../../grid/contract.ts'
import { firstContent, isContentShown } from '../../navigation/first-content.ts'
import { orderOf, selectionOf } from '../record-order.ts'
import type { RecordsApi, StoreQuery } from '../types.ts'
import type { ListState, TableState } from './list.ts'
import { createPager, createSharedColumns, type PageScheme } from './pager.ts'
import type { RowRange } from './segments.ts'

/** Rows per request; loaded rows are aligned to such blocks. */
const BLOCK = 200

/** Rows of the first request of a visit: more than a window shows, and a third of the bytes. */
const FIRST_ROWS = 60

/** Rows per request when a range is read for the clipboard. */
const RANGE_PAGE = 1000

/** Reads whole blocks, and half a block ahead in the scroll direction. */
const BLOCKS: PageScheme = {
  size: BLOCK,
  parallel: 2,
  maxRows: 6000,
  requests({ first, last }, direction, gaps) {
    if (!isContentShown()) return gaps({ first, last: Math.max(last, first + FIRST_ROWS - 1) })
    const ahead = direction > 0 ? { first, last: last + BLOCK / 2 } : { first: first - BLOCK / 2, last }
    return blocksOf([{ first, last }, ahead].flatMap(gaps)).flatMap(gaps)
  },
  firstPage(visible) {
    if (!isContentShown()) {
      const first = visible?.first ?? 0
      return { first, last: Math.max(visible?.last ?? 0, first + FIRST_ROWS - 1) }
    }
    if (!visible) return { first: 0, last: BLOCK - 1 }
    const first = Math.floor(visible.first / BLOCK) * BLOCK
    return { first, last: Math.min(Math.max(first + BLOCK, visible.last + 1), first + RANGE_PAGE) - 1 }
  },
}

/** The row of drafts that stay behind all records. */
const END = Number.POSITIVE_INFINITY

/** Changes of others within this time are followed by one read. */
const REFRESH_MS = 150

/** Runs a read once per burst of changes, if it is allowed by then. */
export function createRefresh(mayRun: () => boolean, run: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    schedule(): void {
      clearTimeout(timer)
      timer = setTimeout(() => {
        if (mayRun()) run()
      }, REFRESH_MS)
    },
    cancel: (): void => clearTimeout(timer),
  }
}

/** The table and query to read, and when a refresh is allowed. */
export interface PagingDeps {
  tableId: string
  api: Pick<RecordsApi, 'list' | 'count' | 'rememberPage'>
  state: TableState
  query(): StoreQuery
  /** False while a refresh would move the row that the user is on. */
  mayRefresh(): boolean
  /** False while own changes have no answer: a page that is requested now may lack them. */
  isSettled(): boolean
  /** The group that contains a range, and the offset within it, to query it alone; null: none. */
  groupAround?(range: RowRange): Pick<Query, 'group' | 'groups' | 'offset'> | null
  /** The row at which a draft that is shown again after a read belongs; null: where it was. */
  rowForDraft?(id: RecordId): number | null
  /** Reads data along with the rows. Returns a function that applies it in the same update. */
  readAlongside?(signal: AbortSignal): Promise<() => void>
  /** Null: the last read succeeded. */
  onError(error: unknown | null): void
}

export type Paging = ReturnType<typeof createPaging>

/** Reads rows from the server on scroll, and again after their order changed. */
export function createPaging(deps: PagingDeps) {
  const { api, state, tableId } = deps
  const { rows, segments } = state
  const columns = createSharedColumns()
  let reading: AbortController | null = null
  /** True while a reload has its page and waits for the count. */
  let isCounting = false
  /** False until the rows of the present query have been counted, also if that failed or another reload replaced it. */
  let isCounted = false
  let isStale = false
  /** The rows of drafts before a read; `END` for those behind all records. */
  let draftRows: ReadonlyMap<RecordId, number> = new Map()

  const pager = createPager({
    list: state,
    rows,
    columns,
    scheme: BLOCKS,
    query: () => ({ ...selection(), fieldIds: [...deps.query().fieldIds], ...orderOf(deps.query()) }),
    read: readRows,
    put: segments.put.bind(segments),
    evict: segments.evict,
    clear() {
      draftRows = rowsOfDrafts(endOfList())
      if (state.count !== null) state.count -= state.localRows
      segments.clear()
      rows.clear()
    },
    addDrafts() {
      const rowOf = (id: RecordId) => draftRows.get(id) ?? END
      // In row order, as each moves those below it.
      for (const [id, { before }] of [...rows.drafts].toSorted(([a], [b]) => rowOf(a) - rowOf(b) || 0)) {
        const next = before === null ? undefined : state.indexOf(before)
        state.insert(next ?? deps.rowForDraft?.(id) ?? Math.min(rowOf(id), endOfList()), [id])
      }
      state.structureChanged()
    },
    redraw: (_ids, range, isMoved) => (isMoved ? state.structureChanged() : state.rangeChanged(range)),
    // Drafts behind the loaded rows stay there until the count gives them their place.
    mayLoad: () => !isReplacing() && !(isCounting && state.localRows > 0),
    isCounted: () => isCounted,
    onLoad(isStuck) {
      if (isStuck) refreshSoon()
      else pager.pump()
    },
    onError: deps.onError,
  })
  void firstContent.then(() => pager.pump())
  const refresh = createRefresh(
    // A read that is running schedules the next one itself.
    () => isStale && reading === null && deps.mayRefresh(),
    () => void reload({ yields: true }),
  )

  const selection = () => selectionOf(tableId, deps.query())

  /** True while a reload reads the page that replaces all rows. */
  const isReplacing = (): boolean => reading !== null && !isCounting

  /** The number of rows, of the loaded ones while it is unknown. */
  const endOfList = (): number => state.count ?? segments.end

  /** @param end the number of rows, drafts included */
  function rowsOfDrafts(end: number): ReadonlyMap<RecordId, number> {
    const records = end - state.localRows
    const placed = [...rows.drafts.keys()].map((id) => [id, segments.indexOf(id) ?? END] as const)
    const inOrder = placed.toSorted(([, a], [, b]) => a - b || 0)
    return new Map(inOrder.map(([id, row], draftsAbove) => [id, row - draftsAbove < records ? row : END]))
  }

  /** Reads rows, from one group where possible: the server then need not sort the whole list. */
  async function readRows(query: Query, range: RowRange, signal: AbortSignal): Promise<RecordPage> {
    // A reload may find other groups.
    const group = isReplacing() ? null : deps.groupAround?.(range)
    if (group) {
      const page = await api.list({ ...query, ...group }, signal)
      // Fewer rows: the group changed, so its offset in the list may be wrong.
      if (page.ids.length === range.last - range.first + 1) return page
      signal.throwIfAborted()
    }
    return api.list(query, signal)
  }

  /**
   * Reads the visible rows again and forgets the rest; the old rows stay on screen until the new ones arrive. The count
   * is a separate request, so that neither the first page nor those after it wait for it.
   *
   * @param keepsCount does not count again what has been counted
   * @param yields drops the result, and reads again later, if the user began editing a row meanwhile
   */
  async function reload({ fromTop = false, keepsCount = false, yields = false } = {}): Promise<void> {
    refresh.cancel()
    isStale = !deps.isSettled()
    reading?.abort()
    isCounting = false
    isCounted &&= keepsCount
    pager.stop()
    const controller = new AbortController()
    reading = controller
    const counting = isCounted ? null : readCount(controller.signal)
    const mayApply = () => !yields || deps.mayRefresh()
    try {
      const [loaded, applyAlongside] = await Promise.all([
        pager.readAgain(controller.signal, { fromTop }),
        deps.readAlongside?.(controller.signal),
      ])
      if (controller.signal.aborted) return
      const isApplied = mayApply()
      if (isApplied) {
        applyAlongside?.()
        pager.replace(loaded)
      } else isStale = true
      deps.onError(null)
      isCounting = counting !== null
      pager.pump()
      const total = await counting
      if (controller.signal.aborted) return
      if (total && 'failure' in total) throw total.failure
      if (total && isApplied && mayApply()) {
        setCount(total.counted)
        isCounted = true
      }
    } catch (error) {
      if (controller.signal.aborted) return
      deps.onError(error)
    } finally {
      if (reading === controller) {
        reading = null
        isCounting = false
      }
    }
    if (controller.signal.aborted) return
    pager.pump()
    // The page may lack changes that were written or sent since it was requested.
    if (isStale || !deps.mayRefresh()) refreshSoon()
  }

  /** Stores the first page, if loaded completely, for the next visit while offline. */
  function rememberTop(): void {
    const range = { first: 0, last: BLOCK - 1 }
    const end = Math.min(BLOCK, state.count ?? 0)
    if (end === 0 || state.localRows > 0) return
    const rows = Array.from({ length: end }, (_, index) => state.getRow(index))
    if (rows.includes(undefined)) return
    const query = pager.request(range)
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
    const drafts = [...rowsOfDrafts(Math.min(endOfList(), total))]
    const trailing = drafts.filter(([id, row]) => row === END && segments.has(id)).map(([id]) => id)
    state.count = total
    segments.remove(trailing)
    segments.insert(total - trailing.length, trailing)
    state.structureChanged()
  }

  /** Schedules a reload, whichever records changed, as their new positions are unknown. */
  function refreshSoon(_touched?: readonly RecordChange[]): void {
    isStale = true
    refresh.schedule()
  }

  return {
    reload,
    refreshSoon,
    /** Runs a postponed reload, e.g. after the user left the row that forbade it. */
    refreshIfStale: (): void => {
      if (isStale) refreshSoon()
    },
    columns: columns.current,
    visibleIds: pager.visibleIds,

    requestRange(first: number, last: number, collapsed: readonly RowRange[] = []): void {
      if (last >= first) pager.setVisible({ first, last }, collapsed)
    },

    /** Drops running requests after rows moved, as their results would land at wrong indexes. */
    restart: (): void => {
      if (reading) isStale = true
      if (!isReplacing()) pager.restart()
    },

    stop(): void {
      rememberTop()
      refresh.cancel()
      reading?.abort()
      pager.stop()
    },

    /** All rows of a range, from memory where loaded. With `inPlace` none if they have moved since the loaded ones were read. */
    async readRange(request: RangeRequest): Promise<GridRow[]> {
      const { first, last, fieldIds, signal, onProgress } = request
      // The server does not know the rows of drafts.
      const inPlace = request.inPlace === true && state.localRows === 0
      const around = inPlace ? 1 : 0
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
        const end = lastMissing(index, Math.min(last, index + RANGE_PAGE - 1 - 2 * around), isHeld)
        const from = Math.max(0, index - around)
        const asked = { ...pager.request({ first: from, last: end + around }), fieldIds }
        const page = await api.list(asked, signal ?? new AbortController().signal)
        const isMoved = (id: RecordId, at: number): boolean => {
          const before = from + at < index ? found.at(-1)?.id : undefined
          const known = before ?? segments.idAt(from + at)
          return known !== undefined && state.realId(known) !== id
        }
        if (inPlace && page.ids.some(isMoved)) {
          refreshSoon()
          return []
        }
        const rows = page.ids.map((id, at) => detachedRow(id, page.fieldIds, page.rows[at] ?? []))
        found.push(...rows.slice(index - from, end - from + 1))
        index = end + 1
        onProgress?.(Math.min(index - first, total), total)
      }
      return found
    },
  }

  function lastMissing(from: number, last: number, isHeld: boolean): number {
    if (!isHeld) return last
    for (let index = from + 1; index <= last; index++)
      if (segments.idAt(index) !== undefined) return index - 1
    return last
  }
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
