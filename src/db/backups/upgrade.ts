import { Database } from 'bun:sqlite'
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { VERSION } from '../../version.ts'
import { lockDataDir } from '../lock-data-dir.ts'
import { pendingMigrationsOf } from '../migrate.ts'
import { completeReplacement } from '../replace-data.ts'
import type { Repository } from './repository.ts'
import { removeFolder, requireSpace, restoreFiles, upgradeFiles } from './restore-backup.ts'
import { restoreInstallation } from './restore-installation.ts'
import { type BackupConfig, openConfigured, type RepositoryRef } from './target.ts'
import { removeLeftCopies, temporaryName } from './temporary-folder.ts'
import { baseFiles, writeBackup } from './write-backup.ts'

const RECORD = 'upgrade.json'
/** What a rollback needs to know. */
const Upgrade = z.object({
  backupId: z.string(),
  url: z.string(),
  to: z.string(),
  /** ISO 8601. */
  at: z.string(),
})
export type Upgrade = z.output<typeof Upgrade>

/**
 * Upgrades the data of a stopped server to this version: backs them up, takes all steps in a copy, checks it, and only
 * then takes them in the data.
 *
 * @returns null if the data are of this version already
 * @throws Error that says what is wrong; unless the last step is reached, nothing was changed
 */
export async function upgrade(
  config: BackupConfig,
  place: RepositoryRef,
  print: (line: string) => void,
): Promise<Upgrade | null> {
  const { dataDir } = config
  completeReplacement(dataDir)
  const unlock = lockDataDir(dataDir)
  const copy = join(dataDir, temporaryName())
  try {
    await removeLeftCopies(dataDir)
    const pending = pendingIn(dataDir)
    if (pending.length === 0) return null
    print(`${pending.length} migrations of the metadata are pending; bases are upgraded where needed.`)
    requireSpace(dataDir, 2 * sizeOfDatabases(dataDir))
    const repository = await openConfigured(config, place, true)
    const { id, size } = await writeBackup(config, repository, {
      kind: 'upgrade',
      withSecrets: repository.codec.isEncrypted,
    })
    print(`Backed up ${(size / 1024 ** 2).toFixed(1)} MB to ${repository.store.label}: ${id}`)
    const manifest = await repository.manifest(id)
    const databases = { files: manifest.files.filter(({ tables }) => tables !== undefined) }
    await restoreFiles(repository, databases.files, copy)
    const { migrations, bases } = upgradeFiles(databases, copy)
    print(`Rehearsed on a copy: ${migrations} migrations, ${bases} bases upgraded, everything checked.`)
    const record: Upgrade = { backupId: id, url: place.url, to: VERSION, at: new Date().toISOString() }
    store(dataDir, record)
    upgradeFiles(databases, dataDir)
    return record
  } finally {
    await removeFolder(copy)
    unlock()
  }
}

/** The migrations that the metadata lack. @throws Error for data of a later version, and if there are none */
function pendingIn(dataDir: string): string[] {
  const path = join(dataDir, 'sheaf.db')
  if (!existsSync(path)) throw new Error(`There is no data in ${dataDir} (DATA_DIR)`)
  const file = new Database(path, { readonly: true, strict: true })
  try {
    return pendingMigrationsOf(file, `The data folder ${dataDir}`)
  } finally {
    file.close(true)
  }
}

const sizeOfDatabases = (dataDir: string): number =>
  ['sheaf.db', ...baseFiles(dataDir).map((name) => `bases/${name}`)].reduce(
    (sum, name) => sum + statSync(join(dataDir, name)).size,
    0,
  )

/** Written under another name and renamed, so that it is complete or missing. */
function store(dataDir: string, record: Upgrade): void {
  const draft = join(dataDir, `${RECORD}.draft`)
  writeFileSync(draft, JSON.stringify(record), { mode: 0o600, flush: true })
  renameSync(draft, join(dataDir, RECORD))
}

/** The latest upgrade that can be taken back; null if there is none. */
export function latestUpgrade(dataDir: string): Upgrade | null {
  const path = join(dataDir, RECORD)
  return existsSync(path) ? Upgrade.parse(JSON.parse(readFileSync(path, 'utf8'))) : null
}

/**
 * Restores the state before the latest upgrade. The upgraded data are kept in a folder.
 *
 * @returns that folder
 * @throws as `restoreInstallation`
 */
export async function rollBack(
  repository: Repository,
  { backupId }: Upgrade,
  dataDir: string,
): Promise<string | null> {
  const former = await restoreInstallation(repository, backupId, dataDir, { mayReplace: true })
  rmSync(join(dataDir, RECORD), { force: true })
  return former
}
