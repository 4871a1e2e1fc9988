import type { Values } from '../../src/core/changes.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { RecordId } from '../../src/core/model.ts'
import type { GridRow } from '../grid/contract.ts'
import type { Columns, DraftRecord, LocalCell, LocalCells, StoredRecord } from './types.ts'

/** A record as the grid draws it: the server's values, and over them what is not confirmed yet. */
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

/** Values remembered from answers, for pages that were asked for before them. */
const REMEMBERED = 1000

export type Rows = ReturnType<typeof createRows>

/** The values of the records at hand, from three sources: server, edits under way, records not yet made. */
export function createRows() {
  const records = new Map<RecordId, StoredRecord>()
  const drafts = new Map<RecordId, DraftRecord>()
  const unmatched = new Set<RecordId>()
  const drawn = new Map<RecordId, GridRow>()
  const edits = createLocalEdits()
  /** Values from answers to writes, with their time: a page requested earlier may arrive later and be older. */
  const told = new Map<RecordId, { at: number; values: Values }>()
  let clock = 0

  function remember(id: RecordId, values: Values): void {
    const before = told.get(id)?.values
    told.delete(id)
    told.set(id, { at: ++clock, values: { ...before, ...values } })
    const [oldest] = told.keys()
    if (told.size > REMEMBERED && oldest !== undefined) told.delete(oldest)
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
    /** Records that no longer fit the filter or the order, and stay where they are for now. */
    unmatched,

    /** The same object until `touch`. */
    row(id: RecordId): GridRow | undefined {
      const known = drawn.get(id)
      if (known) return known
      const row = build(id)
      if (row) drawn.set(id, row)
      return row
    },

    /** Something about the record changed: the next `row` is a new object. */
    touch: (id: RecordId): boolean => drawn.delete(id),

    /** The server's value, without local edits. */
    stored(id: RecordId, fieldId: string): CellValue {
      const record = records.get(id)
      const at = record?.columns.get(fieldId)
      return (at === undefined ? null : record?.values[at]) ?? null
    },

    has: (id: RecordId): boolean => records.has(id) || drafts.has(id),

    /** The moment, for `store`. */
    now: (): number => clock,

    /** Takes over a record of a page that was asked for at the moment `askedAt`. */
    store(id: RecordId, columns: Columns, values: readonly CellValue[], askedAt: number): void {
      records.set(id, { columns, values })
      drawn.delete(id)
      const newer = told.get(id)
      if (newer && newer.at > askedAt) this.merge(id, newer.values)
    },

    /** Writes values that the server told; fields that are not read here are passed over. */
    merge(id: RecordId, values: Values): void {
      remember(id, values)
      const record = records.get(id)
      if (!record) return
      const next = [...record.values]
      for (const [fieldId, value] of Object.entries(values)) {
        const at = record.columns.get(fieldId)
        if (at !== undefined) next[at] = value
      }
      records.set(id, { columns: record.columns, values: next })
      drawn.delete(id)
    },

    /** Forgets records; those with edits under way keep what is needed to draw them again. */
    forget(ids: Iterable<RecordId>): void {
      for (const id of ids) {
        drawn.delete(id)
        records.delete(id)
      }
    },

    /** A local record became one of the server's. */
    replaceDraft(draftId: RecordId, id: RecordId, columns: Columns, values: Values): void {
      drafts.delete(draftId)
      drawn.delete(draftId)
      edits.rename(draftId, id)
      remember(id, values)
      const list: CellValue[] = []
      for (const [fieldId, at] of columns) list[at] = values[fieldId] ?? null
      records.set(id, { columns, values: list })
      drawn.delete(id)
    },

    clear(): void {
      records.clear()
      drawn.clear()
      unmatched.clear()
    },
  }
}

/** Values that lie over what the server holds: shown at once, then confirmed, or refused and kept in red. */
function createLocalEdits() {
  const records = new Map<RecordId, LocalCells>()

  /** Each record's map is replaced, never altered: rows that were drawn keep what they were given. */
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

    /** Lays values over a record, on behalf of a change. */
    write(change: number, id: RecordId, values: Values): void {
      alter(id, (cells) => {
        for (const [fieldId, value] of Object.entries(values))
          cells.set(fieldId, { value, change, message: null })
      })
    },

    /** The change is stored: its values need no cover any more. True where the record looks different now. */
    confirm(change: number, id: RecordId): boolean {
      return alter(id, (cells) => {
        for (const [fieldId, cell] of cells) if (cell.change === change) cells.delete(fieldId)
      })
    },

    /** The change was refused: its values stay where they are, each with its reason. */
    refuse(change: number, id: RecordId, reason: (fieldId: string) => string): void {
      alter(id, (cells) => {
        for (const [fieldId, cell] of cells) {
          if (cell.change === change) cells.set(fieldId, { ...cell, message: reason(fieldId) })
        }
      })
    },

    /** The values of a record that were refused, to send again. */
    refused(id: RecordId): Values {
      const cells = [...(records.get(id) ?? [])].filter(([, cell]) => cell.message !== null)
      return Object.fromEntries(cells.map(([fieldId, cell]) => [fieldId, cell.value]))
    },

    /** Gives up the values of a record that were refused. */
    discard(id: RecordId): void {
      alter(id, (cells) => {
        for (const [fieldId, cell] of cells) if (cell.message !== null) cells.delete(fieldId)
      })
    },

    /** Every record with refused values, to keep them when the view is left. */
    allRefused: (): [RecordId, LocalCells][] =>
      [...records].flatMap(([id, cells]): [RecordId, LocalCells][] => {
        const refused = [...cells].filter(([, cell]) => cell.message !== null)
        return refused.length > 0 ? [[id, new Map(refused)]] : []
      }),

    /** Takes over what `allRefused` gave. */
    adopt(refused: readonly [RecordId, LocalCells][]): void {
      for (const [id, cells] of refused) records.set(id, cells)
    },

    rename(from: RecordId, to: RecordId): void {
      const cells = records.get(from)
      if (!cells) return
      records.delete(from)
      records.set(to, cells)
    },
  }
}
