import { notFound } from '../../src/core/errors.ts'
import type { Table } from '../../src/core/model.ts'
import { createKeyLoader, linksAmong } from './links/index.ts'
import { createTableModel, type SchemaRows, type TableModel, toStored, toTable } from './model/index.ts'
import type { SchemaReader } from './reader.ts'

/** The tables of a base by their rows, as far as writes of their records need them. */
export type DetachedSchema = Pick<
  SchemaReader,
  'load' | 'loadWithKeys' | 'allLinkFieldsOf' | 'tableInDatabase'
>

/** Describes the home of a base by rows of tables and fields that are not, or no longer, those of the metadata. */
export function createDetachedSchema({ tables, fields }: SchemaRows): DetachedSchema {
  const byId = new Map(tables.map((row) => [row.id, toTable(row)]))
  const fieldsOf = Map.groupBy(
    fields.map(toStored).toSorted((a, b) => a.order - b.order),
    ({ tableId }) => tableId,
  )
  const links = linksAmong({ tables, fields })
  const models = new Map<string, TableModel>()

  function load(tableId: string): TableModel {
    const known = models.get(tableId)
    if (known) return known
    const table = byId.get(tableId)
    if (!table || table.deletedAt !== null) throw notFound('Table', tableId.slice(0, 64))
    const model = createTableModel(table, fieldsOf.get(tableId) ?? [])
    models.set(tableId, model)
    return model
  }

  const find = (matches: (table: Table) => boolean): Table | null => byId.values().find(matches) ?? null
  return {
    load: async (tableId) => load(tableId),
    loadWithKeys: createKeyLoader({
      load: async (tableId) => load(tableId),
      peek: (tableId) => models.get(tableId),
      findTable: async (tableId) => byId.get(tableId) ?? null,
      listFields: async (tableId) => fieldsOf.get(tableId) ?? [],
    }),
    allLinkFieldsOf: async () => links,
    tableInDatabase: async (sourceId, tableName) =>
      find((table) => table.sourceId === sourceId && table.tableName === tableName),
  }
}
