import { and, asc, type Column, desc, eq, inArray, isNotNull, isNull, type SQL } from 'drizzle-orm'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { isAfterPosition, type ListPosition } from '../../../src/db/newest-first.ts'
import type { SchemaContext } from '../change/index.ts'
import { toField, toTable } from '../model/index.ts'
import { isRestorable, type TrashedField } from './field.ts'
import type { TrashedTable } from './table.ts'

/** Rows that are read at once; those that are not wanted are left out afterwards. */
const ROWS_AT_ONCE = 500
/** For more bases, reading the rows of all is cheaper than listing ids. */
const MAX_NAMED_BASES = 500

/** A page of a list of several bases, newest deletion first, then by base and id. */
export interface TrashInBases {
  baseIds: readonly string[]
  /** Where it goes on; null: at the newest. */
  position: ListPosition<string> | null
  wants: (item: { title: string; tableId: string; deletedBy: string | null }) => boolean
  limit: number
}

/** An item of a connected database: a deletion hides it, and it is never deleted there. */
interface InSource {
  isForeign: boolean
}

/**
 * The tables in the trash of some bases, without junction tables and those of disabled sources. Does not check access.
 */
export function trashedTablesIn(
  context: SchemaContext,
  page: TrashInBases,
): Promise<(TrashedTable & InSource)[]> {
  const { tables } = context.store
  const columns = { at: tables.deletedAt, baseId: tables.baseId, id: tables.id }
  return collect(page, columns, async (where) => {
    const rows = await context.kernel.meta.db
      .select()
      .from(tables)
      .where(and(eq(tables.isJunction, false), isNotNull(tables.deletedAt), where))
      .orderBy(desc(tables.deletedAt), asc(tables.baseId), asc(tables.id))
      .limit(ROWS_AT_ONCE)
    const sources = await sourcesAround(context, rows)
    return rows.map((row) => {
      const { id, baseId, deletedAt, deletedBy } = row
      const source = sources.get(row.sourceId)
      const isShown = deletedAt !== null && source?.isEnabled !== false
      return {
        position: { at: deletedAt ?? '', baseId, id },
        tableId: id,
        item: isShown ? { ...toTable(row), deletedAt, deletedBy, isForeign: !source?.isOwn } : null,
      }
    })
  })
}

/**
 * The fields in the trash of all live tables of some bases, each with its table, without those that come back with another item, as in
 * `trashedFieldsOfBase`, and those of disabled sources. Does not check access.
 */
export function trashedFieldsIn(
  context: SchemaContext,
  page: TrashInBases,
): Promise<(TrashedField & InSource & { table: { id: string; baseId: string; title: string } })[]> {
  const { fields, tables } = context.store
  const { db } = context.kernel.meta
  const columns = { at: fields.deletedAt, baseId: tables.baseId, id: fields.id }
  return collect(page, columns, async (where) => {
    const rows = await db
      .select({ field: fields, table: tables })
      .from(fields)
      .innerJoin(tables, eq(tables.id, fields.tableId))
      .where(and(eq(tables.isJunction, false), isNull(tables.deletedAt), isNotNull(fields.deletedAt), where))
      .orderBy(desc(fields.deletedAt), asc(tables.baseId), asc(fields.id))
      .limit(ROWS_AT_ONCE)
    const sources = await sourcesAround(
      context,
      rows.map(({ table }) => table),
    )
    const linked = [...new Set(rows.flatMap(({ field }) => linkOf(toField(field))?.relatedTableId ?? []))]
    const trashed =
      linked.length === 0
        ? []
        : await db
            .select({ id: tables.id, deletedAt: tables.deletedAt })
            .from(tables)
            .where(and(inArray(tables.id, linked), isNotNull(tables.deletedAt)))
    const tableDeletedAt = new Map(trashed.map(({ id, deletedAt }) => [id, deletedAt]))
    return rows.map(({ field: row, table: { id, baseId, title, sourceId } }) => {
      const { deletedAt, deletedBy } = row
      const field = toField(row)
      const source = sources.get(sourceId)
      const isShown =
        deletedAt !== null &&
        source?.isEnabled !== false &&
        isRestorable(field) &&
        tableDeletedAt.get(linkOf(field)?.relatedTableId ?? '') !== deletedAt
      return {
        position: { at: deletedAt ?? '', baseId, id: field.id },
        tableId: id,
        item: isShown
          ? {
              ...field,
              deletedAt,
              deletedBy,
              isForeign: field.databaseType !== null,
              table: { id, baseId, title },
            }
          : null,
      }
    })
  })
}

/** A row, and what it is in the list; null for a row that is not listed. */
interface Row<Item> {
  position: { at: string; baseId: string; id: string }
  tableId: string
  item: Item | null
}

async function collect<Item extends { title: string; deletedBy: string | null }>(
  { baseIds, position, wants, limit }: TrashInBases,
  columns: { at: Column; baseId: Column; id: Column },
  read: (where: SQL | undefined) => Promise<Row<Item>[]>,
): Promise<Item[]> {
  if (baseIds.length === 0) return []
  const wanted = new Set(baseIds)
  const inBases = baseIds.length <= MAX_NAMED_BASES ? inArray(columns.baseId, [...baseIds]) : undefined
  const found: Item[] = []
  let from = position
  while (found.length < limit) {
    const rows = await read(and(inBases, from ? isAfterPosition(columns, from, 'ascending') : undefined))
    for (const { item, tableId, position: at } of rows) {
      if (item && wanted.has(at.baseId) && wants({ ...item, tableId })) found.push(item)
    }
    const last = rows.at(-1)
    if (!last || rows.length < ROWS_AT_ONCE) break
    from = { at: last.position.at, baseId: last.position.baseId, rest: { after: last.position.id } }
  }
  return found.slice(0, limit)
}

/** The sources of the bases of some tables, by id. */
async function sourcesAround(
  { bases }: Pick<SchemaContext, 'bases'>,
  tables: readonly { baseId: string }[],
): Promise<Map<string, { isOwn: boolean; isEnabled: boolean }>> {
  const found = await bases.sourcesOf([...new Set(tables.map(({ baseId }) => baseId))])
  return new Map([...found.values()].flat().map((source) => [source.id, source]))
}

/** The live tables of some bases by base id, without junction tables and those of disabled sources. Does not check access. */
export async function tablesIn(
  context: SchemaContext,
  baseIds: readonly string[],
): Promise<Map<string, ReturnType<typeof toTable>[]>> {
  if (baseIds.length === 0) return new Map()
  const { tables } = context.store
  const rows = await context.kernel.meta.db
    .select()
    .from(tables)
    .where(and(inArray(tables.baseId, [...baseIds]), eq(tables.isJunction, false), isNull(tables.deletedAt)))
    .orderBy(asc(tables.order), asc(tables.id))
  const sources = await sourcesAround(context, rows)
  const shown = rows.filter(({ sourceId }) => sources.get(sourceId)?.isEnabled !== false).map(toTable)
  return Map.groupBy(shown, ({ baseId }) => baseId)
}
