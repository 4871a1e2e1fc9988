import { LRUCache } from 'lru-cache'
import type { Meta } from './meta.ts'

/** What was read from the metadata, held in memory until this process changes it. */
export interface ReadCache<V> {
  /** What is held, without reading. */
  peek(key: string): V | undefined
  /** What is held, or what `load` reads now; null is not held. */
  read(key: string, load: () => Promise<V | null>): Promise<V | null>
  /** To be called once a change is committed and before it is acknowledged: the next read is fresh. */
  forget(key: string): void
}

/**
 * A cache of at most `max` values. It holds nothing where other processes share the metadata: a
 * revocation made there has to count on the next call here (a notification would come too late).
 */
export function createReadCache<V extends object>(meta: Pick<Meta, 'isShared'>, max: number): ReadCache<V> {
  const held = new LRUCache<string, V>({ max })
  let forgotten = 0
  return {
    peek: (key) => held.get(key),
    async read(key, load) {
      const known = held.get(key)
      if (known) return known
      const before = forgotten
      const value = await load()
      // Read before a change and stored after it, the old value would stay for good.
      if (value !== null && !meta.isShared && forgotten === before) held.set(key, value)
      return value
    },
    forget(key) {
      forgotten++
      held.delete(key)
    },
  }
}
