/**
 * Duplicating tables and fields.
 */

export { duplicateField, type FieldCopy, openFieldToCopy } from './duplicate-field.ts'
export { duplicateTable, openTableToCopy, type TableCopy, titleForCopy } from './duplicate-table.ts'
