import { Database } from 'bun:sqlite'
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { z } from 'zod'
import { nowIso } from '../../clock.ts'
import { VERSION } from '../../version.ts'
import { lockDataDir } from '../lock-data-dir.ts'
import { pendingMigrationsOf } from '../migrate.ts'
import { schemaOfBase } from '../postgres/base-schema.ts'
import { completeReplacement } from '../replace-data.ts'
import type { Manifest } from './manifest.ts'
import { aloneIn, completeRestore, type ReplacedData } from './postgres/restore-postgres.ts'
import {
  createToken,
  ownSchema,
  pendingIn as pendingMetadata,
  refuseServers,
  restoreSchemas,
  upgradeSchemas,
} from './postgres/schemas.ts'
import type { Repository } from './repository.ts'
import { removeFolder, requireSpace, restoreFiles, upgradeFiles } from './restore-backup.ts'
import { restoreInstallation } from './restore-installation.ts'
import { type BackupConfig, type BackupSource, openConfigured, type RepositoryRef } from './target.ts'
import { removeLeftCopies, temporaryName } from './temporary-folder.ts'
import { baseFiles, sizeOfNewFiles, writeBackup } from './write-backup.ts'

const RECORD = 'upgrade.json'
/** What a rollback needs to know. */
const Upgrade = z.object({
  backupId: z.string(),
  url: z.string(),
  to: z.string(),
  /** ISO 8601. */
  at: z.string(),
  /** The number of migrations that it takes. */
  pending: z.int(),
  /** False until the last step is taken. */
  isDone: z.boolean(),
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
  const { dataDir, databaseUrl } = config
  await (databaseUrl === null ? completeReplacement(dataDir) : completeRestore(dataDir, databaseUrl))
  const unlock = lockDataDir(dataDir)
  try {
    await removeLeftCopies(dataDir)
    return databaseUrl === null
      ? await upgradeInFiles(config, place, print)
      : await aloneIn(databaseUrl, (client) =>
          upgradeInPostgres(client, { ...config, databaseUrl }, place, print),
        )
  } finally {
    unlock()
  }
}

async function upgradeInFiles(
  config: BackupConfig,
  place: RepositoryRef,
  print: (line: string) => void,
): Promise<Upgrade | null> {
  const { dataDir } = config
  const pending = pendingIn(dataDir).length
  const takeSteps = async (manifest: Manifest) => {
    upgradeFiles(databasesIn(manifest), dataDir)
  }
  const begun = interruptedIn(dataDir, pending)
  if (begun) return goOn(config, place, begun, pending === 0 ? null : takeSteps, print)
  if (pending === 0) return null
  tellPending(pending, print)
  const { repository, manifest } = await backUp(config, place, print)
  const copy = join(dataDir, temporaryName())
  try {
    await restoreFiles(repository, databasesIn(manifest).files, copy)
    tellRehearsed(upgradeFiles(databasesIn(manifest), copy), print)
  } finally {
    await removeFolder(copy)
  }
  return taken(dataDir, remember(dataDir, manifest, place, pending), () => takeSteps(manifest))
}

/** The metadata first: an earlier version refuses to start from the first step on. */
const databasesIn = ({ files }: Manifest): Pick<Manifest, 'files'> => ({
  files: files
    .filter(({ tables }) => tables !== undefined)
    .toSorted((a, b) => Number(b.path === 'sheaf.db') - Number(a.path === 'sheaf.db')),
})

async function upgradeInPostgres(
  client: Sql,
  config: BackupConfig & { databaseUrl: string },
  place: RepositoryRef,
  print: (line: string) => void,
): Promise<Upgrade | null> {
  const { dataDir, databaseUrl } = config
  await refuseServers(client)
  const pending = (await pendingMetadata(client, await ownSchema(client), 'The database of DATABASE_URL'))
    .length
  const takeSteps = async ({ postgres = [], files }: Manifest) => {
    await upgradeSchemas(databaseUrl, postgres, (baseId) => (baseId === null ? null : schemaOfBase(baseId)))
    // Single bases may be in files.
    upgradeFiles({ files }, dataDir)
  }
  const begun = interruptedIn(dataDir, pending)
  if (begun) return goOn(config, place, begun, pending === 0 ? null : takeSteps, print)
  if (pending === 0) return null
  tellPending(pending, print)
  const { repository, manifest } = await backUp(config, place, print)
  const copy = await restoreSchemas(databaseUrl, repository, manifest, { token: createToken() })
  try {
    const nameOf = (baseId: string | null) => (baseId === null ? copy.metadata : copy.base(baseId))
    tellRehearsed(await upgradeSchemas(databaseUrl, manifest.postgres ?? [], nameOf), print)
  } finally {
    await copy.release()
  }
  await refuseServers(client)
  return taken(dataDir, remember(dataDir, manifest, place, pending), () => takeSteps(manifest))
}

/**
 * An upgrade to this version that was interrupted after its first step: no earlier version has changed anything since,
 * so its backup is still the state before it. Null without one.
 */
function interruptedIn(dataDir: string, pending: number): Upgrade | null {
  const begun = latestUpgrade(dataDir)
  return begun && !begun.isDone && begun.to === VERSION && pending < begun.pending ? begun : null
}

/** @param takeSteps null: only steps of bases can be left, which each base takes when it is opened */
async function goOn(
  config: BackupConfig,
  place: RepositoryRef,
  begun: Upgrade,
  takeSteps: ((manifest: Manifest) => Promise<void>) | null,
  print: (line: string) => void,
): Promise<Upgrade> {
  print(`Goes on with the upgrade that was interrupted (${begun.at}).`)
  if (takeSteps === null) return taken(config.dataDir, begun, async () => {})
  const repository = await openConfigured(config, { ...place, url: begun.url }, false)
  const manifest = await repository.manifest(begun.backupId)
  return taken(config.dataDir, begun, () => takeSteps(manifest))
}

/** @throws Error that says how to go on */
async function taken(dataDir: string, record: Upgrade, takeSteps: () => Promise<void>): Promise<Upgrade> {
  try {
    await takeSteps()
  } catch (error) {
    throw new Error(
      `${error instanceof Error ? error.message : String(error)}. The upgrade is half done, and nothing is lost: run “sheaf upgrade” ` +
        'again when that is mended, or “sheaf rollback --yes” for the state before.',
      { cause: error },
    )
  }
  const done = { ...record, isDone: true }
  store(dataDir, done)
  return done
}

/**
 * Backs everything up.
 *
 * @throws Error for a disk without room for the backup, and, in files, for the copy and the steps in the data
 */
async function backUp(
  config: BackupConfig,
  place: RepositoryRef,
  print: (line: string) => void,
): Promise<{ repository: Repository; manifest: Manifest }> {
  const { dataDir } = config
  const repository = await openConfigured(config, place, true)
  const { folder } = repository.store
  const databases = sizeOfDatabases(dataDir)
  const files = await sizeOfNewFiles(dataDir, repository)
  if (folder !== null && statSync(folder).dev !== statSync(dataDir).dev) {
    requireSpace(folder, databases + files)
    requireSpace(dataDir, 2 * databases)
  } else requireSpace(dataDir, 2 * databases + (folder === null ? 0 : files))
  const { id, size } = await writeBackup(config, repository, {
    kind: 'upgrade',
    withSecrets: repository.codec.isEncrypted,
    // An upgrade does not touch attached files, nor does a rollback.
    withBucketFiles: false,
  })
  print(`Backed up ${(size / 1024 ** 2).toFixed(1)} MB to ${repository.store.label}: ${id}`)
  return { repository, manifest: await repository.manifest(id) }
}

const tellPending = (pending: number, print: (line: string) => void): void =>
  print(`${pending} migrations of the metadata are pending; bases are upgraded where needed.`)

const tellRehearsed = (
  { migrations, bases }: { migrations: number; bases: number },
  print: (line: string) => void,
): void =>
  print(`Rehearsed on a copy: ${migrations} migrations, ${bases} bases upgraded, everything checked.`)

/** Stores where the state before the upgrade is. */
function remember(dataDir: string, { summary }: Manifest, { url }: RepositoryRef, pending: number): Upgrade {
  const at = nowIso()
  const record: Upgrade = { backupId: summary.id, url, to: VERSION, at, pending, isDone: false }
  store(dataDir, record)
  return record
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
    (sum, name) => sum + (statSync(join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0),
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

/** The ids of backups that `sheaf rollback` needs, in whichever place they are. */
export function neededBackups(dataDir: string): string[] {
  const upgrade = latestUpgrade(dataDir)
  return upgrade === null ? [] : [upgrade.backupId]
}

/**
 * Restores the state before the latest upgrade. The upgraded data are kept.
 *
 * @returns where they are
 * @throws as `restoreInstallation`
 */
export async function rollBack(
  config: BackupSource,
  repository: Repository,
  { backupId }: Upgrade,
): Promise<ReplacedData | null> {
  const former = await restoreInstallation(config, repository, backupId, {
    mayReplace: true,
    withBucketFiles: false,
    command: 'sheaf rollback',
  })
  rmSync(join(config.dataDir, RECORD), { force: true })
  return former
}
