/**
 * Creating and updating tables.
 */

export {
  buildTable,
  createTable,
  type FilledTable,
  type NewTable,
  type PreparedTable,
  prepareTable,
  publishTable,
} from './create.ts'
export { diagramOf } from './diagram.ts'
export {
  placeTable,
  reorderTable,
  type TablePatch,
  type TableState,
  updateTable,
  writeTable,
} from './update.ts'
