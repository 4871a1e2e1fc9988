import { and, eq, inArray } from 'drizzle-orm'
import { AppError, notFound } from '../../../src/core/errors.ts'
import { FIELD_TYPE_NAMES } from '../../../src/core/fields/index.ts'
import { isForeignKey, isLinkType } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import type { Kernel } from '../../../src/kernel.ts'
import {
  createTableModel,
  plainField,
  type SchemaRows,
  type SchemaStore,
  type StoredField,
  type TableModel,
  toStored,
} from '../model/index.ts'

const LINK_TYPES = FIELD_TYPE_NAMES.filter((type) => isLinkType({ type }))

/** A link field; `isLive` is false if it or its table is in the trash. */
export interface FoundLink {
  field: StoredField
  isLive: boolean
}

/** Every link field among rows of a base, including the trash. */
export function linksAmong({ tables, fields }: SchemaRows): FoundLink[] {
  const live = new Set(tables.flatMap(({ id, deletedAt }) => (deletedAt === null ? [id] : [])))
  return fields.filter(isLinkType).map((field) => ({
    field: toStored(field),
    isLive: field.deletedAt === null && live.has(field.tableId),
  }))
}

/** Every link field of a base, including the trash, in one statement. */
export async function allLinkFieldsOf(
  kernel: Pick<Kernel, 'meta'>,
  { fields, tables }: Pick<SchemaStore, 'fields' | 'tables'>,
  baseId: string,
): Promise<FoundLink[]> {
  const rows = await kernel.meta.db
    .select({ field: fields, tableDeletedAt: tables.deletedAt })
    .from(fields)
    .innerJoin(tables, eq(fields.tableId, tables.id))
    .where(and(eq(tables.baseId, baseId), inArray(fields.type, LINK_TYPES)))
  return rows.map(({ field, tableDeletedAt }) => ({
    field: toStored(field),
    isLive: field.deletedAt === null && tableDeletedAt === null,
  }))
}

/**
 * Loads tables for the maintenance of links: also tables in the trash, and with foreign keys in the trash among the
 * fields, so that both are correct when they are restored.
 *
 * @throws TABLE_NOT_FOUND for an unknown table
 */
export function createKeyLoader(store: Pick<SchemaStore, 'load' | 'peek' | 'findTable' | 'listFields'>) {
  const cached = new WeakMap<TableModel, TableModel>()

  async function findLive(tableId: string): Promise<TableModel | null> {
    try {
      return await store.load(tableId)
    } catch (error) {
      if (error instanceof AppError && error.code === 'TABLE_NOT_FOUND') return null
      throw error
    }
  }

  /** The model itself if nothing of its table is in the trash, else the one that was made from it. */
  const knownFor = (live: TableModel): TableModel | undefined =>
    live.trashedColumns.size === 0 ? live : cached.get(live)

  return function loadWithKeys(tableId: string): Promise<TableModel> {
    const live = store.peek(tableId)
    const known = live && knownFor(live)
    return known ? Promise.resolve(known) : readWithKeys(tableId)
  }

  async function readWithKeys(tableId: string): Promise<TableModel> {
    const live = await findLive(tableId)
    const known = live && knownFor(live)
    if (known) return known
    const table = live?.table ?? (await store.findTable(tableId))
    if (!table) throw notFound('Table', tableId.slice(0, 64))
    const fields = await store.listFields(tableId)
    const isTrashedKey = (field: StoredField) => isForeignKey(field) && field.deletedAt !== null
    const model =
      live && !fields.some(isTrashedKey)
        ? live
        : createTableModel(
            table,
            fields.map((field) => (isTrashedKey(field) ? { ...field, deletedAt: null } : field)),
          )
    if (live) cached.set(live, model)
    return model
  }
}

/** Every live link field of a base's live tables. The links to a table are stored in the fields of other tables. */
export async function linkFieldsOf(
  kernel: Pick<Kernel, 'meta'>,
  store: Pick<SchemaStore, 'fields' | 'tables'>,
  baseId: string,
): Promise<Field[]> {
  const links = await allLinkFieldsOf(kernel, store, baseId)
  return links.filter(({ isLive }) => isLive).map(({ field }) => plainField(field))
}
