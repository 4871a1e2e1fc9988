import { readdirSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { postgresConnection } from '../../connection.ts'
import { lockDataDir } from '../../lock-data-dir.ts'
import {
  completeReplacement,
  decideReplacement,
  prepareReplacement,
  waitingReplacement,
} from '../../replace-data.ts'
import type { BucketRow } from '../bucket-files.ts'
import { filesOf, type Manifest } from '../manifest.ts'
import type { Repository } from '../repository.ts'
import { checkRestored, removeFolder, restoreFiles } from '../restore-backup.ts'
import { removeLeftCopies, temporaryName } from '../temporary-folder.ts'
import {
  connectForBackups,
  createToken,
  holdsInstallation,
  installRestored,
  isInUse,
  refuseServers,
  restoreSchemas,
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

/**
 * Restores a backup as the installation of a database and a data folder, whose servers are stopped. It is restored
 * beside the present data and checked; then one transaction decides, and the files follow it, also after a crash.
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
  }: {
    mayReplace: boolean
    /** Puts attached files back into the buckets of the restored metadata. */
    returnFiles: (folder: string, buckets: () => Promise<BucketRow[]>) => Promise<void>
  },
): Promise<ReplacedData | null> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await completeRestore(dataDir, databaseUrl)
  const unlock = lockDataDir(dataDir)
  const from = temporaryName()
  try {
    await removeLeftCopies(dataDir)
    return await aloneIn(databaseUrl, async (client) => {
      await refuseServers(client)
      if (!mayReplace && (await holdsInstallation(client)))
        throw new Error(
          'The database of DATABASE_URL has data already: use --replace to replace them (they are kept)',
        )
      const files = filesOf(manifest)
      await restoreFiles(repository, files, join(dataDir, from))
      checkRestored({ files }, join(dataDir, from))
      const token = createToken()
      const restored = await restoreSchemas(databaseUrl, repository, manifest, { token })
      try {
        await restored.analyze()
        await returnFiles(join(dataDir, from), restored.buckets)
        const to = `replaced-${new Date().toISOString().replaceAll(':', '-')}`
        prepareReplacement(dataDir, from, to, token)
        let schemas: string | null = null
        try {
          schemas = await installRestored(databaseUrl, restored, manifest.postgres ?? [])
        } finally {
          // Also if the connection was lost after the commit.
          decideReplacement(dataDir, await isInUse(databaseUrl, token))
        }
        const folder = join(dataDir, to)
        if (schemas !== null || readdirSync(folder).length > 0) return { folder, schemas }
        await removeFolder(folder)
        return null
      } finally {
        await restored.release()
      }
    })
  } finally {
    if (waitingReplacement(dataDir) === null) await removeFolder(join(dataDir, from))
    unlock()
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
