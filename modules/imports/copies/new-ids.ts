import { createId, type IdKind } from '../../../src/core/ids.ts'
import type { SchemaRows } from '../../schema/index.ts'
import type { ViewRows } from '../../views/index.ts'

/** What of a base its copy has. */
export interface CopiedRows extends SchemaRows, ViewRows {}

/** Ids of bases, sources, tables, fields and views, wherever they stand in a text. */
const ID = /\b(?:vw|[pbmc])[a-z0-9]{14}\b/g

/**
 * The rows under new ids. Where the definitions name each other (a formula, a filter, the field of a link), the
 * new ids stand; ids of anything else stay as they are.
 *
 * @param known the new ids of the base and its sources, by their former ones
 */
export function withNewIds(rows: CopiedRows, known: ReadonlyMap<string, string>): CopiedRows {
  const ids = new Map(known)
  const name = (kind: IdKind) => (row: { id: string }) => void ids.set(row.id, createId(kind))
  rows.tables.forEach(name('table'))
  rows.fields.forEach(name('field'))
  rows.views.forEach(name('view'))
  rows.lines.forEach(name('gridViewField'))
  const renamed = (id: string): string => ids.get(id) ?? id
  /** Structures only: what people wrote is left alone. */
  const inside = <T>(value: T): T =>
    value === null || value === undefined ? value : JSON.parse(JSON.stringify(value).replace(ID, renamed))
  return {
    tables: rows.tables.map((table) => ({
      ...table,
      id: renamed(table.id),
      baseId: renamed(table.baseId),
      sourceId: renamed(table.sourceId),
    })),
    fields: rows.fields.map((field) => ({
      ...field,
      id: renamed(field.id),
      tableId: renamed(field.tableId),
      options: inside(field.options),
      result: inside(field.result),
    })),
    views: rows.views.map((view) => ({
      ...view,
      id: renamed(view.id),
      tableId: renamed(view.tableId),
      filter: withFreshNodeIds(inside(view.filter)),
      sorts: inside(view.sorts).map((sort) => ({ ...sort, id: createId('sort') })),
      groups: inside(view.groups),
      coloring: inside(view.coloring),
      options: inside(view.options),
      meta: inside(view.meta),
    })),
    lines: rows.lines.map((line) => ({
      ...line,
      id: renamed(line.id),
      viewId: renamed(line.viewId),
      fieldId: renamed(line.fieldId),
      form: inside(line.form),
    })),
  }
}

/** Programs name conditions by ids of their own, which have to lead to one view. */
function withFreshNodeIds<T>(filter: T): T {
  return JSON.parse(JSON.stringify(filter), (key, value) =>
    key === 'id' && typeof value === 'string' ? createId('filter') : value,
  )
}
