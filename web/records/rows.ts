import type { Values } from '../../src/core/changes.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { RecordId } from '../../src/core/model.ts'
import type { GridRow } from '../grid/contract.ts'
import type { Columns, DraftRecord, LocalCell, LocalCells, StoredRecord } from './types.ts'

/** A record as the grid draws it: the server's values, overlaid by unconfirmed edits. */
class Row implements GridRow {
  readonly id: RecordId
  readonly state: GridRow['state']
  readonly failedCells: ReadonlyMap<string, string> | undefined
  readonly message: string | undefined
  readonly #record: StoredRecord | undefined
  readonly #cells: LocalCells | undefined

  constructor(
    id: RecordId,
    record: StoredRecord | undefined,
    cells: LocalCells | undefined,
    unmatched: boolean,
  ) {
    this.id = id
    this.#record = record
    this.#cells = cells
    const failed = [...(cells ?? [])].filter(([, cell]) => cell.message !== null)
    this.failedCells =
      failed.length > 0 ? new Map(failed.map(([key, cell]) => [key, cell.message ?? ''])) : undefined
    if (failed.length > 0) this.state = 'failed'
    else if (cells) this.state = 'saving'
    else if (unmatched) this.state = 'unmatched'
  }

  values(fieldId: string): CellValue {
    const local = this.#cells?.get(fieldId)
    if (local) return local.value
    const at = this.#record?.columns.get(fieldId)
    return (at === undefined ? null : this.#record?.values[at]) ?? null
  }
}

class DraftRow implements GridRow {
  readonly state: GridRow['state']
  readonly failedCells: ReadonlyMap<string, string> | undefined
  readonly message: string | undefined
  readonly #values: Values

  constructor(
    readonly id: RecordId,
    draft: DraftRecord,
  ) {
    this.state = draft.state
    this.failedCells = draft.failed.size > 0 ? draft.failed : undefined
    this.message = draft.message ?? undefined
    this.#values = draft.values
  }

