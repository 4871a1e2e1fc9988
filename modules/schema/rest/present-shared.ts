import type { LinkOptions } from '../../../src/core/fields/link-options.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { View } from '../../../src/core/model.ts'
import { publicField, publicTable } from '../../../src/core/views/public-view.ts'
import { namesOnly, narrowModel, type TableModel } from '../model/index.ts'
import type { SchemaReader } from '../reader.ts'
import { presentWholeTable } from './present.ts'

/**
 * A table as REST clients get it by a link to one of its views (wire reference §17): `model`, and by their ids
 * the tables of the links that it shows, of which there is the key and the name of their records and no more.
 */
export async function presentShared(
  schema: Pick<SchemaReader, 'load' | 'clientOf'>,
  whole: TableModel,
  view: View,
) {
  const client = await schema.clientOf(whole)
  const model = narrowModel(whole, view)
  const links = model.fields.flatMap((field) => (field.error === null && linkOf(field)) || [])
  const relatedMetas: Record<string, ReturnType<typeof presentNarrow>> = {}
  for (const { relatedTableId } of links) {
    const related = namesOnly(await schema.load(relatedTableId))
    const untitled = { ...related, table: { ...related.table, title: '', description: null } }
    relatedMetas[relatedTableId] = presentNarrow(untitled, null, client)
  }
  return { client, model: presentNarrow(model, view, client), relatedMetas }
}

/** @param view the one that shows the table; null for a table that is only linked */
function presentNarrow(model: TableModel, view: View | null, client: string) {
  const stored = model.stored.map((field) => ({
    ...field,
    ...publicField(field, view),
    columnName: field.columnName,
    wireMeta: null,
  }))
  const shown = { ...model, table: publicTable(model.table), stored }
  const around = { client, fields: [], primaryKeyOf: () => null }
  const {
    views: _,
    columnsById: __,
    columns,
    ...table
  } = presentWholeTable(shown, view ? [view] : [], [], around)
  const linked = new Map(model.fields.map((field) => [field.id, linkOf(field)]))
  const own = columns.map((column) => withTable(column, linked.get(column.id) ?? null))
  return {
    ...table,
    views: [],
    columns: own,
    columnsById: Object.fromEntries(own.map((one) => [one.id, one])),
  }
}

/** A link names its table by id: under that its key and name stand among the related tables. */
const withTable = <C extends { colOptions?: object }>(column: C, link: LinkOptions | null): C =>
  link === null
    ? column
    : { ...column, colOptions: { ...column.colOptions, fk_related_model_id: link.relatedTableId } }
