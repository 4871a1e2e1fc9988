import type { CellValue } from './fields/field-type.ts'
import type { RecordId } from './model.ts'

/**
 * Values by field id; absent fields are unchanged. In an insert or update, a link field's JSON text lists the ids of
 * all its linked records (`readLinkIds` of `fields/list-value.ts`).
 */
export type Values = Record<string, CellValue>

/** A step of a change. All steps are applied in order, in one transaction. */
export type Operation =
  /**
   * Adds records. `before` places them ahead of a record, with `viewId` in the manual order of that view as well; absent: at
   * the end.
   */
  | {
      kind: 'insert'
      tableId: string
      rows: NewRow[]
      before?: RecordId | null
      viewId?: string
    }
  | { kind: 'update'; tableId: string; rows: UpdatedRow[] }
  | { kind: 'delete'; tableId: string; ids: RecordId[] }
  /**
   * Moves records ahead of another; null: to the end. In the table's own order, or with `viewId` in the manual order of
   * that view, which no other view shows.
   */
  | { kind: 'move'; tableId: string; ids: RecordId[]; before: RecordId | null; viewId?: string }
  | LinkOperation

/** A new record. */
export interface NewRow {
  id?: RecordId
  values: Values
  /**
   * Links to records that the same operation adds to the table, which are added to those among the values: by link field,
   * the positions of their rows. Required ones are written in an order that provides for them.
   */
  siblings?: Record<string, number[]>
  /** Who created the record elsewhere, and when: only imports set it, no API takes it. Not for connected databases. */
  origin?: RecordOrigin
}

/** The creation of a record in another product. */
export interface RecordOrigin {
  /** As stored: `2026-11-26 08:20:30+00:00`. */
  createdAt?: string
  /** A user id. */
  createdBy?: string
}

/** New values of a record. */
export interface UpdatedRow {
  id: RecordId
  values: Values
  /**
   * Values that the new ones replace, for fields whose edits are merged (`mergesEdits`). If someone has changed one since, the
   * change is rejected with CONFLICT, and `details.current` is the stored value.
   */
  expected?: Values
}

/** Adds or removes links of a record in a link field; existing links are kept, missing ones ignored. */
export interface LinkOperation {
  kind: 'link' | 'unlink'
  tableId: string
  fieldId: string
  id: RecordId
  targets: RecordId[]
}

/**
 * Key under which a record's `Values` hold its position in the manual order of a view. A null value means
 * that the record follows the table's own order.
 */
export const positionKey = (viewId: string): string => `${POSITION_PREFIX}${viewId}`

const POSITION_PREFIX = '@'

/** The view id in a key made by `positionKey`; null if the key is a field id. */
export const viewOfPositionKey = (key: string): string | null =>
  key.startsWith(POSITION_PREFIX) ? key.slice(POSITION_PREFIX.length) : null

/** One user or API action, applied and undone atomically. */
export interface Change {
  baseId: string
  operations: Operation[]
  /** Chosen by the browser to recognise its own change on the socket. */
  clientId?: string
  /** IANA time zone for defaults with the current date; UTC if absent. */
  timeZone?: string
}

/**
 * A record's values before and after a change; null if it did not exist. A link field is in `after` only, as the
 * difference: `{"linked":[3],"unlinked":[]}`.
 */
export interface RecordChange {
  tableId: string
  recordId: RecordId
  before: Values | null
  after: Values | null
}

/** Result of the write door, also sent over the socket. */
export interface AppliedChange {
  /** Ascending id in the base's log. A browser that sees a gap reloads. */
  id: number
  baseId: string
  clientId?: string
  actorId: string | null
  at: string
  records: RecordChange[]
  /** True if the change is too large to list its records: reload the tables. */
  truncated: boolean
  tableIds: string[]
}

/** An entry of the log as history and undo show it. */
export interface LogEntry {
  id: number
  at: string
  actorId: string | null
  kind: string
  tableId: string | null
  records: number
  undoes: number | null
  /** Entries of one user with the same id are undone together. */
  actionId: string | null
}
