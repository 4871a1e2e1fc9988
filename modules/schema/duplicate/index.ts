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
export { duplicateField, type FieldCopy, openFieldToCopy } from './duplicate-field.ts'
export { duplicateTable, openTableToCopy, type TableCopy, titleForCopy } from './duplicate-table.ts'
