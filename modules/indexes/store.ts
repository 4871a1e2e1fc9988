import { and, eq, inArray, sql } from 'drizzle-orm'
import type { MetaStatement } from '../../src/db/meta.ts'
import type { Kernel } from '../../src/kernel.ts'
import { defineIndexesTables } from './tables.ts'

type Tables = ReturnType<typeof defineIndexesTables>
export type IndexRow = Tables['tableIndexes']['$inferSelect']
export type ReadsRow = Tables['tableReads']['$inferSelect']

/** States of indexes that are to be in the database. */
export const WANTED: ReadonlySet<IndexRow['state']> = new Set(['building', 'ready'])

export type IndexStore = ReturnType<typeof createIndexStore>

/** Rows of indexes and of observed reads. */
export function createIndexStore({ meta }: Pick<Kernel, 'meta'>) {
  const { tableIndexes, tableReads } = meta.tables(defineIndexesTables)
  const { db } = meta

  return {
    ofTable: (tableId: string): Promise<IndexRow[]> =>
      Promise.resolve(
        db
          .select()
          .from(tableIndexes)
          .where(eq(tableIndexes.tableId, tableId))
          .orderBy(tableIndexes.createdAt),
      ),
    all: (): Promise<IndexRow[]> => Promise.resolve(db.select().from(tableIndexes)),
    async find(id: string): Promise<IndexRow | null> {
      const [row] = await db.select().from(tableIndexes).where(eq(tableIndexes.id, id))
      return row ?? null
    },
    async insert(row: IndexRow): Promise<void> {
      await db.insert(tableIndexes).values(row)
    },
    inserting: (rows: readonly IndexRow[]): MetaStatement[] =>
      rows.map((row) => db.insert(tableIndexes).values(row)),
    async update(id: string, patch: Partial<IndexRow>): Promise<void> {
      await db.update(tableIndexes).set(patch).where(eq(tableIndexes.id, id))
    },
    /** Stores the end of a build. False if somebody has dropped the index meanwhile. */
    async ended(
      id: string,
      patch: Pick<IndexRow, 'state' | 'error'> & Partial<Pick<IndexRow, 'columns'>>,
    ): Promise<boolean> {
      const isWanted = and(eq(tableIndexes.id, id), inArray(tableIndexes.state, [...WANTED]))
      return (await db.update(tableIndexes).set(patch).where(isWanted).returning()).length > 0
    },
    /** Stores that finished indexes are gone. @returns their tables */
    async lost(ids: readonly string[], patch: Pick<IndexRow, 'state' | 'error'>): Promise<Set<string>> {
      const isReady = and(inArray(tableIndexes.id, [...ids]), eq(tableIndexes.state, 'ready'))
      const rows = await db.update(tableIndexes).set(patch).where(isReady).returning()
      return new Set(rows.map(({ tableId }) => tableId))
    },
    async remove(ids: string[]): Promise<void> {
      if (ids.length > 0) await db.delete(tableIndexes).where(inArray(tableIndexes.id, ids))
    },

    /** Adds to what was observed, by this and other servers. */
    async addReads(rows: ReadsRow[]): Promise<void> {
      for (const row of rows) {
        await db
          .insert(tableReads)
          .values(row)
          .onConflictDoUpdate({
            target: [tableReads.tableId, tableReads.key],
            set: {
              slowReads: sql`${tableReads.slowReads} + ${row.slowReads}`,
              slowMs: sql`${tableReads.slowMs} + ${row.slowMs}`,
              lastAt: row.lastAt,
            },
          })
      }
    },
    readsOf: (tableId: string): Promise<ReadsRow[]> =>
      Promise.resolve(db.select().from(tableReads).where(eq(tableReads.tableId, tableId))),
    /** Tables with observed reads. */
    async readTables(): Promise<string[]> {
      const rows = await db.selectDistinct({ id: tableReads.tableId }).from(tableReads)
      return rows.map(({ id }) => id)
    },
    async forgetReads(tableId: string, key?: string): Promise<void> {
      const ofTable = eq(tableReads.tableId, tableId)
      await db.delete(tableReads).where(key === undefined ? ofTable : and(ofTable, eq(tableReads.key, key)))
    },
    /** Deletes what is known of a table that no longer exists. */
    async forgetTable(tableId: string): Promise<void> {
      await db.delete(tableReads).where(eq(tableReads.tableId, tableId))
      await db.delete(tableIndexes).where(eq(tableIndexes.tableId, tableId))
    },
  }
}
