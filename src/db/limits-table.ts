import type { Columns } from './columns.ts'

/** Events of the last hour that rate limits count, so that a restarted server knows them. */
export function defineLimitsTable(c: Columns) {
  return c.table(
    'limit_counts',
    {
      limit: c.text('limit_name').notNull(),
      /** A keyed hash: it is made of an account or a link, and an IP address. */
      key: c.text('key').notNull(),
      /** Milliseconds since 1970. */
      at: c.bigInteger('at').notNull(),
      /** Events at that time; 0 once they no longer count. */
      count: c.integer('count').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.limit, t.key, t.at] }), c.index('limit_counts_at').on(t.at)],
  )
}
