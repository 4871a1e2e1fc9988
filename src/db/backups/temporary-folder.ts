import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { randomText } from '../../core/ids.ts'
import { neededFolder } from '../replace-data.ts'

/** Folders inside the data folder for restored copies; the number is the process that uses it. */
const NAME = /^restore-(\d+)-[a-z0-9]+$/

/** The name of a new folder for a restored copy, which does not exist yet. */
export const temporaryName = (): string => `restore-${process.pid}-${randomText(8)}`

/** Removes copies of processes that were killed, except one that a replacement still needs. */
export async function removeLeftCopies(dataDir: string): Promise<void> {
  const needed = neededFolder(dataDir)
  for (const name of await readdir(dataDir)) {
    const pid = NAME.exec(name)?.[1]
    if (pid !== undefined && name !== needed && !isRunning(Number(pid)))
      await rm(join(dataDir, name), { recursive: true, force: true })
  }
}

/** True if a process of this machine has the number, also one of another user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}
