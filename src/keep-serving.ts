import type { Log } from './log.ts'

/**
 * Logs uncaught errors instead of ending the process: a bug in one request must not close the connections of all.
 * Transactions roll back on their own, so nothing partial is committed.
 *
 * Called once the server listens: an error before that is a failed start and ends the process.
 *
 * @returns restores the default behaviour
 */
export function keepServing(log: Log): () => void {
  const onRejection = (reason: unknown) => log.error('unhandled rejection', reason, context())
  const onException = (error: unknown, origin: string) =>
    // Also receives unhandled rejections.
    log.error('uncaught exception', error, { ...context(), origin })
  process.on('unhandledRejection', onRejection)
  process.on('uncaughtException', onException)
  return () => {
    process.off('unhandledRejection', onRejection)
    process.off('uncaughtException', onException)
  }
}

const context = () => ({
  pid: process.pid,
  uptimeSeconds: Math.round(process.uptime()),
  residentMegabytes: Math.round(process.memoryUsage.rss() / 1024 ** 2),
})
