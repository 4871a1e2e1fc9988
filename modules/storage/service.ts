import { nowMs } from '../../src/clock.ts'
import type { Actor } from '../../src/core/actor.ts'
import { logExtent } from '../../src/db/change-log/entries.ts'
import { columnsInLog, oldEntries, removeEntries } from '../../src/db/change-log/removal.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { type AuthService, forbidden } from '../auth/index.ts'
import { type BaseRow, type BasesService, BEING_MADE, BEING_REMOVED, trashDaysOf } from '../bases/index.ts'
import type { RecordsService } from '../records/index.ts'
import type { SchemaService } from '../schema/index.ts'
import type { TrashService } from '../trash/index.ts'

export const MAX_HISTORY_DAYS = 36_500
/** Job kind that reclaims unused space of a base. */
const RECLAIM_JOB = 'storage.reclaim'

const DAY_MS = 24 * 60 * 60 * 1000
const HOUR_MS = 60 * 60 * 1000
/** Delays the first cleanup, since a start is busy enough. */
const FIRST_ROUND_MS = 10 * 60 * 1000

const since = (days: number): string => new Date(nowMs() - days * DAY_MS).toISOString()

/** Size and retention of a base. */
interface BaseStorage {
  /** Bytes of records, change log and trash; attachments are stored elsewhere. */
  bytes: number
  /** Bytes that can be reclaimed; null if the database does not tell. */
  freeBytes: number | null
  /** Entries of the change log, and the time of the oldest. */
  entries: number
  oldest: string | null
  /** Days that the change log is kept, 0: forever; null: the server's default. */
  historyDays: number | null
  /** The server's default. */
  defaultDays: number
  /** Older history has been removed; null: complete. */
  historySince: string | null
}

export type StorageService = ReturnType<typeof createStorageService>

