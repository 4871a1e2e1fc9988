import { createId, type IdKind } from '../../../src/core/ids.ts'
import { fieldWithNewIds, type SchemaRows } from '../../schema/index.ts'
import { type ViewRows, viewsWithNewIds } from '../../views/index.ts'

/** What of a base its copy has. */
export interface CopiedRows extends SchemaRows, ViewRows {}

/**
 * The rows under new ids. Where the definitions name each other the new ids stand.
 *
 * @param known the new ids of the base and its sources, by their former ones
 */
export function withNewIds(rows: CopiedRows, known: ReadonlyMap<string, string>): CopiedRows {
  const ids = new Map(known)
  const name = (kind: IdKind) => (row: { id: string }) => void ids.set(row.id, createId(kind))
  rows.tables.forEach(name('table'))
  rows.fields.forEach(name('field'))
  rows.views.forEach(name('view'))
  const renamed = (id: string): string => ids.get(id) ?? id
  return {
    tables: rows.tables.map((table) => ({
      ...table,
      id: renamed(table.id),
      baseId: renamed(table.baseId),
      sourceId: renamed(table.sourceId),
    })),
    fields: rows.fields.map((field) => fieldWithNewIds(field, ids)),
    ...viewsWithNewIds(rows, ids),
  }
}
