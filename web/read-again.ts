/** Reads again what has become old. */
interface Rereading {
  /** Reads soon, or once more after the read that is under way. */
  due(): void
  stop(): void
}

/**
 * Reads again whenever it is due: one read at a time, and one after the last call.
 *
 * @param read resolves after the read, also if it failed
 * @param afterMs what happens in quick succession is read at once
 */
export function readAgain(read: () => Promise<unknown>, afterMs: number): Rereading {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isDue = false
  async function run() {
    isDue = false
    await read()
    timer = undefined
    if (isDue) due()
  }
  function due() {
    isDue = true
    timer ??= setTimeout(() => void run(), afterMs)
  }
  return {
    due,
    stop() {
      isDue = false
      clearTimeout(timer)
    },
  }
}

interface Pages {
  isFetchingNextPage: boolean
  refetch(options?: { cancelRefetch?: boolean }): Promise<unknown>
}

/** Reads all pages again, after a further one that is on its way: the read would cancel it. */
export async function refetchPages({ isFetchingNextPage, refetch }: Pages): Promise<void> {
  if (isFetchingNextPage) await refetch({ cancelRefetch: false })
  await refetch()
}
