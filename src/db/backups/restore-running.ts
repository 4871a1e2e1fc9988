import { cpSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { quotePostgres as quote } from '../../dialects/postgres-tables.ts'
import { postgresConnection } from '../connection.ts'
import { lockDataDir } from '../lock-data-dir.ts'
import { countServers } from '../postgres/cluster.ts'
import { decideReplacement, prepareReplacement, scheduleReplacement } from '../replace-data.ts'
import { filesOf, type Manifest } from './manifest.ts'
import { copyToFiles } from './other-kind.ts'
import { aloneIn, type StagedSchemas, stageSchemas } from './postgres/restore-postgres.ts'
import {
  connectForBackups,
  installRestored,
  isInUse,
  refuseServers,
  reserveSchemas,
  upgradeSchemas,
} from './postgres/schemas.ts'
import type { Repository } from './repository.ts'
import { bucketsIn, checkRestored, restoreFiles, upgradeFiles } from './restore-backup.ts'
import { refuseOtherVersion, returnAttachments } from './restore-installation.ts'
import type { BackupSource } from './target.ts'

/*
 * The restore of a whole installation while its server runs: a process restores the backup beside the present data, the
 * server closes them, and the next start of the server has the restored ones.
 */

/** PostgreSQL may notice the end of a server's connections a moment later. */
const PATIENCE_MS = 5_000
const LOOK_EVERY_MS = 50
/** Nobody can use the server while it waits for other programs that read a table. */
const LOCK_TIMEOUT_MS = 30_000

/**
 * Restores a backup beside the data of a running server, checks it, and takes the upgrade steps of this version in it.
 *
 * @param folder inside the data folder, for the files
 * @param token of the schemas; the caller holds its lock, and drops what is left after an error
 * @param onProgress called with the bytes written so far
 * @returns null if everything is in files
 * @throws Error that says what is wrong
 */
export async function stageInstallation(
  config: BackupSource,
  repository: Repository,
  manifest: Manifest,
  {
    folder,
    token,
    withBucketFiles,
    onProgress,
  }: { folder: string; token: string; withBucketFiles: boolean; onProgress: (bytes: number) => void },
): Promise<StagedSchemas | null> {
  const { dataDir, databaseUrl } = config
  if (databaseUrl === null) refuseOtherVersion(manifest)
  const path = join(dataDir, folder)
  const files = filesOf(manifest)
  let written = 0
  await restoreFiles(repository, files, path, {
    onProgress(done) {
      written = done
      onProgress(written)
    },
  })
  checkRestored({ files }, path)
  upgradeFiles({ files }, path)
  keepOtherKeys(dataDir, path)
  if (databaseUrl === null) {
    if (manifest.postgres) await copyToFiles(repository, manifest, path, null)
    if (withBucketFiles)
      await returnAttachments(config, repository, manifest, path, async () =>
        bucketsIn(join(path, 'sheaf.db')),
      )
    return null
  }
  const client = connectForBackups(postgresConnection(databaseUrl))
  try {
    const { restored, reserved, schemas } = await stageSchemas(client, repository, manifest, {
      databaseUrl,
      folder: path,
      token,
      onBytes(bytes) {
        written += bytes
        onProgress(written)
      },
    })
    try {
      await upgradeSchemas(databaseUrl, manifest.postgres ?? [], (baseId) =>
        baseId === null ? restored.metadata : restored.base(baseId),
      )
      // A server installs its triggers where the function is missing.
      await client.unsafe(`drop function if exists ${quote(restored.metadata)}.sheaf_row_changed() cascade`)
      await restored.analyze()
      if (withBucketFiles) await returnAttachments(config, repository, manifest, path, restored.buckets)
    } finally {
      await restored.leave()
    }
    return { reserved, schemas }
  } finally {
    await client.end({ timeout: 5 })
  }
}

/** A backup may have some keys only, as the others came from the environment: a server without them would not start. */
function keepOtherKeys(dataDir: string, folder: string): void {
  const [present, restored] = [join(dataDir, 'secrets'), join(folder, 'secrets')]
  if (!existsSync(restored) || !existsSync(present)) return
  for (const name of readdirSync(present))
    if (!existsSync(join(restored, name))) cpSync(join(present, name), join(restored, name))
}

/** What `stageInstallation` has restored, and where it goes. */
export interface StagedInstallation {
  /** Folder inside the data folder with the restored files. */
  from: string
  /** Folder inside the data folder for the former ones. */
  to: string
  token: string
  /** Null if everything is in files. */
  schemas: StagedSchemas | null
}

/**
 * Makes a restored backup the data of the next start. Nothing of this process may use the present data any more.
 *
 * The files are exchanged by that start, when this process with its threads and children is gone. Tables in PostgreSQL are
 * exchanged at once, by one transaction, which the files follow.
 *
 * @throws Error, after which the next start has the present data
 */
export async function exchangeAtStart(
  { dataDir, databaseUrl }: Pick<BackupSource, 'dataDir' | 'databaseUrl'>,
  { from, to, token, schemas }: StagedInstallation,
): Promise<void> {
  const unlock = lockDataDir(dataDir)
  try {
    if (databaseUrl === null || schemas === null) scheduleReplacement(dataDir, from, to)
    else {
      await aloneIn(databaseUrl, async (client) => {
        await untilAlone(client)
        const restored = await reserveSchemas(databaseUrl, { postgres: schemas.reserved }, token)
        try {
          prepareReplacement(dataDir, from, to, token)
          await installRestored(databaseUrl, restored, schemas.schemas, LOCK_TIMEOUT_MS).catch(
            async (error) => {
              // The connection may have been lost after the commit.
              if (await isInUse(databaseUrl, token)) return
              decideReplacement(dataDir, false)
              throw error
            },
          )
        } finally {
          await restored.leave()
        }
      })
    }
  } finally {
    unlock()
  }
}

/** Waits until the server of this process is gone. @throws Error while others run */
async function untilAlone(client: Sql): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  while ((await countServers(client)) > 0 && performance.now() < until) await Bun.sleep(LOOK_EVERY_MS)
  await refuseServers(client)
}
