import { and, eq, inArray } from 'drizzle-orm'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { SchemaContext } from '../change/index.ts'
import {
  type FieldPatch,
  isTitleTaken,
  type StoredField,
  type TableModel,
  toStored,
  uniqueTitle,
} from '../model/index.ts'
import { LINK_TYPES } from './fields.ts'

/** Fields and tables that come and go together with something else, in the trash or not. */
export interface LinkParts {
  fields: StoredField[]
  tables: Table[]
}

/** Parts with another mark, and what has to be written for it. */
export interface MarkedParts {
  statements: MetaStatement[]
  parts: LinkParts
  tableIds: string[]
}

type Context = Pick<SchemaContext, 'store' | 'kernel'>

/**
 * What a link consists of beside the field itself: its reverse, its foreign key or its junction table.
 * Columns and tables of a connected database are not parts of the link: they are there by themselves.
 */
export async function partsOfLink({ store }: Context, field: Field): Promise<LinkParts> {
  const link = linkOf(field)
  if (!link) return { fields: [], tables: [] }
  const find = async (id: string | null) => (id === null ? null : await store.findField(id))
  const key = await find(link.keyFieldId)
  const pair = await find(link.junction?.ownFieldId ?? null)
  const junction =
    link.junction && pair?.databaseType === null ? await store.findTable(link.junction.tableId) : null
  const fields = [await find(link.inverseFieldId), key?.databaseType === null ? key : null]
  return { fields: fields.filter((part) => part !== null), tables: junction ? [junction] : [] }
}

/** What of links lies outside a table that they lead to or from: it is of no use without the table. */
export async function partsOutside(context: Context, table: Table): Promise<LinkParts> {
  const fields = new Map<string, StoredField>()
  const tables = new Map<string, Table>()
  for (const field of await everyLink(context, table.baseId)) {
    const leadsHere = linkOf(field)?.relatedTableId === table.id
    if (!leadsHere && field.tableId !== table.id) continue
    const parts = await partsOfLink(context, field)
    for (const part of [field, ...parts.fields]) if (part.tableId !== table.id) fields.set(part.id, part)
    for (const part of parts.tables) tables.set(part.id, part)
  }
  return { fields: [...fields.values()], tables: [...tables.values()] }
}

/** Every link field of a base, those in the trash and in tables that are there included. */
async function everyLink({ store, kernel }: Context, baseId: string): Promise<StoredField[]> {
  const { fields, tables } = store
  const rows = await kernel.meta.db
    .select({ field: fields })
    .from(fields)
    .innerJoin(tables, eq(fields.tableId, tables.id))
    .where(and(eq(tables.baseId, baseId), inArray(fields.type, [...LINK_TYPES])))
  return rows.map(({ field }) => toStored(field))
}

/** The statements that give parts the mark of the trash, or take it away under a free title. */
export async function markParts(
  { store, kernel }: Context,
  { fields, tables }: LinkParts,
  deletedAt: string | null,
  now: string,
): Promise<MarkedParts> {
  const { db } = kernel.meta
  const marked: LinkParts = {
    fields: await titled(fields, deletedAt, ({ tableId }) => tableId, store.listFields),
    tables: await titled(tables, deletedAt, ({ baseId }) => baseId, store.tablesOf),
  }
  return {
    statements: [
      ...marked.fields.map(({ id, title }) =>
        db.update(store.fields).set({ deletedAt, title, updatedAt: now }).where(eq(store.fields.id, id)),
      ),
      ...marked.tables.map(({ id, title }) =>
        db.update(store.tables).set({ deletedAt, title, updatedAt: now }).where(eq(store.tables.id, id)),
      ),
    ],
    parts: marked,
    tableIds: [
      ...new Set([...marked.fields.map((field) => field.tableId), ...marked.tables.map(({ id }) => id)]),
    ],
  }
}

/** A field or table, as far as its title and the trash are concerned. */
interface Titled {
  id: string
  title: string
  deletedAt: string | null
}

/**
 * Parts with their new mark. Those that come back have each a title of its own among all that is there:
 * whose title is free keeps it, the others get a number.
 */
