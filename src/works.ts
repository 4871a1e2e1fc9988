import { AsyncLocalStorage } from 'node:async_hooks'
import { untilAborted } from './caller.ts'
import type { Actor } from './core/actor.ts'
import { AppError } from './core/errors.ts'
import { createId } from './core/ids.ts'
import type { Table } from './core/model.ts'
import type { Work, WorkKind } from './core/work.ts'
import type { ScriptWatch } from './dialects/dialect.ts'
import type { Events } from './events.ts'

/** Shorter writes are not announced. */
const SHOW_AFTER_MS = 700
/** Users who open the base later learn of it with the next message. */
const TELL_EVERY_MS = 500

/** A write as its code sees it: the engines report to it, and stop where its signal says so. */
export interface OpenWork extends Required<ScriptWatch> {
  /**
   * Says how long it will be, as soon as that is known.
   *
   * @param rows writes in all, as `progress` counts them
   * @param records records that it concerns, for people
   */
  expect(rows: number, records?: number): void
}

/** Name of a write. */
export interface WorkName {
  kind: WorkKind
  baseId: string
  table?: Pick<Table, 'id' | 'title'> | null
  fieldTitle?: string
  /** False if it is not a single transaction: cancelling would leave a part of it. */
  canCancel?: boolean
}

export type Works = ReturnType<typeof createWorks>

interface Running {
  work: Work
  controller: AbortController
  /** False where the commit has begun in another thread. */
  guards: Set<() => boolean>
}

const open = new AsyncLocalStorage<OpenWork>()

/** The followed write that the present code belongs to. */
export const currentWork = (): OpenWork | undefined => open.getStore()

/** The long writes of this server: announced to all who have the base open, and stopped on demand. */
export function createWorks({ events }: { events: Events }) {
  const running = new Map<string, Running>()

  /**
   * Runs a write that may take long. Engines find it by `currentWork`: they report the rows that they write, and
   * roll back when it is stopped. Part of another followed write, it is told of as that one.
   *
   * @throws what `run` throws; CONFLICT where somebody has stopped it: nothing was changed then
   */
  async function follow<T>(
    actor: Actor,
    { kind, baseId, table = null, fieldTitle, canCancel = true }: WorkName,
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
      actorId: actor.kind === 'user' ? actor.id : null,
      records: null,
      share: null,
      canCancel,
      hasEnded: false,
    }
    const controller = new AbortController()
    const guards: Running['guards'] = new Set()
    running.set(work.id, { work, controller, guards })
    let isShown = false
    let total: number | null = null
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
        work.records = records ?? work.records
        if (isNews && isShown) tell()
      },
      progress(rows) {
        // Nobody is told that all is done before it is committed.
        if (total) work.share = Math.max(work.share ?? 0, Math.min(0.95, rows / total))
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
    /** A write that runs. */
    find: (workId: string): Readonly<Work> | undefined => running.get(workId)?.work,
    /** Stops a write; all of it is rolled back. One that has ended, or commits already, stays as it is. */
    stop(workId: string): void {
      const found = running.get(workId)
      if (!found?.work.canCancel || ![...found.guards].every((stop) => stop())) return
      found.controller.abort(
        new AppError('CONFLICT', 'The change was cancelled. Nothing was changed.', { isCancelled: true }),
      )
    },
  }
}
