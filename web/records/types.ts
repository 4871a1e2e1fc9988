import type { AppliedChange, Change } from '../../src/core/changes.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { Filter } from '../../src/core/filters/filter.ts'
import type { Field, RecordId, RecordPage, Sort } from '../../src/core/model.ts'
import type { GroupPage, GroupRequest, Query, Search, Selection } from '../../src/core/query.ts'

/** Response of `records.undo` and `records.redo`. */
export interface Undone {
  applied: AppliedChange | null
  /** Kind of the undone action, e.g. `records.update`; null if there was none. */
  kind: string | null
  records: number
  /** Values left alone because someone changed them since. */
  skipped: number
  /** If there was nothing to undo: older history has been removed. */
  historySince?: string | null
}

/** Response of `records.write`; `inserted` has the new ids in the order of the insert operations. */
export type Written = AppliedChange & { inserted: RecordId[] }

/** Two edits of one cell that began with the same value. */
export interface Conflict {
  fieldId: string
  /** The value at the beginning of both edits. */
  opened: CellValue
  mine: CellValue
  theirs: CellValue
}

/** The value to write after a conflict. */
export interface Resolution {
  value: CellValue
}

/** The requests of a record store: over tRPC in the app, against a table in memory in tests. */
export interface RecordsApi {
  list(query: Query, signal: AbortSignal): Promise<RecordPage>
  count(selection: Selection, signal: AbortSignal): Promise<number>
  /** Receives the page that `list` would return when a view is left. */
  rememberPage?(query: Query, page: RecordPage): void
  /** Row index by record, from 0, for the records that the query returns; at most 1,000 ids per call. */
  positions(
    query: Query,
    ids: readonly RecordId[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<RecordId, number>>
  /** `actionId` groups several changes into one undoable action. */
  apply(change: Change, actionId?: string): Promise<Written>
}

/** The request for the groups of a selection. */
export interface GroupsApi {
  groups(request: GroupRequest, signal: AbortSignal): Promise<GroupPage>
}

/** The records of a view, their order, and the fields to read. */
export interface StoreQuery {
  /** Every field of the table, system fields included. */
  fields: readonly Field[]
  /** Fields to read: those shown, and those that filter and sort. */
  fieldIds: readonly string[]
  filter: Filter | null
  /** The view whose filter applies as well, because visitors do not see all of its conditions. */
  viewId: string | undefined
  sorts: readonly Sort[]
  /** View whose manual order applies without sorts and groups; absent: the table's order. */
  orderViewId?: string
  /** Grouping, applied before the sorts; absent: none. */
  groups?: readonly Sort[]
  /** Summaries of each group. */
  groupSummaries?: readonly { fieldId: string; summary: string }[]
  search: Search | null
}

/** Index of each field's value, by field id. Shared by all records of a page. */
export type Columns = ReadonlyMap<string, number>

/** A record as last read from the server. */
export interface StoredRecord {
  columns: Columns
  values: readonly CellValue[]
}

/** A record that the server has not created yet. */
export interface DraftRecord {
  values: Record<string, CellValue>
  /** The record that it precedes; null: at the end. */
  before: RecordId | null
  state: 'new' | 'saving' | 'failed'
  /** Names the missing fields, or gives the reason for the rejection. */
  message: string | null
  /** Reasons for rejected values, by field id. */
  failed: ReadonlyMap<string, string>
}

/** Unsaved edits of a table, kept while other screens are shown. */
export interface Unsaved {
  drafts: [RecordId, DraftRecord][]
  cells: [RecordId, LocalCells][]
}

/** An edited value that the server has not confirmed. */
export interface LocalCell {
  value: CellValue
  /** Number of the change that wrote it, so that the response to an earlier change leaves it alone. */
  change: number
  /** Reason for the rejection; null while it is being sent. */
  message: string | null
}

/** The local values of one record, by field id. */
export type LocalCells = ReadonlyMap<string, LocalCell>
