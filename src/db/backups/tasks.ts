import { constants, setPriority } from 'node:os'
import type { Supervisor } from '../../pool-runner.ts'
import type { BackupKind, BackupSummary, TestResult } from './manifest.ts'
import { openRepository, type Repository } from './repository.ts'
import { checkRestored, restoreFiles } from './restore-backup.ts'
import { testRestore } from './restore-test.ts'
import { prune, type Retention } from './retention.ts'
import { type BackupTarget, openBackupStore } from './stores/index.ts'
import type { BackupConfig } from './target.ts'
import { writeBackup } from './write-backup.ts'

/** Where the backups of a task are. */
export interface TaskTarget {
  target: BackupTarget
  passphrase: string | null
}

export interface BackupTask extends TaskTarget {
  config: Pick<BackupConfig, 'dataDir' | 'databaseUrl' | 's3Bucket'>
  kind: BackupKind
  retention: Retention
}

export interface BackupTestTask extends TaskTarget {
  dataDir: string
  backupId: string
}

export interface BackupFilesTask extends TaskTarget {
  backupId: string
  /** Of the files, in the backup. */
  paths: readonly string[]
  /** Where they are written. */
  folder: string
}

const openTarget = ({ target, passphrase }: TaskTarget, mayCreate: boolean): Promise<Repository> =>
  openRepository(openBackupStore(target), passphrase, { mayCreate })

/** Requests of the server go first. */
function yieldToServer(): void {
  try {
    setPriority(constants.priority.PRIORITY_LOW)
  } catch (error) {
    // A sandbox may forbid it, which only makes the server wait a little.
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}

/** Makes a backup, then removes those that the retention does not keep. Reports the bytes read. */
export async function writeTask(task: BackupTask, supervisor?: Supervisor): Promise<BackupSummary> {
  yieldToServer()
  const repository = await openTarget(task, true)
  let reported = 0
  const summary = await writeBackup(task.config, repository, {
    kind: task.kind,
    withSecrets: repository.codec.isEncrypted,
    async onProgress(done) {
      if (done - reported < PROGRESS_BYTES) return
      reported = done
      await supervisor?.progress(done)
    },
  })
  await prune(repository, task.retention, [summary.id])
  return summary
}

const PROGRESS_BYTES = 16 * 1024 ** 2

/** Tests whether a backup can be restored. */
export async function testTask(task: BackupTestTask): Promise<TestResult> {
  yieldToServer()
  return testRestore(await openTarget(task, false), task.backupId, task.dataDir)
}

/** Restores some files of a backup into a folder and checks the databases among them. Reports the bytes written. */
export async function restoreFilesTask(task: BackupFilesTask, supervisor?: Supervisor): Promise<void> {
  yieldToServer()
  const repository = await openTarget(task, false)
  const manifest = await repository.manifest(task.backupId)
  const wanted = new Set(task.paths)
  const files = manifest.files.filter(({ path }) => wanted.has(path))
  let reported = 0
  const reports: Promise<void>[] = []
  await restoreFiles(repository, files, task.folder, {
    onProgress(done) {
      if (done - reported < PROGRESS_BYTES) return
      reported = done
      if (supervisor) reports.push(supervisor.progress(done))
    },
  })
  await Promise.all(reports)
  checkRestored({ files }, task.folder)
}
