/**
 * Creating and updating tables.
 */

export { buildTable, createTable, type NewTable } from './create.ts'
export { diagramOf } from './diagram.ts'
export { type PreparedTable, prepareTable, publishTable } from './prepare.ts'
export {
  placeTable,
  reorderTable,
  type TablePatch,
  type TableState,
  updateTable,
  writeTable,
} from './update.ts'
