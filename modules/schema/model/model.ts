import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field, Table, View } from '../../../src/core/model.ts'
import { BROKEN, visibleFieldIds } from '../../../src/core/views/public-view.ts'
import type { ColumnDefinition } from '../../../src/dialects/dialect.ts'
import type { defineSchemaTables } from '../tables.ts'
import type { FieldInput } from './definition.ts'

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

/** Kept with the view that says what is visible: a change of either the view or its table makes both anew. */
const kept = new WeakMap<View, { model: TableModel; narrowed: TableModel }>()

/**
 * The table as if it had only the fields that a link to the view lets see: what a visitor names is looked up in
 * this, so that a hidden field is one that there is none of. The values of computed fields are worked out over
 * the whole table, which knows where they come from.
 */
export function narrowModel(model: TableModel, view: View): TableModel {
  const known = kept.get(view)
  if (known?.model === model) return known.narrowed
  const narrowed = narrowTo(model, visibleFieldIds(view, model.fields))
  kept.set(view, { model, narrowed })
  return narrowed
}

/** The table with its key and the field that names its records: all that a link to them shows. */
export function namesOnly(model: TableModel): TableModel {
  const { displayField, primaryKey, keyFields } = model
  return narrowTo(model, new Set([displayField, primaryKey, ...keyFields].map(({ id }) => id)))
}

/** Why a field is broken may speak of others, so that is left out too. */
function narrowTo({ table, stored }: TableModel, visible: ReadonlySet<string>): TableModel {
  const seen = stored.filter(({ id }) => visible.has(id))
  return createTableModel(
    table,
    seen.map((field) => (field.error === null ? field : { ...field, error: BROKEN })),
  )
}

/** Most fields of one table, the system ones not counted. */
export const MAX_FIELDS = 500

/** A field of a new table. */
export interface NewField extends FieldInput {
  /** Wish for the name in the database (REST). */
  columnName?: string
  isDisplay?: boolean
  /** What a REST client keeps with the column. */
  wireMeta?: Record<string, unknown> | null
}

/** A field's column as DDL needs it; nothing for a field that shows a system column. */
export function columnOf(field: Pick<Field, 'columnName' | 'type'>): ColumnDefinition[] {
  if (field.columnName === '') return []
  // Rules and defaults are kept by the write door: a column is always open, so that one can be
  // added beside another, and a field in the trash never stands in the way of a new record.
  return [
    { name: field.columnName, storage: fieldType(field.type).storage, required: false, defaultValue: null },
  ]
}

/** @throws BAD_REQUEST where the table has as many fields as it may */
export function requireRoom(model: TableModel): void {
  if (!hasRoom(model)) throw badRequest(`A table can have up to ${MAX_FIELDS} fields`)
}

/** True where the table may have another field. */
export const hasRoom = ({ fields }: Pick<TableModel, 'fields'>): boolean =>
  fields.filter((field) => !field.isSystem && !field.isPrimaryKey).length < MAX_FIELDS

/** Below this gap two neighbours leave no room for a number between them. */
const LEAST_GAP = 1e-9

/** Something with a place among others of its kind. */
interface Placed {
  id: string
  order: number
}

/** A place by number, and the numbers that neighbours get where there was no room between them. */
export interface Place {
  order: number
  moved: Placed[]
}

/**
 * A place ahead of `others[index]`, which stand in their order; `others.length` is the end. A number
 * between two moves nobody else; places that are equal or too close are numbered anew.
 */
export function placeAt(others: readonly Placed[], index: number): Place {
  const next = others[index]?.order
  const previous = others[index - 1]?.order ?? (next ?? 1) - 1
  if (next === undefined) return { order: previous + 1, moved: [] }
  if (next - previous > LEAST_GAP) return { order: (previous + next) / 2, moved: [] }
  const moved = others.map(({ id }, at) => ({ id, order: at < index ? at + 1 : at + 2 }))
  return { order: index + 1, moved }
}

/** `current` with `to`'s value for each key in which the change had altered it. */
export function restoreKeys<T extends object>(current: T, from: T, to: T): T {
  const changed = (Object.keys(to) as (keyof T)[]).filter((key) => !Bun.deepEquals(from[key], to[key]))
  return { ...current, ...Object.fromEntries(changed.map((key) => [key, to[key]])) }
}
