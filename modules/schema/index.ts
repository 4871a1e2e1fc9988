export type { ApplyChange, PlannedChange } from './change.ts'
export {
  type CopiedViews,
  FIELD_EXPRESSIONS,
  type FieldExpressions,
  type FieldPlace,
  TABLE_VIEWS,
  type TableViews,
} from './context.ts'
export { fieldWithNewIds, type SchemaRows } from './copied-rows.ts'
export type { NewField, NewTable } from './create-table.ts'
export type { FieldInput, FieldPatch } from './definition.ts'
export { diagramOf } from './diagram.ts'
export type { LogNames } from './log-names.ts'
export type { TableModel } from './model.ts'
export { checkTitle, isTitleTaken, refuseUnstorable, uniqueTitle } from './names.ts'
export { namesOnly, narrowModel } from './narrow-model.ts'
export { placeAt } from './place.ts'
export type { PreparedTable } from './prepare-table.ts'
export { presentFull } from './present-full.ts'
export { presentShared } from './present-shared.ts'
export type { ReachableModels } from './reachable.ts'
export { schemaRest } from './rest.ts'
export { readPlace } from './rest-columns.ts'
export { schemaRouter } from './router.ts'
export { createSchemaService, type SchemaService } from './service.ts'
