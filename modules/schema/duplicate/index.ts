/**
 * Duplicating tables and fields, and creating those that a file describes.
 */

export {
  type DefinedRows,
  type FieldDefinitionRow,
  fieldDefinition,
  rowsOfDefinitions,
  type TableDefinition,
  tableDefinition,
} from './defined-rows.ts'
export type { CopiedTable, TableCopy } from './draft.ts'
export { duplicateField, type FieldCopy, openFieldToCopy } from './duplicate-field.ts'
export { completeForeignCopy, nameForCopy } from './duplicate-foreign.ts'
export { duplicateTable, openTableToCopy, titleForCopy } from './duplicate-table.ts'
export {
  type PublishTarget,
  planStagedIndexes,
  publishTables,
  type StagedIndexes,
  StagedNameTaken,
  type StagedTable,
  type StagedTables,
} from './publish-tables.ts'
