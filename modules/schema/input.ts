import { z } from 'zod'
import { FIELD_TYPE_NAMES, type FieldTypeName } from '../../src/core/fields/index.ts'
import { MAX_FIELDS } from './model/index.ts'

const id = z.string().min(1).max(64)
const title = z.string().max(1000)
const description = z.string().max(10_000).nullable()
const cellValue = z.union([z.string().max(100_000), z.number(), z.boolean(), z.null()])
const options = z.record(z.string().max(64), z.unknown())

/** A bag of settings that the web app keeps for itself; bounded, so that it stays one. */
export const metaInput = z
  .record(z.string().max(64), z.unknown())
  .refine((meta) => JSON.stringify(meta).length <= 100_000, { error: 'Too much data' })

const typeName = z.enum(FIELD_TYPE_NAMES as [FieldTypeName, ...FieldTypeName[]])

/** A field as the web app asks for it. */
export const fieldInput = z.strictObject({
  title: title.optional(),
  type: typeName,
  options: options.optional(),
  description: description.optional(),
  required: z.boolean().optional(),
  unique: z.boolean().optional(),
  defaultValue: cellValue.optional(),
})

/** A source of a base, to be held against its database. */
export const differencesInput = z.strictObject({ baseId: id, sourceId: id })
/** The differences that are to be applied, by their keys; absent: all. */
export const syncInput = differencesInput.extend({
  keys: z.array(z.string().max(2000)).max(100_000).optional(),
})
/** A table by its id. */
export const tableRef = z.strictObject({ tableId: id })
/** A field by its id. */
export const fieldRef = z.strictObject({ fieldId: id })
/** A base by its id. */
export const baseRef = z.strictObject({ baseId: id })
/** The tables of a base, or those in its trash; with or without those that hold pairs of links. */
export const tablesInput = z.strictObject({
  baseId: id,
  trash: z.boolean().optional(),
  includeJunctions: z.boolean().optional(),
})
/** What is about to be deleted: a field or a table. */
export const dependentsInput = z.union([fieldRef, tableRef])
/** A new table; without `fields` it has the one field "Title". */
export const createTableInput = z.strictObject({
  baseId: id,
  title,
  fields: z.array(fieldInput).max(MAX_FIELDS).optional(),
})
/** What of a table changes; what is absent stays. */
export const updateTableInput = z.strictObject({
  tableId: id,
  title: title.optional(),
  description: description.optional(),
  meta: metaInput.optional(),
})
/** A table and the one it goes ahead of; null: to the end. */
export const reorderTableInput = z.strictObject({ tableId: id, before: id.nullable() })
/** A new field, and where it goes in one view. */
export const createFieldInput = z.strictObject({
  tableId: id,
  field: fieldInput,
  viewId: id.optional(),
  beforeFieldId: id.optional(),
})
/** What of a field changes; another `type` converts its values. */
export const updateFieldInput = z.strictObject({ fieldId: id, patch: fieldInput.partial() })
/** A change of type or options that is only to be counted. */
export const previewTypeInput = z.strictObject({ fieldId: id, type: typeName, options: options.optional() })
/** A formula that is being written; `fieldId` is the field that has it already. */
export const formulaDraftInput = z.strictObject({
  tableId: id,
  formula: z.string().max(100_000),
  fieldId: id.optional(),
})
