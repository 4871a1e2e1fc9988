import type { Supervisor } from '../../pool-runner.ts'
import { lowerProcessPriority } from '../priority.ts'
import type { BackupFile, BackupKind, BackupSummary, Manifest, TestResult } from './manifest.ts'
import { copyToFiles, copyToSchemas, type NewSchemas } from './other-kind.ts'
import type { StagedSchemas } from './postgres/restore-postgres.ts'
import { restoreSchemas } from './postgres/schemas.ts'
import { openRepository, type Repository } from './repository.ts'
import { checkRestored, restoreFiles } from './restore-backup.ts'
import { stageInstallation } from './restore-running.ts'
import { testRestore } from './restore-test.ts'
import { prune, type Retention, timeOfBackup } from './retention.ts'
import { type BackupTarget, openBackupStore } from './stores/index.ts'
import type { BackupSource } from './target.ts'
import { neededBackups } from './upgrade.ts'
import { writeBackup } from './write-backup.ts'

/** Where the backups of a task are. */
export interface TaskTarget {
  target: BackupTarget
  passphrase: string | null
}

export interface BackupTask extends TaskTarget {
  config: BackupSource
  kind: BackupKind
  withBucketFiles: boolean
  retention: Retention
  /** Backups from before it stay whatever the retention says; ISO 8601, null for none. */
  keepBefore: string | null
}

export interface BackupTestTask extends TaskTarget {
  config: Pick<BackupSource, 'dataDir' | 'databaseUrl'>
  backupId: string
}

export interface BackupInstallationTask extends TaskTarget {
  config: BackupSource
  backupId: string
  /** Inside the data folder, for the restored files. */
  folder: string
  /** Of the restored schemas; the caller has locked it, and drops them. */
  token: string
  withBucketFiles: boolean
}

export interface BackupFilesTask extends TaskTarget {
  backupId: string
  /** Of the files, in the backup. */
  paths: readonly string[]
  /** Where they are written. */
  folder: string
}

export interface BackupSchemasTask extends TaskTarget {
  databaseUrl: string
  backupId: string
  /** Of the restored schemas; the caller has locked it, and drops them. */
  token: string
  baseIds: readonly string[]
}

/** Of a base that is restored into the other kind of database. */
export interface BackupConversionTask extends TaskTarget {
  backupId: string
  baseId: string
  /** Takes the restored files. */
  folder: string
}

export interface BackupToSchemasTask extends BackupConversionTask {
  databaseUrl: string
  /** The caller has reserved them. */
  schemas: NewSchemas
}

/** The place exists since it was chosen. */
const openTarget = ({ target, passphrase }: TaskTarget): Promise<Repository> =>
  openRepository(openBackupStore(target), passphrase, { mayCreate: false })

/** Makes a backup, then removes those that the retention does not keep. Reports the bytes read. */
export async function writeTask(task: BackupTask, supervisor?: Supervisor): Promise<BackupSummary> {
  lowerProcessPriority('lowest')
  const repository = await openTarget(task)
  let reported = 0
  const summary = await writeBackup(task.config, repository, {
    kind: task.kind,
    withSecrets: repository.codec.isEncrypted,
    withBucketFiles: task.withBucketFiles,
    async onProgress(done) {
      if (done - reported < PROGRESS_BYTES) return
      reported = done
      await supervisor?.progress(done)
    },
  })
  const { keepBefore } = task
  const former =
    keepBefore === null
      ? []
      : (await repository.ids()).filter((id) => timeOfBackup(id).toISOString() < keepBefore)
  await prune(repository, task.retention, [summary.id, ...former, ...neededBackups(task.config.dataDir)])
  return summary
}

const PROGRESS_BYTES = 16 * 1024 ** 2

/** Tests whether a backup can be restored. */
export async function testTask(task: BackupTestTask): Promise<TestResult> {
  lowerProcessPriority('lowest')
  return testRestore(await openTarget(task), task.backupId, task.config)
}

/** Restores a whole backup beside the present data, and checks it. Reports the bytes written. */
export async function stageInstallationTask(
  task: BackupInstallationTask,
  supervisor?: Supervisor,
): Promise<StagedSchemas | null> {
  lowerProcessPriority('lowest')
  const repository = await openTarget(task)
  const manifest = await repository.manifest(task.backupId)
  let reported = 0
  const reports: Promise<void>[] = []
  const staged = await stageInstallation(task.config, repository, manifest, {
    ...task,
    onProgress(done) {
      if (done - reported < PROGRESS_BYTES) return
      reported = done
      if (supervisor) reports.push(supervisor.progress(done))
    },
  })
  await Promise.all(reports)
  return staged
}

/** Restores some files of a backup into a folder and checks the databases among them. Reports the bytes written. */
export async function restoreFilesTask(task: BackupFilesTask, supervisor?: Supervisor): Promise<void> {
  lowerProcessPriority('lowest')
  const repository = await openTarget(task)
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

/** Restores the metadata and some bases of a backup into schemas that the caller has reserved. Reports the bytes written. */
export async function restoreSchemasTask(task: BackupSchemasTask, supervisor?: Supervisor): Promise<void> {
  lowerProcessPriority('lowest')
  const repository = await openTarget(task)
  const manifest = await repository.manifest(task.backupId)
  let [done, reported] = [0, 0]
  const reports: Promise<void>[] = []
  const restored = await restoreSchemas(task.databaseUrl, repository, manifest, {
    token: task.token,
    baseIds: task.baseIds,
    onBytes(bytes) {
      done += bytes
      if (done - reported < PROGRESS_BYTES) return
      reported = done
      if (supervisor) reports.push(supervisor.progress(done))
    },
  })
  await Promise.all(reports)
  await restored.leave()
}

/** Restores the metadata and a base of a backup of files into schemas that the caller has reserved. */
export async function restoreToSchemasTask(task: BackupToSchemasTask): Promise<void> {
  lowerProcessPriority('lowest')
  const repository = await openTarget(task)
  const files = homesIn(await repository.manifest(task.backupId), task.baseId)
  await restoreFiles(repository, files, task.folder)
  checkRestored({ files }, task.folder)
  await copyToSchemas(task)
}

/** Restores the metadata and a base of a backup of PostgreSQL as files into a folder. */
export async function restoreToFilesTask(task: BackupConversionTask): Promise<void> {
  lowerProcessPriority('lowest')
  const repository = await openTarget(task)
  const manifest = await repository.manifest(task.backupId)
  // Single bases may be in files.
  const files = homesIn(manifest, task.baseId)
  await restoreFiles(repository, files, task.folder)
  checkRestored({ files }, task.folder)
  await copyToFiles(repository, manifest, task.folder, [task.baseId])
}

/** The files of the metadata and of a base. */
const homesIn = ({ files }: Manifest, baseId: string): BackupFile[] =>
  files.filter(({ path }) => path === 'sheaf.db' || path === `bases/${baseId}.db`)
