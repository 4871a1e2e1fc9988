/**
 * Runs work and measures how long it blocked the event loop at most, in the thread's processor time, which
 * excludes other processes.
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
