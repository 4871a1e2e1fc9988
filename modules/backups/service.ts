import { Cron } from 'croner'
import { nowIso, nowMs } from '../../src/clock.ts'
import type { Actor } from '../../src/core/actor.ts'
import { AppError, badRequest } from '../../src/core/errors.ts'
import type { BackupSummary, Manifest, TestResult } from '../../src/db/backups/manifest.ts'
import { createToken, dropReplaced, REPLACED_DAYS } from '../../src/db/backups/postgres/schemas.ts'
import {
  isAhead,
  type ListedBackup,
  openRepository,
  type Repository,
} from '../../src/db/backups/repository.ts'
import { requireSeparateFolders } from '../../src/db/backups/separate-folders.ts'
import { type BackupTarget, openBackupStore } from '../../src/db/backups/stores/index.ts'
import { sourceOf } from '../../src/db/backups/target.ts'
import type { BackupTask, BackupTestTask } from '../../src/db/backups/tasks.ts'
import { temporaryName } from '../../src/db/backups/temporary-folder.ts'
import { createMutex } from '../../src/db/mutex.ts'
import { hasEnded, type Job, type JobContext, type Jobs } from '../../src/jobs.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { NOTICES, type Notice } from '../../src/notices.ts'
import { VERSION } from '../../src/version.ts'
import { type AuthService, requireUser } from '../auth/index.ts'
import type { BasesService } from '../bases/index.ts'
import type { CommentsService } from '../comments/index.ts'
import type { Copies } from '../imports/index.ts'
import type { RecordsService } from '../records/index.ts'
import type { BaseRestoreRef, BaseRewindRef, RestoreAllRef, SettingsInput } from './input.ts'
import { runInProcess } from './process.ts'
import {
  createRestoresOfAll,
  type EverythingRestored,
  RESTORE_ALL_JOB,
  type RestoreAllInput,
} from './restore-all.ts'
import { createBaseRestoreJob, planBaseRestore, RESTORE_JOB, requireRestorable } from './restore-base.ts'
import { createBackupStore, type SettingsRow, type StoredSettings } from './store.ts'

const BACKUP_JOB = 'backup'
const TEST_JOB = 'backup-test'
/** The claim of the server that starts a job. */
const STARTING = 'start of a job of backups'

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS
const WEEK_MS = 7 * DAY_MS
/** How often the schedule is looked at. A server that was stopped at the scheduled time makes the backup when it starts. */
const LOOK_EVERY_MS = 20_000

/** Settings without secrets. */
export interface BackupSettings extends Omit<SettingsInput, 'secretAccessKey' | 'passphrase'> {
  hasSecretAccessKey: boolean
  isEncrypted: boolean
}

export interface BackupOverview {
  /** Null before they are set. */
  settings: BackupSettings | null
  /** ISO 8601; null without a schedule. */
  nextAt: string | null
  /** The job that makes or tests a backup, or restores everything, at the moment. */
  runningJobId: string | null
  /** Why the latest backup, test or restore of everything failed; null if it did not. */
  lastError: { at: string; reason: string } | null
  /** The latest restore of everything whose former data are still there; null without one. */
  restored: EverythingRestored | null
  /** Until when backups from before a restore of everything stay whatever the settings say; null if they do not. */
  keptUntil: string | null
  /** False if everything can be restored with the command only. */
  canRestoreAll: boolean
}

export type BackupsService = ReturnType<typeof createBackupsService>

interface Deps {
  auth: Pick<AuthService, 'access' | 'actorOf' | 'audits' | 'superAdmins'>
  bases: BasesService
  copies: Copies
  comments: CommentsService
  records: RecordsService
}

