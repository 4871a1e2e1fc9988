import { constants, setPriority } from 'node:os'
import type { PoolRequest } from './pool-runner.ts'
import { answer } from './pool-tasks.ts'

/** Entry of the reader processes, see `reader-process.ts`. */

try {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
} catch (error) {
  // A sandbox may forbid it. The work gets done all the same.
  if (!(error instanceof Error && 'code' in error)) throw error
}

process.on('message', (request: PoolRequest) => {
  // `answer` gives errors as answers: what is left is a server that has gone.
  answer(request)
    .then((reply) => process.send?.(reply))
    .catch(() => process.exit(1))
})
// The server has gone.
process.on('disconnect', () => process.exit(0))
// A signal to the whole group is the server's to handle: it ends its readers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
