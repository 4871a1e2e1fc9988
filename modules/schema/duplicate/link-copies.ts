import { badRequest } from '../../../src/core/errors.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { createId, type IdKind } from '../../../src/core/ids.ts'
import type { Table } from '../../../src/core/model.ts'
import { pluralOf, singularOf } from '../../../src/core/nouns.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { SchemaContext } from '../change/index.ts'
import { partsOfLink } from '../links/index.ts'
import {
  type FieldSlots,
  fieldWithNewIds,
  hasRoom,
  MAX_FIELDS,
  openSlots,
  type StoredField,
  type TableModel,
  type TableSlots,
} from '../model/index.ts'
import type { CopyDraft } from './draft.ts'

/**
 * What links consist of beside themselves. A copy of a link has parts of its own: a key column or a junction
 * table, and another reverse. So it leads to the same records as the original and takes none of them away,
 * whatever its kind: a child has a parent by each of the two.
 */
export interface LinkCopies {
  fields: StoredField[]
  junctions: TableModel[]
}

/** The parts of those of the fields that are links; those in the trash stay behind. */
export async function linkPartsOf(context: SchemaContext, fields: StoredField[]): Promise<LinkCopies> {
  const found = new Map<string, StoredField>()
  const junctions = new Set<string>()
  for (const field of fields) {
    const parts = await partsOfLink(context, field)
    for (const part of parts.fields) if (part.deletedAt === null) found.set(part.id, part)
    for (const part of parts.tables) if (part.deletedAt === null) junctions.add(part.id)
  }
  return {
    fields: [...found.values()],
    junctions: await Promise.all([...junctions].map((id) => context.store.load(id))),
  }
}

/** The words by which a reverse speaks of the records of a table. */
export function wordsFor(reverse: Pick<StoredField, 'type' | 'options'>, tableTitle: string) {
  const isSingle = ['bt', 'oo'].includes(linkOf(reverse)?.kind ?? '')
  const [singular, plural] = [singularOf(tableTitle), pluralOf(tableTitle)]
  return { title: isSingle ? singular : plural, options: { singular, plural } }
}

/** New ids for what is copied, by the former ones. */
export function freshIds(
  kinds: Partial<Record<Extract<IdKind, 'table' | 'field' | 'view'>, readonly string[]>>,
): Map<string, string> {
  const ids = new Map<string, string>()
  for (const kind of ['table', 'field', 'view'] as const) {
    for (const id of kinds[kind] ?? []) ids.set(id, createId(kind))
  }
  return ids
}

/** Slots of several tables, each opened once. */
export type SlotsOf = (tableId: string) => Promise<FieldSlots>

/** @throws BAD_REQUEST, at each call, naming a table that has no room for another field */
export function createSlots({ store }: SchemaContext): SlotsOf {
  const opened = new Map<string, { model: TableModel; slots: FieldSlots }>()
  const open = async (tableId: string) => {
    const model = await store.load(tableId)
    const made = { model, slots: openSlots(model, await store.listFields(tableId)) }
    opened.set(tableId, made)
    return made
  }
  return async (tableId) => {
    const { model, slots } = opened.get(tableId) ?? (await open(tableId))
    if (!hasRoom({ fields: [...model.fields, ...slots.added] }))
      throw badRequest(`${model.table.title} has reached the limit of ${MAX_FIELDS} fields`)
    return slots
  }
}

/** `Price copy`, cut so that there is room for the words around it. */
export const copyTitle = (title: string): string => `${[...title].slice(0, 220).join('')} copy`

/** The times of something that is made now. */
export const timesAt = (now: string) => ({ createdAt: now, updatedAt: now, deletedAt: null })

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
