import { setClockOffset } from './clock.ts'
import type {
  BackupConversionTask,
  BackupFilesTask,
  BackupInstallationTask,
  BackupSchemasTask,
  BackupTask,
  BackupTestTask,
  BackupToSchemasTask,
} from './db/backups/tasks.ts'
import { queryTasks } from './db/query-tasks.ts'
import type { PoolReply, PoolRequest, Supervisor } from './pool-runner.ts'

/**
 * A task of the pool's workers. It takes and returns plain values and has no kernel; if it writes, the main thread holds
 * the base's write lease for it.
 */
type Task = (input: never, supervisor?: Supervisor) => unknown

const TASKS: Record<string, Task> = {
  ...queryTasks,
  // Only in a process of its own, and loaded only there.
  'backup.write': async (input: BackupTask, supervisor) =>
    (await import('./db/backups/tasks.ts')).writeTask(input, supervisor),
  'backup.test': async (input: BackupTestTask) => (await import('./db/backups/tasks.ts')).testTask(input),
  'backup.installation': async (input: BackupInstallationTask, supervisor) =>
    (await import('./db/backups/tasks.ts')).stageInstallationTask(input, supervisor),
  'backup.files': async (input: BackupFilesTask, supervisor) =>
    (await import('./db/backups/tasks.ts')).restoreFilesTask(input, supervisor),
  'backup.schemas': async (input: BackupSchemasTask, supervisor) =>
    (await import('./db/backups/tasks.ts')).restoreSchemasTask(input, supervisor),
  'backup.toSchemas': async (input: BackupToSchemasTask) =>
    (await import('./db/backups/tasks.ts')).restoreToSchemasTask(input),
  'backup.toFiles': async (input: BackupConversionTask) =>
    (await import('./db/backups/tasks.ts')).restoreToFilesTask(input),
}

/** Runs a request's task and returns its reply, also for an error. */
export async function answer(
  { id, task, input, clockOffsetMs }: PoolRequest,
  supervisor?: Supervisor,
): Promise<PoolReply> {
  setClockOffset(clockOffsetMs)
  const run = TASKS[task]
  if (!run) return { id, ok: false, error: { message: `No task is called "${task}"` } }
  try {
    return { id, ok: true, result: await run(input as never, supervisor) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return { id, ok: false, error: { message, code: typeof code === 'string' ? code : undefined } }
  }
}
