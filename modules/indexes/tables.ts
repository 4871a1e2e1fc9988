import type { IndexTerm } from '../../src/core/performance.ts'
import type { Columns } from '../../src/db/columns.ts'

/** The indexes of tables, and the reads that they are for. The databases hold the indexes themselves. */
export function defineIndexesTables(c: Columns) {
  const tableIndexes = c.table(
    'table_indexes',
    {
      /** Its name in the database. */
      id: c.text('id').primaryKey(),
      baseId: c.text('base_id').notNull(),
      tableId: c.text('table_id').notNull(),
      terms: c.json('terms').$type<IndexTerm[]>().notNull(),
      /**
       * The column of each term when it was built: a field that changes its type gets another. For a formula, what tells
       * its SQL from any other (`indexedValue`).
       */
      columns: c.json('columns').$type<string[]>().notNull(),
      /** False: somebody asked for it, and it is never dropped by itself. */
      isAutomatic: c.flag('is_automatic').notNull(),
      /**
       * `refused`: a value of a record cannot be in it, so it is not built again before its fields change. `declined`:
       * dropped by somebody, so it is not created automatically again.
       */
      state: c.text('state').$type<'building' | 'ready' | 'failed' | 'refused' | 'declined'>().notNull(),
      /** Why it could not be built. */
      error: c.text('error'),
      createdAt: c.text('created_at').notNull(),
      /** The last read that it served, to the day. */
      usedAt: c.text('used_at').notNull(),
    },
    (table) => [c.index('table_indexes_table').on(table.tableId)],
  )
  const tableReads = c.table(
    'table_reads',
    {
      tableId: c.text('table_id').notNull(),
      /** The terms as JSON. */
      key: c.text('key').notNull(),
      baseId: c.text('base_id').notNull(),
      /** Reads that took long, and their total time in milliseconds. */
      slowReads: c.integer('slow_reads').notNull(),
      slowMs: c.real('slow_ms').notNull(),
      lastAt: c.text('last_at').notNull(),
    },
    (table) => [c.primaryKey({ columns: [table.tableId, table.key] })],
  )
  return { tableIndexes, tableReads }
}
