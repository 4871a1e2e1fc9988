import type { Actor } from '../../../src/core/actor.ts'
import { AppError } from '../../../src/core/errors.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Table } from '../../../src/core/model.ts'
import type { Work, WorkKind } from '../../../src/core/work.ts'
import type { ScriptWatch } from '../../../src/dialects/dialect.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { AuthService } from '../../auth/index.ts'

/** What is over sooner is not told of. */
const SHOW_AFTER_MS = 700
/** Who opens the base meanwhile learns of it by the next message. */
const TELL_EVERY_MS = 500

interface Deps {
  kernel: Pick<Kernel, 'events'>
  auth: Pick<AuthService, 'access'>
}

export type Works = ReturnType<typeof createWorks>

/** The changes of whole tables that run on this server: told to all who have the base open, and stopped on demand. */
export function createWorks({ kernel, auth }: Deps) {
  const running = new Map<string, { work: Work; controller: AbortController }>()

  /**
   * Runs a change of whole tables, which counts the rows that it writes and stops where the signal says so.
   *
   * @throws what `run` throws; CONFLICT where somebody has stopped it: nothing was changed then
   */
  async function follow<T>(
    actor: Actor,
    kind: WorkKind,
    table: Pick<Table, 'id' | 'title' | 'baseId'>,
    run: (watch: Required<ScriptWatch>) => Promise<T>,
  ): Promise<T> {
    const work: Work = {
      id: createId('job'),
      kind,
      baseId: table.baseId,
      tableId: table.id,
      tableTitle: table.title,
      actorId: actor.kind === 'user' ? actor.id : null,
      records: null,
      share: 0,
      hasEnded: false,
    }
    const controller = new AbortController()
    running.set(work.id, { work, controller })
    let isShown = false
    const tell = () => kernel.events.emit('work.changed', { ...work })
    let teller: ReturnType<typeof setInterval> | undefined
    const shower = setTimeout(() => {
      isShown = true
      tell()
      teller = setInterval(tell, TELL_EVERY_MS)
    }, SHOW_AFTER_MS)
    try {
      return await run({
        signal: controller.signal,
        progress(rows) {
          // First a line in the log, then one for each record; then the records themselves.
          if (rows <= 1) return
          const isNews = work.records === null
          work.records ??= rows - 1
          work.share = Math.min(0.95, rows / (2 * work.records + 1))
          if (isNews && isShown) tell()
        },
      })
    } finally {
      running.delete(work.id)
      clearTimeout(shower)
      clearInterval(teller)
      work.hasEnded = true
      if (isShown) tell()
    }
  }

  /**
   * Stops a change that runs; all of it is taken back. One that has ended stays as it is. Of another person it takes
   * the right to undo what others did.
   *
   * @throws PERMISSION_DENIED
   */
  async function cancel(actor: Actor, baseId: string, workId: string): Promise<void> {
    await auth.access.authorize(actor, 'record.undo', baseId)
    const found = running.get(workId)
    if (found?.work.baseId !== baseId) return
    const { work, controller } = found
    const isOwn = actor.kind === 'user' && actor.id === work.actorId
    if (!isOwn) await auth.access.authorize(actor, 'record.undo-others', baseId)
    controller.abort(new AppError('CONFLICT', 'The change was cancelled. Nothing was changed.'))
  }

  return { follow, cancel }
}
