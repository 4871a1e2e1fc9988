import { z } from 'zod'
import { AppError, badRequest } from '../../src/core/errors.ts'
import { parseJsonText } from '../../src/core/json-text.ts'
import type { FileValue, MetaTable } from '../../src/db/sheaf-files/index.ts'
import { m } from '../../src/messages.gen.ts'
import {
  type FieldDefinitionRow,
  fieldDefinition,
  type SchemaRows,
  type TableDefinition,
  tableDefinition,
} from '../schema/index.ts'
import {
  type ViewDefinition,
  type ViewFieldDefinition,
  type ViewRows,
  viewDefinition,
  viewFieldDefinition,
} from '../views/index.ts'

/*
 * Definitions as rows of a file's tables and back. Rows that are read are checked in their shape only; whether they fit each
 * other is decided by the modules that own them.
 */

const json = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value)
const flag = (value: boolean): number => (value ? 1 : 0)

/** A row of `sheaf_tables`. @param fileTable the table's name in the file */
export const tableToFile = (
  { id, title, isJunction, description, meta, order }: SchemaRows['tables'][number],
  fileTable: string,
  lastId: string | null,
): FileValue[] => [
  id,
  title,
  fileTable,
  flag(isJunction),
  description,
  json(meta),
  order,
  lastId === null ? null : BigInt(lastId),
]

/** A row of `sheaf_fields`. */
export const fieldToFile = (
  field: SchemaRows['fields'][number],
  { fileColumn, isDerived }: { fileColumn: string | null; isDerived: boolean },
): FileValue[] => [
  field.id,
  field.tableId,
  field.title,
  fileColumn,
  flag(isDerived),
  field.type,
  json(field.options),
  field.description,
  flag(field.required),
  flag(field.unique),
  json(field.defaultValue),
  json(field.wireMeta),
  field.order,
  flag(field.isDisplay),
  flag(field.isPrimaryKey),
  flag(field.isSystem),
]

/** A row of `sheaf_views`. @param owner how the file names the owner */
export const viewToFile = (view: ViewRows['views'][number], owner: string | null): FileValue[] => [
  view.id,
  view.tableId,
  view.title,
  view.description,
  view.kind,
  flag(view.isDefault),
  view.order,
  view.lock,
  json(view.meta),
  view.showSystemFields === null ? null : flag(view.showSystemFields),
  view.rowHeight,
  view.frozen,
  json(view.filter),
  json(view.sorts),
  json(view.groups),
  json(view.coloring),
  json(view.options),
  json(view.hiddenFrom),
  owner,
]

/** A row of `sheaf_view_fields`. */
export const viewFieldToFile = (line: ViewRows['lines'][number]): FileValue[] => [
  line.viewId,
  line.fieldId,
  flag(line.show),
  line.order,
  line.width,
  line.summary,
  json(line.form),
]

type FileRow = Record<string, FileValue>

const parsed = (value: FileValue | undefined): unknown =>
  typeof value === 'string' ? parseJsonText(value) : null
const isTrue = (value: FileValue | undefined): boolean => value === 1n || value === 1
const numeric = (value: FileValue | undefined): unknown => (typeof value === 'bigint' ? Number(value) : value)

/** Reads a row by its schema. @throws BAD_REQUEST naming the table of the file and what does not fit */
function read<T>(table: MetaTable, schema: z.ZodType<T>, make: () => unknown): T {
  try {
    return schema.parse(make())
  } catch (error) {
    if (error instanceof AppError) throw error
    const problem =
      error instanceof z.ZodError
        ? `${error.issues[0]?.path.join('.') ?? ''}: ${error.issues[0]?.message ?? ''}`
        : error instanceof SyntaxError
          ? error.message
          : null
    if (problem === null) throw error
    throw badRequest(m.base_files_error_definition({ table, problem: problem.slice(0, 200) }))
  }
}

/** A table of records in a file. */
export interface FileTable {
  definition: TableDefinition
  fileTable: string
  lastId: string | null
}

const fileName = z.string().min(1).max(1000)

export const tableFromFile = (row: FileRow): FileTable => ({
  definition: read('sheaf_tables', tableDefinition, () => ({
    ...row,
    meta: parsed(row.meta),
    isJunction: isTrue(row.is_junction),
    order: numeric(row.position),
  })),
  fileTable: read('sheaf_tables', fileName, () => row.file_table),
  lastId: typeof row.last_id === 'bigint' && row.last_id > 0n ? String(row.last_id) : null,
})

/** A field of a file; `fileColumn` is null where the file has no values that are imported. */
export interface FileField {
  definition: FieldDefinitionRow
  fileColumn: string | null
}

export const fieldFromFile = (row: FileRow): FileField => ({
  definition: read('sheaf_fields', fieldDefinition, () => ({
    ...row,
    tableId: row.table_id,
    options: parsed(row.options),
    required: isTrue(row.required),
    unique: isTrue(row.is_unique),
    defaultValue: parsed(row.default_value),
    wireMeta: parsed(row.wire_meta),
    order: numeric(row.position),
    isDisplay: isTrue(row.is_display),
    isPrimaryKey: isTrue(row.is_primary_key),
    isSystem: isTrue(row.is_system),
  })),
  fileColumn:
    row.file_column === null || isTrue(row.is_derived)
      ? null
      : read('sheaf_fields', fileName, () => row.file_column),
})

/** @param ownedBy the user here whom the file names as the owner */
export const viewFromFile = (row: FileRow, ownedBy: string | null): ViewDefinition =>
  read('sheaf_views', viewDefinition, () => ({
    ...row,
    tableId: row.table_id,
    isDefault: isTrue(row.is_default),
    order: numeric(row.position),
    meta: parsed(row.meta),
    showSystemFields: row.show_system_fields === null ? null : isTrue(row.show_system_fields),
    rowHeight: row.row_height,
    frozen: numeric(row.frozen),
    filter: parsed(row.filter),
    sorts: parsed(row.sorts),
    groups: parsed(row.groups),
    coloring: parsed(row.coloring),
    options: parsed(row.options),
    hiddenFrom: parsed(row.hidden_from),
    ownedBy,
  }))

export const viewFieldFromFile = (row: FileRow): ViewFieldDefinition =>
  read('sheaf_view_fields', viewFieldDefinition, () => ({
    viewId: row.view_id,
    fieldId: row.field_id,
    show: isTrue(row.show),
    order: numeric(row.position),
    width: numeric(row.width),
    summary: row.summary,
    form: parsed(row.form),
  }))
