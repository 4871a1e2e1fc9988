/**
 * Stored tables and fields: rows, names, order, and the cached model of a table.
 */

export {
  choiceRenamer,
  choiceRewriter,
  choicesOf,
  choiceTitles,
  type FormerChoices,
  formerChoices,
  presentChoiceTitles,
  revertChoices,
  withKeptIds,
} from './choices.ts'
export {
  areLinks,
  checkFieldInput,
  defaultAfter,
  definitionOf,
  type FieldDefinition,
  type FieldInput,
  type FieldPatch,
  patchDefinition,
} from './definition.ts'
export {
  columnOf,
  createTableModel,
  getField,
  hasRoom,
  MAX_FIELDS,
  type NewField,
  namesOnly,
  narrowModel,
  orderAt,
  plainField,
  refuseSystemField,
  requireRoom,
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
export {
  type FieldSlots,
  MAX_TABLES,
  openSlots,
  openTableSlots,
  planFields,
  type SlotField,
  SYSTEM_FIELDS,
  type TableSlots,
} from './plan-fields.ts'
export { restoreKeys } from './restore-keys.ts'
export {
  batches,
  createCopiedRows,
  createSchemaStore,
  fieldWithNewIds,
  type SchemaRows,
  type SchemaStore,
} from './store.ts'
