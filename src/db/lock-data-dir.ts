import { Database } from 'bun:sqlite'
import { join } from 'node:path'

/** Wait for a server that is being replaced to release the lock. */
const PATIENCE_MS = 2_000

/**
 * Locks a data folder for this process; the result unlocks it. Two servers on one folder would each trust their own
 * caches. The operating system releases the lock of a killed process.
 *
 * @throws Error if another server has it
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
