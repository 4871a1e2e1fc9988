import { and, asc, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { notFound } from '../../../src/core/errors.ts'
import { renameIds } from '../../../src/core/ids.ts'
import type { Table } from '../../../src/core/model.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { BasesService } from '../../bases/index.ts'
import { defineSchemaTables } from '../tables.ts'
import { createTableModel, type StoredField, type TableModel, toStored, toTable } from './model.ts'

/** Tables whose models stay in memory, the least used dropped first. */
const KEPT_MODELS = 2000
/** PostgreSQL fails on some texts, such as a null character, instead of not finding them. */
const TABLE_ID = /^m[a-z0-9]{14}$/
const FIELD_ID = /^c[a-z0-9]{14}$/

/** Reads tables and fields, and keeps the models of those in use. */
export type SchemaStore = ReturnType<typeof createSchemaStore>

/** The metadata of all tables: reads only, for writes see `change.ts`. */
export function createSchemaStore(kernel: Kernel, bases: Pick<BasesService, 'require' | 'sourcesOf'>) {
  const { tables, fields } = kernel.meta.tables(defineSchemaTables)
  const { db } = kernel.meta
  const models = new LRUCache<string, TableModel>({ max: KEPT_MODELS })
  // Another process may write to a shared metadata database: there a model is kept only while the
  // version that the database tells is still its own.
  const { isShared } = kernel.meta
  let changes = 0

  /** A table, in the trash or not; null where there is none. */
  async function findTable(tableId: string): Promise<Table | null> {
    if (!TABLE_ID.test(tableId)) return null
    const [row] = await db.select().from(tables).where(eq(tables.id, tableId))
    return row ? toTable(row) : null
  }

  async function listTables(where: SQL | undefined): Promise<Table[]> {
    const rows = await db.select().from(tables).where(where).orderBy(asc(tables.order), asc(tables.id))
    return rows.map(toTable)
  }

  /** Every field of a table in its order, those in the trash included. */
  async function listFields(tableId: string): Promise<StoredField[]> {
    const rows = await db
      .select()
      .from(fields)
      .where(eq(fields.tableId, tableId))
      .orderBy(asc(fields.order), asc(fields.id))
    return rows.map(toStored)
  }

  async function findField(fieldId: string): Promise<StoredField | null> {
    if (!FIELD_ID.test(fieldId)) return null
    const [row] = await db.select().from(fields).where(eq(fields.id, fieldId))
    return row ? toStored(row) : null
  }

  async function loadModel(tableId: string): Promise<TableModel> {
    const known = models.get(tableId)
    if (known && !isShared) return known
    const before = changes
    const table = await findTable(tableId)
    if (!table || table.deletedAt !== null) throw notFound('Table', tableId.slice(0, 64))
    await bases.require(table.baseId)
    if (known?.table.version === table.version) return known
    const model = createTableModel(table, await listFields(tableId))
    // Read before a change and stored after it, an old model would stay for good.
    if (changes === before) models.set(tableId, model)
    return model
  }

  /** True where none of the tables has changed since its model was read: one statement, however many they are. */
  async function areCurrent(known: readonly TableModel[]): Promise<boolean> {
    if (!isShared) return known.every((model) => models.get(model.table.id) === model)
    const ids = known.map((model) => model.table.id)
    const rows = await db
      .select({ id: tables.id, version: tables.version })
      .from(tables)
      .where(and(inArray(tables.id, ids), isNull(tables.deletedAt)))
    const versions = new Map(rows.map(({ id, version }) => [id, version]))
    return known.every(({ table }) => versions.get(table.id) === table.version)
  }

  /** @throws SOURCE_NOT_FOUND */
  async function ownSourceId(baseId: string): Promise<string> {
    const own = (await bases.sourcesOf([baseId])).get(baseId)?.find((source) => source.isOwn)
    if (!own) throw notFound('Source', baseId)
    return own.id
  }

  // A base that goes to the trash takes its tables out of reach with it.
  kernel.events.on('base.deleted', ({ baseId }) => {
    for (const [tableId, model] of models.entries()) if (model.table.baseId === baseId) forget(tableId)
  })

  function forget(tableId: string): void {
    changes++
    models.delete(tableId)
  }

  return {
    tables,
    fields,
    findTable,
    findField,
    listFields,
    ownSourceId,
    load: loadModel,
    areCurrent,
    /** The client of each of a base's databases, by the id of its source. */
    clientsOf: async (baseId: string): Promise<Map<string, string>> =>
      new Map(((await bases.sourcesOf([baseId])).get(baseId) ?? []).map(({ id, client }) => [id, client])),
    /** To be called once a change of the table is committed: the next load reads it anew. */
    forget,
    /** Live tables of a base, in their order; or those in its trash. */
    tablesOf: (baseId: string, { trash = false } = {}) =>
      listTables(
        and(
          eq(tables.baseId, baseId),
          trash ? sql`${tables.deletedAt} is not null` : isNull(tables.deletedAt),
        ),
      ),
    /** True if the base has tables, including those in the trash. */
    async hasTables(baseId: string): Promise<boolean> {
      const found = await kernel.meta.db
        .select({ id: tables.id })
        .from(tables)
        .where(eq(tables.baseId, baseId))
        .limit(1)
      return found.length > 0
    },
    /** All tables of a source, including those in the trash: their names in the database are taken. */
    tablesOfSource: (sourceId: string) => listTables(eq(tables.sourceId, sourceId)),
  }
}

type Tables = ReturnType<typeof defineSchemaTables>

/** Definitions as the metadata keeps them, to be written again under other ids. */
export interface SchemaRows {
  tables: Tables['tables']['$inferSelect'][]
  fields: Tables['fields']['$inferSelect'][]
}

/** A field under its new id, in its new table. */
export const fieldWithNewIds = <
  F extends Pick<SchemaRows['fields'][number], 'id' | 'tableId' | 'options' | 'result'>,
>(
  field: F,
  ids: ReadonlyMap<string, string>,
): F => ({
  ...field,
  id: ids.get(field.id) ?? field.id,
  tableId: ids.get(field.tableId) ?? field.tableId,
  options: renameIds(field.options, ids),
  result: renameIds(field.result, ids),
})

/** Rows of one insert: well within what every engine binds. */
const ROWS_AT_ONCE = 200
const IDS_AT_ONCE = 500

/** The definitions of a base's tables and fields, without those in the trash. */
export function createCopiedRows({ meta }: Pick<Kernel, 'meta'>) {
  const { tables, fields } = meta.tables(defineSchemaTables)
  const { db } = meta
  return {
    async rowsOf(baseId: string): Promise<SchemaRows> {
      const found = await db
        .select()
        .from(tables)
        .where(and(eq(tables.baseId, baseId), isNull(tables.deletedAt)))
      const ids = found.map(({ id }) => id)
      const all: SchemaRows['fields'] = []
      for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
        const some = inArray(fields.tableId, ids.slice(from, from + IDS_AT_ONCE))
        all.push(
          ...(await db
            .select()
            .from(fields)
            .where(and(some, isNull(fields.deletedAt)))),
        )
      }
      return { tables: found, fields: all }
    },

    /** Statements that write such rows: tables ahead of their fields. */
    insertRows: ({ tables: tableRows, fields: fieldRows }: SchemaRows): MetaStatement[] => [
      ...parts(tableRows).map((part) => db.insert(tables).values(part)),
      ...parts(fieldRows).map((part) => db.insert(fields).values(part)),
    ],
  }
}

function parts<T>(rows: T[]): T[][] {
  const found: T[][] = []
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE)
    found.push(rows.slice(from, from + ROWS_AT_ONCE))
  return found
}
