import { eq } from 'drizzle-orm'
import { type Actor, actorIdOf } from '../../../src/core/actor.ts'
import { badRequest } from '../../../src/core/errors.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { isForeignKey, numbersRecords } from '../../../src/core/fields/traits.ts'
import type { Table } from '../../../src/core/model.ts'
import { pluralOf, singularOf } from '../../../src/core/nouns.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import { copyPlaces } from '../../../src/db/view-places.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  foreignSourceOf,
  openTable,
  type PlannedScript,
  type SchemaContext,
  type ScriptContext,
  type ScriptFollower,
} from '../change/index.ts'
import {
  checkTitle,
  duplicateTable as duplicateTableTitle,
  fieldWithNewIds,
  isTitleTaken,
  openTableSlots,
  orderAt,
  refuseUnstorable,
  type StoredField,
  type TableModel,
  uniqueTitle,
} from '../model/index.ts'
import { type CopiedTable, type CopyDraft, createCopyDraft, type TableCopy } from './draft.ts'
import { duplicateForeignTable, refuseForeignCopy } from './duplicate-foreign.ts'
import {
  copyJunctions,
  copyTitle,
  createSlots,
  freshIds,
  junctionOf,
  linkPartsOf,
  planRows,
  runCopy,
} from './link-copies.ts'

/**
 * Loads a table and checks that the actor may duplicate it.
 *
 * @throws TABLE_NOT_FOUND; BAD_REQUEST for junction tables, and for views and read-only tables of connected databases
 */
export async function openTableToCopy(
  context: SchemaContext,
  actor: Actor,
  tableId: string,
): Promise<TableModel> {
  const model = await openTable(context, actor, 'table.duplicate', tableId)
  const { table } = model
  if (table.isJunction) throw badRequest(m.schema_error_duplicate_junction({ table: table.title }))
  const source = await foreignSourceOf(context, table)
  if (source) await refuseForeignCopy(context, model, source)
  return model
}

/**
 * The title of a copy: the requested one, or a free one derived from the original.
 *
 * @throws BAD_REQUEST for an invalid title; DUPLICATE_ALIAS for one in use
 */
export async function titleForCopy(
  { store }: SchemaContext,
  baseId: string,
  requested: string | null,
  original: string,
): Promise<string> {
  const others = await store.tablesOf(baseId)
  if (requested === null) return uniqueTitle(copyTitle(original), others)
  refuseUnstorable(requested)
  const title = checkTitle('table', requested)
  if (isTitleTaken(title, others)) throw duplicateTableTitle(title, baseId)
  return title
}

/**
 * Duplicates a table within its base, placed after the original: fields, views and optionally records with the same ids.
 * Computed fields read the copy's own fields. Links to other tables lead to the same records, see `LinkCopies`; links of
 * the table with itself stay inside the copy.
 *
 * @throws as `openTableToCopy`; BAD_REQUEST naming a linked table that has no room for the reverse field
 */
export async function duplicateTable(
  context: SchemaContext,
  actor: Actor,
  copy: TableCopy,
  follower: ScriptFollower = {},
): Promise<CopiedTable> {
  const model = await openTableToCopy(context, actor, copy.tableId)
  const { table } = model
  const source = await foreignSourceOf(context, table)
  if (source) return duplicateForeignTable(context, actor, { model, source, copy }, follower)
  const copied = await runCopy(context, [actor, table.baseId, follower], (script, suffix) =>
    planCopy(context, actor, copy, script, suffix),
  )
  return { table: copied, notCopied: [] }
}

