/**
 * One change of the schema: the plan of its statements, run together with the metadata, the log and what follows
 * for computed fields.
 */

export {
  createApplyScript,
  type PlannedScript,
  type ScriptContext,
  type ScriptFollower,
} from './apply-script.ts'
export { type ApplyChange, type ChangeContext, type ChangeOptions, createApplyChange } from './change.ts'
export {
  actorIdOf,
  type CopiedViews,
  FIELD_EXPRESSIONS,
  type FieldExpressions,
  type FieldPlace,
  loadShown,
  openField,
  openTable,
  type SchemaContext,
  TABLE_VIEWS,
  type TableViews,
} from './context.ts'
export { expectRecords } from './expect-records.ts'
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
export { withFreshName } from './fresh-name.ts'
export { type LogNames, readLogNames } from './log-names.ts'
export type { CellsWrite, PlannedChange } from './planned-change.ts'
