import { and, eq, inArray, isNull } from 'drizzle-orm'
import { AppError, notFound } from '../../../src/core/errors.ts'
import { FIELD_TYPE_NAMES } from '../../../src/core/fields/index.ts'
import { isForeignKey, isLinkType } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import type { Kernel } from '../../../src/kernel.ts'
import {
  createTableModel,
  type SchemaStore,
  type StoredField,
  type TableModel,
  toField,
} from '../model/index.ts'

/** The types of field that link records. */
export const LINK_TYPES = FIELD_TYPE_NAMES.filter((type) => isLinkType({ type }))

/** A link field, and whether it and its table are in use. */
export interface FoundLink {
  field: Field
  isLive: boolean
}

/** Every link field of a base, those in the trash and in tables that are included. */
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
    field: toField(field),
    isLive: field.deletedAt === null && tableDeletedAt === null,
  }))
}

/**
 * Loads a table for those who keep links true: also one in the trash, and with its foreign keys in the trash
 * among its fields. What they hold has to be right when they are back.
 *
 * @throws TABLE_NOT_FOUND where there never was such a table
 */
export function createKeyLoader(store: Pick<SchemaStore, 'load' | 'findTable' | 'listFields'>) {
  const made = new WeakMap<TableModel, TableModel>()

  async function findLive(tableId: string): Promise<TableModel | null> {
    try {
      return await store.load(tableId)
    } catch (error) {
      if (error instanceof AppError && error.code === 'TABLE_NOT_FOUND') return null
      throw error
    }
  }

  return async function loadWithKeys(tableId: string): Promise<TableModel> {
    const live = await findLive(tableId)
    if (live?.trashedColumns.size === 0) return live
    const known = live && made.get(live)
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
    if (live) made.set(live, model)
    return model
  }
}

/**
 * Every live link field of a base's live tables, in one statement: who refers to a table is written in the
 * others' fields and not in its own.
 */
export async function linkFieldsOf(
  kernel: Pick<Kernel, 'meta'>,
  { fields, tables }: Pick<SchemaStore, 'fields' | 'tables'>,
  baseId: string,
): Promise<Field[]> {
  const rows = await kernel.meta.db
    .select({ field: fields })
    .from(fields)
    .innerJoin(tables, eq(fields.tableId, tables.id))
    .where(
      and(
        eq(tables.baseId, baseId),
        isNull(tables.deletedAt),
        isNull(fields.deletedAt),
        inArray(fields.type, LINK_TYPES),
      ),
    )
  return rows.map(({ field }) => toField(field))
}
