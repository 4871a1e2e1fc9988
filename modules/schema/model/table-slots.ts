import { badRequest } from '../../../src/core/errors.ts'
import type { Table } from '../../../src/core/model.ts'
import { duplicateTable, isTitleTaken, physicalName, uniqueTitle } from './names.ts'
import type { SchemaStore } from './store.ts'

/** Most tables of one base. */
export const MAX_TABLES = 1000

/** What of a new table is not as in every other. */
export interface SlotTable extends Pick<Table, 'id' | 'title' | 'description' | 'meta' | 'isJunction'> {
  /** A wish for its name in the database; absent: as its title. */
  tableName?: string | null
}

/** The place of new tables in a base: their titles, names and order, several of them in one change. */
export interface TableSlots {
  /** The tables of the base that are there, in their order. */
  readonly others: readonly Table[]
  /**
   * @throws DUPLICATE_ALIAS for a title in use, unless `freeTitle` asks for the next free one; BAD_REQUEST
   *   where the base is full
   */
  add(table: SlotTable, options?: { freeTitle?: boolean }): Table
}

/**
 * @param now the time of the change, ISO
 * @param suffix ends the names in the database, see `withFreshName`
 */
export async function openTableSlots(
  store: Pick<SchemaStore, 'ownSourceId' | 'tablesOf' | 'tablesOfSource'>,
  baseId: string,
  { now, suffix = '' }: { now: string; suffix?: string },
): Promise<TableSlots> {
  const sourceId = await store.ownSourceId(baseId)
  const others = await store.tablesOf(baseId)
  const all = [...others]
  const taken = new Set((await store.tablesOfSource(sourceId)).map((other) => other.tableName.toLowerCase()))
  return {
    others,
    add({ tableName, ...wanted }, { freeTitle = false } = {}) {
      if (all.length >= MAX_TABLES) throw badRequest(`A base can have up to ${MAX_TABLES} tables`)
      const title = freeTitle ? uniqueTitle(wanted.title, all) : wanted.title
      if (isTitleTaken(title, all)) throw duplicateTable(title, baseId)
      const table: Table = {
        ...wanted,
        baseId,
        sourceId,
        title,
        kind: 'table' as const,
        tableName: physicalName((tableName || title) + suffix, taken, 'table'),
        order: Math.max(0, ...all.map((other) => other.order)) + 1,
        version: 0,
        createdAt: now,
        updatedAt: now,
        deletedAt: null,
      }
      all.push(table)
      taken.add(table.tableName.toLowerCase())
      return table
    },
  }
}
