import { createStore, type StoreApi } from 'zustand/vanilla'
import type { RecordChange } from '../../../src/core/changes.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { allOf, type Filter } from '../../../src/core/filters/index.ts'
import type { RecordId, RecordPage } from '../../../src/core/model.ts'
import type { GridRow } from '../../grid/contract.ts'
import { type LngLat, toWorld, type WorldPoint } from '../../map/mercator.ts'
import { placeIn } from '../../map/place-value.ts'
import { selectionOf } from '../record-order.ts'
import type { StoreLayout } from '../record-store.ts'
import { createTableState } from './list.ts'
import { createSharedColumns } from './pager.ts'
import { type Paging, type PagingDeps, readLoadedRange } from './paging.ts'

/** Records per request. */
export const MAP_PAGE = 1000
/** Maximum number of loaded records with a location; beyond it, the map suggests a filter. */
const MAX_LOCATIONS = 100_000
/** Records without a location per request. They appear in a list only, so the list asks for more. */
export const UNPLACED_PAGE = 200
/** Changes to more records than this reload everything. */
const MAX_TOUCHED = 200
const RELOAD_MS = 400
const REFRESH_MS = 120
/** While pages arrive, the map is redrawn at most this often. */
const REDRAW_MS = 300

/** A record with a location on the globe. */
export interface LocatedRecord extends WorldPoint {
  key: string
  row: GridRow
  at: LngLat
}

/** The records of a map view. The same object until something changes. */
export interface MapState {
  placed: readonly LocatedRecord[]
  /** Loaded records whose location is blank or invalid. */
  unplaced: readonly GridRow[]
  /** Records with a location; null until they are counted. */
  total: number | null
  /** Records without a location, loaded or not; null until they are counted. */
  unplacedTotal: number | null
  isLoading: boolean
  /** `MAX_LOCATIONS` was reached. */
  isCut: boolean
  error: unknown
}

interface ReadState extends Pick<MapState, 'isLoading' | 'isCut' | 'error'> {
  /** Records whose location is not blank, as the server counts them. */
  counted: number | null
  /** Records with a blank location that are not loaded. */
  unread: number | null
}

const NOTHING_READ: ReadState = { isLoading: true, isCut: false, error: null, counted: null, unread: null }

/** A page and the `rows.now()` at which it was requested. */
interface RequestedPage {
  page: RecordPage
  askedAt: number
}

/**
 * The layout of a record store behind a map: loads every record that has a location, page by page, and the first
 * ones without. Loaded records stay on screen during a reload.
 *
 * @param startFieldId the location field; null: the table has none, and nothing is read
 */
export function createMapLayout(startFieldId: string | null) {
  let fieldId = startFieldId
  const table = createTableState()
  const { rows, segments } = table
  const reads = createStore(() => NOTHING_READ)
  const listeners = new Set<() => void>()
  let locatedRecords = new WeakMap<GridRow, LocatedRecord | null>()
  let current: MapState | null = null
  let isNotifyDue = false
  let paging: ReturnType<typeof createMapPaging> | null = null

  // A map has no order: positions need no check against neighbours.
  table.neighbours = () => [undefined, undefined]
  table.orderingFieldIds = fieldId === null ? [] : [fieldId]
  table.subscribe(changed)
  table.subscribeValues(changed)
  reads.subscribe(changed)

  // Rows change one by one, often many in a row: listeners are called once for all of them.
  function changed(): void {
    current = null
    if (isNotifyDue) return
    isNotifyDue = true
    queueMicrotask(() => {
      isNotifyDue = false
      for (const listener of [...listeners]) listener()
    })
  }

  /** The stored location if the server rejected an edit; the open record still shows the rejected one in red. */
  function locationOf(row: GridRow): CellValue {
    if (fieldId === null) return null
    return row.failedCells?.has(fieldId) ? rows.stored(row.id, fieldId) : row.values(fieldId)
  }

  function locatedRecordOf(row: GridRow): LocatedRecord | null {
    const known = locatedRecords.get(row)
    if (known !== undefined) return known
    const at = placeIn(locationOf(row))
    const record = at && { key: String(row.id), row, at, ...toWorld(at) }
    locatedRecords.set(row, record)
    return record
  }

  function state(): MapState {
    if (current) return current
    const placed: LocatedRecord[] = []
    const unplaced: GridRow[] = []
    for (const id of segments.ids()) {
      const row = rows.row(id)
      const record = row && locatedRecordOf(row)
      if (record) placed.push(record)
      else if (row) unplaced.push(row)
    }
    const { counted, unread, isLoading, isCut, error } = reads.getState()
    const isComplete = !isLoading && !isCut && error === null
    current = {
      placed,
      unplaced,
      total: isComplete ? placed.length : counted,
      unplacedTotal: unread === null ? null : unplaced.length + unread,
      isLoading,
      isCut,
      error,
    }
    return current
  }

  const layout: StoreLayout = {
    state: table,
    createPaging(deps) {
      paging = createMapPaging({ ...deps, state: table }, reads, () => fieldId)
      return paging
    },
  }

  return {
    /** For `createRecordStore`. */
    layout,
    state,

    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },

    /** Another location field reloads everything. */
    setField(next: string | null): void {
      if (next === fieldId) return
      fieldId = next
      table.orderingFieldIds = next === null ? [] : [next]
      locatedRecords = new WeakMap()
      void paging?.reload({ fromTop: true })
    },

    /** Loads more of the records without a location. */
    moreUnplaced: async (): Promise<void> => paging?.moreUnplaced(),
  }
}

