/** Hits and misses of a cache since the process started. */
export interface CacheTally {
  hits: number
  misses: number
}

const tallies = new Map<string, CacheTally>()

/** The counts of a cache by name; caches of the same name share them. */
export function cacheTally(cache: string): CacheTally {
  const known = tallies.get(cache)
  if (known) return known
  const tally = { hits: 0, misses: 0 }
  tallies.set(cache, tally)
  return tally
}

/** The counts of all caches of this process, by name. */
export const cacheTallies = (): ReadonlyMap<string, Readonly<CacheTally>> => tallies
