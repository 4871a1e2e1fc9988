import type { CellValue } from './fields/field-type.ts'
import type { RecordId } from './model.ts'

/**
 * Values by field id; a field that is absent is not touched. A link field among those of an insert or update
 * then holds exactly the records whose ids its JSON text lists (`readLinkIds` of `fields/list-value.ts`).
 */
export type Values = Record<string, CellValue>

/** The parts of a change. Each is applied in order, all in one transaction. */
export type Operation =
  /**
   * Adds records. `before` places them ahead of a record, with `viewId` in the manual order of that view as well; absent: at
   * the end.
   */
  | {
      kind: 'insert'
      tableId: string
      rows: { id?: RecordId; values: Values }[]
      before?: RecordId | null
      viewId?: string
    }
  | { kind: 'update'; tableId: string; rows: { id: RecordId; values: Values }[] }
  | { kind: 'delete'; tableId: string; ids: RecordId[] }
  /**
   * Moves records ahead of another; null: to the end. In the table's own order, or with `viewId` in the manual order of
   * that view, which no other view shows.
   */
  | { kind: 'move'; tableId: string; ids: RecordId[]; before: RecordId | null; viewId?: string }
  | LinkOperation

/** Links other records to one by a link field, or takes such links away; what is so already stays. */
export interface LinkOperation {
  kind: 'link' | 'unlink'
  tableId: string
  fieldId: string
  id: RecordId
  targets: RecordId[]
}

/**
 * Key of a record's position in the manual order of a view, among its values in a `RecordChange` and in a page that is
 * read in that order. Null: the record is where the table's own order puts it.
 */
export const placeKey = (viewId: string): string => `${PLACE_PREFIX}${viewId}`

const PLACE_PREFIX = '@'

/** The view of a key that `placeKey` made; null for the id of a field. */
export const viewOfPlaceKey = (key: string): string | null =>
  key.startsWith(PLACE_PREFIX) ? key.slice(PLACE_PREFIX.length) : null

/** One action of a person or program: all of it is written, or none, and undo takes back all of it. */
export interface Change {
  baseId: string
  operations: Operation[]
  /** Chosen by the browser so that its own change, coming back over the socket, is recognised. */
  clientId?: string
  /** Whose clock says what day it is where a new record starts with that: an IANA name; absent: UTC. */
  timeZone?: string
}

/**
 * What a record looked like on both sides of a change; null: it did not exist. A link field stands in `after`
 * alone, with what the change did to it: `{"linked":[3],"unlinked":[]}`.
 */
export interface RecordChange {
  tableId: string
  recordId: RecordId
  before: Values | null
  after: Values | null
}

/** Result of the write door, also sent over the socket. */
export interface AppliedChange {
  /** Position in the base's log. Grows; a browser that sees a gap reads again. */
  id: number
  baseId: string
  clientId?: string
  actorId: string | null
  at: string
  records: RecordChange[]
  /** True where the change was too large to list its records: read the tables again. */
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
  /** How many records it touched. */
  records: number
  undoes: number | null
  /** Entries of one person that share it are taken back together. */
  actionId: string | null
}
