import { join } from 'node:path'
import { DamagedObject } from './codec.ts'
import type { TestResult } from './manifest.ts'
import type { Repository } from './repository.ts'
import { checkRestored, removeFolder, restoreFiles, upgradeFiles } from './restore-backup.ts'
import { verifyChunks } from './retention.ts'
import { removeLeftCopies, temporaryName } from './temporary-folder.ts'

/**
 * Restores a backup into a temporary folder, checks everything in it, opens it with this version, and removes it. The
 * result is stored beside the backup. Damaged chunks are set aside, so that the next backup stores them again.
 *
 * @param dataDir its disk takes the copy
 * @throws Error if the store cannot be reached or another operation uses it
 */
export async function testRestore(
  repository: Repository,
  backupId: string,
  dataDir: string,
  signal?: AbortSignal,
): Promise<TestResult> {
  const startedAt = performance.now()
  const folder = join(dataDir, temporaryName())
  const manifest = await repository.manifest(backupId)
  await removeLeftCopies(dataDir)
  let problem: string | null = null
  try {
    await restoreFiles(repository, manifest.files, folder, signal ? { signal } : {})
    checkRestored(manifest, folder)
    upgradeFiles(manifest, folder)
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
    at: new Date().toISOString(),
    durationMs: Math.round(performance.now() - startedAt),
    problem,
  }
  await repository.putTest(result)
  return result
}
