import { type Actor, actorIdOf } from '../../../src/core/actor.ts'
import { badRequest } from '../../../src/core/errors.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { ColumnDefinition, Dialect, Statement } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import { type ChangeContext, type CopiedViews, type SchemaContext, withFreshName } from '../change/index.ts'
import {
  checkTitle,
  columnOf,
  duplicateTable,
  isTitleTaken,
  MAX_FIELDS,
  type NewField,
  openTableSlots,
  planFields,
} from '../model/index.ts'

export interface NewTable {
  title: string
  /** Default: one text field "Title". The record id and the system fields are always added. */
  fields?: NewField[]
  description?: string | null
  meta?: Record<string, unknown>
  /** Requested name in the database (REST). */
  tableName?: string
}

/** A checked table that does not exist yet, as plain data. */
interface PlannedTable {
  tableId: string
  baseId: string
  title: string
  /** All fields with their columns, including the record id and the system fields. */
  fields: Field[]
  description: string | null
  meta: Record<string, unknown>
  tableName: string | null
}

/**
 * Creates a table with its default view. Repeated field titles get a suffix.
 *
 * @throws BASE_NOT_FOUND; DUPLICATE_ALIAS for a title in use; BAD_REQUEST for an invalid table or field
 */
export async function createTable(
  context: SchemaContext,
  actor: Actor,
  baseId: string,
  input: NewTable,
): Promise<Table> {
  const planned = await planTable(context, actor, baseId, input)
  const key = planned.fields.find((field) => field.isPrimaryKey)?.columnName ?? 'id'
  return addTable(context, actor, planned, (name, dialect) => [
    ...dialect.createTable(name, planned.fields.flatMap(columnOf)),
    ...dialect.createIndex(name, ['nc_order', key]),
  ])
}

/**
 * Checks a new table and plans its fields.
 *
 * @throws as `createTable`, except DUPLICATE_ALIAS
 */
async function planTable(
  context: SchemaContext,
  actor: Actor,
  baseId: string,
  input: NewTable,
): Promise<PlannedTable> {
  const base = await context.bases.require(baseId)
  await context.access.authorize(actor, 'table.create', base.id)
  const inputs = input.fields ?? [{ type: 'SingleLineText' as const, title: 'Title' }]
  if (inputs.length > MAX_FIELDS) throw badRequest(m.schema_error_too_many_fields({ max: MAX_FIELDS }))
  const tableId = createId('table')
  return {
    tableId,
    baseId: base.id,
    title: checkTitle('table', input.title),
    fields: planFields(tableId, inputs),
    description: input.description?.trim() || null,
    meta: input.meta ?? {},
    tableName: input.tableName ?? null,
  }
}

/**
 * Creates a planned table; `physical` returns the statements that create it in the database.
 *
 * @param imported the number of records it already has, for the log
 * @throws DUPLICATE_ALIAS for a title in use, unless `freeTitle` asks for the next free one
 */
async function addTable(
  context: SchemaContext,
  actor: Actor,
  planned: PlannedTable,
  physical: (name: string, dialect: Dialect) => Statement[],
  { imported, ...options }: Pick<BuildOptions, 'freeTitle' | 'views' | 'also'> & { imported?: number } = {},
): Promise<Table> {
  const { apply } = context
  const { tableId, baseId } = planned
  const attempt = (suffix: string) =>
    apply(actor, baseId, async (change) => {
      const built = await buildTable(context, change, actorIdOf(actor), planned, physical, {
        ...options,
        suffix,
      })
      return {
        statements: built.statements,
        entry: {
          kind: 'table.create',
          tableId,
          detail: { tableId, tableTitle: built.table.title, imported },
        },
        tableIds: [tableId],
        result: built.table,
      }
    })
  return withFreshName(attempt)
}

interface BuildOptions {
  /** Takes the next free title if the requested one is in use. */
  freeTitle?: boolean
  isJunction?: boolean
  /** Appended to the name in the database, see `withFreshName`. */
  suffix?: string
  views?: FilledTable['views']
  also?: FilledTable['also']
}

/**
 * Creates a planned table in the database and returns the metadata statements for it.
 *
 * @throws DUPLICATE_ALIAS for a title in use; BAD_REQUEST if the base has `MAX_TABLES` tables
 */
export async function buildTable(
  { store, kernel, views }: SchemaContext,
  { tx, engine, now }: ChangeContext,
  actorId: string | null,
  planned: PlannedTable,
  physical: (name: string, dialect: Dialect) => Statement[],
  { freeTitle = false, isJunction = false, suffix = '', views: copies, also = [] }: BuildOptions = {},
): Promise<{ table: Table; statements: MetaStatement[] }> {
  const { tableId: id, baseId, fields, title, description, meta, tableName } = planned
  const slots = await openTableSlots(store, baseId, { now, suffix })
  const table = slots.add({ id, title, description, meta, tableName, isJunction }, { freeTitle })
  const { dialect } = engine
  const unique = fields.filter((field) => field.unique)
  for (const statement of [
    ...physical(table.tableName, dialect),
    ...unique.flatMap((field) => dialect.createUniqueIndex(table.tableName, [field.columnName])),
  ]) {
    await tx.run(statement)
  }
  const { db } = kernel.meta
  const times = { createdAt: now, updatedAt: now, deletedAt: null }
  const statements = [
    db.insert(store.tables).values(table),
    db.insert(store.fields).values(fields.map((field) => ({ ...field, ...times }))),
    ...(copies ? insertCopies(copies, actorId) : views.forNewTable(table, fields, actorId)),
    ...also,
  ]
  return { table, statements }
}

function insertCopies(
  { copied, ids }: NonNullable<FilledTable['views']>,
  actorId: string | null,
): MetaStatement[] {
  const viewIds = copied.ids.map((id): [string, string] => [id, createId('view')])
  return copied.insert(new Map([...ids, ...viewIds]), actorId)
}

/** A table that an import fills before it becomes visible. */
export interface PreparedTable extends PlannedTable {
  /** The columns of the staging table. */
  columns: ColumnDefinition[]
}

/**
 * Prepares a table for an import, which fills a staging table with these columns and then calls `publishTable`.
 *
 * @throws as `createTable`
 */
export async function prepareTable(
  context: SchemaContext,
  actor: Actor,
  baseId: string,
  input: NewTable,
): Promise<PreparedTable> {
  const planned = await planTable(context, actor, baseId, input)
  // Refuses a title in use before the import starts.
  if (isTitleTaken(planned.title, await context.store.tablesOf(planned.baseId))) {
    throw duplicateTable(planned.title, planned.baseId)
  }
  return { ...planned, columns: planned.fields.flatMap(columnOf) }
}

/** A staging table that becomes a table. */
export interface FilledTable {
  staging: string
  /** Its number of records. */
  imported: number
  /** Copies of another table's views, instead of a default view, with the new ids of that table and its fields. */
  views?: { copied: CopiedViews; ids: ReadonlyMap<string, string> }
  /** Statements for what other modules have of the table, in the same transaction of the metadata. */
  also?: MetaStatement[]
}

/**
 * Turns the filled staging table, including its index on the order column, into the table. Its title gets a suffix if it
 * has been taken in the meantime.
 */
export function publishTable(
  context: SchemaContext,
  actor: Actor,
  prepared: PreparedTable,
  { staging, imported, views, also }: FilledTable,
): Promise<Table> {
  return addTable(context, actor, prepared, (name, dialect) => dialect.renameTable(staging, name), {
    freeTitle: true,
    imported,
    views,
    also,
  })
}
