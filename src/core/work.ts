/**
 * Kinds of long writes: `update` writes values of records, `convert` turns a column into another type, `fill`
 * computes the values of a column, `purge` deletes permanently, `rewind` restores a table to an earlier time.
 */
export type WorkKind =
  | 'insert'
  | 'update'
  | 'delete'
  | 'restore'
  | 'rewind'
  | 'purge'
  | 'undo'
  | 'redo'
  | 'convert'
  | 'fill'

/** A long-running write, as shown to all users who have its base open. */
export interface Work {
  id: string
  kind: WorkKind
  baseId: string
  tableId: string | null
  /** Empty if it affects several tables. */
  tableTitle: string
  /** The written field; null if it writes whole records. */
  fieldTitle: string | null
  /** User who started it; null for visitors of public links. */
  actorId: string | null
  /** Number of affected records; null while unknown. */
  records: number | null
  /** Progress from 0 to 1; null while unknown. */
  share: number | null
  /** False after its commit, and if it is not a single transaction. */
  canCancel: boolean
  hasEnded: boolean
}
