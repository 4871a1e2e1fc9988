import type { AppliedChange, Change } from '../../src/core/changes.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { Filter } from '../../src/core/filters/filter.ts'
import type { Field, RecordId, RecordPage, Sort } from '../../src/core/model.ts'
import type { GroupPage, GroupRequest, Query, Search, Selection } from '../../src/core/query.ts'

/** Answer of `records.undo` and `records.redo`. */
export interface Undone {
  applied: AppliedChange | null
  /** Kind of the undone action, e.g. `records.update`; null if there was none. */
  kind: string | null
  records: number
  /** Values that someone changed since, left as they are. */
  skipped: number
  /** Where there was nothing: what is older than this has been removed. */
  historySince?: string | null
}

/** Answer of the write door; `inserted` has the new ids in the order of the insert operations. */
export type Written = AppliedChange & { inserted: RecordId[] }

/** The calls that the store makes. The app gives tRPC's; tests give a table in memory. */
export interface RecordsApi {
  list(query: Query, signal: AbortSignal): Promise<RecordPage>
  count(selection: Selection, signal: AbortSignal): Promise<number>
  /** Receives the page that `list` would return when a view is left. */
  leave?(query: Query, page: RecordPage): void
  /** Places of records in a query, from 0, of those that it means; 1,000 at most in one call. */
  positions(
    query: Query,
    ids: readonly RecordId[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<RecordId, number>>
  /** `actionId`: what the change is a part of, where it is not the whole action. */
  apply(change: Change, actionId?: string): Promise<Written>
}

/** The call that tells in which groups the records stand. */
export interface GroupsApi {
  groups(request: GroupRequest, signal: AbortSignal): Promise<GroupPage>
}

/** Which records are shown, in which order, and which of their values are read. */
export interface StoreQuery {
  /** Every field of the table, system ones too: what a value means, and what a new record needs. */
  fields: readonly Field[]
  /** Fields whose values are read: those shown, and those that filter and sort. */
  fieldIds: readonly string[]
  filter: Filter | null
  sorts: readonly Sort[]
  /** A view whose manual order the records are in where nothing sorts or groups them; absent: the table's own order. */
  orderViewId?: string
  /** Grouping, applied before the sorts; absent: none. */
  groups?: readonly Sort[]
  /** Summaries of each group. */
  groupSummaries?: readonly { fieldId: string; summary: string }[]
  search: Search | null
}

/** Where the values of a record stand: position by field id. Shared by all records of a page. */
export type Columns = ReadonlyMap<string, number>

/** A record as the server last told it. */
export interface StoredRecord {
  columns: Columns
  values: readonly CellValue[]
}

/** A record that the server does not know yet. */
export interface DraftRecord {
  values: Record<string, CellValue>
  /** Goes ahead of this record; null: to the end. */
  before: RecordId | null
  state: 'new' | 'saving' | 'failed'
  /** Missing fields, or the reason of the refusal. */
  message: string | null
  /** Why single values were refused, by field id. */
  failed: ReadonlyMap<string, string>
}

/** Unsaved edits of a table, kept while other screens are shown. */
export interface Unsaved {
  drafts: [RecordId, DraftRecord][]
  cells: [RecordId, LocalCells][]
}

/** A value as the person left it, which the server has not confirmed. */
export interface LocalCell {
  value: CellValue
  /** Number of the change that wrote it: a later one is not undone by the answer to an earlier one. */
  change: number
  /** Why the server refused it; null while it is on its way. */
  message: string | null
}

/** The local values of one record, by field id. */
export type LocalCells = ReadonlyMap<string, LocalCell>
