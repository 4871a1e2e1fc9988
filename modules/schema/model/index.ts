/**
 * What is stored of tables and fields: their rows, names, order, and the model of one table that everybody reads.
 */

export { choiceRewriter, choicesOf, renamedChoices, revertChoices, withKeptIds } from './choices.ts'
export { createCopiedRows, fieldWithNewIds, type SchemaRows } from './copied-rows.ts'
export {
  areLinks,
  checkFieldInput,
  definitionOf,
  type FieldDefinition,
  type FieldInput,
  type FieldPatch,
  patchDefinition,
} from './definition.ts'
export { type FieldSlots, openSlots, type SlotField } from './field-slots.ts'
export {
  createTableModel,
  getField,
  plainField,
  refuseSystemField,
  type StoredField,
  type TableModel,
  toField,
  toStored,
  toTable,
} from './model.ts'
export {
  checkTitle,
  duplicateField,
  duplicateTable,
  isTitleTaken,
  physicalName,
  refuseUnstorable,
  titleKey,
  uniqueTitle,
} from './names.ts'
export { namesOnly, narrowModel } from './narrow-model.ts'
export { columnOf, hasRoom, MAX_FIELDS, type NewField, requireRoom } from './new-field.ts'
export { planFields } from './plan-fields.ts'
export { placeAt } from './positions.ts'
export { restoreKeys } from './restore-keys.ts'
export { createSchemaStore, type SchemaStore } from './store.ts'
export { MAX_TABLES, openTableSlots, type TableSlots } from './table-slots.ts'
