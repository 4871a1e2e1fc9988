import { Database } from 'bun:sqlite'
import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import { startFailure } from '../start-failure.ts'

/** Wait for a server that is being replaced to release the lock. */
const PATIENCE_MS = 2_000

const lockOf = (dataDir: string): string => join(dataDir, 'sheaf.lock')

/**
 * SQLite also opens a file that it may only read, and then `begin exclusive` locks nothing.
 *
 * @throws Error if the lock file of a data folder exists and cannot be written
 */
export function requireWritableLock(dataDir: string): void {
  const path = lockOf(dataDir)
  if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK)
}

/**
 * Locks a data folder for this process; the result unlocks it. Two servers on one folder would each trust their own
 * caches. The operating system releases the lock of a killed process.
 *
 * @throws Error if another server has it; naming the lock file if that cannot be opened for writing
 */
export function lockDataDir(dataDir: string): () => void {
  const file = openLock(dataDir)
  try {
    file.run(`pragma busy_timeout = ${PATIENCE_MS}`)
    file.run('begin exclusive')
  } catch (error) {
    file.close()
    const isHeld = error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY'
    throw isHeld
      ? new Error(`Another server is already using the data folder ${dataDir}`)
      : startFailure(`${lockOf(dataDir)} cannot be locked`, error)
  }
  return () => file.close()
}

function openLock(dataDir: string): Database {
  try {
    requireWritableLock(dataDir)
    return new Database(lockOf(dataDir), { create: true })
  } catch (error) {
    throw startFailure(`${lockOf(dataDir)} cannot be locked`, error)
  }
}
