import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { nowIso } from '../../src/clock.ts'
import { ANONYMOUS } from '../../src/core/actor.ts'
import { AppError, badRequest } from '../../src/core/errors.ts'
import type { Manifest } from '../../src/db/backups/manifest.ts'
import type { StagedSchemas } from '../../src/db/backups/postgres/restore-postgres.ts'
import {
  dropLeftSchemas,
  REPLACED_DAYS,
  replacedName,
  reserveSchemas,
  serversOn,
} from '../../src/db/backups/postgres/schemas.ts'
import { removeFolder } from '../../src/db/backups/restore-backup.ts'
import {
  type RestoreNote,
  readRestoreNote,
  removeRestoreNote,
  writeRestoreNote,
} from '../../src/db/backups/restore-note.ts'
import { exchangeAtStart } from '../../src/db/backups/restore-running.ts'
import { sourceOf } from '../../src/db/backups/target.ts'
import type { BackupInstallationTask, TaskTarget } from '../../src/db/backups/tasks.ts'
import { neededFolder, replacedFolder } from '../../src/db/replace-data.ts'
import { isStopping, type Job, type JobContext, type JobKind } from '../../src/jobs.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import type { AuthService } from '../auth/index.ts'
import { runInProcess } from './process.ts'

export const RESTORE_ALL_JOB = 'backup-restore'

export interface RestoreAllInput {
  email: string
  backupId: string
  /** ISO 8601. */
  startedAt: string
  /** In the data folder, for restored files. */
  folder: string
  /** Of restored schemas. */
  token: string
  withBucketFiles: boolean
}

/** The result of a restore of everything. Names and addresses are those of its time. */
export interface EverythingRestored {
  /** ISO 8601. */
  at: string
  backupId: string
  /** The moment whose state the backup has; ISO 8601. */
  backupAt: string
  /** The address of who asked for it, or the name of the command. */
  email: string
  /** Folder with the former files. */
  folder: string
  /** Start of the names of the schemas with the former tables, and when they are dropped; null with files. */
  schemas: { name: string; until: string } | null
}

const DAY_MS = 86_400_000

/** When what a restore has replaced, and what came before it, is not kept any more. */
const daysLater = (at: string): string => new Date(Date.parse(at) + REPLACED_DAYS * DAY_MS).toISOString()

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

interface Deps {
  kernel: Kernel
  auth: Pick<AuthService, 'actorOf' | 'audits'>
  /** Reports an error to all super admins. */
  reported<T>(context: JobContext, kind: string, work: () => Promise<T>): Promise<T>
  /** The place of the backups. @throws BAD_REQUEST if it is not set */
  openPlace(): Promise<{ task: TaskTarget; manifest(backupId: string): Promise<Manifest> }>
}

