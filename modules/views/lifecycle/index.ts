/**
 * Creating, copying, deleting and reordering views, and the undo of all view operations.
 */

export { createViewCopies, type ViewRows, viewsWithNewIds } from './copied-rows.ts'
export {
  createView,
  deleteView,
  type NewView,
  newTableStatements,
  removedTablesStatements,
  reorderView,
} from './create-and-delete.ts'
export {
  rowsOfDefinedViews,
  type ViewDefinition,
  type ViewFieldDefinition,
  viewDefinition,
  viewFieldDefinition,
} from './defined-views.ts'
export { rewindViews } from './rewind-views.ts'
export { registerViewsUndo } from './undo.ts'
