import type { Values } from '../../../src/core/changes.ts'
import type { RecordId } from '../../../src/core/model.ts'
import type { GridRow } from '../../grid/contract.ts'
import { createRows } from '../rows.ts'
import { createSegments, type RowRange, type Segments } from './segments.ts'

export type TableState = ReturnType<typeof createTableState>

/** Row state that every layout provides: a list, stacks, or a map. */
export type ListState = Omit<TableState, 'segments' | 'localRows' | 'rangeChanged'> & {
  segments: Pick<Segments, 'has' | 'idAt' | 'indexOf' | 'end'>
}

/** The loaded rows of a view: values, row indexes and listeners. */
export function createTableState() {
  const segments = createSegments()
  const rows = createRows()
  /** Server ids of created records, by local id. */
  const realIds = new Map<RecordId, RecordId>()
  const rowListeners = new Map<number, Set<() => void>>()
  const listeners = createListListeners()
  const valueListeners = new Set<() => void>()
  let count: number | null = null

  const realId = (id: RecordId): RecordId => realIds.get(id) ?? id

  function indexOf(id: RecordId): number | undefined {
    return segments.indexOf(realId(id))
  }

  const valuesChanged = (): void => {
    for (const listener of [...valueListeners]) listener()
  }

  function structureChanged(): void {
    listeners.structureChanged()
    for (const set of [...rowListeners.values()]) for (const listener of [...set]) listener()
    valuesChanged()
  }

  return {
    segments,
    rows,
    realId,
    indexOf,

    get count(): number | null {
      return count
    },
    set count(next: number | null) {
      count = next
    },

    getRow(index: number): GridRow | undefined {
      const id = segments.idAt(index)
      return id === undefined ? undefined : rows.row(id)
    },

    /** Row of the server's n-th record, from 0; drafts between shift it down. */
    rowOfServerIndex(serverIndex: number): number {
      const local = [...rows.drafts.keys()]
        .map((id) => segments.indexOf(id))
        .filter((row) => row !== undefined)
        .toSorted((a, b) => a - b)
      return local.reduce((row, draft) => (draft <= row ? row + 1 : row), serverIndex)
    },

    /** Number of drafts in the list. */
    get localRows(): number {
      let local = 0
      for (const id of rows.drafts.keys()) if (segments.has(id)) local++
      return local
    },

    /** Fields that determine a record's position, beyond those that filter and sort. */
    orderingFieldIds: [] as readonly string[],

    /** The rows before and after a record, against which its position is checked. */
    neighbours(id: RecordId): [GridRow | undefined, GridRow | undefined] {
      const index = segments.indexOf(id)
      if (index === undefined) return [undefined, undefined]
      return [this.getRow(index - 1), this.getRow(index + 1)]
    },

    /** Moves loaded records before another, or to the end. */
    move(ids: readonly RecordId[], before: RecordId | null): void {
      const loaded = ids.map(realId).filter(segments.has)
      segments.remove(loaded)
      const at = before === null ? count : indexOf(before)
      if (at === undefined || at === null) return
      // The count includes the moved rows, which are in no segment at this moment.
      segments.insert(before === null ? at - loaded.length : at, loaded)
    },

    /** Applies a record's stored position, or restores it. A no-op here: a list reads positions with its rows. */
    positionChanged(_id: RecordId, _after: Values, _change?: number): void {},

    insert(index: number, ids: RecordId[]): void {
      segments.insert(index, ids)
      if (count !== null) count += ids.length
    },

    /** Removes loaded records from the list. */
    remove(ids: readonly RecordId[]): void {
      const loaded = ids.map(realId).filter(segments.has)
      segments.remove(loaded)
      if (count !== null) count -= loaded.length
      for (const id of loaded) rows.unmatched.delete(id)
      rows.forget(loaded)
    },

    /** Replaces a draft's id; the grid may still use the old one. */
    rename(from: RecordId, to: RecordId): void {
      segments.rename(from, to)
      realIds.set(from, to)
    },

    /** Notifies listeners that a record's values or state changed. */
    rowChanged(id: RecordId): void {
      rows.touch(id)
      listeners.recordChanged(id)
      const index = segments.indexOf(id)
      if (index !== undefined) for (const listener of [...(rowListeners.get(index) ?? [])]) listener()
      valuesChanged()
    },

    /** Notifies listeners that the rows of a range were loaded. */
    rangeChanged({ first, last }: RowRange): void {
      for (const [index, set] of [...rowListeners]) {
        if (index >= first && index <= last) for (const listener of [...set]) listener()
      }
      valuesChanged()
    },

    /** Notifies listeners that the count or the order changed. */
    structureChanged,

    subscribe: listeners.subscribe,

    subscribeRow(index: number, listener: () => void): () => void {
      const set = rowListeners.get(index) ?? new Set()
      rowListeners.set(index, set.add(listener))
      return () => {
        set.delete(listener)
        if (set.size === 0 && rowListeners.get(index) === set) rowListeners.delete(index)
      }
    },

    /** Calls back when any row was loaded or changed. Calls come in bursts. */
    subscribeValues(listener: () => void): () => void {
      valueListeners.add(listener)
      return () => valueListeners.delete(listener)
    },

    onRow: listeners.onRow,
    onData: listeners.onData,
    dataChanged: listeners.dataChanged,
  }
}

/** The listeners of every layout: for its structure, single records, and stored values. */
export function createListListeners() {
  const structureListeners = new Set<() => void>()
  const dataListeners = new Set<() => void>()
  const recordListeners = new Map<RecordId, Set<() => void>>()
  const notify = (set: Iterable<() => void>): void => {
    for (const listener of [...set]) listener()
  }

  return {
    structureChanged: (): void => notify(structureListeners),
    recordChanged: (id: RecordId): void => notify(recordListeners.get(id) ?? []),
    dataChanged: (): void => notify(dataListeners),

    subscribe(listener: () => void): () => void {
      structureListeners.add(listener)
      return () => structureListeners.delete(listener)
    },

    /** Calls back when a record changes, whatever its position by then. */
    onRow(id: RecordId, listener: () => void): () => void {
      const set = recordListeners.get(id) ?? new Set()
      recordListeners.set(id, set.add(listener))
      return () => {
        set.delete(listener)
        if (set.size === 0) recordListeners.delete(id)
      }
    },

    /** Calls back when stored values changed, e.g. for the footer's summaries. */
    onData(listener: () => void): () => void {
      dataListeners.add(listener)
      return () => dataListeners.delete(listener)
    },
  }
}
