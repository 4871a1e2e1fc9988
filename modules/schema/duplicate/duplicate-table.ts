import { eq } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest } from '../../../src/core/errors.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { isForeignKey, numbersRecords } from '../../../src/core/fields/traits.ts'
import type { Table } from '../../../src/core/model.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import { copyPlaces } from '../../../src/db/view-places.ts'
import {
  actorIdOf,
  foreignSourceOf,
  openTable,
  type PlannedScript,
  type SchemaContext,
  type ScriptContext,
  type ScriptFollower,
  withFreshName,
} from '../change/index.ts'
import {
  checkTitle,
  createCopiedRows,
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
import { createCopyDraft } from './draft.ts'
import {
  copyJunctions,
  copyTitle,
  createSlots,
  freshIds,
  junctionOf,
  linkPartsOf,
  timesAt,
  wordsFor,
} from './link-copies.ts'

/** A table as it is to be copied. */
export interface TableCopy {
  tableId: string
  /** The id that the copy gets. */
  newTableId: string
  /** Where it is taken by then, the next free one. */
  title: string
  withData: boolean
  /** False: the default view alone. */
  withViews: boolean
}

/**
 * What can be told before the copy begins: may the table be copied, by this person?
 *
 * @throws TABLE_NOT_FOUND; BAD_REQUEST for tables that are not ours, and for those that keep a link
 */
export async function openTableToCopy(
  context: SchemaContext,
  actor: Actor,
  tableId: string,
): Promise<TableModel> {
  const model = await openTable(context, actor, 'table.duplicate', tableId)
  const { table } = model
  if (table.isJunction)
    throw badRequest(`${table.title} is a junction table. Duplicate one of the tables it links instead.`)
  if (await foreignSourceOf(context, table)) {
    throw badRequest(`${table.title} is in a connected database and can’t be duplicated here`)
  }
  return model
}

/**
 * The title of a copy: the one asked for, or the next free one after that of the original.
 *
 * @throws BAD_REQUEST for one that no table can have; DUPLICATE_ALIAS for one in use
 */
export async function titleForCopy(
  { store }: SchemaContext,
  baseId: string,
  wanted: string | null,
  original: string,
): Promise<string> {
  const others = await store.tablesOf(baseId)
  if (wanted === null) return uniqueTitle(copyTitle(original), others)
  refuseUnstorable(wanted)
  const title = checkTitle('table', wanted)
  if (isTitleTaken(title, others)) throw duplicateTableTitle(title, baseId)
  return title
}

/**
 * Makes a table like another one of its base, right behind it: fields, views and, if asked for, records
 * under the ids that they have. What is computed is computed of its own fields. Links to other tables lead
 * to the same records, see `linkPartsOf`; those of the table with itself stay inside the copy.
 *
 * @throws as `openTableToCopy`; BAD_REQUEST naming a linked table that has no room for the reverse
 */
export async function duplicateTable(
  context: SchemaContext,
  actor: Actor,
  copy: TableCopy,
  follower: ScriptFollower = {},
): Promise<Table> {
  const { table } = await openTableToCopy(context, actor, copy.tableId)
  return withFreshName((suffix) =>
    context.applyScript(
      actor,
      table.baseId,
      (script) => planCopy(context, actor, copy, script, suffix),
      follower,
    ),
  )
}

async function planCopy(
  context: SchemaContext,
  actor: Actor,
  { tableId, newTableId, withData, withViews, ...wanted }: TableCopy,
  script: ScriptContext,
  suffix: string,
): Promise<PlannedScript<Table>> {
  const ownerId = actorIdOf(actor)
  const model = await openTableToCopy(context, actor, tableId)
  const parts = await linkPartsOf(context, model.stored)
  const own = ownFields(model, parts.fields)
  const outside = parts.fields.filter((part) => part.tableId !== tableId)
  const views = await context.views.forCopies([tableId], withViews)
  const ids = freshIds({
    table: parts.junctions.map(({ table }) => table.id),
    field: [...own, ...outside, ...parts.junctions.flatMap(({ stored }) => stored)].map(({ id }) => id),
    view: views.ids,
  }).set(tableId, newTableId)
  const slots = await openTableSlots(context.store, model.table.baseId, { now: script.now, suffix })
  const { description, meta } = model.table
  const made = slots.add(
    { id: newTableId, title: wanted.title, description, meta, isJunction: false },
    { freeTitle: true },
  )
  const { order, moved } = placeBehind(context, slots.others, tableId)
  const table = { ...made, order }
  const draft = createCopyDraft(script, { actorId: ownerId, withData })
  const fields = own.map((field) => settled(fieldWithNewIds(field, ids), field, { ids, tableId, withData }))
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
    titles: () => `nc_m2m_${table.title.replace(/[./\s]+/g, '_').slice(0, 40)}`,
    pairOf: (id) => junctionOf(own, id),
  })
  const others = await addOutside(context, outside, { ids, table, draft })
  const all = [...fields, ...junctions.fields, ...others.fields].map((each) => ({
    ...each,
    ...timesAt(script.now),
  }))
  const tables = [table, ...junctions.tables]
  return {
    script: draft.script,
    rows: draft.rows,
    statements: [
      ...createCopiedRows(context.kernel).insertRows({ tables, fields: all }),
      ...views.insert(ids, ownerId),
      ...junctions.statements,
      ...others.placed,
      ...moved,
    ],
    entry: { kind: 'table.create', tableId: table.id, detail: { tableId: table.id } },
    altered: { fields: all, tables },
    touchesRecords: withData && others.fields.length > 0,
    tableIds: [...new Set([...tables.map(({ id }) => id), ...all.map((field) => field.tableId)])],
    result: table,
  }
}

