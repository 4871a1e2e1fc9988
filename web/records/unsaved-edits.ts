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

/** Keeps the edits that a table could not save, besides those that are kept already, until it is opened again. */
export function keepUnsaved(tableId: string, unsaved: Unsaved): void {
  const move = moves.get(tableId)
  const { drafts, cells } = move ? move.moved(unsaved) : unsaved
  if (drafts.length + cells.length === 0) return
  const kept = takeUnsaved(move?.tableId ?? tableId)
  const cellsOf = new Map(kept?.cells)
  for (const [id, more] of cells) cellsOf.set(id, new Map([...(cellsOf.get(id) ?? []), ...more]))
  unsavedOf.set(move?.tableId ?? tableId, {
    drafts: [...(kept?.drafts ?? []), ...drafts],
    cells: [...cellsOf],
  })
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
