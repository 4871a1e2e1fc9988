import { eq } from 'drizzle-orm'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import { m } from '../../../src/messages.gen.ts'
import type { SchemaContext } from '../change/index.ts'
import {
  type FieldPatch,
  isTitleTaken,
  type StoredField,
  type TableModel,
  uniqueTitle,
} from '../model/index.ts'
import { allLinkFieldsOf } from './fields.ts'

/** Fields and tables that are deleted and restored together with a link or a table. */
export interface LinkParts {
  fields: StoredField[]
  tables: Table[]
}

/** Parts after `markParts`, and the statements that write them. */
export interface MarkedParts {
  statements: MetaStatement[]
  parts: LinkParts
  tableIds: string[]
}

type Context = Pick<SchemaContext, 'store' | 'kernel'>

/**
 * The parts of a link beside the field itself, including the trash: its reverse field, and its foreign key or junction
 * table unless these belong to a connected database.
 */
export async function partsOfLink({ store }: Context, field: Field): Promise<LinkParts> {
  const link = linkOf(field)
  if (!link) return { fields: [], tables: [] }
  const find = async (id: string | null) => (id === null ? null : await store.findField(id))
  const key = await find(link.keyFieldId)
  const junctionKey = await find(link.junction?.ownFieldId ?? null)
  const junction =
    link.junction && junctionKey?.databaseType === null ? await store.findTable(link.junction.tableId) : null
  const fields = [await find(link.inverseFieldId), key?.databaseType === null ? key : null]
  return { fields: fields.filter((part) => part !== null), tables: junction ? [junction] : [] }
}

/** The parts in other tables of the links from and to a table, which are useless without the table. */
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

const everyLink = async ({ store, kernel }: Context, baseId: string): Promise<StoredField[]> =>
  (await allLinkFieldsOf(kernel, store, baseId)).map(({ field }) => field)

/** When and by whom something was moved to the trash. */
export interface Deletion {
  /** ISO 8601. */
  at: string
  by: string | null
}

/** Moves parts to the trash, or restores them (null) under free titles. */
export async function markParts(
  { store, kernel }: Context,
  { fields, tables }: LinkParts,
  deletion: Deletion | null,
  now: string,
): Promise<MarkedParts> {
  const { db } = kernel.meta
  const deletedAt = deletion?.at ?? null
  const mark = { deletedAt, deletedBy: deletion?.by ?? null, updatedAt: now }
  const marked: LinkParts = {
    fields: await retitled(fields, deletedAt, ({ tableId }) => tableId, store.listFields),
    tables: await retitled(tables, deletedAt, ({ baseId }) => baseId, store.tablesOf),
  }
  return {
    statements: [
      ...marked.fields.map(({ id, title }) =>
        db
          .update(store.fields)
          .set({ ...mark, title })
          .where(eq(store.fields.id, id)),
      ),
      ...marked.tables.map(({ id, title }) =>
        db
          .update(store.tables)
          .set({ ...mark, title })
          .where(eq(store.tables.id, id)),
      ),
    ],
    parts: marked,
    tableIds: [
      ...new Set([...marked.fields.map((field) => field.tableId), ...marked.tables.map(({ id }) => id)]),
    ],
  }
}

interface Titled {
  id: string
  title: string
  deletedAt: string | null
}

/**
 * The parts with the new `deletedAt`. Restored parts get unique titles: a part whose title is free keeps it, the others
 * get a suffix.
 */
async function retitled<T extends Titled>(
  parts: T[],
  deletedAt: string | null,
  parentOf: (part: T) => string,
  listIn: (parentId: string) => Promise<Titled[]>,
): Promise<T[]> {
  if (deletedAt !== null) return parts.map((part) => ({ ...part, deletedAt }))
  const restored = new Map<string, T>()
  const ids = new Set(parts.map(({ id }) => id))
  for (const [parentId, siblings] of Map.groupBy(parts, parentOf)) {
    const taken: Pick<Titled, 'title'>[] = (await listIn(parentId)).filter(
      (other) => other.deletedAt === null && !ids.has(other.id),
    )
    const free = siblings.filter((part) => !isTitleTaken(part.title, taken))
    for (const part of new Set([...free, ...siblings])) {
      const renamed = { ...part, title: uniqueTitle(part.title, taken), deletedAt }
      taken.push(renamed)
      restored.set(part.id, renamed)
    }
  }
  return parts.flatMap((part) => restored.get(part.id) ?? [])
}

/** The parts that meet a condition on `deletedAt`. */
export const partsWhere = (
  { fields, tables }: LinkParts,
  matches: (part: { deletedAt: string | null }) => boolean,
): LinkParts => ({ fields: fields.filter(matches), tables: tables.filter(matches) })

/** @throws BAD_REQUEST for a foreign key or junction table that belongs to a link; not in connected databases */
export async function refuseLinkPart(
  context: Context,
  part: { key: Field } | { junction: Table },
): Promise<void> {
  if ('key' in part && part.key.databaseType !== null) return
  if (
    'junction' in part &&
    part.junction.sourceId !== (await context.store.ownSourceId(part.junction.baseId))
  )
    return
  const [baseId, title] =
    'key' in part
      ? [(await context.store.load(part.key.tableId)).table.baseId, part.key.title]
      : [part.junction.baseId, part.junction.title]
  const owner = (await everyLink(context, baseId)).find((field) => {
    const link = linkOf(field)
    if ('junction' in part) return link?.junction?.tableId === part.junction.id
    return [link?.keyFieldId, link?.junction?.ownFieldId, link?.junction?.relatedFieldId].includes(
      part.key.id,
    )
  })
  if (owner) throw badRequest(m.schema_error_part_of_link({ field: title, link: owner.title }))
}

/**
 * Checks an update of a foreign key that belongs to a link, whose kind determines the constraints.
 *
 * @throws BAD_REQUEST for a unique key, a default value, and an optional key of a junction table
 */
export function refuseKeyRules(
  { table }: TableModel,
  field: Field,
  { unique, required, defaultValue }: FieldPatch,
): void {
  if (!isForeignKey(field) || field.databaseType !== null) return
  const refuse = (reason: string) => badRequest(m.schema_error_part_refused({ field: field.title, reason }))
  if (unique) throw refuse('create a one-to-one link instead')
  if (defaultValue != null && defaultValue !== '') throw refuse('it can’t have a default value')
  if (table.isJunction && required === false) throw refuse('both ends are required')
}

/** @throws CONFLICT if the related table of a link is in the trash */
export async function requireRelatedTable({ store }: Context, field: Field): Promise<void> {
  const link = linkOf(field)
  const related = link && (await store.findTable(link.relatedTableId))
  if (!related || related.deletedAt === null) return
  throw new AppError('CONFLICT', m.schema_error_table_in_trash({ table: related.title }))
}

/** @throws CONFLICT if the reverse field of a link has been converted back to a stored field */
export async function requireReverseLink({ store }: Context, field: Field): Promise<void> {
  const link = linkOf(field)
  const reverse = link && (await store.findField(link.inverseFieldId ?? ''))
  if (!reverse || linkOf(reverse)) return
  throw new AppError('CONFLICT', m.schema_error_reverse_link({ field: reverse.title }))
}
