import { join } from 'node:path'
import type { PoolReply, StartRunner } from './pool-runner.ts'

/** Set for a process of this program that is a reader; see `main.ts`. */
export const READER_VARIABLE = 'SHEAF_READER'

/** The executable carries the reader in itself; from its sources it is a script of its own, which loads much less. */
const COMMAND = Bun.isStandaloneExecutable
  ? [process.execPath]
  : [process.execPath, join(import.meta.dir, 'reader.ts')]

/**
 * A process that reads. Unlike a thread it can be ended in the middle of a statement: SQLite in this runtime cannot be
 * interrupted, and a read that nobody waits for any more would keep a core busy to its end.
 */
export const startReader: StartRunner = ({ reply, ended }) => {
  const child = Bun.spawn(COMMAND, {
    env: { ...process.env, [READER_VARIABLE]: '1' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
    serialization: 'advanced',
    ipc: (message: PoolReply) => {
      child.unref()
      reply(message)
    },
    onExit: () => ended('A reader process has ended'),
  })
  child.unref()
  return {
    canStop: true,
    post(request) {
      // A process that is stopping waits for what it has begun.
      child.ref()
      child.send(request)
    },
    // Nothing is written there, so nothing has to be finished.
    end: () => child.kill('SIGKILL'),
  }
}
