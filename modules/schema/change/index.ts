/**
 * Runs changes of the schema: the statements of the base's database, the metadata, the log, and updates of computed
 * fields.
 */

export {
  type ApplyChange,
  type CellsWrite,
  type ChangeContext,
  type ChangeOptions,
  createApplyChange,
  createApplyScript,
  expectRecords,
  freshSuffix,
  type PlannedChange,
  type PlannedScript,
  type ScriptContext,
  type ScriptFollower,
  withFreshName,
} from './change.ts'
export {
  type CopiedViews,
  FIELD_EXPRESSIONS,
  type FieldExpressions,
  type FieldPosition,
  type FrozenAt,
  HOOK_CHOICES,
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
  createForeignField,
  foreignSourceOf,
  foreignTable,
  refuseForeignPatch,
  refuseSchemaReadonly,
  withoutRewrite,
  writeRefusal,
} from './foreign-schema.ts'
