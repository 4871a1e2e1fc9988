import { ALONE } from '../../src/cluster.ts'
import type { Meta, MetaReader } from '../../src/db/meta.ts'
import type { BaseRow, SourceRow } from '../bases/index.ts'
import { allLinkFieldsOf, createKeyLoader } from './links/index.ts'
import { createSchemaStore } from './model/index.ts'
import type { SchemaReader } from './reader.ts'

/** The tables of a base in other metadata, as far as writes of their records need them. */
export type DetachedSchema = Pick<
  SchemaReader,
  'load' | 'loadWithKeys' | 'allLinkFieldsOf' | 'tableInDatabase'
>

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
  return {
    load: store.load,
    loadWithKeys: createKeyLoader(store),
    allLinkFieldsOf: (baseId) => allLinkFieldsOf({ meta: detached }, store, baseId),
    tableInDatabase: async (sourceId, tableName) =>
      (await store.tablesOfSource(sourceId)).find((table) => table.tableName === tableName) ?? null,
  }
}