/** The fields that go along: of the keys those that a link of the table itself is kept in. */
const ownFields = ({ stored }: TableModel, parts: StoredField[]): StoredField[] =>
  stored.filter((field) => !isForeignKey(field) || parts.some(({ id }) => id === field.id))

/** A field of the copy, without what makes sense in the original only. */
function settled(
  field: StoredField,
  original: StoredField,
  { ids, tableId, withData }: { ids: ReadonlyMap<string, string>; tableId: string; withData: boolean },
): StoredField {
  // The first record of an empty table is number one.
  if (numbersRecords(field) && !withData) return { ...field, options: { ...field.options, behind: 0 } }
  const link = linkOf(original)
  // A view that has stayed behind limits nothing.
  const isLost = link?.relatedTableId === tableId && link.viewId !== null && !ids.has(link.viewId)
  return isLost ? { ...field, options: { ...field.options, viewId: null } } : field
}

/** A place right behind the original; neighbours move where there is no room. */
function placeBehind({ kernel, store }: SchemaContext, others: readonly Table[], tableId: string) {
  const { order, moved } = orderAt(others, others.findIndex(({ id }) => id === tableId) + 1)
  const { db } = kernel.meta
  const statements: MetaStatement[] = moved.map((each) =>
    db.update(store.tables).set({ order: each.order }).where(eq(store.tables.id, each.id)),
  )
  return { order, moved: statements }
}

/** What of the copy's links lies in the tables that they lead to: another key column, another reverse. */
async function addOutside(
  context: SchemaContext,
  outside: StoredField[],
  {
    ids,
    table,
    draft,
  }: { ids: ReadonlyMap<string, string>; table: Table; draft: ReturnType<typeof createCopyDraft> },
): Promise<{ fields: StoredField[]; placed: MetaStatement[] }> {
  const slotsOf = createSlots(context)
  const fields: StoredField[] = []
  const placed: MetaStatement[] = []
  // The key goes ahead of the link that reads it, as REST clients list them.
  for (const part of outside.toSorted((a, b) => Number(isForeignKey(b)) - Number(isForeignKey(a)))) {
    const slots = await slotsOf(part.tableId)
    const { order: _order, ...renamed } = fieldWithNewIds(part, ids)
    if (isForeignKey(part)) {
      const name = slots.keyName(table.tableName)
      const key = slots.add({ ...renamed, title: name, columnName: name }) as StoredField
      await draft.addColumn(slots.model, part.columnName, key)
      fields.push(key)
      continue
    }
    const words = wordsFor(part, table.title)
    const options = { ...renamed.options, ...words.options }
    const reverse = slots.add({ ...renamed, title: slots.freeTitle(words.title), options }) as StoredField
    fields.push(reverse)
    if (!reverse.isSystem) placed.push(...(await context.views.forReverse(slots.model, reverse)))
  }
  return { fields, placed }
}
