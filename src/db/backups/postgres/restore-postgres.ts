import { readdirSync, statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { nowIso } from '../../../clock.ts'
import { postgresConnection } from '../../connection.ts'
import { removeSqliteFiles } from '../../copy-home.ts'
import { lockDataDir } from '../../lock-data-dir.ts'
import {
  completeReplacement,
  decideReplacement,
  neededFolder,
  prepareReplacement,
  replacedFolder,
  waitingReplacement,
} from '../../replace-data.ts'
import type { BucketRow } from '../bucket-files.ts'
import { filesOf, type Manifest } from '../manifest.ts'
import { copyToSchemas } from '../other-kind.ts'
import type { Repository } from '../repository.ts'
import { checkRestored, removeFolder, restoreFiles } from '../restore-backup.ts'
import { removeLeftCopies, temporaryName } from '../temporary-folder.ts'
import { explainPath } from '../unusable-path.ts'
import { baseFiles } from '../write-backup.ts'
import {
  connectForBackups,
  createToken,
  holdsInstallation,
  installRestored,
  isInUse,
  type RestoredSchemas,
  refuseServers,
  replacedName,
  requireRoom,
  reserveSchemas,
  restoreSchemas,
  type SchemaRef,
} from './schemas.ts'

/** Key of the advisory lock that a restore holds. */
const RESTORE_LOCK = 7_433_204

/** What a restore has replaced. */
export interface ReplacedData {
  /** Folder with the former files. */
  folder: string
  /** Start of the names of the schemas with the former tables; null if there were none. */
  schemas: string | null
}

/** Tables of a backup in schemas of their own. */
export interface StagedSchemas {
  /** In the order that gives them their names. */
  reserved: readonly SchemaRef[]
  /** Those that become the installation. */
  schemas: readonly SchemaRef[]
}

/**
 * Restores a backup of either kind as the installation of a database and a data folder, whose servers are stopped. It is
 * restored beside the present data and checked; then one transaction decides, and the files follow it, also after a crash.
 *
 * @returns where the former data are; null if there were none
 * @throws Error that says what is wrong; everything is as before then
 */
export async function restoreToPostgres(
  repository: Repository,
  manifest: Manifest,
  { dataDir, databaseUrl }: { dataDir: string; databaseUrl: string },
  {
    mayReplace,
    returnFiles,
    writeNote,
  }: {
    mayReplace: boolean
    /** Puts attached files back into the buckets of the restored metadata. */
    returnFiles: (folder: string, buckets: () => Promise<BucketRow[]>) => Promise<void>
    /** Writes into the folder what the next server is told: the time, and the schemas with the former tables. */
    writeNote: (folder: string, at: string, schemas: string | null) => void
  },
): Promise<ReplacedData | null> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw explainPath(`The data folder ${dataDir}`, error)
  })
  await completeRestore(dataDir, databaseUrl)
  const unlock = lockDataDir(dataDir)
  const from = temporaryName()
  try {
    await removeLeftCopies(dataDir)
    return await aloneIn(databaseUrl, async (client) => {
      await refuseServers(client)
      const hasFormer = await holdsInstallation(client)
      if (!mayReplace && hasFormer)
        throw new Error(
          'The database of DATABASE_URL has data already: use --replace to replace them (they are kept)',
        )
      const files = filesOf(manifest)
      const folder = join(dataDir, from)
      await restoreFiles(repository, files, folder)
      checkRestored({ files }, folder)
      const token = createToken()
      const { restored, schemas } = await stageSchemas(client, repository, manifest, {
        databaseUrl,
        folder,
        token,
      })
      try {
        await restored.analyze()
        await returnFiles(folder, restored.buckets)
        const at = nowIso()
        writeNote(folder, at, hasFormer ? replacedName(token) : null)
        const to = replacedFolder(at)
        prepareReplacement(dataDir, from, to, token)
        let replaced: string | null = null
        try {
          replaced = await installRestored(databaseUrl, restored, schemas)
        } finally {
          // Also if the connection was lost after the commit.
          decideReplacement(dataDir, await isInUse(databaseUrl, token))
        }
        const former = join(dataDir, to)
        if (replaced !== null || readdirSync(former).length > 0) return { folder: former, schemas: replaced }
        await removeFolder(former)
        return null
      } finally {
        await restored.release()
      }
    })
  } finally {
    if (neededFolder(dataDir) !== from) await removeFolder(join(dataDir, from))
    unlock()
  }
}

/**
 * Restores the tables of a backup into schemas: those that it has, or those of the restored files in a folder, which move.
 *
 * @throws as `restoreSchemas` and `copyToSchemas`
 */
export async function stageSchemas(
  client: Sql,
  repository: Repository,
  manifest: Manifest,
  {
    databaseUrl,
    folder,
    token,
    onBytes,
  }: { databaseUrl: string; folder: string; token: string; onBytes?: (bytes: number) => void },
): Promise<StagedSchemas & { restored: RestoredSchemas }> {
  const { postgres } = manifest
  if (postgres === undefined) return moveToSchemas(client, databaseUrl, folder, token)
  const restored = await restoreSchemas(databaseUrl, repository, manifest, {
    token,
    ...(onBytes && { onBytes }),
  })
  const schemas = postgres.map(({ baseId }) => ({ baseId }))
  return { restored, reserved: schemas, schemas }
}

async function moveToSchemas(
  client: Sql,
  databaseUrl: string,
  folder: string,
  token: string,
): Promise<StagedSchemas & { restored: RestoredSchemas }> {
  const names = baseFiles(folder)
  const paths = [join(folder, 'sheaf.db'), ...names.map((name) => join(folder, 'bases', name))]
  await requireRoom(
    client,
    paths.reduce((sum, path) => sum + statSync(path).size, 0),
  )
  const baseIds = names.map((name) => name.slice(0, -'.db'.length))
  const all = [{ baseId: null }, ...baseIds.map((baseId) => ({ baseId }))]
  const restored = await reserveSchemas(databaseUrl, { postgres: all }, token)
  try {
    const homes = Object.fromEntries(baseIds.map((baseId) => [baseId, restored.base(baseId)]))
    const copied = await copyToSchemas({
      folder,
      databaseUrl,
      schemas: { metadata: restored.metadata, bases: homes },
    })
    await removeSqliteFiles(join(folder, 'sheaf.db'))
    await removeFolder(join(folder, 'bases'))
    return {
      restored,
      reserved: all,
      schemas: [{ baseId: null }, ...copied.map((baseId) => ({ baseId }))],
    }
  } catch (error) {
    await restored.release()
    throw error
  }
}

/**
 * Completes or takes back a restore whose process was killed, as its transaction has been committed or not; before a
 * server or command opens the data.
 */
export async function completeRestore(dataDir: string, databaseUrl: string): Promise<void> {
  completeReplacement(dataDir)
  const token = waitingReplacement(dataDir)
  if (token === null) return
  const unlock = lockDataDir(dataDir)
  try {
    decideReplacement(dataDir, await isInUse(databaseUrl, token))
  } finally {
    unlock()
  }
}

/** Runs `work` as the only restore or upgrade of a database. @throws Error if another one runs */
export async function aloneIn<T>(databaseUrl: string, work: (client: Sql) => Promise<T>): Promise<T> {
  const client = connectForBackups(postgresConnection(databaseUrl))
  try {
    const [lock] = await client<{ got: boolean }[]>`select pg_try_advisory_lock(${RESTORE_LOCK}) as got`
    if (!lock?.got) throw new Error('Another restore or upgrade uses the database of DATABASE_URL')
    return await work(client)
  } finally {
    await client.end({ timeout: 5 })
  }
}
