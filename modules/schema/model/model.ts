import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field, Table, View } from '../../../src/core/model.ts'
import { brokenField, visibleFieldIds } from '../../../src/core/views/public-view.ts'
import type { ColumnDefinition } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import type { defineSchemaTables } from '../tables.ts'
import type { FieldInput } from './definition.ts'

type Tables = ReturnType<typeof defineSchemaTables>
type TableRow = Tables['tables']['$inferSelect']
/** A row of the `fields` table. */
export type FieldRow = Tables['fields']['$inferSelect']

/** A field with the columns that only the trash, undo and REST need. */
export interface StoredField extends Field {
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  /** The `meta` that REST clients store with a column, as they sent it. */
  wireMeta: Record<string, unknown> | null
}

/** A table with its fields. The same object until the table changes. */
export interface TableModel {
  table: Table
  /** All live fields, including system fields, in the table's order. */
  fields: Field[]
  /** The live field with this id. */
  field(fieldId: string): Field | undefined
  /** The live field with exactly this title. */
  byTitle(title: string): Field | undefined
  /** The field that names a record. */
  displayField: Field
  primaryKey: Field
  /**
   * The fields that form a record's id: one in tables of the base's own database. A table of a connected database may
   * have several (the id is then `a___b`) or none, which makes it read-only.
   */
  keyFields: Field[]
  /** The stored form of `fields`, in the same order. */
  stored: StoredField[]
  /** Columns of the fields in the trash, by field id: restored records get their values back. */
  trashedColumns: ReadonlyMap<string, string>
  /** True for the id of a field in the trash, computed ones included. */
  isTrashed(fieldId: string): boolean
}

/** @param all the fields of the table, including the trash */
export function createTableModel(table: Table, all: StoredField[]): TableModel {
  const stored = all.filter((field) => field.deletedAt === null)
  const trashed = all.filter((field) => field.deletedAt !== null)
  const trashedIds = new Set(trashed.map(({ id }) => id))
  const fields = stored.map(plainField)
  const byId = new Map(fields.map((field) => [field.id, field]))
  // Old imports may have two fields with one title: the first one wins.
  const byTitle = new Map(fields.toReversed().map((field) => [field.title, field]))
  const keyFields = fields.filter((field) => field.isPrimaryKey)
  // Without a key, the first column serves as the primary key.
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
    trashedColumns: new Map(
      trashed.filter(({ columnName }) => columnName !== '').map((field) => [field.id, field.columnName]),
    ),
    isTrashed: (fieldId) => trashedIds.has(fieldId),
  }
}

/** The field without the columns of `StoredField`. */
export function plainField({
  createdAt: _1,
  updatedAt: _2,
  deletedAt: _3,
  wireMeta: _4,
  ...field
}: StoredField): Field {
  return field
}

/** The live field with this id. @throws FIELD_NOT_FOUND */
export function getField(model: TableModel, fieldId: string): Field {
  const field = model.field(fieldId)
  if (!field) throw notFound('Field', fieldId.slice(0, 64))
  return field
}

/** @throws BAD_REQUEST for the record id and system fields */
export function refuseSystemField(field: Field, action: 'deleted' | 'updated'): void {
  if (!field.isSystem && !field.isPrimaryKey) return
  throw badRequest(m.wire_error_system_column({ column: field.title, action }))
}

/** The error for a table that has been moved to another base. */
export const movedError = (): AppError => new AppError('TABLE_NOT_FOUND', m.schema_error_table_moved())

/** Converts a row of the `tables` table. */
export function toTable(row: Omit<TableRow, 'deletedBy' | 'movedTo'>): Table {
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

/** A row of the `fields` table; new ones have no `deletedBy`. */
type NewFieldRow = Omit<FieldRow, 'deletedBy'> & Partial<Pick<FieldRow, 'deletedBy'>>

/** Converts a row of the `fields` table. */
export function toField(row: NewFieldRow): Field {
  const { createdAt: _1, updatedAt: _2, deletedAt: _3, deletedBy: _4, wireMeta: _5, ...field } = row
  return field
}

/** Converts a row of the `fields` table with the columns of `StoredField`. */
export const toStored = (row: NewFieldRow): StoredField => ({
  ...toField(row),
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
  deletedAt: row.deletedAt,
  wireMeta: row.wireMeta,
})

/** Keyed by view: a change of a view or of its table creates new objects of both. */
const narrowedModels = new WeakMap<View, { model: TableModel; narrowed: TableModel }>()

/**
 * The table limited to the fields that the public link of a view shows, so that hidden fields are not found. Computed
 * fields are still evaluated over the full model.
 */
export function narrowModel(model: TableModel, view: View): TableModel {
  const known = narrowedModels.get(view)
  if (known?.model === model) return known.narrowed
  const narrowed = narrowTo(model, visibleFieldIds(view, model.fields))
  narrowedModels.set(view, { model, narrowed })
  return narrowed
}

/** The table limited to its key and display field, which is all that a link shows of the related table. */
export function namesOnly(model: TableModel): TableModel {
  const { displayField, primaryKey, keyFields } = model
  return narrowTo(model, new Set([displayField, primaryKey, ...keyFields].map(({ id }) => id)))
}

/** Replaces error messages as well, because they may name hidden fields. */
function narrowTo({ table, stored }: TableModel, visible: ReadonlySet<string>): TableModel {
  const seen = stored.filter(({ id }) => visible.has(id))
  return createTableModel(
    table,
    seen.map((field) => (field.error === null ? field : { ...field, error: brokenField() })),
  )
}

/** Most fields of one table, not counting system fields. */
export const MAX_FIELDS = 1000

/** A field of a new table. */
export interface NewField extends FieldInput {
  /** Requested column name (REST). */
  columnName?: string
  isDisplay?: boolean
  /** The `meta` that REST clients store with a column. */
  wireMeta?: Record<string, unknown> | null
}

/** The column definition of a field; empty for a field without a column of its own. */
export function columnOf(field: Pick<Field, 'columnName' | 'type'>): ColumnDefinition[] {
  if (field.columnName === '') return []
  // The write door enforces constraints and defaults. Nullable columns can be added at any time, and a field in the
  // trash never blocks a new record.
  return [
    { name: field.columnName, storage: fieldType(field.type).storage, required: false, defaultValue: null },
  ]
}

/** @throws BAD_REQUEST if the table has `MAX_FIELDS` fields */
export function requireRoom(model: TableModel): void {
  if (!hasRoom(model)) throw badRequest(m.schema_error_too_many_fields({ max: MAX_FIELDS }))
}

/** True if another field can be added. */
export const hasRoom = ({ fields }: Pick<TableModel, 'fields'>): boolean =>
  fields.filter((field) => !field.isSystem && !field.isPrimaryKey).length < MAX_FIELDS

/** The smallest gap between two order numbers that still fits a number in between. */
const MIN_GAP = 1e-9

interface Ordered {
  id: string
  order: number
}

/**
 * The order number for an item inserted before `others[index]`; `others.length` appends it. If the neighbours leave no
 * room, `moved` renumbers all others.
 */
export function orderAt(others: readonly Ordered[], index: number): { order: number; moved: Ordered[] } {
  const next = others[index]?.order
  const previous = others[index - 1]?.order ?? (next ?? 1) - 1
  if (next === undefined) return { order: previous + 1, moved: [] }
  if (next - previous > MIN_GAP) return { order: (previous + next) / 2, moved: [] }
  const moved = others.map(({ id }, at) => ({ id, order: at < index ? at + 1 : at + 2 }))
  return { order: index + 1, moved }
}
