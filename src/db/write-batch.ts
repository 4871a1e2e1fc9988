/** What writes that run at the same time in one transaction share, so that none takes the numbers of another. */
export interface WriteBatch {
  /**
   * Takes consecutive numbers. Requests that arrive together are allocated by one call.
   *
   * @param key what is numbered
   * @param allocate takes so many numbers and returns the first
   * @returns the first of `count` numbers
   */
  allocate(key: string, count: number, allocate: (total: number) => Promise<number>): Promise<number>
  /**
   * Continues a series after its last number, which is read once.
   *
   * @returns the number before the first of `count` numbers, which are one apart
   */
  continueFrom(key: string, count: number, readLast: () => Promise<number>): Promise<number>
}

export function createWriteBatch(): WriteBatch {
  const open = new Map<string, { total: number; first: Promise<number> }>()
  const series = new Map<string, { last: Promise<number>; taken: number }>()
  return {
    async allocate(key, count, allocate) {
      const joined = open.get(key)
      if (joined) {
        const at = joined.total
        joined.total += count
        return (await joined.first) + at
      }
      const request = { total: count, first: Promise.resolve(0) }
      open.set(key, request)
      // After all writes of the batch have run up to their first statement.
      request.first = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        open.delete(key)
        return allocate(request.total)
      })
      return request.first
    },
    async continueFrom(key, count, readLast) {
      const known = series.get(key)
      const entry = known ?? { last: readLast(), taken: 0 }
      series.set(key, entry)
      const at = entry.taken
      entry.taken += count
      return (await entry.last) + at
    },
  }
}
