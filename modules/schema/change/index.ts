/**
 * One change of the schema: the plan of its statements, run together with the metadata, the log and what follows
 * for computed fields.
 */

export {
  type ApplyChange,
  type CellsWrite,
  type ChangeContext,
  type ChangeOptions,
  createApplyChange,
  createApplyScript,
  expectRecords,
  type PlannedChange,
  type PlannedScript,
  type ScriptContext,
  type ScriptFollower,
  withFreshName,
} from './change.ts'
export {
  actorIdOf,
  type CopiedViews,
  FIELD_EXPRESSIONS,
  type FieldExpressions,
  type FieldPlace,
  type LogNames,
  loadShown,
  openField,
  openTable,
  readLogNames,
  type SchemaContext,
  TABLE_VIEWS,
  type TableViews,
} from './context.ts'
export {
  areAlike,
  asItIs,
  createForeignField,
  foreignSourceOf,
  foreignTable,
  refuseForeignPatch,
  refuseSchemaReadonly,
  writeRefusal,
} from './foreign-schema.ts'
