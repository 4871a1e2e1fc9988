/**
 * Runs some work, and gives the longest that this thread has worked meanwhile without a turn of the event loop: in the
 * thread's own time, so that other processes on the machine do not count.
 */
export async function longestTurn<T>(work: () => Promise<T>): Promise<{ result: T; longestMs: number }> {
  const used = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  let longestMs = 0
  let last = used()
  const look = () => {
    const now = used()
    longestMs = Math.max(longestMs, now - last)
    last = now
  }
  const timer = setInterval(look, 1)
  try {
    const result = await work()
    look()
    return { result, longestMs }
  } finally {
    clearInterval(timer)
  }
}
