import type { Unsaved } from './types.ts'

/** Where a table has moved to: its new id, and those of its fields by the old ones. */
interface Move {
  tableId: string
  fieldIds: ReadonlyMap<string, string>
}

/** Unsaved edits of tables that are not on screen. */
const unsavedOf = new Map<string, Unsaved>()
const moves = new Map<string, Move>()

/** Keeps the edits that a table could not save, until it is opened again. */
export function keepUnsaved(tableId: string, unsaved: Unsaved): void {
  const move = moves.get(tableId)
  const kept = move ? withNewIds(unsaved, move.fieldIds) : unsaved
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

function withNewIds({ drafts, cells }: Unsaved, fieldIds: Move['fieldIds']): Unsaved {
  const renamed = <T>(entries: Iterable<readonly [string, T]>): [string, T][] =>
    [...entries].flatMap(([id, value]) => {
      const newId = fieldIds.get(id)
      return newId === undefined ? [] : [[newId, value]]
    })
  return {
    drafts: drafts.map(([id, draft]) => [
      id,
      {
        ...draft,
        values: Object.fromEntries(renamed(Object.entries(draft.values))),
        failed: new Map(renamed(draft.failed)),
      },
    ]),
    cells: cells.flatMap(([id, local]) => {
      const kept = new Map(renamed(local))
      return kept.size > 0 ? [[id, kept]] : []
    }),
  }
}
