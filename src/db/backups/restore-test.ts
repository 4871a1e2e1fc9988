import { join } from 'node:path'
import { nowIso } from '../../clock.ts'
import { DamagedObject } from './codec.ts'
import type { Manifest, TestResult } from './manifest.ts'
import { createToken, restoreSchemas, upgradeSchemas } from './postgres/schemas.ts'
import type { Repository } from './repository.ts'
import { checkRestored, removeFolder, restoreFiles, upgradeFiles } from './restore-backup.ts'
import { verifyChunks } from './retention.ts'
import type { BackupSource } from './target.ts'
import { removeLeftCopies, temporaryName } from './temporary-folder.ts'

/**
 * Restores a backup into a temporary folder, checks everything in it, opens it with this version, and removes it. The
 * result is stored beside the backup. Damaged chunks are set aside, so that the next backup stores them again.
 *
 * The disk of the data folder takes the copy, and the database that of tables in PostgreSQL.
 *
 * @throws Error if the store cannot be reached or another operation uses it
 */
export async function testRestore(
  repository: Repository,
  backupId: string,
  { dataDir, databaseUrl }: Pick<BackupSource, 'dataDir' | 'databaseUrl'>,
  signal?: AbortSignal,
): Promise<TestResult> {
  const startedAt = performance.now()
  const folder = join(dataDir, temporaryName())
  const manifest = await repository.manifest(backupId)
  await removeLeftCopies(dataDir)
  let problem: string | null = null
  try {
    const files = manifest.files.filter(({ path }) => !path.startsWith('postgres/'))
    await restoreFiles(repository, files, folder, signal ? { signal } : {})
    checkRestored({ files }, folder)
    upgradeFiles({ files }, folder)
    if (manifest.postgres) await testSchemas(repository, manifest, databaseUrl, signal)
  } catch (error) {
    signal?.throwIfAborted()
    problem = error instanceof Error ? error.message : String(error)
    if (error instanceof DamagedObject)
      problem = (await verifyChunks(repository, backupId)).join('; ') || problem
  } finally {
    await removeFolder(folder)
  }
  const result: TestResult = {
    backupId,
    at: nowIso(),
    durationMs: Math.round(performance.now() - startedAt),
    problem,
  }
  await repository.putTest(result)
  return result
}

async function testSchemas(
  repository: Repository,
  manifest: Manifest,
  databaseUrl: string | null,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (databaseUrl === null) throw new Error('The backup needs a database in PostgreSQL: set DATABASE_URL')
  const restored = await restoreSchemas(databaseUrl, repository, manifest, {
    token: createToken(),
    ...(signal && { signal }),
  })
  try {
    await upgradeSchemas(databaseUrl, manifest.postgres ?? [], (baseId) =>
      baseId === null ? restored.metadata : restored.base(baseId),
    )
  } finally {
    await restored.release()
  }
}
