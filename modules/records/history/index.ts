/** Reads of the change log: history, undo and redo, and the trash of records. */

export { type HistoryEntry, readHistory } from './history.ts'
export { createTrash, MAX_TRASH_IDS, MAX_TRASH_PAGE, type TrashCursor } from './trash.ts'
export { createUndo, MAX_ACTIONS, type Undone } from './undo.ts'
