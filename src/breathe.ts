/** Work on the thread that answers requests lets others in after so long. */
const SLICE_MS = 8

/** Looking at the clock for each item would cost more than most items. */
const LOOK_EVERY = 32

let lastTurnAt = performance.now()

/**
 * Lets the event loop turn if its last turn here was more than a few milliseconds ago. Long loops await it, so that
 * other requests are answered meanwhile: an `await` of a settled promise goes on within the same turn.
 */
export function breathe(): Promise<void> | undefined {
  if (performance.now() - lastTurnAt < SLICE_MS) return undefined
  return Bun.sleep(0).then(() => {
    lastTurnAt = performance.now()
  })
}

/** The items one by one, with a turn of the event loop now and then. */
export async function* breathing<T>(items: Iterable<T>): AsyncGenerator<T> {
  let count = 0
  for (const item of items) {
    if (count++ % LOOK_EVERY === 0) await breathe()
    yield item
  }
}

/** `items.map(transform)`, with a turn of the event loop now and then. */
export async function mapBreathing<T, U>(
  items: Pick<readonly T[], 'entries'>,
  transform: (item: T, index: number) => U,
): Promise<U[]> {
  const mapped: U[] = []
  for (const [index, item] of items.entries()) {
    if (index % LOOK_EVERY === 0) await breathe()
    mapped.push(transform(item, index))
  }
  return mapped
}
