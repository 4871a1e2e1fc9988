import { z } from 'zod'
import { MAX_CHOICES } from '../../src/core/fields/choices.ts'
import { FIELD_TYPE_NAMES, type FieldTypeName } from '../../src/core/fields/index.ts'
import { timeZone } from '../../src/input.ts'
import { m } from '../../src/messages.gen.ts'
import { member, reader, router } from '../../src/trpc.ts'
import { MAX_FIELDS } from './model/index.ts'
import type { SchemaService } from './service.ts'

const id = z.string().min(1).max(64)
const title = z.string().max(1000)
const description = z.string().max(10_000).nullable()
const cellValue = z.union([z.string().max(100_000), z.number(), z.boolean(), z.null()])
const options = z.record(z.string().max(64), z.unknown())

/** Settings that the web app stores with a table, up to 100,000 characters of JSON. */
export const metaInput = z
  .record(z.string().max(64), z.unknown())
  .refine((meta) => JSON.stringify(meta).length <= 100_000, { error: m.error_too_much_data() })

const typeName = z.enum(FIELD_TYPE_NAMES as [FieldTypeName, ...FieldTypeName[]])

/** A new field. */
export const fieldInput = z.strictObject({
  title: title.optional(),
  type: typeName,
  options: options.optional(),
  description: description.optional(),
  required: z.boolean().optional(),
  unique: z.boolean().optional(),
  defaultValue: cellValue.optional(),
})

const differencesInput = z.strictObject({ baseId: id, sourceId: id })
/** `keys` names the differences to apply; absent applies all. */
const syncInput = differencesInput.extend({
  keys: z.array(z.string().max(2000)).max(100_000).optional(),
})
const tableRef = z.strictObject({ tableId: id })
const fieldRef = z.strictObject({ fieldId: id })
const baseRef = z.strictObject({ baseId: id })
const tablesInput = z.strictObject({
  baseId: id,
  trash: z.boolean().optional(),
  includeJunctions: z.boolean().optional(),
})
/** The field or table to delete. */
const dependentsInput = z.union([fieldRef, tableRef])
/** A new table; without `fields` it gets one text field "Title". */
const createTableInput = z.strictObject({
  baseId: id,
  title,
  fields: z.array(fieldInput).max(MAX_FIELDS).optional(),
})
const updateTableInput = z.strictObject({
  tableId: id,
  title: title.optional(),
  description: description.optional(),
  meta: metaInput.optional(),
})
/** `before` null moves the table to the end. */
const reorderTableInput = z.strictObject({ tableId: id, before: id.nullable() })
/** A new field, and its position in one view. */
const createFieldInput = z.strictObject({
  tableId: id,
  field: fieldInput,
  viewId: id.optional(),
  beforeFieldId: id.optional(),
})
/** A new `type` converts the values. */
const updateFieldInput = z.strictObject({
  fieldId: id,
  patch: fieldInput.partial(),
  /** The options of the select field that the sender had read: what others have changed since stays. */
  seenChoices: z
    .array(z.object({ id, title, color: z.string().max(64) }))
    .max(MAX_CHOICES)
    .optional(),
  timeZone,
})
const addChoicesInput = z.strictObject({ fieldId: id, titles: z.array(title).max(MAX_CHOICES) })
const previewTypeInput = z.strictObject({
  fieldId: id,
  type: typeName,
  options: options.optional(),
  timeZone,
})
/** An unsaved formula; `fieldId` is the field it belongs to, if any. */
const formulaDraftInput = z.strictObject({
  tableId: id,
  formula: z.string().max(100_000),
  fieldId: id.optional(),
})

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
      .mutation(({ ctx, input: { tableId, field, ...position } }) =>
        schema.createField(ctx.actor, tableId, field, position),
      ),
    updateField: member
      .input(updateFieldInput)
      .mutation(({ ctx, input }) =>
        schema.updateField(
          ctx.actor,
          input.fieldId,
          { ...input.patch, seenChoices: input.seenChoices },
          input.timeZone,
        ),
      ),
    addChoices: member
      .input(addChoicesInput)
      .mutation(({ ctx, input }) => schema.addChoices(ctx.actor, input.fieldId, input.titles)),
    previewType: member
      .input(previewTypeInput)
      .query(({ ctx, input }) =>
        schema.previewType(ctx.actor, input.fieldId, input.type, input.options, input.timeZone),
      ),
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
    place: member.input(tableRef).query(({ ctx, input }) => schema.place(ctx.actor, input.tableId)),
    dependents: member.input(dependentsInput).query(({ ctx, input }) => schema.dependents(ctx.actor, input)),
    trashedFieldsOfBase: member
      .input(baseRef)
      .query(({ ctx, input }) => schema.trashedFieldsOfBase(ctx.actor, input.baseId)),
    trashedFields: member
      .input(tableRef)
      .query(({ ctx, input }) => schema.trashedFields(ctx.actor, input.tableId)),
  })
