import { lowerProcessPriority } from './db/priority.ts'
import type { PoolMessage, PoolPermit, PoolRequest } from './pool-runner.ts'
import { answer } from './pool-tasks.ts'
import { WRITER_VARIABLE } from './reader-process.ts'

/** Entry of the reader and writer processes, see `reader-process.ts`. */

if (process.env[WRITER_VARIABLE] !== '1') lowerProcessPriority('below normal')

const tell = (message: PoolMessage) => process.send?.(message)
/** Writes waiting for permission to commit, by request id. */
const permits = new Map<number, () => void>()

process.on('message', (request: PoolRequest | PoolPermit) => {
  if ('mayCommit' in request) {
    permits.get(request.id)?.()
    permits.delete(request.id)
    return
  }
  const { id } = request
  const supervisor = {
    async progress(written: number) {
      tell({ id, written })
      // Yields, so that the message is sent before the next statement blocks this process.
      await Bun.sleep(0)
    },
    mayCommit() {
      const { promise, resolve } = Promise.withResolvers<void>()
      permits.set(id, resolve)
      tell({ id, asksToCommit: true })
      return promise
    },
  }
  // `answer` returns errors as replies, so this means that the server has ended.
  answer(request, supervisor)
    .then(tell)
    .catch(() => process.exit(1))
})
// The server has ended.
process.on('disconnect', () => process.exit(0))
// Ignores signals to the process group: the server ends its readers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
