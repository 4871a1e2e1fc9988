import type { AppliedChange } from '../../../../../src/core/changes.ts'
import type { CellValue } from '../../../../../src/core/fields/field-type.ts'
import type { RecordId } from '../../../../../src/core/model.ts'
import type { Query } from '../../../../../src/core/query.ts'
import type { GridRow } from '../../../../grid/source.ts'
import { type LngLat, toWorld, type WorldPoint } from '../../../map/mercator.ts'
import { placeIn } from '../../../map/place-value.ts'
import type { RecordsApi, StoreQuery } from '../../../records/store/types.ts'

/** Records that one request reads. */
export const PAGE = 1000
/** More than this the browser does not hold: a filter says which. */
export const MAX_PLACES = 100_000
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
  /** How many records have been read, and how many there are, once known. */
  loaded: number
  total: number | null
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
  ...{ placed: [], unplaced: [], loaded: 0, total: null },
  ...{ isLoading: true, isCut: false, error: null },
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
 * Every record of a view with its place, read page by page behind the map, which draws what is there already.
 * What is shown stays while it is read anew.
 */
export function createPlaces({ tableId, api }: PlacesDeps) {
  const listeners = new Set<() => void>()
  let query: StoreQuery | null = null
  let geoFieldId = ''
  let rows = new Map<RecordId, GridRow>()
  /** Places that were dragged, until the server has answered. */
  const moved = new Map<RecordId, CellValue>()
  let state = EMPTY
  let reading: AbortController | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  function publish(patch: Partial<PlacesState>, isRowChange = true): void {
    state = { ...state, ...patch }
    if (isRowChange) state = { ...state, ...split() }
    for (const listener of [...listeners]) listener()
  }

  function split(): Pick<PlacesState, 'placed' | 'unplaced'> {
    const placed: Place[] = []
    const unplaced: GridRow[] = []
    for (const row of rows.values()) {
      const value = moved.has(row.id) ? (moved.get(row.id) ?? null) : row.values(geoFieldId)
      const at = placeIn(value)
      if (at) placed.push({ key: String(row.id), row, at, ...toWorld(at) })
      else unplaced.push(row)
    }
    return { placed, unplaced }
  }

  function request(offset: number): Query | null {
    if (query === null) return null
    const { fieldIds, filter, search } = query
    return { tableId, filter, search, fieldIds: [...fieldIds], sorts: [], limit: PAGE, offset }
  }

  async function load(isFresh: boolean): Promise<void> {
    clearTimeout(timer)
    reading?.abort()
    const controller = new AbortController()
    reading = controller
    const { signal } = controller
    const next = new Map<RecordId, GridRow>()
    let shownAt = 0
    // Another filter begins with an empty map; a look whether all is as it was does not.
    if (isFresh) {
      rows = next
      publish({ ...EMPTY })
    } else publish({ isLoading: true, error: null }, false)
    try {
      void countAll(signal)
      let offset = 0
      for (; offset < MAX_PLACES; offset += PAGE) {
        const asked = request(offset)
        if (!asked) return
        const page = await api.list(asked, signal)
        signal.throwIfAborted()
        const columns = new Map(page.fieldIds.map((id, at) => [id, at]))
        for (const [at, id] of page.ids.entries())
          next.set(id, new PlaceRow(id, columns, page.rows[at] ?? []))
        // Every page would be drawn otherwise, and fifty of them be longer drawn than read.
        const now = performance.now()
        const isDue = offset === 0 || now - shownAt > SHOW_MS
        if (isFresh && isDue) publish({ loaded: next.size })
        if (isDue) shownAt = now
        if (page.ids.length < PAGE) break
      }
      rows = next
      reading = null
      const isCut = offset >= MAX_PLACES
      publish({ loaded: next.size, isLoading: false, isCut, ...(isCut ? {} : { total: next.size }) })
    } catch (error) {
      if (!signal.aborted) {
        reading = null
        publish({ isLoading: false, error }, false)
      }
    }
  }

  /** How far the reading is can be said once the number is known; without it, the pages come all the same. */
  async function countAll(signal: AbortSignal): Promise<void> {
    if (query === null) return
    const { filter, search } = query
    try {
      const total = await api.count({ tableId, filter, search }, signal)
      if (!signal.aborted) publish({ total }, false)
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
    const asked = request(0)
    if (!asked || ids.length === 0) return
    const page = await api.list({ ...asked, recordIds: [...ids] }, new AbortController().signal)
    const columns = new Map(page.fieldIds.map((id, at) => [id, at]))
    for (const id of ids) if (!page.ids.includes(id)) rows.delete(id)
    for (const [at, id] of page.ids.entries()) rows.set(id, new PlaceRow(id, columns, page.rows[at] ?? []))
  }

  return {
    state: (): PlacesState => state,
    row: (id: RecordId): GridRow | undefined => rows.get(id),
    reload: (): Promise<void> => load(false),

    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },

    /** Another filter, search or set of fields reads everything anew. */
    setQuery(next: StoreQuery, nextGeoFieldId: string): void {
      const before = query && JSON.stringify([query.fieldIds, query.filter, query.search])
      const isSame = before === JSON.stringify([next.fieldIds, next.filter, next.search])
      query = next
      if (isSame && geoFieldId === nextGeoFieldId) return
      geoFieldId = nextGeoFieldId
      if (isSame) publish({})
      else void load(true)
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
        publish({ loaded: rows.size, total: rows.size })
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
