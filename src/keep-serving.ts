import type { Log } from './log.ts'

/**
 * From now on an error that no code has caught is logged and does not end the process: one request's mistake must
 * not take everyone's connections with it. Every transaction stands on its own, so nothing half done is committed.
 *
 * Called once the server listens: an error before that is a failed start and ends the process.
 *
 * @returns ends this
 */
export function keepServing(log: Log): () => void {
  const onRejection = (reason: unknown) => log.error('unhandled rejection', reason, context())
  const onException = (error: unknown, origin: string) =>
    // A rejection comes here as well where no other listener has taken it.
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
