import { member, reader, router } from '../../src/trpc.ts'
import {
  baseRef,
  createFieldInput,
  createTableInput,
  dependentsInput,
  differencesInput,
  fieldRef,
  formulaDraftInput,
  previewTypeInput,
  reorderTableInput,
  syncInput,
  tableRef,
  tablesInput,
  updateFieldInput,
  updateTableInput,
} from './input.ts'
import type { SchemaService } from './service.ts'

/** Tables and fields for the web app. */
export const schemaRouter = (schema: SchemaService) =>
  router({
    tables: reader
      .input(tablesInput)
      .query(({ ctx, input: { baseId, ...options } }) => schema.tables(ctx.actor, baseId, options)),
    diagram: reader.input(baseRef).query(({ ctx, input }) => schema.diagram(ctx.actor, input.baseId)),
    table: reader.input(tableRef).query(({ ctx, input }) => schema.table(ctx.actor, input.tableId)),
    createTable: member
      .input(createTableInput)
      .mutation(({ ctx, input: { baseId, ...table } }) => schema.createTable(ctx.actor, baseId, table)),
    updateTable: member
      .input(updateTableInput)
      .mutation(({ ctx, input: { tableId, ...patch } }) => schema.updateTable(ctx.actor, tableId, patch)),
    reorderTable: member
      .input(reorderTableInput)
      .mutation(({ ctx, input }) => schema.reorderTable(ctx.actor, input.tableId, input.before)),
    deleteTable: member
      .input(tableRef)
      .mutation(({ ctx, input }) => schema.deleteTable(ctx.actor, input.tableId)),
    restoreTable: member
      .input(tableRef)
      .mutation(({ ctx, input }) => schema.restoreTable(ctx.actor, input.tableId)),
    createField: member
      .input(createFieldInput)
      .mutation(({ ctx, input: { tableId, field, ...place } }) =>
        schema.createField(ctx.actor, tableId, field, place),
      ),
    updateField: member
      .input(updateFieldInput)
      .mutation(({ ctx, input }) => schema.updateField(ctx.actor, input.fieldId, input.patch)),
    previewType: member
      .input(previewTypeInput)
      .query(({ ctx, input }) => schema.previewType(ctx.actor, input.fieldId, input.type, input.options)),
    checkFormula: member
      .input(formulaDraftInput)
      .query(({ ctx, input }) => schema.checkFormula(ctx.actor, input)),
    setDisplayField: member
      .input(fieldRef)
      .mutation(({ ctx, input }) => schema.setDisplayField(ctx.actor, input.fieldId)),
    deleteField: member
      .input(fieldRef)
      .mutation(({ ctx, input }) => schema.deleteField(ctx.actor, input.fieldId)),
    restoreField: member
      .input(fieldRef)
      .mutation(({ ctx, input }) => schema.restoreField(ctx.actor, input.fieldId)),
    differences: member
      .input(differencesInput)
      .query(async ({ ctx, input }) =>
        (await schema.sync.differences(ctx.actor, input.baseId, input.sourceId)).flatMap(
          ({ changes }) => changes,
        ),
      ),
    syncSource: member
      .input(syncInput)
      .mutation(({ ctx, input: { baseId, ...what } }) => schema.sync.sync(ctx.actor, baseId, what)),
    dependents: member.input(dependentsInput).query(({ ctx, input }) => schema.dependents(ctx.actor, input)),
    trashedFieldsOfBase: member
      .input(baseRef)
      .query(({ ctx, input }) => schema.trashedFieldsOfBase(ctx.actor, input.baseId)),
    trashedFields: member
      .input(tableRef)
      .query(({ ctx, input }) => schema.trashedFields(ctx.actor, input.tableId)),
  })
