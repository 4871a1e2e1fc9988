import type { Actor } from '../../../src/core/actor.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import { usesOf, type ViewUse } from '../../../src/core/views/uses.ts'
import { openField, openTable, type SchemaContext } from '../change/index.ts'
import { type Alteration, readGraph, resolveAll } from '../computed/index.ts'
import { type LinkParts, partsOfLink, partsOutside, partsWhere } from '../links/index.ts'
import type { StoredField } from '../model/index.ts'

/** A field, table or view that a deletion affects. */
export interface Dependent {
  kind: 'field' | 'table' | 'view'
  id: string
  title: string
  /** The title of its table, or of the table itself. */
  tableTitle: string
  /** `deleted`: it goes to the trash as well. `broken`: it stays, with an error. */
  effect: 'deleted' | 'broken'
  /** How a view uses the deleted field. */
  uses?: ViewUse[]
}

/** The field or table to delete. */
export type DependentsOf = { fieldId: string } | { tableId: string }

/**
 * Lists the dependents of a field or table that is about to be deleted: reverse fields of links, computed fields, and
 * views that filter, sort, group, color or lay out by it. Restoring it restores all of them.
 *
 * @throws FIELD_NOT_FOUND, TABLE_NOT_FOUND
 */
export async function dependents(
  context: SchemaContext,
  actor: Actor,
  target: DependentsOf,
): Promise<Dependent[]> {
  const { store } = context
  if ('tableId' in target) {
    const { table } = await openTable(context, actor, 'table.delete', target.tableId)
    const parts = partsWhere(await partsOutside(context, table), isLive)
    return listAll(context, table, parts, { tables: [inTrash(table)] })
  }
  const { model, field } = await openField(context, actor, 'field.delete', target.fieldId)
  const parts = partsWhere(await partsOfLink(context, field), isLive)
  const own = await store.findField(field.id)
  return [
    ...(await listAll(context, model.table, parts, own ? { fields: [inTrash(own)] } : {})),
    ...(await viewsThatUse(context, model.table, new Set([field.id, ...parts.fields.map(({ id }) => id)]))),
  ]
}

async function listAll(
  context: SchemaContext,
  { baseId }: Table,
  parts: LinkParts,
  altered: Alteration,
): Promise<Dependent[]> {
  const titles = new Map((await context.store.tablesOf(baseId)).map((table) => [table.id, table.title]))
  const present = (field: Field, effect: Dependent['effect']): Dependent => ({
    kind: 'field',
    id: field.id,
    title: field.title,
    tableTitle: titles.get(field.tableId) ?? '',
    effect,
  })
  // Hidden reverse fields and the keys of junction tables are not listed.
  const deleted = parts.fields.filter((field) => !field.isSystem && titles.has(field.tableId))
  const after: Alteration = {
    fields: [...(altered.fields ?? []), ...parts.fields.map(inTrash)],
    tables: [...(altered.tables ?? []), ...parts.tables.map(inTrash)],
  }
  const graph = await readGraph(context.kernel, context.store, baseId, after)
  const resolved = resolveAll(graph, new Set())
  const broken = graph.computed.filter(
    (field) => field.error === null && resolved.get(field.id)?.error != null,
  )
  return [
    ...deleted.map((field) => present(field, 'deleted')),
    ...broken.map((field) => present(field, 'broken')),
  ]
}

async function viewsThatUse(
  { views, store }: SchemaContext,
  table: Table,
  fieldIds: ReadonlySet<string>,
): Promise<Dependent[]> {
  const found = await views.ofTable(await store.load(table.id))
  return found.flatMap((view): Dependent[] => {
    const uses = usesOf(view, fieldIds)
    const { id, title } = view
    return uses.length === 0
      ? []
      : [{ kind: 'view', id, title, tableTitle: table.title, effect: 'broken', uses }]
  })
}

const isLive = ({ deletedAt }: { deletedAt: string | null }): boolean => deletedAt === null

const inTrash = <T extends StoredField | Table>(part: T): T => ({
  ...part,
  deletedAt: new Date(0).toISOString(),
})
