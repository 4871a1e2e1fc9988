import type { Statement, Transaction } from '../../dialects/dialect.ts'
import { quotePostgres } from '../../dialects/postgres-tables.ts'
import type { Lane } from './lanes.ts'

/** Statements that are sent ahead of their answers. */
const SENT_AHEAD = 200

/**
 * A transaction that has begun on a connection.
 *
 * @param signal ends a statement that runs
 */
export function transactionOn(lane: Lane, signal?: AbortSignal): Transaction {
  return {
    run: async (statement) => ({ changes: (await lane.query(statement, { signal })).count }),
    all: async <T>(statement: Statement) => (await lane.query(statement, { signal })).rows as T[],
    async insertOne({ sql, params }, key) {
      const { rows } = await lane.query({ sql: `${sql} returning ${quotePostgres(key)} as key`, params })
      return (rows[0] as { key: unknown } | undefined)?.key
    },
    async runMany(sql, rows) {
      const [first, second, ...rest] = rows
      // The first two teach the connection the statement; what follows does not wait for answers in between.
      if (first) await lane.query({ sql, params: first })
      if (second) await lane.query({ sql, params: second })
      for (let start = 0; start < rest.length; start += SENT_AHEAD) {
        const sent = rest.slice(start, start + SENT_AHEAD).map((params) => lane.query({ sql, params }))
        // All are answered before anything else is sent: after a failure they only say that there was one.
        const failed = (await Promise.allSettled(sent)).find((answer) => answer.status === 'rejected')
        if (failed) throw failed.reason
      }
    },
  }
}
