import { and, asc, eq, inArray, isNull, or, type SQL, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { type AppError, notFound } from '../../../src/core/errors.ts'
import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import { FIELD_TYPE_NAMES, type FieldTypeName } from '../../../src/core/fields/index.ts'
import { holdsFiles, holdsPeople, notifiesPeople } from '../../../src/core/fields/traits.ts'
import { renameIds } from '../../../src/core/ids.ts'
import type { Table } from '../../../src/core/model.ts'
import type { MetaReader, MetaStatement } from '../../../src/db/meta.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { cacheTally } from '../../../src/metrics/cache-tally.ts'
import type { BasesService } from '../../bases/index.ts'
import { defineSchemaTables } from '../tables.ts'
import {
  createTableModel,
  movedError,
  type StoredField,
  type TableModel,
  toStored,
  toTable,
} from './model.ts'

const CACHED_MODELS = 2000
// Ids are matched before a query: PostgreSQL fails on some texts, such as a null character, instead of not finding them.
const TABLE_ID = /^m[a-z0-9]{14}$/
const FIELD_ID = /^c[a-z0-9]{14}$/

/** Reads of tables and fields, see `createSchemaStore`. */
export type SchemaStore = ReturnType<typeof createSchemaStore>

/** Reads the metadata of tables and fields and caches table models. Writes go through `change.ts`. */
export function createSchemaStore(
  kernel: Pick<Kernel, 'meta' | 'events'>,
  bases: Pick<BasesService, 'require' | 'sourcesOf'>,
) {
  const { tables, fields } = kernel.meta.tables(defineSchemaTables)
  const { db } = kernel.meta
  const models = new LRUCache<string, TableModel>({
    max: CACHED_MODELS,
    dispose: (_model, tableId, reason) => {
      if (reason === 'evict') unverified.delete(tableId)
    },
  })
  const { cluster } = kernel.meta
  /** Cached models that another server may have changed: used again if their version is still current. */
  const unverified = new Set<string>()
  let changes = 0
  const tally = cacheTally('tables')

  /** A table, including the trash. */
  async function findTable(tableId: string): Promise<Table | null> {
    if (!TABLE_ID.test(tableId)) return null
    const [row] = await db.select().from(tables).where(eq(tables.id, tableId))
    return row ? toTable(row) : null
  }

  async function listTables(where: SQL | undefined): Promise<Table[]> {
    const rows = await db.select().from(tables).where(where).orderBy(asc(tables.order), asc(tables.id))
    return rows.map(toTable)
  }

  /** The fields of a table in their order, including the trash. */
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

  /** The cached model of a table if it is current. */
  function peekModel(tableId: string): TableModel | undefined {
    const known = models.get(tableId)
    if (!known || !isTrusted(tableId)) return undefined
    tally.hits++
    return known
  }

  /** The error for a table that is in the trash or unknown. */
  async function missing(tableId: string, table: Table | null): Promise<AppError> {
    if (table && (await movedTo(tableId)) !== null) return movedError()
    return notFound('Table', tableId.slice(0, 64))
  }

  /** The id of the table that has replaced one in another base; null if it was not moved. */
  async function movedTo(tableId: string): Promise<string | null> {
    const [row] = await db.select({ id: tables.movedTo }).from(tables).where(eq(tables.id, tableId))
    return row?.id ?? null
  }

  async function loadModel(tableId: string): Promise<TableModel> {
    const current = peekModel(tableId)
    if (current) return current
    const known = models.get(tableId)
    const before = changes
    const table = await findTable(tableId)
    if (!table || table.deletedAt !== null) throw await missing(tableId, table)
    await bases.require(table.baseId)
    const isSame = known?.table.version === table.version
    if (isSame) tally.hits++
    else tally.misses++
    const model = isSame ? known : createTableModel(table, await listFields(tableId))
    // A model read before a concurrent change must not be cached after it.
    if (changes === before) {
      models.set(tableId, model)
      unverified.delete(tableId)
    }
    return model
  }

  /** True if none of the tables has changed since its model was read. One statement for any number of tables. */
  async function areCurrent(known: readonly TableModel[]): Promise<boolean> {
    if (known.every(({ table }) => isTrusted(table.id))) {
      return known.every((model) => models.get(model.table.id) === model)
    }
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

  /**
   * Caches what is read from tables and fields, by key, until any table changes.
   *
   * @param max most keys kept
   */
  function cachedReads<T extends object>(
    max: number,
    read: (key: string) => Promise<T>,
  ): (key: string) => Promise<T> {
    const known = new LRUCache<string, { found: T; at: number }>({ max })
    return async (key) => {
      const cached = known.get(key)
      if (cached?.at === changes && cluster.isCurrent()) return cached.found
      const at = changes
      const found = await read(key)
      known.set(key, { found, at })
      return found
    }
  }

  const isTrusted = (tableId: string): boolean => cluster.isCurrent() && !unverified.has(tableId)

  // The tables of a base in the trash are not found.
  kernel.events.on('base.deleted', ({ baseId }) => {
    for (const [tableId, model] of models.entries()) if (model.table.baseId === baseId) forget(tableId)
  })
  cluster.onStale('tables', ({ id }) => verifyAgain([id]))
  cluster.onStale('bases', (base) => {
    verifyAgain([...models].flatMap(([id, { table }]) => (table.baseId === base.id ? id : [])))
  })
  cluster.onMissed(() => verifyAgain([...models.keys()]))

  function verifyAgain(tableIds: readonly string[]): void {
    changes++
    for (const id of tableIds) if (models.has(id)) unverified.add(id)
  }

  function forget(tableId: string): void {
    changes++
    models.delete(tableId)
    unverified.delete(tableId)
  }

  /** The ids of the bases with a live field that matches, of all or of one. @param types the types that may match */
  async function basesWithField(
    types: readonly FieldTypeName[],
    matches: (field: { type: FieldTypeName; options: FieldOptions }) => boolean,
    baseId?: string,
  ): Promise<string[]> {
    const rows = await db
      .select({ baseId: tables.baseId, type: fields.type, options: fields.options })
      .from(fields)
      .innerJoin(tables, eq(tables.id, fields.tableId))
      .where(
        and(
          inArray(fields.type, types),
          isNull(fields.deletedAt),
          isNull(tables.deletedAt),
          baseId === undefined ? undefined : eq(tables.baseId, baseId),
        ),
      )
    return [...new Set(rows.filter(matches).map((row) => row.baseId))]
  }

  return {
    tables,
    fields,
    /** The ids of the bases with a field that notifies people, of all or of one. */
    basesThatNotify: (baseId?: string): Promise<string[]> =>
      basesWithField(
        FIELD_TYPE_NAMES.filter((type) => holdsPeople({ type })),
        notifiesPeople,
        baseId,
      ),
    /** The ids of the bases with a field of files. */
    basesWithFiles: (): Promise<string[]> =>
      basesWithField(
        FIELD_TYPE_NAMES.filter((type) => holdsFiles({ type })),
        holdsFiles,
      ),
    findTable,
    movedTo,
    findField,
    listFields,
    ownSourceId,
    load: loadModel,
    peek: peekModel,
    areCurrent,
    cachedReads,
    /** The clients of a base's databases, by source id. */
    clientsOf: async (baseId: string): Promise<Map<string, string>> =>
      new Map(((await bases.sourcesOf([baseId])).get(baseId) ?? []).map(({ id, client }) => [id, client])),
    /** Drops a table from the cache; call it after committing a change of the table. */
    forget,
    /** The tables of a base in their order, or those in its trash. */
    tablesOf: (baseId: string, { trash = false } = {}) =>
      listTables(
        and(
          eq(tables.baseId, baseId),
          trash ? sql`${tables.deletedAt} is not null` : isNull(tables.deletedAt),
        ),
      ),
    /** True if the base has tables, including the trash. */
    async hasTables(baseId: string): Promise<boolean> {
      const found = await kernel.meta.db
        .select({ id: tables.id })
        .from(tables)
        .where(eq(tables.baseId, baseId))
        .limit(1)
      return found.length > 0
    },
    /** All tables of a source, including the trash, whose names in the database are taken. */
    tablesOfSource: (sourceId: string) => listTables(eq(tables.sourceId, sourceId)),
  }
}

type Tables = ReturnType<typeof defineSchemaTables>

/** The rows of tables and fields, to be inserted again under new ids. New ones were deleted by nobody. */
export interface SchemaRows {
  tables: (Omit<Tables['tables']['$inferSelect'], 'deletedBy' | 'movedTo'> & { deletedBy?: string | null })[]
  fields: (Omit<Tables['fields']['$inferSelect'], 'deletedBy'> & { deletedBy?: string | null })[]
}

/** A field with all ids replaced: its own, its table's and those in its options. */
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

// Well below every engine's limit of bound parameters.
const ROWS_PER_STATEMENT = 200
const IDS_PER_STATEMENT = 500

/** Reads and inserts the rows of copied tables and fields. Only the trash of connected databases is copied. */
export function createCopiedRows({ meta }: Pick<Kernel, 'meta'>) {
  const { tables, fields } = meta.tables(defineSchemaTables)
  const { db } = meta
  return {
    /**
     * @param connected ids of connected databases. What people deleted of them is read as well: it stays in the trash, so
     *   that a synchronization does not bring it back
     * @param options `from`: metadata of a backup; absent: those of this server. `withTrash`: reads the trash of the base
     *   itself as well
     */
    async rowsOf(
      baseId: string,
      connected: readonly string[],
      { from = db, withTrash = false }: { from?: MetaReader | undefined; withTrash?: boolean } = {},
    ): Promise<SchemaRows> {
      const isCopied = withTrash
        ? undefined
        : or(isNull(tables.deletedAt), inArray(tables.sourceId, [...connected]))
      const found = await from
        .select()
        .from(tables)
        .where(and(eq(tables.baseId, baseId), isCopied))
      const hasTrash = new Set(
        found.flatMap(({ id, sourceId }) => (withTrash || connected.includes(sourceId) ? id : [])),
      )
      const ids = found.map(({ id }) => id)
      const all: SchemaRows['fields'] = []
      for (const tableIds of batches(ids, IDS_PER_STATEMENT)) {
        const rows = await from.select().from(fields).where(inArray(fields.tableId, tableIds))
        all.push(...rows.filter(({ tableId, deletedAt }) => deletedAt === null || hasTrash.has(tableId)))
      }
      return { tables: found, fields: all }
    },

    /** Statements that insert the rows, tables before their fields. */
    insertRows: ({ tables: tableRows, fields: fieldRows }: SchemaRows): MetaStatement[] => [
      ...batches(tableRows, ROWS_PER_STATEMENT).map((rows) => db.insert(tables).values(rows)),
      ...batches(fieldRows, ROWS_PER_STATEMENT).map((rows) => db.insert(fields).values(rows)),
    ],
  }
}

/** Splits a list into batches of at most `size` items. */
export function batches<T>(items: readonly T[], size: number): T[][] {
  const found: T[][] = []
  for (let from = 0; from < items.length; from += size) found.push(items.slice(from, from + size))
  return found
}
