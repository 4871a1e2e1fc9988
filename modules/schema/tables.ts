import type { CellValue, FieldOptions } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import type { FieldResult } from '../../src/core/model.ts'
import type { Columns } from '../../src/db/columns.ts'

/** Defines the tables `tables` and `fields`. */
export function defineSchemaTables(c: Columns) {
  const tables = c.table(
    'tables',
    {
      id: c.text('id').primaryKey(),
      baseId: c.text('base_id').notNull(),
      sourceId: c.text('source_id').notNull(),
      kind: c.text('kind').$type<'table' | 'view'>().notNull().default('table'),
      isJunction: c.flag('is_junction').notNull().default(false),
      title: c.text('title').notNull(),
      /** Name in the database; it does not follow a rename. */
      tableName: c.text('table_name').notNull(),
      description: c.text('description'),
      meta: c.json('meta').$type<Record<string, unknown>>().notNull(),
      order: c.real('order').notNull(),
      version: c.integer('version').notNull(),
      createdAt: c.text('created_at').notNull(),
      updatedAt: c.text('updated_at').notNull(),
      /** Set while the table is in the trash. */
      deletedAt: c.text('deleted_at'),
      /** The user who moved it there; null if unknown. */
      deletedBy: c.text('deleted_by'),
      /** The table that has replaced this one in another base; null for a table that was not moved. */
      movedTo: c.text('moved_to'),
    },
    (t) => [
      c.index('tables_base').on(t.baseId),
      // Includes tables in the trash, which still exist in the database.
      c.uniqueIndex('tables_name').on(t.sourceId, t.tableName),
    ],
  )
  const fields = c.table(
    'fields',
    {
      id: c.text('id').primaryKey(),
      tableId: c
        .text('table_id')
        .notNull()
        .references(() => tables.id, { onDelete: 'cascade' }),
      title: c.text('title').notNull(),
      columnName: c.text('column_name').notNull(),
      type: c.text('type').$type<FieldTypeName>().notNull(),
      options: c.json('options').$type<FieldOptions>().notNull(),
      description: c.text('description'),
      required: c.flag('required').notNull(),
      unique: c.flag('unique').notNull(),
      defaultValue: c.json('default_value').$type<CellValue>(),
      /** The `meta` that REST clients store with a column, as they sent it. */
      wireMeta: c.json('wire_meta').$type<Record<string, unknown>>(),
      order: c.real('order').notNull(),
      isDisplay: c.flag('is_display').notNull(),
      isPrimaryKey: c.flag('is_primary_key').notNull(),
      isSystem: c.flag('is_system').notNull(),
      databaseType: c.text('database_type'),
      readOnlyReason: c.text('read_only_reason'),
      /** The value type of a computed field, stored so that loading a table needs no other table. */
      result: c.json('result').$type<FieldResult>(),
      /** Why a computed field is broken. */
      error: c.text('error'),
      createdAt: c.text('created_at').notNull(),
      updatedAt: c.text('updated_at').notNull(),
      /** Set while the field is in the trash: its column and values are still there. */
      deletedAt: c.text('deleted_at'),
      deletedBy: c.text('deleted_by'),
    },
    (t) => [c.index('fields_table').on(t.tableId)],
  )
  return { tables, fields }
}
