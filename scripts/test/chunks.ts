/** Distributes items over chunks round-robin, because neighbouring files often take equally long. */
export function chunked<T>(items: readonly T[], count: number): T[][] {
  const parts = Array.from({ length: Math.min(count, items.length) }, (): T[] => [])
  for (const [index, item] of items.entries()) parts[index % parts.length]?.push(item)
  return parts
}

/** Processes all items with a number of parallel workers. */
export async function inParallel<T>(
  items: readonly T[],
  workers: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values()
  const worker = async () => {
    for (const item of waiting) await work(item)
  }
  await Promise.all(Array.from({ length: workers }, worker))
}
