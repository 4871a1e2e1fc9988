/** Reads of the change log: history, undo and redo, and the trash of records. */

export type { Describe } from './describe.ts'
export { changesOf, type HistoryEntry, isInRange, readHistory } from './history.ts'
export { createUndoPreview, type UndoPreview } from './preview-undo.ts'
export { createRecordRestore, type RecordVersionPreview } from './restore-record.ts'
export {
  createTableRestore,
  type LeftField,
  type LogMoment,
  MAX_KEPT_PEOPLE,
  type TableMoment,
  type TableRestorePreview,
} from './restore-table.ts'
export { type CopyToRewind, momentIn, rewindCopy } from './rewind-base.ts'
export { createTrash, MAX_TRASH_IDS, MAX_TRASH_PAGE, type TrashCursor } from './trash.ts'
export { createUndo, joinActions, MAX_ACTIONS, type Undone } from './undo.ts'
