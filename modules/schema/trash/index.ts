/**
 * Deleting and restoring tables and fields, permanent deletion, and the undo of all schema changes.
 */

export {
  type DefinitionsAt,
  definitionsAt,
  type FieldChanges,
  fieldChangesSince,
} from './definitions-since.ts'
export { type Dependent, type DependentsOf, dependents } from './dependents.ts'
export { deleteField, restoreField, type TrashedField, trashedFields, trashedFieldsOfBase } from './field.ts'
export { type TrashInBases, tablesIn, trashedFieldsIn, trashedTablesIn } from './in-bases.ts'
export { deleteFieldForever, deleteTableForever, type Purge, purgeSchema, removedTables } from './purge.ts'
export { deleteTable, restoreTable, type TrashedTable, trashedTablesOfBase } from './table.ts'
export { registerSchemaUndo } from './undo.ts'