/** Reads the records of a map; see `createMapLayout`. */
function createMapPaging(deps: PagingDeps, reads: StoreApi<ReadState>, fieldId: () => string | null) {
  const { api, tableId, state } = deps
  const { rows, segments } = state
  const columns = createSharedColumns()
  let reading: AbortController | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Records to read again; `all`: every record. */
  let touched: Set<RecordId> | 'all' | null = null
  /** Records of the pages of those without a location. Others were read one by one, wherever they are in the order. */
  let paged = new Set<RecordId>()

  const publish = (patch: Partial<ReadState>): void => reads.setState(patch)

  function filterOf(which: 'placed' | 'unplaced'): Filter | null {
    const operator = which === 'placed' ? 'notblank' : 'blank'
    return allOf([deps.query().filter, { fieldId: fieldId() ?? '', operator, value: null }])
  }

  async function read(
    filter: Filter | null,
    page: { offset: number; limit: number; recordIds?: RecordId[] },
    signal: AbortSignal,
  ): Promise<RequestedPage> {
    const query = deps.query()
    const askedAt = rows.now()
    const selection = selectionOf(tableId, { ...query, filter })
    const found = await api.list({ ...selection, fieldIds: [...query.fieldIds], sorts: [], ...page }, signal)
    signal.throwIfAborted()
    return { page: found, askedAt }
  }

  /** Null if counting failed; the records are shown anyway. */
  async function count(which: 'placed' | 'unplaced', signal: AbortSignal): Promise<number | null> {
    try {
      return await api.count(selectionOf(tableId, { ...deps.query(), filter: filterOf(which) }), signal)
    } catch (error) {
      if (!signal.aborted) console.warn('the records could not be counted', error)
      return null
    }
  }

  /** Loaded records whose stored location is blank. */
  function loadedBlanks(): RecordId[] {
    return segments.ids().filter((id) => {
      const value = rows.stored(id, fieldId() ?? '')
      return !rows.drafts.has(id) && (value === null || value === '')
    })
  }

  const unreadOf = (blank: number | null): number | null =>
    blank === null ? null : Math.max(0, blank - loadedBlanks().length)

  function append({ page, askedAt }: RequestedPage): void {
    const pageColumns = columns.of(page.fieldIds)
    for (const [at, id] of page.ids.entries()) rows.store(id, pageColumns, page.rows[at] ?? [], askedAt)
    const added = page.ids.filter((id) => !segments.has(id))
    segments.put(segments.end, added)
    state.count = segments.size
  }

  function replaceAll(pages: readonly RequestedPage[]): void {
    segments.clear()
    rows.clear()
    for (const page of pages) append(page)
    segments.insert(segments.end, [...rows.drafts.keys()])
    state.count = segments.size
  }

  function finish(): void {
    reading = null
    if (touched !== null) schedule()
  }

  async function reload({ fromTop = false }: { fromTop?: boolean } = {}): Promise<void> {
    clearTimeout(timer)
    reading?.abort()
    touched = deps.isSettled() ? null : 'all'
    if (fieldId() === null) return publish({ ...NOTHING_READ, isLoading: false })
    const controller = new AbortController()
    reading = controller
    const { signal } = controller
    // Another filter starts with an empty map and shows each page; a reload replaces the old records at the end.
    const isFresh = fromTop || segments.size === 0
    const limit = Math.min(MAP_PAGE, Math.max(UNPLACED_PAGE, isFresh ? 0 : loadedBlanks().length))
    const pages: RequestedPage[] = []
    if (isFresh) {
      replaceAll([])
      publish(NOTHING_READ)
    } else publish({ isLoading: true, error: null })
    try {
      void count('placed', signal).then((counted) => {
        if (!signal.aborted && reads.getState().isLoading) publish({ counted })
      })
      const blanks = count('unplaced', signal)
      const unplaced = read(filterOf('unplaced'), { offset: 0, limit }, signal)
      // Handled below; until then a page of locations may fail first.
      unplaced.catch(() => {})
      let loaded = 0
      let drawnAt = 0
      while (loaded < MAX_LOCATIONS) {
        const next = await read(filterOf('placed'), { offset: loaded, limit: MAP_PAGE }, signal)
        loaded += next.page.ids.length
        if (isFresh) append(next)
        else pages.push(next)
        if (isFresh && performance.now() - drawnAt > REDRAW_MS) {
          drawnAt = performance.now()
          state.structureChanged()
        }
        if (next.page.ids.length < MAP_PAGE) break
      }
      const others = await unplaced
      const blank = await blanks
      signal.throwIfAborted()
      if (isFresh) append(others)
      else replaceAll([...pages, others])
      paged = new Set(others.page.ids)
      state.structureChanged()
      publish({ isLoading: false, isCut: loaded >= MAX_LOCATIONS, unread: unreadOf(blank) })
      if (!deps.mayRefresh()) touched = 'all'
      finish()
    } catch (error) {
      if (signal.aborted) return
      publish({ isLoading: false, error })
      finish()
    }
  }

  /** Reads changed records again. Those that the view no longer shows leave the map. */
  async function readTouched(ids: RecordId[]): Promise<void> {
    const controller = new AbortController()
    reading = controller
    const { signal } = controller
    touched = null
    try {
      const { filter } = deps.query()
      const [found, counted, blank] = await Promise.all([
        read(filter, { offset: 0, limit: ids.length, recordIds: ids }, signal),
        count('placed', signal),
        count('unplaced', signal),
      ])
      // Records were written meanwhile: the response may be older than the screen.
      if (!deps.mayRefresh()) {
        touch(ids)
        return finish()
      }
      const shown = new Set(found.page.ids)
      state.remove(ids.filter((id) => !shown.has(id)))
      append(found)
      for (const id of shown) rows.unmatched.delete(id)
      for (const id of shown) state.rowChanged(id)
      state.structureChanged()
      publish({ counted, unread: unreadOf(blank) })
      finish()
    } catch (error) {
      if (signal.aborted) return
      console.warn('changed records could not be read', error)
      touched = 'all'
      finish()
    }
  }

  function schedule(): void {
    clearTimeout(timer)
    timer = setTimeout(
      () => {
        if (touched === null || reading !== null || !deps.mayRefresh()) return
        if (touched === 'all') void reload()
        else void readTouched([...touched])
      },
      touched === 'all' ? RELOAD_MS : REFRESH_MS,
    )
  }

  function touch(ids: readonly RecordId[]): void {
    if (touched === 'all') return
    touched = new Set([...(touched ?? []), ...ids])
    if (touched.size > MAX_TOUCHED) touched = 'all'
  }

  function refreshSoon(records?: readonly RecordChange[]): void {
    if (records) touch(records.map(({ recordId }) => recordId))
    else touched = 'all'
    schedule()
  }

  const paging: Paging = {
    reload,
    refreshSoon,
    refreshIfStale() {
      // Own edits that took a record out of the filter.
      if (rows.unmatched.size > 0) touch([...rows.unmatched])
      if (touched !== null) schedule()
    },
    columns: columns.current,
    visibleIds: () => segments.ids(),
    // All records are loaded, visible or not.
    requestRange: () => {},
    restart() {
      // A response that is still loading may contain a record that was just deleted.
      if (reading) touched = 'all'
    },
    stop() {
      clearTimeout(timer)
      reading?.abort()
    },
    readRange: (request) => readLoadedRange(deps, request, state),
  }

  return {
    ...paging,

    async moreUnplaced(): Promise<void> {
      if (reading !== null || reads.getState().unread === 0) return
      const controller = new AbortController()
      reading = controller
      const { signal } = controller
      try {
        const offset = loadedBlanks().filter((id) => paged.has(id)).length
        const page = { offset, limit: UNPLACED_PAGE }
        const [found, blank] = await Promise.all([
          read(filterOf('unplaced'), page, signal),
          count('unplaced', signal),
        ])
        append(found)
        for (const id of found.page.ids) paged.add(id)
        state.structureChanged()
        publish({ unread: unreadOf(blank), error: null })
        finish()
      } catch (error) {
        if (signal.aborted) return
        publish({ error })
        finish()
      }
    },
  }
}
