import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Table } from '../../../src/core/model.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { SchemaContext } from '../change/index.ts'
import { fieldWithNewIds, type StoredField, type TableModel, type TableSlots } from '../model/index.ts'
import type { CopyDraft } from './draft.ts'

/** Junction tables that were copied, as the metadata is to keep them. */
interface CopiedJunctions {
  tables: Table[]
  fields: StoredField[]
  statements: MetaStatement[]
}

interface How {
  draft: CopyDraft
  ids: ReadonlyMap<string, string>
  slots: TableSlots
  ownerId: string | null
  /** The title of a copy, by that of the original. */
  titles(former: string): string
  /** The fields of a junction table that hold the two keys of a pair. */
  pairOf(tableId: string): [string, string]
}

/** Copies tables of pairs with their pairs. Where the keys lead is for the fields that are copied with them. */
export async function copyJunctions(
  context: Pick<SchemaContext, 'views'>,
  junctions: readonly TableModel[],
  { draft, ids, slots, ownerId, titles, pairOf }: How,
): Promise<CopiedJunctions> {
  const made: CopiedJunctions = { tables: [], fields: [], statements: [] }
  for (const model of junctions) {
    const { id, title, description, meta, isJunction } = model.table
    const wanted = { id: ids.get(id) ?? id, title: titles(title), description, meta, isJunction }
    const table = slots.add(wanted, { freeTitle: true })
    const fields = model.stored.map((field) => fieldWithNewIds(field, ids))
    const columns = pairOf(id).map((fieldId) => model.field(fieldId)?.columnName ?? '')
    await draft.addTable(model, table, fields, [columns[0] ?? '', columns[1] ?? ''])
    made.tables.push(table)
    made.fields.push(...fields)
    made.statements.push(...context.views.forNewTable(table, fields, ownerId))
  }
  return made
}

/** The key fields of the junction table that one of the links is kept in. */
export function junctionOf(fields: readonly StoredField[], tableId: string): [string, string] {
  const found = fields.map((field) => linkOf(field)?.junction).find((each) => each?.tableId === tableId)
  if (!found) throw new Error(`No link is kept in ${tableId}`)
  return [found.ownFieldId, found.relatedFieldId]
}
