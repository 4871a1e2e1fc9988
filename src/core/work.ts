/** What a change of whole tables does: `undo` and `redo` of one are such changes as well. */
export type WorkKind = 'delete' | 'update' | 'restore' | 'undo' | 'redo'

/** A change of whole tables that takes a while, as everybody sees it who has its base open. */
export interface Work {
  id: string
  kind: WorkKind
  baseId: string
  tableId: string
  tableTitle: string
  /** Who made it; null for visitors of public links. */
  actorId: string | null
  /** How many records of the table it concerns; null while they are looked for, or others still write. */
  records: number | null
  /** From 0 to 1, as far as it can be told. */
  share: number
  hasEnded: boolean
}