async function planCopy(
  context: SchemaContext,
  actor: Actor,
  { tableId, newTableId, withData, withViews, title }: TableCopy,
  script: ScriptContext,
  suffix: string,
): Promise<PlannedScript<Table>> {
  const ownerId = actorIdOf(actor)
  const model = await openTableToCopy(context, actor, tableId)
  const parts = await linkPartsOf(context, model.stored)
  const own = ownFields(model, parts.fields)
  const outside = parts.fields.filter((part) => part.tableId !== tableId)
  const views = await context.views.forCopies([tableId], withViews)
  const ids = freshIds([...own, ...outside], parts.junctions, views.ids).set(tableId, newTableId)
  const slots = await openTableSlots(context.store, model.table.baseId, { now: script.now, suffix })
  const { description, meta } = model.table
  const added = slots.add(
    { id: newTableId, title, description, meta, isJunction: false },
    { freeTitle: true },
  )
  const { order, moved } = orderAfter(context, slots.others, tableId)
  const table = { ...added, order }
  const draft = createCopyDraft(script, { actorId: ownerId, withData })
  const fields = own.map((field) => adapted(fieldWithNewIds(field, ids), field, { ids, tableId, withData }))
  await draft.addTable(model, table, fields)
  const { dialect } = script.engine
  for (const viewId of withData ? views.ids : []) {
    const to = { viewId: ids.get(viewId) ?? '', tableId: table.id }
    draft.script.push(dialect.render(copyPlaces(dialect, viewId, to)))
  }
  const junctions = await copyJunctions(context, parts.junctions, {
    draft,
    ids,
    slots,
    ownerId,
    titleOf: () => `nc_m2m_${table.title.replace(/[./\s]+/g, '_').slice(0, 40)}`,
    pairOf: (id) => junctionOf(own, id),
  })
  const others = await addOutside(context, outside, { ids, table, draft })
  return {
    ...planRows(context, draft, script.now, {
      tables: [table, ...junctions.tables],
      fields: [...fields, ...junctions.fields, ...others.fields],
      statements: [
        ...views.insert(ids, ownerId),
        ...junctions.statements,
        ...others.viewStatements,
        ...moved,
      ],
    }),
    entry: { kind: 'table.create', tableId: table.id, detail: { tableId: table.id } },
    touchesRecords: withData && others.fields.length > 0,
    result: table,
  }
}

/** The fields to copy; foreign keys only if they belong to a link of this table. */
const ownFields = ({ stored }: TableModel, parts: StoredField[]): StoredField[] =>
  stored.filter((field) => !isForeignKey(field) || parts.some(({ id }) => id === field.id))

/** A field of the copy, without options that apply to the original only. */
function adapted(
  field: StoredField,
  original: StoredField,
  { ids, tableId, withData }: { ids: ReadonlyMap<string, string>; tableId: string; withData: boolean },
): StoredField {
  // An empty table starts numbering at 1.
  if (numbersRecords(field) && !withData) return { ...field, options: { ...field.options, behind: 0 } }
  const link = linkOf(original)
  // The limiting view of a link within the table may not have been copied.
  const isLost = link?.relatedTableId === tableId && link.viewId !== null && !ids.has(link.viewId)
  return isLost ? { ...field, options: { ...field.options, viewId: null } } : field
}

/** The order number after the original; neighbours are renumbered if there is no room. */
function orderAfter({ kernel, store }: SchemaContext, others: readonly Table[], tableId: string) {
  const { order, moved } = orderAt(others, others.findIndex(({ id }) => id === tableId) + 1)
  const { db } = kernel.meta
  const statements: MetaStatement[] = moved.map((each) =>
    db.update(store.tables).set({ order: each.order }).where(eq(store.tables.id, each.id)),
  )
  return { order, moved: statements }
}

/**
 * Adds the foreign keys and reverse fields of the copy's links to other tables. They are not required: the records of those
 * tables need not link to the copy.
 */
async function addOutside(
  context: SchemaContext,
  outside: StoredField[],
  { ids, table, draft }: { ids: ReadonlyMap<string, string>; table: Table; draft: CopyDraft },
): Promise<{ fields: StoredField[]; viewStatements: MetaStatement[] }> {
  const slotsOf = createSlots(context)
  const fields: StoredField[] = []
  const viewStatements: MetaStatement[] = []
  // The key comes before the link that reads it, as in the REST API.
  for (const part of outside.toSorted((a, b) => Number(isForeignKey(b)) - Number(isForeignKey(a)))) {
    const slots = await slotsOf(part.tableId)
    const { order: _order, ...renamed } = { ...fieldWithNewIds(part, ids), required: false }
    if (isForeignKey(part)) {
      const name = slots.keyName(table.tableName)
      const key = slots.add({ ...renamed, title: name, columnName: name }) as StoredField
      await draft.addColumn(slots.model, part.columnName, key)
      fields.push(key)
      continue
    }
    const isSingle = ['bt', 'oo'].includes(linkOf(part)?.kind ?? '')
    const [singular, plural] = [singularOf(table.title), pluralOf(table.title)]
    const reverse = slots.add({
      ...renamed,
      title: slots.freeTitle(isSingle ? singular : plural),
      options: { ...renamed.options, singular, plural },
    }) as StoredField
    fields.push(reverse)
    if (!reverse.isSystem) viewStatements.push(...(await context.views.forReverse(slots.model, reverse)))
  }
  return { fields, viewStatements }
}
