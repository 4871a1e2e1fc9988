/** Parts per worker, except for the last ones: each takes a second or more to load and compile what others have loaded too. */
const PARTS_EACH = 3
/** How much smaller than the first parts the last ones are at most. */
const LAST_PARTS = 6

/**
 * Divides items into parts for workers that take one after the other. The last parts are ever smaller, down to a sixth, so that
 * all workers end at about the same time. Neighbours are in different parts, because they often take equally long.
 */
export function divided<T>(items: readonly T[], workers: number): T[][] {
  const count = workers * PARTS_EACH
  const spread = items
    .map((item, at) => ({ item, round: at % count }))
    .sort((one, other) => one.round - other.round)
    .map(({ item }) => item)
  const most = Math.ceil(items.length / count)
  const least = Math.ceil(most / LAST_PARTS)
  const parts: T[][] = []
  for (let from = 0; from < spread.length; from += parts.at(-1)?.length ?? 0) {
    const size = Math.max(least, Math.min(most, Math.ceil((spread.length - from) / (2 * workers))))
    parts.push(spread.slice(from, from + size))
  }
  return parts
}

/** Processes items in their order, some at the same time. */
export async function inParallel<T>(
  items: readonly T[],
  workers: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const open = items.values()
  const worker = async () => {
    for (const item of open) await work(item)
  }
  await Promise.all(Array.from({ length: workers }, worker))
}
