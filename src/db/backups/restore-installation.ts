import { existsSync, readdirSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { lockDataDir } from '../lock-data-dir.ts'
import { completeReplacement, replaceData } from '../replace-data.ts'
import type { Repository } from './repository.ts'
import { checkRestored, removeFolder, restoreFiles } from './restore-backup.ts'
import { removeLeftCopies, temporaryName } from './temporary-folder.ts'

/** Folders with what a restore has replaced. */
const REPLACED = 'replaced-'

/** True if a data folder holds an installation, or what is left of one. */
const isInUse = (dataDir: string): boolean =>
  existsSync(join(dataDir, 'sheaf.db')) ||
  (existsSync(join(dataDir, 'bases')) && readdirSync(join(dataDir, 'bases')).length > 0)

/**
 * Restores a backup as the installation of a data folder. The server must be stopped. The present data are untouched
 * until the backup is restored and checked beside them; then they move into a folder of their own.
 *
 * @param mayReplace false: only into a folder without data
 * @returns the folder with the former data; null if there were none
 * @throws Error that says what is wrong; the data folder is as before then
 */
export async function restoreInstallation(
  repository: Repository,
  backupId: string,
  dataDir: string,
  { mayReplace, onProgress }: { mayReplace: boolean; onProgress?: (done: number, total: number) => void },
): Promise<string | null> {
  const manifest = await repository.manifest(backupId)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  completeReplacement(dataDir)
  const unlock = lockDataDir(dataDir)
  const from = temporaryName()
  try {
    await removeLeftCopies(dataDir)
    const wasInUse = isInUse(dataDir)
    if (wasInUse && !mayReplace)
      throw new Error(
        `${dataDir} has data already: use --replace to replace them (they are kept), or --to another folder`,
      )
    await restoreFiles(repository, manifest.files, join(dataDir, from), onProgress ? { onProgress } : {})
    checkRestored(manifest, join(dataDir, from))
    const to = `${REPLACED}${new Date().toISOString().replaceAll(':', '-')}`
    replaceData(dataDir, from, to)
    if (wasInUse) return join(dataDir, to)
    await removeFolder(join(dataDir, to))
    return null
  } finally {
    await removeFolder(join(dataDir, from))
    unlock()
  }
}
