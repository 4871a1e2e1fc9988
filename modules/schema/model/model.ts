import { AppError, notFound } from '../../../src/core/errors.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import type { defineSchemaTables } from '../tables.ts'

type Tables = ReturnType<typeof defineSchemaTables>
type TableRow = Tables['tables']['$inferSelect']
/** A row of the `fields` table. */
export type FieldRow = Tables['fields']['$inferSelect']

/** A field with what only the trash, undo and REST look at. */
export interface StoredField extends Field {
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  /** What REST clients keep with the column, as they sent it. */
  wireMeta: Record<string, unknown> | null
}

/** A table with its fields, ready for readers and writers. The same object until the table changes. */
export interface TableModel {
  table: Table
  /** Every live field in the table's own order, the system ones too. */
  fields: Field[]
  /** The field of an id, or undefined: unknown, or in the trash. */
  field(fieldId: string): Field | undefined
  /** The field of a title, exactly as written. */
  byTitle(title: string): Field | undefined
  /** The one field that names a record. */
  displayField: Field
  primaryKey: Field
  /**
   * The fields whose values together are a record's id. One in every table of ours; in a connected database
   * there may be several (the id is then `a___b`), or none: such a table can be looked at only.
   */
  keyFields: Field[]
  /** The fields with their times and what REST clients keep with them, in the same order. */
  stored: StoredField[]
  /** Columns of the fields in the trash, by field id: a record that comes back brings their values along. */
  trashedColumns: ReadonlyMap<string, string>
}

/** Puts a table and its fields together, those in the trash included. */
export function createTableModel(table: Table, all: StoredField[]): TableModel {
  const stored = all.filter((field) => field.deletedAt === null)
  const trashed = all.filter((field) => field.deletedAt !== null && field.columnName !== '')
  const fields = stored.map(plainField)
  const byId = new Map(fields.map((field) => [field.id, field]))
  // Of two fields with one title (an old import) the first is meant, as in a list read from the start.
  const byTitle = new Map(fields.toReversed().map((field) => [field.title, field]))
  const keyFields = fields.filter((field) => field.isPrimaryKey)
  // Without a key the first column stands in for it: something has to be asked for first.
  const primaryKey = keyFields[0] ?? fields[0]
  const displayField = fields.find((field) => field.isDisplay) ?? primaryKey
  if (!primaryKey || !displayField) throw new Error(`Table ${table.id} has no fields`)
  return {
    table,
    fields,
    field: (fieldId) => byId.get(fieldId),
    byTitle: (title) => byTitle.get(title),
    displayField,
    primaryKey,
    keyFields,
    stored,
    trashedColumns: new Map(trashed.map((field) => [field.id, field.columnName])),
  }
}

/** The field alone: what is kept with it for others stays behind. */
export function plainField({
  createdAt: _1,
  updatedAt: _2,
  deletedAt: _3,
  wireMeta: _4,
  ...field
}: StoredField): Field {
  return field
}

/** @throws FIELD_NOT_FOUND */
export function getField(model: TableModel, fieldId: string): Field {
  const field = model.field(fieldId)
  if (!field) throw notFound('Field', fieldId)
  return field
}

/** @throws BAD_REQUEST for the record id and the columns that the product keeps for itself */
export function refuseSystemField(field: Field, action: 'deleted' | 'updated'): void {
  if (!field.isSystem && !field.isPrimaryKey) return
  throw new AppError(
    'BAD_REQUEST',
    `The column '${field.title}' is a system column and cannot be ${action}.`,
    undefined,
    'msg',
  )
}

/** A row of the `tables` table as everyone sees it. */
export function toTable(row: TableRow): Table {
  const { id, baseId, sourceId, kind, isJunction, title, tableName } = row
  const { description, meta, order, version } = row
  const { createdAt, updatedAt, deletedAt } = row
  return {
    id,
    baseId,
    sourceId,
    kind,
    isJunction,
    title,
    tableName,
    description,
    meta,
    order,
    version,
    createdAt,
    updatedAt,
    deletedAt,
  }
}

/** A row of the `fields` table as everyone sees it. */
export function toField(row: FieldRow): Field {
  const { createdAt: _1, updatedAt: _2, deletedAt: _3, wireMeta: _4, ...field } = row
  return field
}

/** A row of the `fields` table with all that is kept with it. */
export const toStored = (row: FieldRow): StoredField => ({
  ...toField(row),
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
  deletedAt: row.deletedAt,
  wireMeta: row.wireMeta,
})
