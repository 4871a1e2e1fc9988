import type { Unsaved } from './types.ts'

/** Where a table has moved to. */
interface Move {
  tableId: string
  /** The edits with the fields' new ids, see `withNewIds`. */
  moved(unsaved: Unsaved): Unsaved
}

/** Unsaved edits of tables that are not on screen. */
const unsavedOf = new Map<string, Unsaved>()
const moves = new Map<string, Move>()

/** Keeps the edits that a table could not save, until it is opened again. */
export function keepUnsaved(tableId: string, unsaved: Unsaved): void {
  const move = moves.get(tableId)
  const kept = move ? move.moved(unsaved) : unsaved
  if (kept.drafts.length + kept.cells.length > 0) unsavedOf.set(move?.tableId ?? tableId, kept)
}

/** Returns the unsaved edits of a table that is opened. */
export function takeUnsaved(tableId: string): Unsaved | undefined {
  const unsaved = unsavedOf.get(tableId)
  unsavedOf.delete(tableId)
  return unsaved
}

/** Gives the unsaved edits of a table, also later ones, to the table that it was moved to, whose records have the same ids. */
export function moveUnsaved(fromTableId: string, move: Move): void {
  moves.set(fromTableId, move)
  const unsaved = takeUnsaved(fromTableId)
  if (unsaved) keepUnsaved(fromTableId, unsaved)
}
