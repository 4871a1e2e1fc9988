import type { Database, Statement as Prepared } from 'bun:sqlite'
import { LRUCache } from 'lru-cache'

/** Prepared statements kept per connection; preparing costs more than running a short one. */
const KEPT = 400

/** Gives the prepared form of an SQL text, finalising those that have not been used for longest. */
export function createStatementCache(
  file: Database,
  kept = KEPT,
): (sql: string) => Prepared<unknown, never[]> {
  const cache = new LRUCache<string, Prepared<unknown, never[]>>({
    max: kept,
    dispose: (prepared) => prepared.finalize(),
  })
  return (sql) => {
    const known = cache.get(sql)
    if (known) return known
    const prepared = file.prepare<unknown, never[]>(sql)
    cache.set(sql, prepared)
    return prepared
  }
}
