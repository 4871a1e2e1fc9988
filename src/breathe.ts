/** Longest slice of work on the request thread between turns of the event loop. */
const SLICE_MS = 8

/** Items between looks at the clock, which costs more than most items. */
const LOOK_EVERY = 32

let lastTurnAt = performance.now()

const isTurnOver = (): boolean => performance.now() - lastTurnAt >= SLICE_MS

/**
 * Yields to the event loop if the last yield was more than a few milliseconds ago. Long loops await it so that other
 * requests are answered: awaiting a settled promise alone does not yield.
 */
export function breathe(): Promise<void> | undefined {
  if (!isTurnOver()) return undefined
  return Bun.sleep(0).then(() => {
    lastTurnAt = performance.now()
  })
}

/** Iterates over the items (`for await`), yielding to the event loop regularly. For work that awaits as well. */
export function breathing<T>(items: Iterable<T>): Iterable<T> | AsyncIterable<T> {
  // Most lists have a few items, for which a generator would cost more than the work.
  const isShort = Array.isArray(items) && items.length < LOOK_EVERY
  return isShort && !isTurnOver() ? items : inTurns(items)
}

async function* inTurns<T>(items: Iterable<T>): AsyncGenerator<T> {
  let count = 0
  for (const item of items) {
    if (count++ % LOOK_EVERY === 0) await breathe()
    yield item
  }
}

/** Visits each item, yielding to the event loop regularly. Cheaper than `for await`, which waits at every item. */
export async function forEachBreathing<T>(
  items: Iterable<T>,
  visit: (item: T, index: number) => void,
): Promise<void> {
  let index = 0
  for (const item of items) {
    if (index % LOOK_EVERY === 0 && isTurnOver()) await breathe()
    visit(item, index++)
  }
}

/** `items.map(transform)`, yielding to the event loop regularly. */
export async function mapBreathing<T, U>(
  items: Iterable<T>,
  transform: (item: T, index: number) => U,
): Promise<U[]> {
  const mapped: U[] = []
  await forEachBreathing(items, (item, index) => {
    mapped.push(transform(item, index))
  })
  return mapped
}