/** Backups of the installation on a schedule and on demand, and their restore tests. */
export function createBackupsService(kernel: Kernel, { auth, bases, copies, comments, records }: Deps) {
  const { config, jobs, log, meta, metrics, registry, shutdown } = kernel
  const { access, audits, superAdmins } = auth
  const store = createBackupStore(kernel)
  /** For `/metrics`. */
  let lastSuccessAt: number | null = null
  let isLastTestGood: boolean | null = null

  const targetOf = ({
    url,
    endpoint,
    region,
    accessKeyId,
    secretAccessKey,
  }: StoredSettings): BackupTarget => ({
    url,
    s3Endpoint: endpoint,
    s3Region: region,
    s3AccessKeyId: accessKeyId,
    s3SecretAccessKey: secretAccessKey,
  })

  async function requireRow(): Promise<SettingsRow> {
    const row = await store.read()
    if (!row) throw badRequest(m.backups_error_no_settings())
    return row
  }

  const requireSettings = async (): Promise<StoredSettings> => (await requireRow()).settings

  /** @throws BAD_REQUEST with the reason in words */
  async function explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof AppError) throw error
      throw badRequest(
        m.backups_error_failed({ reason: error instanceof Error ? error.message : String(error) }),
      )
    }
  }

  /** @param mayCreate only where the place is chosen: a folder that is not mounted must not become a new place */
  const open = (settings: StoredSettings, mayCreate = false): Promise<Repository> =>
    openRepository(openBackupStore(targetOf(settings)), settings.passphrase, { mayCreate })

  async function runTest(
    settings: StoredSettings,
    backupId: string,
    signal: AbortSignal,
  ): Promise<TestResult> {
    const task: BackupTestTask = {
      target: targetOf(settings),
      passphrase: settings.passphrase,
      config: sourceOf(config),
      backupId,
    }
    const result = await runInProcess<TestResult>('backup.test', task, { signal })
    isLastTestGood = result.problem === null
    if (result.problem !== null) throw badRequest(m.backups_error_test({ reason: result.problem }))
    return result
  }

  async function isTestDue(settings: StoredSettings): Promise<boolean> {
    if (settings.test !== 'weekly') return settings.test === 'always'
    const tests = (await (await open(settings)).list()).flatMap(({ test: known }) => known ?? [])
    // The clock may have been ahead at the time of a test.
    return !tests.some(({ at }) => Math.abs(nowMs() - Date.parse(at)) < WEEK_MS)
  }

  /** Tells all super admins of a failure, also of a short job. */
  async function reportFailure({ jobId }: JobContext, kind: string, error: unknown): Promise<void> {
    const reason = error instanceof Error ? error.message : String(error)
    const notices = (await superAdmins()).map(
      (userId): Notice => ({
        kind: 'jobEnded',
        userId,
        key: `job ${jobId}`,
        actorId: null,
        detail: { job: { kind, subject: m.backups_job(), error: reason } },
      }),
    )
    const { statements, stored } = await registry.get(NOTICES).prepare(notices)
    await meta.atomically(statements)
    stored()
  }

  async function reported<T>(context: JobContext, kind: string, work: () => Promise<T>): Promise<T> {
    try {
      return await explained(work)
    } catch (error) {
      if (!context.signal.aborted) {
        await reportFailure(context, kind, error).catch((failure) =>
          log.error('a failed backup could not be reported', failure, { jobId: context.jobId }),
        )
        log.error('a backup failed', error, { jobId: context.jobId })
      }
      throw error
    }
  }

  jobs.register<{ kind: 'manual' | 'scheduled' }>(BACKUP_JOB, {
    run: ({ kind }, context) =>
      reported(context, BACKUP_JOB, async () => {
        const { settings, updatedAt } = await requireRow()
        const task: BackupTask = {
          target: targetOf(settings),
          passphrase: settings.passphrase,
          config: sourceOf(config),
          kind,
          withBucketFiles: settings.withBucketFiles,
          retention: settings.retention,
          keepBefore: (await restoresOfAll.keptBackups(updatedAt))?.before ?? null,
        }
        context.report({ unit: 'bytes' })
        const summary = await runInProcess<BackupSummary>('backup.write', task, {
          signal: context.signal,
          isMostlyNative: config.databaseUrl === null,
          onProgress: (done) => context.report({ done }),
        })
        lastSuccessAt = nowMs()
        log.info('backup made', { backupId: summary.id, bytes: summary.size, added: summary.added })
        if (await isTestDue(settings)) await runTest(settings, summary.id, context.signal)
        return { backupId: summary.id }
      }),
    // A killed backup leaves earlier ones as they were. In restored data, the job that has made their backup is still running.
    async recover() {
      const backupId = restoresOfAll.restoredBackupId()
      return backupId === null ? null : { result: { backupId } }
    },
  })

  jobs.register<{ backupId: string }>(TEST_JOB, {
    run: ({ backupId }, context) =>
      reported(context, TEST_JOB, async () => {
        await runTest(await requireSettings(), backupId, context.signal)
        return { backupId }
      }),
    recover: async () => null,
  })

  async function openPlace() {
    const settings = await requireSettings()
    const { manifest } = await explained(() => open(settings))
    const { passphrase } = settings
    return {
      task: { target: targetOf(settings), passphrase },
      manifest: (id: string) => explained(() => manifest(id)),
    }
  }

  const restoresOfAll = createRestoresOfAll({ kernel, auth, reported, openPlace })
  jobs.register(RESTORE_ALL_JOB, restoresOfAll.job)
  jobs.register(RESTORE_JOB, createBaseRestoreJob({ kernel, bases, copies, comments, records, openPlace }))

  /** The recent jobs of some kinds, newest first. */
  async function jobsOf(...kinds: string[]): Promise<Job[]> {
    const found = await Promise.all(kinds.map((kind) => jobs.list({ kind })))
    return found.flat().toSorted((a, b) => b.createdAt.localeCompare(a.createdAt))
  }

  const inTurn = createMutex()

  /** Calls `start` if no job of backups runs on any server, and no other one begins at this moment; else returns null. */
  function ifNoneRuns<T>(start: () => Promise<T>): Promise<T | null> {
    return inTurn(async () => {
      const { claims } = meta.cluster
      if (!(await claims.take(STARTING))) return null
      try {
        const recent = await jobsOf(BACKUP_JOB, TEST_JOB, RESTORE_JOB, RESTORE_ALL_JOB)
        return recent.some(({ status }) => !hasEnded(status)) ? null : await start()
      } finally {
        await claims.release(STARTING)
      }
    })
  }

  /** Starts a job on request, unless one of backups runs. @throws CONFLICT */
  async function startAlone(kind: string, job: Omit<Parameters<Jobs['start']>[1], 'id'>): Promise<Job> {
    const started = await ifNoneRuns(() => jobs.start(kind, job))
    if (!started) throw new AppError('CONFLICT', m.backups_error_running())
    return started
  }

  /** The first backup of this version since a time that has the base; null without one. */
  async function firstSince(baseId: string, at: string): Promise<Manifest | null> {
    const row = await store.read()
    if (!row) return null
    return explained(async () => {
      const repository = await open(row.settings)
      const first = (await repository.list()).findLast(
        ({ id: backupId, summary }) =>
          summary !== null &&
          // Its time is not the one at which it was made.
          !isAhead(backupId) &&
          // That of an upgrade has the metadata of the version before.
          summary.kind !== 'upgrade' &&
          summary.version === VERSION &&
          summary.at >= at &&
          summary.bases.some(({ id }) => id === baseId),
      )
      return first ? repository.manifest(first.id) : null
    })
  }

  /** @throws CONFLICT */
  async function startRestore(
    plan: Parameters<typeof planBaseRestore>[1],
  ): Promise<{ jobId: string; baseId: string }> {
    const input = await planBaseRestore(bases, plan)
    const { id } = await startAlone(RESTORE_JOB, { userId: plan.owner.id, baseId: null, input })
    return { jobId: id, baseId: input.newBaseId }
  }

  /** @throws GENERIC_NOT_FOUND */
  async function requireBackup(settings: StoredSettings, backupId: string): Promise<Repository> {
    const repository = await explained(() => open(settings))
    const known = await explained(repository.ids)
    if (!known.includes(backupId)) throw new AppError('GENERIC_NOT_FOUND', m.backups_error_unknown())
    return repository
  }

  /**
   * Starts the backup of the latest scheduled time, if no server has done so. While another job of backups runs, that time stays due
   * for the next look.
   */
  async function look(now = new Date(nowMs())): Promise<void> {
    if (shutdown.hasBegun) return
    const row = await store.read()
    if (!row || row.settings.frequency === 'off') return
    const last = row.lastSlot ?? row.updatedAt
    // The clock was ahead then: without this, nothing would be due until it is as late again.
    if (Date.parse(last) > now.getTime() + HOUR_MS) {
      await store.takeSlot(now.toISOString(), row.lastSlot)
      return
    }
    const slot = scheduleOf(row.settings).nextRun(last)
    if (!slot || slot > now) return
    await ifNoneRuns(async () => {
      if (!(await store.takeSlot(now.toISOString(), row.lastSlot))) return
      await jobs.start(BACKUP_JOB, { userId: row.updatedBy, baseId: null, input: { kind: 'scheduled' } })
    })
  }

  let timer: Timer | null = null
  let dropsAt = 0
  let dropping: Promise<void> = Promise.resolve()

  /** Drops the tables that restores have replaced long ago, once a day. */
  async function dropReplacedTables(): Promise<void> {
    if (config.databaseUrl === null || shutdown.hasBegun || Date.now() < dropsAt) return
    dropsAt = Date.now() + DAY_MS
    const before = new Date(nowMs() - REPLACED_DAYS * DAY_MS)
    for (const schemas of await dropReplaced(config.databaseUrl, before))
      log.info('tables dropped that a restore had replaced', { schemas })
  }

  metrics?.observe({
    type: 'gauge',
    name: 'sheaf_backup_last_success_timestamp_seconds',
    help: 'When this server made its latest backup.',
    labels: [],
    read: () => (lastSuccessAt === null ? [] : [{ labels: {}, value: lastSuccessAt / 1000 }]),
  })
  metrics?.observe({
    type: 'gauge',
    name: 'sheaf_backup_restore_test_success',
    help: '1 if the latest restore test of this server succeeded, 0 if it failed.',
    labels: [],
    read: () => (isLastTestGood === null ? [] : [{ labels: {}, value: Number(isLastTestGood) }]),
  })

  return {
    /** Records that the server before has restored the data of this start; before anything else uses them. */
    recordRestore: restoresOfAll.record,

    /** The latest restore of everything, with its time; null without one. */
    async latestRestore(): Promise<{ id: string; at: string } | null> {
      const job = await restoresOfAll.latest()
      return job && { id: job.id, at: job.updatedAt }
    },

    /** Begins to follow the schedule. */
    start(): void {
      restoresOfAll.forgetNote()
      const drop = () => {
        dropping = dropping
          .then(dropReplacedTables)
          .catch((error) => log.error('replaced tables could not be dropped', error))
      }
      drop()
      const tick = () => {
        look().catch((error) => log.error('the schedule of backups could not be followed', error))
        drop()
      }
      timer = setInterval(tick, LOOK_EVERY_MS)
      timer.unref()
    },
    /** Looks at the schedule at once. */
    look,

    /** Settings and state, without secrets. @throws PERMISSION_DENIED below super admin */
    async overview(actor: Actor): Promise<BackupOverview> {
      await access.authorize(actor, 'backup.read')
      const row = await store.read()
      const recent = await jobsOf(BACKUP_JOB, TEST_JOB, RESTORE_ALL_JOB)
      const running = recent.find(({ status }) => !hasEnded(status))
      const [latest] = recent.filter(({ status }) => status === 'completed' || status === 'failed')
      const isOn = row !== null && row.settings.frequency !== 'off'
      return {
        settings: row && withoutSecrets(row.settings),
        nextAt: isOn ? (scheduleOf(row.settings).nextRun()?.toISOString() ?? null) : null,
        runningJobId: running?.id ?? null,
        lastError: latest?.status === 'failed' ? { at: latest.updatedAt, reason: latest.error ?? '' } : null,
        restored: await restoresOfAll.withFormerData(),
        keptUntil: row && ((await restoresOfAll.keptBackups(row.updatedAt))?.until ?? null),
        canRestoreAll: kernel.restart !== null,
      }
    },

    /**
     * The backups in the configured place, newest first.
     * @throws BAD_REQUEST if they are not set up, or the place cannot be read; PERMISSION_DENIED below super admin
     */
    async list(actor: Actor): Promise<ListedBackup[]> {
      await access.authorize(actor, 'backup.read')
      const settings = await requireSettings()
      return explained(async () => (await open(settings)).list())
    },

    /**
     * Stores the settings after opening the place with them. Secrets that are left out stay.
     * @throws as `list`
     */
    async save(actor: Actor, input: SettingsInput): Promise<void> {
      await access.authorize(actor, 'backup.update')
      const known = (await store.read())?.settings
      const isSamePlace = known?.url === input.url && known.endpoint === input.endpoint
      // A stored secret is not sent to another server, and another place has another passphrase.
      const settings: StoredSettings = {
        ...input,
        secretAccessKey: input.secretAccessKey ?? (isSamePlace ? known.secretAccessKey : null),
        passphrase:
          input.passphrase === undefined ? (isSamePlace ? known.passphrase : null) : input.passphrase,
      }
      await explained(async () => {
        requireSeparateFolders(openBackupStore(targetOf(settings)).folder, config.dataDir)
        await open(settings, true)
      })
      const audit = { kind: 'settings.update', detail: { target: 'backups' } } as const
      await store.save(settings, requireUser(actor).id, audits.record(actor, audit))
      log.info('backups configured', { userId: requireUser(actor).id, url: settings.url })
    },

    /** Starts a backup. @throws CONFLICT while another runs; as `list` */
    async run(actor: Actor): Promise<{ jobId: string }> {
      await access.authorize(actor, 'backup.update')
      await requireSettings()
      const { id } = await startAlone(BACKUP_JOB, {
        userId: requireUser(actor).id,
        baseId: null,
        input: { kind: 'manual' },
      })
      return { jobId: id }
    },

    /** Starts a restore test. @throws GENERIC_NOT_FOUND; CONFLICT while another runs; as `list` */
    async test(actor: Actor, backupId: string): Promise<{ jobId: string }> {
      await access.authorize(actor, 'backup.update')
      const settings = await requireSettings()
      await requireBackup(settings, backupId)
      const { id } = await startAlone(TEST_JOB, {
        userId: requireUser(actor).id,
        baseId: null,
        input: { backupId },
      })
      return { jobId: id }
    },

    /**
     * Starts to restore everything: the backup replaces all data of the installation, whose server then starts anew.
     *
     * @throws GENERIC_NOT_FOUND; BAD_REQUEST without the confirmation, while other servers use the database, and where the
     *   server cannot start itself anew; CONFLICT while a backup is made, tested or restored; as `list`
     */
    async restoreAll(actor: Actor, { backupId, confirm }: RestoreAllRef): Promise<{ jobId: string }> {
      await access.authorize(actor, 'backup.restore')
      const { id: userId, email } = requireUser(actor)
      const settings = await requireSettings()
      await requireBackup(settings, backupId)
      if (confirm !== backupId) throw badRequest(m.backups_error_confirm())
      if (kernel.restart === null) throw badRequest(m.backups_error_no_restart())
      await restoresOfAll.refuseOtherServers()
      const input: RestoreAllInput = {
        email,
        backupId,
        startedAt: nowIso(),
        folder: temporaryName(),
        token: createToken(),
        withBucketFiles: settings.withBucketFiles,
      }
      const { id } = await startAlone(RESTORE_ALL_JOB, { userId, baseId: null, input })
      log.info('everything is to be restored', { userId, backupId })
      return { jobId: id }
    },

    /**
     * Starts to restore one base of a backup as a new base, which belongs to the actor.
     *
     * @throws GENERIC_NOT_FOUND; BASE_NOT_FOUND for a base that is not in the backup; BAD_REQUEST for a backup of another
     *   version; CONFLICT while a backup is made, tested or restored; as `list`
     */
    async restoreBase(
      actor: Actor,
      { backupId, baseId, title = null }: BaseRestoreRef,
    ): Promise<{ jobId: string; baseId: string }> {
      await access.authorize(actor, 'backup.restore')
      const settings = await requireSettings()
      const { manifest } = await requireBackup(settings, backupId)
      const owner = requireUser(actor)
      const found = await explained(() => manifest(backupId))
      return startRestore({
        owner,
        backupId,
        baseId,
        at: null,
        original: requireRestorable(found, baseId),
        moment: found.summary.at.slice(0, 10),
        wanted: title,
      })
    },

    /**
     * Starts to restore one base with its records of an earlier time as a new base. It is taken from the first backup
     * since that time, where the most tables and fields are still as they were, else from the present base, and
     * rewound by its change log.
     *
     * @throws BASE_NOT_FOUND for a base that is neither here nor in such a backup; BAD_REQUEST for a time in the future, and
     *   before the present base or its log begins; else as `restoreBase`
     */
    async restoreBaseAt(
      actor: Actor,
      { baseId, at: wantedAt, title = null }: BaseRewindRef,
    ): Promise<{ jobId: string; baseId: string }> {
      await access.authorize(actor, 'backup.restore')
      const owner = requireUser(actor)
      const at = new Date(wantedAt).toISOString()
      if (at > nowIso()) throw badRequest(m.records_error_rewind_future())
      const asked = { owner, baseId, at, moment: `${at.slice(0, 16).replace('T', ' ')} UTC`, wanted: title }
      const backup = await firstSince(baseId, at)
      if (backup !== null)
        return startRestore({
          ...asked,
          backupId: backup.summary.id,
          original: requireRestorable(backup, baseId),
        })
      const { title: original, createdAt, historySince } = await bases.require(baseId)
      if (at < createdAt) throw badRequest(m.records_error_rewind_no_table({ table: original }))
      if (historySince !== null && at < historySince)
        throw badRequest(m.records_error_rewind_retention({ since: historySince }))
      return startRestore({ ...asked, backupId: null, original })
    },

    /** Ends the schedule, and waits for the table that is being dropped. */
    async close(): Promise<void> {
      if (timer !== null) clearInterval(timer)
      await dropping
    },
  }
}

function withoutSecrets({ secretAccessKey, passphrase, ...settings }: StoredSettings): BackupSettings {
  return { ...settings, hasSecretAccessKey: secretAccessKey !== null, isEncrypted: passphrase !== null }
}

/** The times of a schedule. Hourly backups use the minute of its time. */
function scheduleOf({ frequency, time, weekday, timeZone }: StoredSettings): Cron {
  const [hour, minute] = time.split(':').map(Number)
  const pattern = {
    off: '',
    hourly: `${minute} * * * *`,
    daily: `${minute} ${hour} * * *`,
    weekly: `${minute} ${hour} * * ${weekday}`,
  }[frequency]
  return new Cron(pattern, { timezone: timeZone })
}
