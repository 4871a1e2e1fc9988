/** Distributes items over chunks round-robin, because neighbouring files often take equally long. */
export function chunked<T>(items: readonly T[], count: number): T[][] {
  const parts = Array.from({ length: Math.min(count, items.length) }, (): T[] => [])
  for (const [index, item] of items.entries()) parts[index % parts.length]?.push(item)
  return parts
}

/** Items of one kind, and how many of them may be processed at the same time. */
interface Stage<T> {
  items: readonly T[]
  workers: number
}

/**
 * Processes the items of all stages in their order. A worker that finds no item left in a stage goes on to the next one,
 * unless that has enough workers, while others still process their last items.
 */
export async function inParallel<T>(
  stages: readonly Stage<T>[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const open = stages.map(({ items, workers }) => ({ items: items.values(), free: workers }))
  const worker = async () => {
    for (const stage of open) {
      if (stage.free === 0) continue
      stage.free--
      for (const item of stage.items) await work(item)
      stage.free++
    }
  }
  const most = Math.max(...stages.map(({ workers }) => workers))
  await Promise.all(Array.from({ length: most }, worker))
}
