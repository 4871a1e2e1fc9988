import { LRUCache } from 'lru-cache'
import type { Meta } from './meta.ts'

/** Caches metadata in memory until this process changes it. */
interface ReadCache<V> {
  /** The cached value, without reading. */
  peek(key: string): V | undefined
  /** The cached value, or the result of `load`; null is not cached. */
  read(key: string, load: () => Promise<V | null>): Promise<V | null>
  /** Call after a change is committed and before it is acknowledged; the next read is fresh. */
  forget(key: string): void
}

/** The caches of each metadata database, by name. */
const caches = new WeakMap<object, Map<string, { size(): number; clear(): void }>>()

/** The number of values per cache, by name. */
export const cacheSizes = (meta: object): Record<string, number> =>
  Object.fromEntries([...(caches.get(meta) ?? [])].map(([name, cache]) => [name, cache.size()]))

/** Clears all caches of a metadata database. */
export function clearCaches(meta: object): void {
  for (const cache of caches.get(meta)?.values() ?? []) cache.clear()
}

/**
 * A cache of at most `max` values; `name` labels its size. Caches nothing if other processes share the metadata,
 * because their revocations must apply to the next call here (a notification would come too late).
 */
export function createReadCache<V extends object>(
  meta: Pick<Meta, 'isShared'>,
  max: number,
  name: string,
): ReadCache<V> {
  const held = new LRUCache<string, V>({ max })
  let forgotten = 0
  const known = caches.get(meta) ?? new Map()
  caches.set(meta, known)
  known.set(name, {
    size: () => held.size,
    clear() {
      forgotten++
      held.clear()
    },
  })
  return {
    peek: (key) => held.get(key),
    async read(key, load) {
      const known = held.get(key)
      if (known) return known
      const before = forgotten
      const value = await load()
      // A value read before a change must not be stored after it.
      if (value !== null && !meta.isShared && forgotten === before) held.set(key, value)
      return value
    },
    forget(key) {
      forgotten++
      held.delete(key)
    },
  }
}