  values(fieldId: string): CellValue {
    return this.#values[fieldId] ?? null
  }
}

/** Records whose recent values are kept; see `recentValues`. */
const REMEMBERED = 1000

/** A value that was written, or read after a write. */
interface RecentValue {
  value: CellValue
  /** Logical time at which it arrived. */
  at: number
  /** Id of the latest change of the value; 0: none is known. */
  change: number
}

export type Rows = ReturnType<typeof createRows>

/** The values of the loaded records, from three sources: stored records, unconfirmed edits and drafts. */
export function createRows() {
  const records = new Map<RecordId, StoredRecord>()
  const drafts = new Map<RecordId, DraftRecord>()
  const unmatched = new Set<RecordId>()
  const built = new Map<RecordId, GridRow>()
  const edits = createLocalEdits()
  /**
   * The latest values of writes, also of records that are not loaded: pages requested before a write may arrive after
   * it, and the responses to own writes and the messages of the socket overtake each other.
   */
  const recentValues = new Map<RecordId, Map<string, RecentValue>>()
  let clock = 0
  let onStore = (_id: RecordId, _askedAt: number): void => {}

  /** Returns the values that are not older than known ones. */
  function remember(id: RecordId, values: Values, change?: number): [string, CellValue][] {
    const recent = recentValues.get(id) ?? new Map<string, RecentValue>()
    recentValues.delete(id)
    recentValues.set(id, recent)
    const [oldest] = recentValues.keys()
    if (recentValues.size > REMEMBERED && oldest !== undefined) recentValues.delete(oldest)
    const at = ++clock
    return Object.entries(values).filter(([fieldId, value]) => {
      const known = recent.get(fieldId)?.change ?? 0
      if (change !== undefined && change < known) return false
      recent.set(fieldId, { value, at, change: change ?? known })
      return true
    })
  }

  function setValues(id: RecordId, values: Iterable<[string, CellValue]>): void {
    const record = records.get(id)
    if (!record) return
    const next = [...record.values]
    for (const [fieldId, value] of values) {
      const at = record.columns.get(fieldId)
      if (at !== undefined) next[at] = value
    }
    records.set(id, { columns: record.columns, values: next })
    built.delete(id)
  }

  function build(id: RecordId): GridRow | undefined {
    const draft = drafts.get(id)
    if (draft) return new DraftRow(id, draft)
    const record = records.get(id)
    return record && new Row(id, record, edits.cellsOf(id), unmatched.has(id))
  }

  return {
    edits,
    drafts,
    /** Records that no longer fit the filter or order but stay in place for now. */
    unmatched,

    /** The same object until `touch`. */
    row(id: RecordId): GridRow | undefined {
      const known = built.get(id)
      if (known) return known
      const row = build(id)
      if (row) built.set(id, row)
      return row
    },

    /** Makes the next `row` return a new object. */
    touch: (id: RecordId): boolean => built.delete(id),

    /** The server's value, without local edits. */
    stored(id: RecordId, fieldId: string): CellValue {
      const record = records.get(id)
      const at = record?.columns.get(fieldId)
      return (at === undefined ? null : record?.values[at]) ?? null
    },

    has: (id: RecordId): boolean => records.has(id) || drafts.has(id),

    /** The loaded records, without drafts. */
    ids: (): Iterable<RecordId> => records.keys(),

    /** Logical time, for `askedAt` of `store`. */
    now: (): number => clock,

    /** Advances the logical time, so that pages requested before have an earlier one. */
    tick: (): number => ++clock,

    /** Stores a record of a page that was requested at `askedAt` (see `now`); newer values win. */
    store(id: RecordId, columns: Columns, values: readonly CellValue[], askedAt: number): void {
      records.set(id, { columns, values })
      built.delete(id)
      onStore(id, askedAt)
      const newer = [...(recentValues.get(id) ?? [])].filter(([, { at }]) => at > askedAt)
      if (newer.length > 0)
        setValues(
          id,
          newer.map(([fieldId, { value }]) => [fieldId, value]),
        )
    },

    /** Sets the listener for records of pages, with the time of the request. */
    onStore(listener: (id: RecordId, askedAt: number) => void): void {
      onStore = listener
    },

    /**
     * Merges values from the server; fields that are not loaded are ignored, and so are values that a later change has
     * replaced. If the record is on its way, it gets them when it arrives.
     *
     * @param change the id of the change that wrote the values; absent: they were read
     */
    merge(id: RecordId, values: Values, change?: number): void {
      setValues(id, remember(id, values, change))
    },

    /** Forgets stored values; unconfirmed edits stay. */
    forget(ids: Iterable<RecordId>): void {
      for (const id of ids) {
        built.delete(id)
        records.delete(id)
      }
    },

    /** Replaces a draft by the record that a change created from it. */
    replaceDraft(draftId: RecordId, id: RecordId, columns: Columns, values: Values, change: number): void {
      drafts.delete(draftId)
      built.delete(draftId)
      edits.rename(draftId, id)
      remember(id, values, change)
      const recent = recentValues.get(id)
      const list: CellValue[] = []
      for (const [fieldId, at] of columns) list[at] = recent?.get(fieldId)?.value ?? null
      records.set(id, { columns, values: list })
      built.delete(id)
    },

    clear(): void {
      records.clear()
      built.clear()
      unmatched.clear()
    },
  }
}

/** Of values that were refused in another store, which counts its changes itself; the first change is number 1. */
const NO_CHANGE = 0

/** Unconfirmed values, shown over the stored ones until the server confirms them; rejected ones stay, in red. */
function createLocalEdits() {
  const records = new Map<RecordId, LocalCells>()

  /** Replaces a record's map instead of mutating it, as built rows hold the old one. */
  function alter(id: RecordId, change: (cells: Map<string, LocalCell>) => void): boolean {
    const before = records.get(id)
    const cells = new Map(before)
    change(cells)
    if (cells.size === 0) records.delete(id)
    else records.set(id, cells)
    return before !== undefined || cells.size > 0
  }

  return {
    cellsOf: (id: RecordId): LocalCells | undefined => records.get(id),

    has: (id: RecordId): boolean => records.has(id),

    /** Overlays a record with the values of a change. */
    write(change: number, id: RecordId, values: Values): void {
      alter(id, (cells) => {
        for (const [fieldId, value] of Object.entries(values))
          cells.set(fieldId, { value, change, message: null })
      })
    },

    /** Removes the overlay of a stored change; returns true if the record may look different. */
    confirm(change: number, id: RecordId): boolean {
      return alter(id, (cells) => {
        for (const [fieldId, cell] of cells) if (cell.change === change) cells.delete(fieldId)
      })
    },

    /** Marks the values of a rejected change, each with its reason. */
    refuse(change: number, id: RecordId, reason: (fieldId: string) => string): void {
      alter(id, (cells) => {
        for (const [fieldId, cell] of cells) {
          if (cell.change === change) cells.set(fieldId, { ...cell, message: reason(fieldId) })
        }
      })
    },

    /** The rejected values of a record, to send again. */
    refused(id: RecordId): Values {
      const cells = [...(records.get(id) ?? [])].filter(([, cell]) => cell.message !== null)
      return Object.fromEntries(cells.map(([fieldId, cell]) => [fieldId, cell.value]))
    },

    /** Drops the rejected values of a record. */
    discard(id: RecordId): void {
      alter(id, (cells) => {
        for (const [fieldId, cell] of cells) if (cell.message !== null) cells.delete(fieldId)
      })
    },

    /** Every record with its rejected values, to keep them when the view is closed. */
    allRefused: (): [RecordId, LocalCells][] =>
      [...records].flatMap(([id, cells]): [RecordId, LocalCells][] => {
        const refused = [...cells].filter(([, cell]) => cell.message !== null)
        return refused.length > 0 ? [[id, new Map(refused)]] : []
      }),

    /** Restores the result of an earlier `allRefused`, perhaps of another store. */
    adopt(refused: readonly [RecordId, LocalCells][]): void {
      for (const [id, kept] of refused) {
        alter(id, (cells) => {
          for (const [fieldId, cell] of kept) cells.set(fieldId, { ...cell, change: NO_CHANGE })
        })
      }
    },

    rename(from: RecordId, to: RecordId): void {
      const cells = records.get(from)
      if (!cells) return
      records.delete(from)
      records.set(to, cells)
    },
  }
}
