import { existsSync, readdirSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { nowIso } from '../../clock.ts'
import { createId, randomText } from '../../core/ids.ts'
import { VERSION } from '../../version.ts'
import { lockDataDir } from '../lock-data-dir.ts'
import { completeReplacement, neededFolder, replaceData, replacedFolder } from '../replace-data.ts'
import { type BucketRow, bucketOpener, returnBucketFiles } from './bucket-files.ts'
import { filesOf, type Manifest } from './manifest.ts'
import { copyToFiles } from './other-kind.ts'
import { type ReplacedData, restoreToPostgres } from './postgres/restore-postgres.ts'
import type { Repository } from './repository.ts'
import { bucketsIn, checkRestored, removeFolder, restoreFile, restoreFiles } from './restore-backup.ts'
import { writeRestoreNote } from './restore-note.ts'
import type { BackupSource } from './target.ts'
import { removeLeftCopies, temporaryName } from './temporary-folder.ts'
import { explainPath } from './unusable-path.ts'

/** True if a data folder holds an installation, or what is left of one. */
const isInUse = (dataDir: string): boolean =>
  existsSync(join(dataDir, 'sheaf.db')) ||
  (existsSync(join(dataDir, 'bases')) && readdirSync(join(dataDir, 'bases')).length > 0)

export interface InstallationOptions {
  /** False: only into a place without data. */
  mayReplace: boolean
  /** Whether attached files that their buckets have lost are put back. */
  withBucketFiles: boolean
  /** Named as who has restored everything, to the next server. */
  command: 'sheaf restore' | 'sheaf rollback'
}

/**
 * Restores a backup as the installation of a data folder and, if it is configured, a database in PostgreSQL. Servers
 * must be stopped. The present data are untouched until the backup is restored and checked beside them; then they move
 * into a folder, and into schemas, of their own.
 *
 * @returns where the former data are; null if there were none
 * @throws Error that says what is wrong; the data are as before then
 */
export async function restoreInstallation(
  config: BackupSource,
  repository: Repository,
  backupId: string,
  options: InstallationOptions,
): Promise<ReplacedData | null> {
  const { dataDir, databaseUrl } = config
  const startedAt = nowIso()
  const manifest = await repository.manifest(backupId)
  const writeNote = (folder: string, at: string, schemas: string | null) =>
    writeRestoreNote(folder, {
      jobId: createId('job'),
      userId: '',
      email: options.command,
      startedAt,
      backupId,
      backupAt: manifest.summary.at,
      at,
      folder: join(dataDir, replacedFolder(at)),
      schemas,
      problem: null,
    })
  const returnFiles = (folder: string, rows: () => Promise<BucketRow[]>) =>
    options.withBucketFiles
      ? returnAttachments(config, repository, manifest, folder, rows)
      : Promise.resolve()
  if (databaseUrl !== null)
    return restoreToPostgres(
      repository,
      manifest,
      { dataDir, databaseUrl },
      { ...options, returnFiles, writeNote },
    )
  refuseOtherVersion(manifest)
  await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw explainPath(`The data folder ${dataDir}`, error)
  })
  completeReplacement(dataDir)
  const unlock = lockDataDir(dataDir)
  const from = temporaryName()
  const folder = join(dataDir, from)
  try {
    await removeLeftCopies(dataDir)
    const wasInUse = isInUse(dataDir)
    if (wasInUse && !options.mayReplace)
      throw new Error(
        `${dataDir} has data already: use --replace to replace them (they are kept), or --to another folder`,
      )
    const files = filesOf(manifest)
    await restoreFiles(repository, files, folder)
    checkRestored({ files }, folder)
    if (manifest.postgres) await copyToFiles(repository, manifest, folder, null)
    await returnFiles(folder, async () => bucketsIn(join(folder, 'sheaf.db')))
    const at = nowIso()
    writeNote(folder, at, null)
    const to = replacedFolder(at)
    replaceData(dataDir, from, to)
    if (wasInUse) return { folder: join(dataDir, to), schemas: null }
    await removeFolder(join(dataDir, to))
    return null
  } finally {
    // A replacement that has failed halfway is completed by the next start.
    if (neededFolder(dataDir) !== from) await removeFolder(folder)
    unlock()
  }
}

/** @throws Error for tables of another version, whose upgrade only PostgreSQL can take */
export function refuseOtherVersion({ postgres, summary }: Manifest): void {
  if (postgres !== undefined && summary.version !== VERSION)
    throw new Error(
      `The backup ${summary.id} is of an installation in PostgreSQL and of Sheaf ${summary.version}: set DATABASE_URL to ` +
        'restore it to a database. “sheaf move --to sqlite” brings it into files afterwards',
    )
}

/** Puts attached files of a backup back into the buckets that have lost them. */
export async function returnAttachments(
  config: BackupSource,
  repository: Repository,
  { files }: Manifest,
  folder: string,
  rows: () => Promise<BucketRow[]>,
): Promise<void> {
  const returned = files.filter(({ bucket }) => bucket !== undefined)
  if (returned.length === 0) return
  const secretsIn = existsSync(join(folder, 'secrets')) ? folder : config.dataDir
  await returnBucketFiles(returned, bucketOpener(config, await rows(), secretsIn), async (file) => {
    const path = join(folder, `file-${randomText(16)}`)
    await restoreFile(repository, file, path)
    return path
  })
}
