import type { Actor, UserActor } from '../../src/core/actor.ts'
import type { FieldOptions } from '../../src/core/fields/field-type.ts'
import type { Field, Table, TableSchema } from '../../src/core/model.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import {
  type FieldPosition,
  openField,
  type SchemaContext,
  type ScriptContext,
  type ScriptFollower,
} from './change/index.ts'
import {
  type CopiedTable,
  completeForeignCopy,
  type DefinedRows,
  duplicateField,
  duplicateTable,
  type FieldCopy,
  type FieldDefinitionRow,
  nameForCopy,
  type PublishTarget,
  planStagedIndexes,
  publishTables,
  rowsOfDefinitions,
  type StagedIndexes,
  type StagedTable,
  type StagedTables,
  type TableCopy,
  type TableDefinition,
} from './duplicate/index.ts'
import { addChoices, convertToLink, createField, setDisplayField, updateField } from './fields/index.ts'
import type { LoadNames } from './links/index.ts'
import {
  createCopiedRows,
  type FieldPatch,
  type NewField,
  refuseUnstorable,
  type TableModel,
} from './model/index.ts'
import { schemaOf } from './reader.ts'
import {
  createConnectedTable,
  createSyncService,
  type NewConnectedTable,
  requireWritableSource,
} from './sync/index.ts'
import {
  createTable,
  type FilledTable,
  type NewTable,
  type PreparedTable,
  placeTable,
  prepareTable,
  publishTable,
  reorderTable,
  type TablePatch,
  updateTable,
} from './tables/index.ts'
import {
  deleteField,
  deleteFieldForever,
  deleteTable,
  deleteTableForever,
  type Purge,
  purgeSchema,
  removedTables,
  restoreField,
  restoreTable,
} from './trash/index.ts'

/** Changes of the schema, see `createSchemaWriter`. */
export type SchemaWriter = ReturnType<typeof createSchemaWriter>

/** Changes tables and fields. Functions with an actor check its rights; those without leave that to the caller. */
export function createSchemaWriter(context: SchemaContext) {
  const { kernel, store, apply } = context
  return {
    copiedRows: createCopiedRows(kernel),
    /** The rows of the tables and fields that a file describes, see `rowsOfDefinitions`. */
    definedRows: (
      base: { baseId: string; sourceId: string; known: ReadonlyMap<string, string> },
      tables: readonly TableDefinition[],
      fields: readonly FieldDefinitionRow[],
    ): Promise<DefinedRows> => rowsOfDefinitions(context, base, tables, fields),
    /** Compares connected databases with the metadata, and synchronizes them. */
    sync: createSyncService(context),
    /** Writes a change of the schema; the views module writes its changes through it too. */
    apply,
    prepareTable: (actor: Actor, baseId: string, input: NewTable): Promise<PreparedTable> =>
      prepareTable(context, actor, baseId, input),
    publishTable: (actor: Actor, prepared: PreparedTable, filled: FilledTable): Promise<Table> =>
      publishTable(context, actor, prepared, filled),
    /** Publishes several filled tables together, and moves the originals to the trash, see `publishTables`. */
    publishTables: (
      actor: UserActor,
      target: PublishTarget,
      plan: (script: ScriptContext) => Promise<StagedTables>,
      follower: ScriptFollower,
    ): Promise<Table[]> => publishTables(context, actor, target, plan, follower),
    /** The indexes to build before that, see `planStagedIndexes`. */
    planStagedIndexes: (baseId: string, tables: readonly StagedTable[]): Promise<StagedIndexes[]> =>
      planStagedIndexes(context, baseId, tables),
    /** @throws as `requireWritableSource` */
    requireWritableSource: async (baseId: string, sourceId: string): Promise<void> => {
      await requireWritableSource(context, baseId, sourceId)
    },
    createConnectedTable: (actor: Actor, table: NewConnectedTable): Promise<Table> =>
      createConnectedTable(context, actor, table),
    async createTable(actor: Actor, baseId: string, input: NewTable): Promise<TableSchema> {
      refuseUnstorable(input)
      const table = await createTable(context, actor, baseId, input)
      return schemaOf(context, await store.load(table.id))
    },
    async updateTable(actor: Actor, tableId: string, patch: TablePatch): Promise<Table> {
      refuseUnstorable(patch)
      return updateTable(context, actor, tableId, patch)
    },
    reorderTable: (actor: Actor, tableId: string, before: string | null) =>
      reorderTable(context, actor, tableId, before),
    placeTable: (actor: Actor, tableId: string, order: number) => placeTable(context, actor, tableId, order),
    deleteTable: (actor: Actor, tableId: string) => deleteTable(context, actor, tableId),
    restoreTable: (actor: Actor, tableId: string) => restoreTable(context, actor, tableId),
    async createField(actor: Actor, tableId: string, input: NewField, place?: FieldPosition): Promise<Field> {
      refuseUnstorable(input)
      return createField(context, actor, tableId, input, place)
    },
    async updateField(actor: Actor, fieldId: string, patch: FieldPatch, timeZone?: string): Promise<Field> {
      refuseUnstorable(patch)
      return updateField(context, actor, fieldId, patch, timeZone)
    },
    async addChoices(actor: Actor, fieldId: string, titles: readonly string[]): Promise<Field> {
      refuseUnstorable(titles)
      return addChoices(context, actor, fieldId, titles)
    },
    /** Converts a field to a link to the records that `names` finds for its values, see `convertToLink`. */
    async linkValues(
      actor: Actor,
      fieldId: string,
      options: FieldOptions,
      { names, timeZone }: { names: LoadNames; timeZone: string },
    ): Promise<Field> {
      const { field } = await openField(context, actor, 'field.update', fieldId)
      return convertToLink(context, actor, field, { type: 'Links', options }, { names, timeZone })
    },
    /** Ends an interrupted copy of a table of a connected database, see `completeForeignCopy`. */
    completeForeignCopy: (actor: Actor, copy: TableCopy): Promise<Table | null> =>
      completeForeignCopy(context, actor, copy),
    /** A name in the connected database for the copy of a table. */
    nameForCopy: (model: TableModel, title: string) => nameForCopy(context, model, title),
    duplicateTable: (actor: Actor, copy: TableCopy, follower?: ScriptFollower): Promise<CopiedTable> =>
      duplicateTable(context, actor, copy, follower),
    duplicateField: (actor: Actor, copy: FieldCopy, follower?: ScriptFollower) =>
      duplicateField(context, actor, copy, follower),
    /** Permanently deletes old tables and fields from the trash, see `purgeSchema`. */
    purge: (baseId: string, purge: Purge) => purgeSchema(context, baseId, purge),
    /** Permanently deletes a field from the trash and returns the id of its base. */
    deleteFieldForever: (actor: Actor, fieldId: string) => deleteFieldForever(context, actor, fieldId),
    deleteTableForever: (actor: Actor, tableId: string) => deleteTableForever(context, actor, tableId),
    /** The statements that delete all tables, fields and views of a base from the metadata. */
    async forRemovedBase(baseId: string): Promise<MetaStatement[]> {
      const all = [...(await store.tablesOf(baseId)), ...(await store.tablesOf(baseId, { trash: true }))]
      for (const { id } of all) store.forget(id)
      return removedTables(
        context,
        all.map(({ id }) => id),
      )
    },
    setDisplayField: (actor: Actor, fieldId: string) => setDisplayField(context, actor, fieldId),
    deleteField: (actor: Actor, fieldId: string) => deleteField(context, actor, fieldId),
    restoreField: (actor: Actor, fieldId: string) => restoreField(context, actor, fieldId),
  }
}