async function titled<T extends Titled>(
  parts: T[],
  deletedAt: string | null,
  placeOf: (part: T) => string,
  listIn: (place: string) => Promise<Titled[]>,
): Promise<T[]> {
  if (deletedAt !== null) return parts.map((part) => ({ ...part, deletedAt }))
  const back = new Map<string, T>()
  const ids = new Set(parts.map(({ id }) => id))
  for (const [place, here] of Map.groupBy(parts, placeOf)) {
    const taken: Pick<Titled, 'title'>[] = (await listIn(place)).filter(
      (other) => other.deletedAt === null && !ids.has(other.id),
    )
    const come = (part: T) => {
      const made = { ...part, title: uniqueTitle(part.title, taken), deletedAt }
      taken.push(made)
      back.set(part.id, made)
    }
    const [free, others] = [
      here.filter((part) => !isTitleTaken(part.title, taken)),
      here.filter((part) => isTitleTaken(part.title, taken)),
    ]
    for (const part of [...free, ...others]) come(part)
  }
  return parts.flatMap((part) => back.get(part.id) ?? [])
}

/** Those parts of which `isWanted` says so by the mark of the trash that they have. */
export const partsWhere = (
  { fields, tables }: LinkParts,
  isWanted: (part: { deletedAt: string | null }) => boolean,
): LinkParts => ({ fields: fields.filter(isWanted), tables: tables.filter(isWanted) })

/** @throws BAD_REQUEST for a foreign key or a junction table of ours that a link is kept in */
export async function refuseKept(
  context: Context,
  kept: { key: Field } | { junction: Table },
): Promise<void> {
  // A column or a table of a connected database is there without the link.
  if ('key' in kept && kept.key.databaseType !== null) return
  if (
    'junction' in kept &&
    kept.junction.sourceId !== (await context.store.ownSourceId(kept.junction.baseId))
  )
    return
  const [baseId, title] =
    'key' in kept
      ? [(await context.store.load(kept.key.tableId)).table.baseId, kept.key.title]
      : [kept.junction.baseId, kept.junction.title]
  const holder = (await everyLink(context, baseId)).find((field) => {
    const link = linkOf(field)
    if ('junction' in kept) return link?.junction?.tableId === kept.junction.id
    return [link?.keyFieldId, link?.junction?.ownFieldId, link?.junction?.relatedFieldId].includes(
      kept.key.id,
    )
  })
  if (holder)
    throw badRequest(`"${title}" belongs to the link "${holder.title}" and is created and deleted with it`)
}

/**
 * Looks at what a patch asks of a key that a link of ours is kept in: the link alone says how often a record
 * may stand in it.
 *
 * @throws BAD_REQUEST for a unique key, one with a default value, and half a pair
 */
export function refuseKeyRules(
  { table }: TableModel,
  field: Field,
  { unique, required, defaultValue }: FieldPatch,
): void {
  if (!isForeignKey(field) || field.databaseType !== null) return
  const refuse = (why: string) => badRequest(`"${field.title}" belongs to a link: ${why}`)
  if (unique) throw refuse('create a one-to-one link instead')
  if (defaultValue != null && defaultValue !== '') throw refuse('it can’t have a default value')
  if (table.isJunction && required === false) throw refuse('both ends are required')
}

/** @throws CONFLICT where the table that a link leads to is in the trash */
export async function requireRelatedTable({ store }: Context, field: Field): Promise<void> {
  const link = linkOf(field)
  const related = link && (await store.findTable(link.relatedTableId))
  if (!related || related.deletedAt === null) return
  throw new AppError('CONFLICT', `Table "${related.title}" is in the trash. Restore it first.`)
}

/** @throws CONFLICT for one end of a link whose other end has become a field with values again */
export async function requirePartner({ store }: Context, field: Field): Promise<void> {
  const link = linkOf(field)
  const partner = link && (await store.findField(link.inverseFieldId ?? ''))
  if (!partner || linkOf(partner)) return
  throw new AppError('CONFLICT', `"${partner.title}", the other side of the link, is no longer a link`)
}
