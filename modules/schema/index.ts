/** Tables and fields: what they are, how they change, and how they follow a connected database. */

export {
  type ApplyChange,
  type CopiedViews,
  FIELD_EXPRESSIONS,
  type FieldExpressions,
  type FieldPosition,
  HOOK_CHOICES,
  type LogNames,
  type PlannedChange,
  type ScriptContext,
  TABLE_VIEWS,
  type TableViews,
} from './change/index.ts'
export { type ReachableModels, referencesOf, resolveRows } from './computed/index.ts'
export { createDetachedSchema, type DetachedSchema } from './detached.ts'
export {
  type DefinedRows,
  type FieldDefinitionRow,
  fieldDefinition,
  StagedNameTaken,
  type StagedTable,
  type StagedTables,
  type TableDefinition,
  tableDefinition,
} from './duplicate/index.ts'
export type { LoadNames } from './links/index.ts'
export {
  checkTitle,
  choiceTitles,
  columnOf,
  type FieldDefinition,
  type FieldInput,
  type FieldPatch,
  type FormerChoices,
  fieldWithNewIds,
  formerChoices,
  getField,
  isTitleTaken,
  MAX_FIELDS,
  type NewField,
  namesOnly,
  narrowModel,
  orderAt,
  physicalName,
  presentChoiceTitles,
  refuseUnstorable,
  restoreKeys,
  type SchemaRows,
  type StoredField,
  type TableModel,
  uniqueTitle,
} from './model/index.ts'
export type { SchemaReader } from './reader.ts'
export {
  type PresentTableViews,
  presentFull,
  presentShared,
  readFieldPosition,
  schemaRest,
  VIEW_PRESENTER,
} from './rest/index.ts'
export {
  type DefinitionLog,
  existedAt,
  isOfExistence,
  type KnownEntry,
  knownEntries,
  makesAppear,
  type NotRewound,
  numbered,
  type RenamedChoices,
  type RewoundSchema,
  readDefinitionLog,
  rewindSchema,
  type Step,
  stateAt,
  stepOf,
} from './rewind/index.ts'
export { schemaRouter } from './router.ts'
export { createSchemaService, type SchemaService } from './service.ts'
export type { NewConnectedTable } from './sync/index.ts'
export { diagramOf, type NewTable, type PreparedTable } from './tables/index.ts'
export { type DefinitionsAt, definitionsAt, type FieldChanges, fieldChangesSince } from './trash/index.ts'
export type { SchemaWriter } from './writer.ts'
