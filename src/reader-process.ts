import type { PoolMessage, PoolPermit, StartRunner } from './pool-runner.ts'
import { scriptPath } from './worker-url.ts'

/** Environment variable that marks a reader process; see `main.ts`. */
export const READER_VARIABLE = 'SHEAF_READER'

/** Environment variable of a process that keeps the priority of the server: others wait for what it writes. */
export const WRITER_VARIABLE = 'SHEAF_WRITER'

/** The executable starts itself; from source, the reader is a separate script that loads much less. */
const COMMAND = Bun.isStandaloneExecutable
  ? [process.execPath]
  : [process.execPath, scriptPath('src/reader.ts')]

/**
 * A process that reads, or writes in one transaction. Unlike a thread it can be killed in the middle of a statement:
 * SQLite in this runtime cannot be interrupted, and an abandoned statement would keep a core busy to its end.
 */
export const startReader: StartRunner = (handlers) => startReaderWith(handlers, {})

/** As `startReader`, for writes, which hold the write lease of a base. */
export const startWriter: StartRunner = (handlers) => startReaderWith(handlers, { [WRITER_VARIABLE]: '1' })

/** As `startReader`, with additional environment variables. */
export const startReaderWith = (
  { reply, ended }: Parameters<StartRunner>[0],
  env: Record<string, string>,
): ReturnType<StartRunner> => {
  const child = Bun.spawn(COMMAND, {
    env: { ...process.env, ...env, [READER_VARIABLE]: '1' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
    serialization: 'advanced',
    ipc: (message: PoolMessage) => {
      if ('ok' in message) child.unref()
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
    permit: (id) => child.send({ id, mayCommit: true } satisfies PoolPermit),
    // Killed at once: SQLite ignores uncommitted changes.
    end: () => child.kill('SIGKILL'),
    hasEnded: child.exited,
  }
}
