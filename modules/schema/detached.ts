import { and, eq, gt, isNull, lte } from 'drizzle-orm'
import { ALONE } from '../../src/cluster.ts'
import type { Meta, MetaReader } from '../../src/db/meta.ts'
import type { BaseRow, SourceRow } from '../bases/index.ts'
import { allLinkFieldsOf, createKeyLoader } from './links/index.ts'
import { createSchemaStore } from './model/index.ts'
import type { SchemaReader } from './reader.ts'
import { defineSchemaTables } from './tables.ts'

/** The tables of a base in other metadata, as far as writes of their records need them. */
export type DetachedSchema = Pick<
  SchemaReader,
  'load' | 'loadWithKeys' | 'allLinkFieldsOf' | 'tableInDatabase'
> & {
  /** Titles of the base's tables, and of fields as `Table.Field`, that were there at a time and are in its trash. @param at ISO 8601 */
  deletedSince(at: string): Promise<string[]>
}

/**
 * Reads the tables of a base in the metadata of a backup, to work on a copy of its home before the copy has definitions
 * of its own. They must not change meanwhile.
 */
export function createDetachedSchema(
  meta: Pick<Meta, 'tables'>,
  from: MetaReader,
  { base, sources }: { base: BaseRow; sources: SourceRow[] },
): DetachedSchema {
  const detached = { tables: meta.tables, db: from, cluster: ALONE }
  const store = createSchemaStore(
    { meta: detached, events: { on: () => () => {} } },
    { require: async () => base, sourcesOf: async () => new Map([[base.id, sources]]) },
  )
  const { tables, fields } = meta.tables(defineSchemaTables)

  async function deletedSince(at: string): Promise<string[]> {
    const moment = new Date(at).toISOString()
    const wasThere = (row: typeof tables | typeof fields) =>
      and(lte(row.createdAt, moment), gt(row.deletedAt, moment))
    const isOfBase = and(eq(tables.baseId, base.id), eq(tables.isJunction, false))
    const ofTables = await from
      .select({ title: tables.title })
      .from(tables)
      .where(and(isOfBase, wasThere(tables)))
      .orderBy(tables.order)
    const ofFields = await from
      .select({ table: tables.title, title: fields.title })
      .from(fields)
      .innerJoin(tables, eq(tables.id, fields.tableId))
      .where(and(isOfBase, isNull(tables.deletedAt), eq(fields.isSystem, false), wasThere(fields)))
      .orderBy(tables.order, fields.order)
    return [...ofTables.map(({ title }) => title), ...ofFields.map(({ table, title }) => `${table}.${title}`)]
  }

  return {
    deletedSince,
    load: store.load,
    loadWithKeys: createKeyLoader(store),
    allLinkFieldsOf: (baseId) => allLinkFieldsOf({ meta: detached }, store, baseId),
    tableInDatabase: async (sourceId, tableName) =>
      (await store.tablesOfSource(sourceId)).find((table) => table.tableName === tableName) ?? null,
  }
}
