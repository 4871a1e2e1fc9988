import { createStore } from 'zustand/vanilla'
import type { AppliedChange } from '../../../../../src/core/changes.ts'
import type { CellValue } from '../../../../../src/core/fields/field-type.ts'
import { allOf, type Filter } from '../../../../../src/core/filters/index.ts'
import type { RecordId } from '../../../../../src/core/model.ts'
import type { Query } from '../../../../../src/core/query.ts'
import type { GridRow } from '../../../../grid/contract.ts'
import { type LngLat, toWorld, type WorldPoint } from '../../../../map/mercator.ts'
import { placeIn } from '../../../../map/place-value.ts'
import type { RecordsApi, StoreQuery } from '../../../../records/types.ts'

/** Records that one request reads. */
export const PAGE = 1000
/** More than this the browser does not hold: a filter says which. */
export const MAX_PLACES = 100_000
/** Records without a place that are read at once. They stand in a list only, so the rest waits until it is wanted. */
export const UNPLACED_PAGE = 200
/** Changes of more records than this are read with everything else. */
const MAX_SINGLE = 200
const RELOAD_MS = 400
/** While pages come in, the map is drawn anew so often at most. */
const SHOW_MS = 300

/** A record with a place on the globe. */
export interface Place extends WorldPoint {
  key: string
  row: GridRow
  at: LngLat
}

/** What is known of a view's records. The same object until something changed. */
export interface PlacesState {
  placed: readonly Place[]
  /** Without a place, or with a text that is none. */
  unplaced: readonly GridRow[]
  /** How many records with a place have been read, and how many there are, once known. */
  loaded: number
  total: number | null
  /** How many records have no place, once known; `unplaced` holds the first of them. */
  unplacedTotal: number | null
  isLoading: boolean
  /** There are more records than the browser holds. */
  isCut: boolean
  error: unknown
}

export interface PlacesDeps {
  tableId: string
  api: Pick<RecordsApi, 'list' | 'count'>
}

export type Places = ReturnType<typeof createPlaces>

const EMPTY: PlacesState = {
  placed: [],
  unplaced: [],
  loaded: 0,
  total: null,
  unplacedTotal: null,
  isLoading: true,
  isCut: false,
  error: null,
}

/** A record whose values stand in a list of its own. */
class PlaceRow implements GridRow {
  constructor(
    readonly id: RecordId,
    private readonly columns: ReadonlyMap<string, number>,
    private readonly list: readonly CellValue[],
  ) {}

  values(fieldId: string): CellValue {
    const at = this.columns.get(fieldId)
    return (at === undefined ? null : this.list[at]) ?? null
  }
}

/**
 * Every record of a view that has a place, read page by page behind the map, which draws what is there already, and
 * the first of those without one. What is shown stays while it is read anew.
 */