/** Size and retention of bases, and cleanup of what is older. */
export function createStorageService(
  kernel: Kernel,
  { access, audits }: Pick<AuthService, 'access' | 'audits'>,
  bases: BasesService,
  schema: SchemaService,
  records: Pick<RecordsService, 'removeLostPlaces' | 'attachments'>,
  trash: Pick<TrashService, 'purgeOld' | 'removeBase'>,
) {
  const { config, jobs, log, sources } = kernel
  /** Time of each base's last cleanup, by id. */
  const purgedAt = new Map<string, number>()
  const daysOf = ({ historyDays }: BaseRow): number => historyDays ?? config.historyDays

  jobs.register<{ baseId: string }>(RECLAIM_JOB, {
    async run({ baseId }) {
      const { storage } = await sources.engine(baseId)
      const before = await storage?.measure()
      await purge(await bases.require(baseId))
      await storage?.compact(true)
      const after = await storage?.measure()
      return { before: before?.bytes ?? 0, after: after?.bytes ?? 0 }
    },
    // Removed rows stay removed, and an interrupted rewrite leaves the home as it was.
    recover: async () => null,
  })

  /**
   * Removes everything older than the base's retention: entries of the change log with their records, columns that only
   * those entries referred to, and what is in the trash.
   */
  async function purge(base: BaseRow): Promise<void> {
    const days = daysOf(base)
    const trashDays = trashDaysOf(base, config)
    if (days === 0 && trashDays === 0) return
    const engine = await sources.engine(base.id)
    const old = days === 0 ? null : await oldEntries(engine, since(days))
    if (old) {
      const before = since(days)
      // Stored first, so that a concurrent undo can say why it finds nothing.
      await bases.saveHistory(base.id, { historySince: before })
      const entries = await removeEntries(engine, old.lastId)
      log.info('old history removed', { baseId: base.id, entries, before })
    }
    const before = trashDays === 0 ? '' : since(trashDays)
    if (trashDays > 0) await trash.purgeOld(base.id, before)
    const kept = await columnsInLog(engine)
    const { tables, columns } = await schema.purge(base.id, { before, replaced: old?.columns ?? [], kept })
    if (tables > 0 || columns > 0) log.info('old trash removed', { baseId: base.id, tables, columns, before })
    if (old) await records.removeLostPlaces(base.id)
    if (old || tables > 0 || columns > 0) await engine.storage?.compact(false)
  }

  /** Cleans up each base once a day, one after the other. */
  async function purgeDue(): Promise<void> {
    for (const base of await bases.all()) {
      if (Date.now() - (purgedAt.get(base.id) ?? 0) < DAY_MS) continue
      try {
        await purge(base)
        // Also without a retention limit: records deleted forever leave files behind.
        await records.attachments.sweepBase(base.id)
        purgedAt.set(base.id, Date.now())
      } catch (error) {
        log.error('removing old history failed', error, { baseId: base.id })
      }
    }
    await purgeTrashedBases()
    if (config.auditDays > 0) await audits.removeOld(since(config.auditDays))
  }

  /** Removes bases whose time in the trash exceeds their retention, and those that nobody has completed within that time. */
  async function purgeTrashedBases(): Promise<void> {
    for (const base of await bases.trashed()) {
      const days = trashDaysOf(base, config)
      const deletedAt = base.deletedAt === BEING_MADE ? base.createdAt : base.deletedAt
      const isOld = days > 0 && deletedAt !== null && Date.parse(deletedAt) < nowMs() - days * DAY_MS
      if (!isOld && base.deletedAt !== BEING_REMOVED) continue
      await removeBase(base).catch((error) =>
        log.error('removing an old base failed', error, { baseId: base.id }),
      )
    }
  }

  async function removeBase(base: BaseRow): Promise<void> {
    if (await trash.removeBase(base)) purgedAt.delete(base.id)
  }

  const cleanUp = () => {
    purgeDue().catch((error) => log.error('removing old history failed', error))
  }
  const timers = [setTimeout(cleanUp, FIRST_ROUND_MS), setInterval(cleanUp, HOUR_MS)]
  for (const timer of timers) timer.unref()

  async function enter(actor: Actor, baseId: string): Promise<BaseRow> {
    const base = await bases.require(baseId)
    await access.authorize(actor, 'base.storage', base.id)
    return base
  }

  return {
    purge,
    purgeDue,

    /** @throws BASE_NOT_FOUND; PERMISSION_DENIED below owner */
    async ofBase(actor: Actor, baseId: string): Promise<BaseStorage> {
      const base = await enter(actor, baseId)
      const engine = await sources.engine(base.id)
      const room = (await engine.storage?.measure()) ?? { bytes: 0, freeBytes: null }
      const { historyDays, historySince } = base
      const defaultDays = config.historyDays
      return { ...room, ...(await logExtent(engine)), historyDays, defaultDays, historySince }
    },

    /** Size of every base, largest first; null if its home cannot be opened. @throws PERMISSION_DENIED */
    async ofServer(actor: Actor): Promise<{ id: string; title: string; bytes: number | null }[]> {
      await access.authorize(actor, 'storage.list')
      const found: { id: string; title: string; bytes: number | null }[] = []
      for (const { id, title } of await bases.all()) {
        const room = await sources
          .engine(id)
          .then((engine) => engine.storage?.measure())
          .catch((error) => {
            log.warn('a base could not be measured', { baseId: id, error: String(error) })
            return null
          })
        found.push({ id, title, bytes: room?.bytes ?? null })
      }
      return found.toSorted((a, b) => (b.bytes ?? -1) - (a.bytes ?? -1))
    },

    /**
     * Sets the days that the change log is kept, 0: forever; null: the server's default. Takes effect at the
     * next cleanup.
     */
    async setHistoryDays(actor: Actor, baseId: string, days: number | null): Promise<void> {
      const base = await enter(actor, baseId)
      await bases.saveHistory(base.id, { historyDays: days })
      purgedAt.delete(base.id)
    },

    /** Starts a job that removes what is too old and returns unused space to the system. */
    async reclaim(actor: Actor, baseId: string): Promise<{ jobId: string }> {
      const base = await enter(actor, baseId)
      if (actor.kind !== 'user') throw forbidden(m.shares_error_not_allowed())
      const { id } = await jobs.start(RECLAIM_JOB, {
        userId: actor.id,
        baseId: base.id,
        input: { baseId: base.id },
      })
      return { jobId: id }
    },

    close(): void {
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
