import { AsyncLocalStorage } from 'node:async_hooks'
import { untilAborted } from './caller.ts'
import { type Actor, actorIdOf } from './core/actor.ts'
import { AppError } from './core/errors.ts'
import { createId } from './core/ids.ts'
import type { Table } from './core/model.ts'
import type { Work, WorkKind } from './core/work.ts'
import type { ScriptWatch } from './dialects/dialect.ts'
import type { Events } from './events.ts'
import { m } from './messages.gen.ts'

/** Shorter writes are not announced. */
const SHOW_AFTER_MS = 700
/** Users who open the base later learn of it with the next message. */
const TELL_EVERY_MS = 500

/** A running write. Engines report progress to it and stop when its signal is aborted. */
export interface OpenWork extends Required<ScriptWatch> {
  /**
   * Sets the expected size, as soon as it is known.
   *
   * @param rows rows to write in total, as counted by `progress`
   * @param records affected records, for display
   */
  expect(rows: number, records?: number): void
  /**
   * Begins a part of the write, whose size `expect` sets.
   *
   * @param from share of the whole that the parts before have written, from 0 to 1
   * @param to the same after this part
   */
  part(from: number, to: number): void
}

/** Name of a write. */
export interface WorkName {
  kind: WorkKind
  baseId: string
  table?: Pick<Table, 'id' | 'title'> | null
  fieldTitle?: string
  /** Number of affected records, if it is known before. */
  records?: number
  /** False if it is not a single transaction, so that cancelling would leave a part. */
  canCancel?: boolean
}

export type Works = ReturnType<typeof createWorks>

interface Running {
  work: Work
  controller: AbortController
  /** Return false if the commit has begun in another thread. */
  guards: Set<() => boolean>
}

const open = new AsyncLocalStorage<OpenWork>()

/** The followed write of the current async context. */
export const currentWork = (): OpenWork | undefined => open.getStore()

/** The long writes of all servers, announced to all clients with the base open, and cancellable. */
export function createWorks({ events }: { events: Events }) {
  const running = new Map<string, Running>()
  /** Announced writes of other servers. */
  const elsewhere = new Map<string, Work>()
  events.on('work.changed', (work) => {
    if (work.hasEnded) elsewhere.delete(work.id)
    else if (!running.has(work.id)) elsewhere.set(work.id, work)
  })
  // Writes that still run are announced again within moments.
  events.on('events.missed', () => elsewhere.clear())
  events.on('work.cancelled', ({ workId }) => stopOwn(workId))

  function stopOwn(workId: string): void {
    const found = running.get(workId)
    if (!found?.work.canCancel || ![...found.guards].every((stop) => stop())) return
    found.controller.abort(new AppError('CONFLICT', m.works_error_cancelled(), { isCancelled: true }))
  }

  /**
   * Runs a write that may take long. Engines find it by `currentWork`, report written rows and roll back when it is
   * cancelled. Within another followed write it reports as that one.
   *
   * @throws errors of `run`; CONFLICT if it was cancelled, without changes
   */
  async function follow<T>(
    actor: Actor,
    { kind, baseId, table = null, fieldTitle, records: allRecords, canCancel = true }: WorkName,
    run: (work: OpenWork) => Promise<T>,
  ): Promise<T> {
    const outer = open.getStore()
    if (outer) return run(outer)
    const work: Work = {
      id: createId('job'),
      kind,
      baseId,
      tableId: table?.id ?? null,
      tableTitle: table?.title ?? '',
      fieldTitle: fieldTitle ?? null,
      actorId: actorIdOf(actor),
      records: allRecords ?? null,
      share: null,
      canCancel,
      hasEnded: false,
    }
    const controller = new AbortController()
    const guards: Running['guards'] = new Set()
    running.set(work.id, { work, controller, guards })
    let isShown = false
    let total: number | null = null
    let part = { from: 0, to: 1 }
    const tell = () => events.emit('work.changed', { ...work })
    let teller: ReturnType<typeof setInterval> | undefined
    const shower = setTimeout(() => {
      isShown = true
      tell()
      teller = setInterval(tell, TELL_EVERY_MS)
    }, SHOW_AFTER_MS)
    const followed: OpenWork = {
      signal: controller.signal,
      expect(rows, records) {
        const isNews = work.records === null && records !== undefined
        total = rows
        work.share ??= 0
        work.records = allRecords ?? records ?? work.records
        if (isNews && isShown) tell()
      },
      progress(rows) {
        // Progress stays below 100 % until the commit.
        const { from, to } = part
        if (total)
          work.share = Math.max(
            work.share ?? 0,
            Math.min(0.95, from + (to - from) * Math.min(1, rows / total)),
          )
      },
      part(from, to) {
        part = { from, to }
        total = null
        work.share = Math.max(work.share ?? 0, Math.min(0.95, from))
      },
      commit() {
        controller.signal.throwIfAborted()
        work.canCancel = false
      },
      guard(stop) {
        guards.add(stop)
        return () => guards.delete(stop)
      },
    }
    try {
      return await open.run(followed, () => untilAborted(controller.signal, () => run(followed)))
    } catch (error) {
      // Ignores the error of a cancelled statement.
      controller.signal.throwIfAborted()
      throw error
    } finally {
      running.delete(work.id)
      clearTimeout(shower)
      clearInterval(teller)
      work.hasEnded = true
      if (isShown) tell()
    }
  }

  return {
    follow,
    /** A running write by its id. */
    find: (workId: string): Readonly<Work> | undefined => running.get(workId)?.work ?? elsewhere.get(workId),
    /** Cancels a write and rolls it back; no effect once it commits. */
    stop: (workId: string): void => events.emit('work.cancelled', { workId }),
  }
}