export function createPlaces({ tableId, api }: PlacesDeps) {
  let query: StoreQuery | null = null
  let geoFieldId = ''
  let rows = new Map<RecordId, GridRow>()
  /** Places that were dragged, until the server has answered. */
  const moved = new Map<RecordId, CellValue>()
  /** Records whose field of places is blank, once they are counted. */
  let blankTotal: number | null = null
  const state = createStore(() => EMPTY)
  let reading: AbortController | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  function publish(patch: Partial<PlacesState>, isRowChange = true): void {
    state.setState(isRowChange ? { ...patch, ...split() } : patch)
  }

  function split(): Pick<PlacesState, 'placed' | 'unplaced' | 'unplacedTotal'> {
    const placed: Place[] = []
    const unplaced: GridRow[] = []
    let wrong = 0
    for (const row of rows.values()) {
      const value = moved.has(row.id) ? (moved.get(row.id) ?? null) : row.values(geoFieldId)
      const at = placeIn(value)
      if (at) placed.push({ key: String(row.id), row, at, ...toWorld(at) })
      else {
        unplaced.push(row)
        if (value !== null && value !== '') wrong++
      }
    }
    const unplacedTotal = blankTotal === null ? null : Math.max(blankTotal + wrong, unplaced.length)
    return { placed, unplaced, unplacedTotal }
  }

  /** Blank ones among the records that are there: where the next page of them begins. */
  const blankCount = (): number =>
    state
      .getState()
      .unplaced.filter((row) => row.values(geoFieldId) === null || row.values(geoFieldId) === '').length

  /** The filter of the view, and that a record has a place, or none. */
  function filterOf(which: 'placed' | 'unplaced'): Filter | null {
    const operator = which === 'placed' ? 'notblank' : 'blank'
    return allOf([query?.filter ?? null, { fieldId: geoFieldId, operator, value: null }])
  }

  function request(
    { fieldIds, search }: StoreQuery,
    filter: Filter | null,
    offset: number,
    limit: number,
  ): Query {
    return { tableId, filter, search, fieldIds: [...fieldIds], sorts: [], limit, offset }
  }

  /** Adds a page of records; gives how many there were. */
  async function readInto(into: Map<RecordId, GridRow>, asked: Query, signal: AbortSignal): Promise<number> {
    const page = await api.list(asked, signal)
    signal.throwIfAborted()
    const columns = new Map(page.fieldIds.map((id, at) => [id, at]))
    for (const [at, id] of page.ids.entries()) into.set(id, new PlaceRow(id, columns, page.rows[at] ?? []))
    return page.ids.length
  }

  async function load(isFresh: boolean): Promise<void> {
    clearTimeout(timer)
    reading?.abort()
    if (query === null) return
    const asked = query
    const controller = new AbortController()
    reading = controller
    const { signal } = controller
    const next = new Map<RecordId, GridRow>()
    const unplacedWanted = Math.min(
      PAGE,
      Math.max(UNPLACED_PAGE, isFresh ? 0 : state.getState().unplaced.length),
    )
    let shownAt = 0
    // Another filter begins with an empty map; a look whether all is as it was does not.
    if (isFresh) {
      rows = next
      blankTotal = null
      publish({ ...EMPTY })
    } else publish({ isLoading: true, error: null }, false)
    try {
      void countAll(asked, signal)
      const unplaced = request(asked, filterOf('unplaced'), 0, unplacedWanted)
      const others = readInto(next, unplaced, signal)
      // Where the pages of places fail first, nobody waits for it any more.
      others.catch(() => {})
      let loaded = 0
      for (; loaded < MAX_PLACES; ) {
        const count = await readInto(next, request(asked, filterOf('placed'), loaded, PAGE), signal)
        loaded += count
        // Every page would be drawn otherwise, and fifty of them be longer drawn than read.
        const now = performance.now()
        const isDue = loaded === count || now - shownAt > SHOW_MS
        if (isFresh && isDue) publish({ loaded })
        if (isDue) shownAt = now
        if (count < PAGE) break
      }
      await others
      rows = next
      reading = null
      const isCut = loaded >= MAX_PLACES
      publish({ loaded, isLoading: false, isCut, ...(isCut ? {} : { total: loaded }) })
    } catch (error) {
      if (!signal.aborted) {
        reading = null
        publish({ isLoading: false, error }, false)
      }
    }
  }

  /** How far the reading is can be said once the number is known; without it, the pages come all the same. */
  async function countAll({ search }: StoreQuery, signal: AbortSignal): Promise<void> {
    try {
      const [total = null, blank = null] = await Promise.all(
        (['placed', 'unplaced'] as const).map((which) =>
          api.count({ tableId, filter: filterOf(which), search }, signal),
        ),
      )
      if (signal.aborted) return
      blankTotal = blank
      publish({ total })
    } catch (error) {
      if (!signal.aborted) console.warn('the records could not be counted', error)
    }
  }

  function reloadSoon(): void {
    clearTimeout(timer)
    timer = setTimeout(() => void load(false), RELOAD_MS)
  }

  /** Reads records anew; those that the view does not show (any more) go. */
  async function refresh(ids: readonly RecordId[]): Promise<void> {
    if (query === null || ids.length === 0) return
    const found = new Map<RecordId, GridRow>()
    const asked = { ...request(query, query.filter, 0, PAGE), recordIds: [...ids] }
    await readInto(found, asked, new AbortController().signal)
    for (const id of ids) {
      const row = found.get(id)
      if (row) rows.set(id, row)
      else rows.delete(id)
    }
  }

  return {
    state: state.getState,
    subscribe: state.subscribe,
    row: (id: RecordId): GridRow | undefined => rows.get(id),
    reload: (): Promise<void> => load(false),

    /** Reads more of the records without a place. */
    async moreUnplaced(): Promise<void> {
      const { unplaced, unplacedTotal } = state.getState()
      if (query === null || reading !== null || unplaced.length >= (unplacedTotal ?? 0)) return
      const controller = new AbortController()
      reading = controller
      try {
        const asked = request(query, filterOf('unplaced'), blankCount(), UNPLACED_PAGE)
        await readInto(rows, asked, controller.signal)
        if (reading !== controller) return
        reading = null
        publish({})
      } catch (error) {
        if (controller.signal.aborted) return
        reading = null
        publish({ error }, false)
      }
    },

    /** Another filter, search or set of fields reads everything anew. */
    setQuery(next: StoreQuery, nextGeoFieldId: string): void {
      const before = query && JSON.stringify([query.fieldIds, query.filter, query.search])
      const isSame = before === JSON.stringify([next.fieldIds, next.filter, next.search])
      query = next
      if (isSame && geoFieldId === nextGeoFieldId) return
      geoFieldId = nextGeoFieldId
      void load(true)
    },

    /** A change that is stored, by this person or another. */
    async receive(change: AppliedChange): Promise<void> {
      if (query === null || !change.tableIds.includes(tableId)) return
      const records = change.records.filter((record) => record.tableId === tableId)
      // A page that is under way may know less than the change.
      if (change.truncated || records.length > MAX_SINGLE || reading !== null) return reloadSoon()
      try {
        for (const { recordId, after } of records) if (after === null) rows.delete(recordId)
        await refresh(records.filter(({ after }) => after !== null).map(({ recordId }) => recordId))
        publish({})
        const { placed, isCut, total } = state.getState()
        publish({ loaded: placed.length, total: isCut ? total : placed.length }, false)
        void countAll(query, new AbortController().signal)
      } catch (error) {
        console.warn('changed records could not be read', error)
        reloadSoon()
      }
    },
    reloadSoon,

    /** Shows a record elsewhere until `settle`: its pin was dragged, and the server has not answered yet. */
    cover(id: RecordId, value: CellValue): void {
      moved.set(id, value)
      publish({})
    },
    settle(id: RecordId, stored: CellValue | undefined): void {
      moved.delete(id)
      const row = rows.get(id)
      if (stored !== undefined && row) rows.set(id, withValue(row, geoFieldId, stored))
      publish({})
    },

    stop(): void {
      clearTimeout(timer)
      reading?.abort()
    },
  }
}

const withValue = (row: GridRow, fieldId: string, value: CellValue): GridRow => ({
  id: row.id,
  values: (id) => (id === fieldId ? value : row.values(id)),
})
