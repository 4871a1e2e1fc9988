/** Numbers from 0 to 1 that are the same on every run (mulberry32), so that a failure can be repeated. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** One of the items. */
export function pick<T>(random: () => number, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('There is nothing to pick from')
  return item
}

/** Text of up to `length` of the given pieces. */
export function textOf(random: () => number, pieces: readonly string[], length: number): string {
  return Array.from({ length: Math.floor(random() * length) }, () => pick(random, pieces)).join('')
}
