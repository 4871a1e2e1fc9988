import { LRUCache } from 'lru-cache'
import type { CachedTable, StaleRow } from '../cluster.ts'
import { cacheTally } from '../metrics/cache-tally.ts'
import type { Meta } from './meta.ts'

/** Caches metadata in memory until it changes. */
interface ReadCache<V> {
  /** The cached value, without reading. */
  peek(key: string): V | undefined
  /** The cached value, or the result of `load`; null is not cached. */
  read(key: string, load: () => Promise<V | null>): Promise<V | null>
  /** Call after this server has committed a change and before it acknowledges it; the next read is fresh. */
  forget(key: string): void
  /** Forgets all values. */
  clear(): void
}

/** The caches of each metadata database (its `db`), by name. */
const caches = new WeakMap<object, Map<string, { size(): number; clear(): void }>>()

/** The number of values per cache, by name. */
export const cacheSizes = ({ db }: Pick<Meta, 'db'>): Record<string, number> =>
  Object.fromEntries([...(caches.get(db) ?? [])].map(([name, cache]) => [name, cache.size()]))

/** Clears all caches of a metadata database. */
export function clearCaches({ db }: Pick<Meta, 'db'>): void {
  for (const cache of caches.get(db)?.values() ?? []) cache.clear()
}

interface ReadCacheOptions<T extends CachedTable> {
  /** Labels its size. */
  name: string
  /** Maximum number of values; the least recently used are dropped. */
  max: number
  /** The table whose rows it holds. */
  table: T
  keyOf(row: StaleRow<T>): string
}

/**
 * Caches values read from rows of a metadata table. A change by another server drops them before that change is
 * acknowledged; while such changes are unknown here (`Cluster.isCurrent`), each call reads the database.
 */
export function createReadCache<V extends object, T extends CachedTable>(
  { cluster, db }: Pick<Meta, 'cluster' | 'db'>,
  { name, max, table, keyOf }: ReadCacheOptions<T>,
): ReadCache<V> {
  const held = new LRUCache<string, V>({ max })
  const tally = cacheTally(name)
  let forgotten = 0
  const known = caches.get(db) ?? new Map()
  caches.set(db, known)
  function clear(): void {
    forgotten++
    held.clear()
  }
  function forget(key: string): void {
    forgotten++
    held.delete(key)
  }
  known.set(name, { size: () => held.size, clear })
  cluster.onStale(table, (row) => forget(keyOf(row)))
  cluster.onMissed(clear)
  const peek = (key: string): V | undefined => (cluster.isCurrent() ? held.get(key) : undefined)
  return {
    peek,
    async read(key, load) {
      const known = peek(key)
      if (known) {
        tally.hits++
        return known
      }
      tally.misses++
      const before = forgotten
      const value = await load()
      // A value read before a change must not be stored after it.
      if (value !== null && cluster.isCurrent() && forgotten === before) held.set(key, value)
      return value
    },
    forget,
    clear,
  }
}