/** Restores of the whole installation by its running server. */
export function createRestoresOfAll({ kernel, auth, reported, openPlace }: Deps) {
  const { config, jobs, log, meta } = kernel
  const { dataDir, databaseUrl } = config
  /** What the server before has left to tell. */
  const note = readNote()
  let isStarting = true

  function readNote(): RestoreNote | null {
    try {
      return readRestoreNote(dataDir)
    } catch (error) {
      log.error('what a restore has left to tell could not be read', error)
      return null
    }
  }

  /** @throws BAD_REQUEST while other servers use the database: they would go on with what was replaced */
  async function refuseOtherServers(): Promise<void> {
    if (databaseUrl === null) return
    const count = (await serversOn(databaseUrl)) - 1
    if (count > 0) throw badRequest(m.backups_error_other_servers({ count: String(count) }))
  }

  /** Restores the backup beside the present data, in a process of its own. */
  async function stage(
    { backupId, folder, token, withBucketFiles }: RestoreAllInput,
    { task, manifest }: { task: TaskTarget; manifest: Manifest },
    { signal, report }: JobContext,
  ): Promise<StagedSchemas | null> {
    const total = manifest.files.reduce((sum, { size, bucket }) => sum + (bucket === undefined ? size : 0), 0)
    report({ done: 0, total, unit: 'bytes' })
    const input: BackupInstallationTask = {
      ...task,
      config: sourceOf(config),
      backupId,
      folder,
      token,
      withBucketFiles,
    }
    return runInProcess<StagedSchemas | null>('backup.installation', input, {
      signal,
      onProgress: (done) => report({ done: Math.min(done, total) }),
    })
  }

  /**
   * Restores the backup beside the data, and has the server exchange them and start anew.
   *
   * @param onHandedOver called once the restored data are left to that start
   */
  async function restore(
    input: RestoreAllInput,
    context: JobContext,
    onHandedOver: () => void,
  ): Promise<never> {
    const { jobId, userId, signal } = context
    const { backupId, folder, token, email, startedAt } = input
    await refuseOtherServers()
    const place = await openPlace()
    const manifest = await place.manifest(backupId)
    // Keeps other processes from dropping the schemas until they are used.
    const held =
      databaseUrl === null ? null : await reserveSchemas(databaseUrl, { postgres: [{ baseId: null }] }, token)
    let isHandedOver = false
    try {
      const schemas = await stage(input, { task: place.task, manifest }, context)
      await refuseOtherServers()
      const { restart } = kernel
      if (restart === null) throw badRequest(m.backups_error_no_restart())
      const at = nowIso()
      const to = replacedFolder(at)
      const result: RestoreNote = {
        jobId,
        userId,
        email,
        startedAt,
        backupId,
        backupAt: manifest.summary.at,
        at,
        folder: join(dataDir, to),
        schemas: schemas && replacedName(token),
        problem: null,
      }
      writeRestoreNote(join(dataDir, folder), result)
      signal.throwIfAborted()
      log.info('a backup is restored beside the data, and replaces them now', { backupId, formerData: to })
      isHandedOver = true
      onHandedOver()
      restart(
        async () => {
          if (signal.aborted && !isStopping(signal)) throw new Error('The restore was cancelled')
          await exchangeAtStart({ dataDir, databaseUrl }, { from: folder, to, token, schemas })
        },
        (error) => writeRestoreNote(dataDir, { ...result, problem: reasonOf(error) }),
      )
      // The job ends with this server.
      const { promise, reject } = Promise.withResolvers<never>()
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      return await promise
    } finally {
      if (!isHandedOver) await held?.leave()
    }
  }

  async function removeLeft({ folder }: Pick<RestoreAllInput, 'folder'>): Promise<void> {
    if (neededFolder(dataDir) !== folder) await removeFolder(join(dataDir, folder))
    if (databaseUrl !== null)
      await dropLeftSchemas(databaseUrl).catch((error) =>
        log.error('what a restore has left could not be dropped', error),
      )
  }

  const job: JobKind<RestoreAllInput> = {
    // Left to the next server, which has other data, or says why it has not.
    resumes: true,
    async run(input, context) {
      let isHandedOver = false
      const onHandedOver = () => {
        isHandedOver = true
      }
      try {
        return await reported(context, RESTORE_ALL_JOB, () =>
          restore(input, context, onHandedOver).catch((error) => {
            if (error instanceof AppError || context.signal.aborted) throw error
            throw badRequest(m.backups_error_restore_all({ reason: reasonOf(error) }))
          }),
        )
      } catch (error) {
        if (!isHandedOver) await removeLeft(input)
        throw error
      }
    },
    async recover(input, { id }) {
      await removeLeft(input)
      return note?.jobId === id && note.problem !== null
        ? { error: m.backups_error_restore_all({ reason: note.problem }) }
        : null
    },
  }

  return {
    job,
    refuseOtherServers,
    /** During a start: the backup that its data are from; null if they were not restored by the server before. */
    restoredBackupId: (): string | null => (isStarting && note?.problem === null ? note.backupId : null),

    /** Records in restored data that they were restored: in the audit log, and as the job of the server before. */
    async record(): Promise<void> {
      if (note === null || note.problem !== null || (await jobs.find(note.jobId))) return
      const { jobId, userId, email, startedAt, backupId, backupAt, at, folder, schemas } = note
      const result: EverythingRestored = {
        at,
        backupId,
        backupAt,
        email,
        folder,
        schemas: schemas === null ? null : { name: schemas, until: daysLater(at) },
      }
      // An account that was created after the backup is not in it.
      const by = (await auth.actorOf(userId)) ?? ANONYMOUS
      const detail = { name: email, target: backupAt }
      await meta.atomically(auth.audits.record(by, { kind: 'server.restore', detail }))
      await jobs.record({
        id: jobId,
        kind: RESTORE_ALL_JOB,
        status: 'completed',
        baseId: null,
        userId,
        progress: { done: 0, total: null, unit: 'bytes' },
        result,
        error: null,
        createdAt: startedAt,
        updatedAt: at,
      })
      log.info('everything was restored', { backupId, formerData: folder })
    },

    /** Forgets what the server before has told, once it is recorded and the jobs of the data are recovered. */
    forgetNote(): void {
      isStarting = false
      removeRestoreNote(dataDir)
    },

    latest,

    /**
     * Whether backups are kept from the retention in settings that came back with a restore of everything: those from before it
     * stay until somebody saves the settings, or as long as the former tables.
     *
     * @param savedAt when the settings were saved; ISO 8601
     * @returns null if they are not
     */
    async keptBackups(savedAt: string): Promise<{ before: string; until: string } | null> {
      const restored = (await latest())?.result as EverythingRestored | undefined
      if (!restored || savedAt > restored.at) return null
      const until = daysLater(restored.at)
      return until > nowIso() ? { before: restored.at, until } : null
    },

    /** The latest restore, if its former data are still there; else null. */
    async withFormerData(): Promise<EverythingRestored | null> {
      const restored = (await latest())?.result as EverythingRestored | undefined
      if (!restored) return null
      const { folder, schemas } = restored
      return existsSync(folder) || (schemas !== null && schemas.until > nowIso()) ? restored : null
    },
  }

  /** The job of the latest restore; null without one. */
  async function latest(): Promise<Job | null> {
    const all = await jobs.list({ kind: RESTORE_ALL_JOB })
    return all.find(({ status }) => status === 'completed') ?? null
  }
}
