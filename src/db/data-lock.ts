import { Database } from 'bun:sqlite'
import { join } from 'node:path'

/** A server that is just being replaced has this long to let go. */
const PATIENCE_MS = 2_000

/**
 * Takes a data folder for this process alone; what it gives lets go of it. Two servers on one folder
 * would each trust what they hold in memory. The lock is one of the operating system's: a process
 * that was killed leaves none behind.
 *
 * @throws Error saying so where another server has it
 */
export function lockDataDir(dataDir: string): () => void {
  const file = new Database(join(dataDir, 'sheaf.lock'), { create: true })
  try {
    file.run(`pragma busy_timeout = ${PATIENCE_MS}`)
    file.run('begin exclusive')
  } catch (error) {
    file.close()
    const isHeld = error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY'
    throw isHeld ? new Error(`Another server is already using the data folder ${dataDir}`) : error
  }
  return () => file.close()
}
