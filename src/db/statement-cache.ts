import type { Database, Statement as Prepared } from 'bun:sqlite'
import { LRUCache } from 'lru-cache'

/** Prepared statements kept per connection; preparing costs more than running a short one. */
const KEPT = 400

/** Gives the prepared form of an SQL text. */
export interface StatementCache {
  (sql: string): Prepared<unknown, never[]>
  /** Finalises all of them: a file whose statements still stand is not closed, and keeps its descriptors. */
  clear(): void
}

/** Keeps what is prepared, finalising what has not been used for longest. */
export function createStatementCache(file: Database, kept = KEPT): StatementCache {
  const cache = new LRUCache<string, Prepared<unknown, never[]>>({
    max: kept,
    dispose: (prepared) => prepared.finalize(),
  })
  const prepare = (sql: string) => {
    const known = cache.get(sql)
    if (known) return known
    const prepared = file.prepare<unknown, never[]>(sql)
    cache.set(sql, prepared)
    return prepared
  }
  return Object.assign(prepare, { clear: () => cache.clear() })
}
