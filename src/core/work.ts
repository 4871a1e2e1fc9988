/**
 * Kinds of long writes: `update` writes values of records, `convert` turns a column into another type, `fill`
 * computes the values of a column, `purge` deletes forever.
 */
export type WorkKind =
  | 'insert'
  | 'update'
  | 'delete'
  | 'restore'
  | 'purge'
  | 'undo'
  | 'redo'
  | 'convert'
  | 'fill'

/** A write whose duration grows with a table, as everyone sees it who has its base open. */
export interface Work {
  id: string
  kind: WorkKind
  baseId: string
  tableId: string | null
  /** Empty where it concerns no single table. */
  tableTitle: string
  /** The field that it writes; null where it writes whole records. */
  fieldTitle: string | null
  /** Who started it; null for visitors of public links. */
  actorId: string | null
  /** How many records of the table it concerns; null while that is not known. */
  records: number | null
  /** From 0 to 1; null while that is not known. */
  share: number | null
  /** False from its commit on, and where it is no single transaction. */
  canCancel: boolean
  hasEnded: boolean
}
