import { withoutCaller } from '../../../src/caller.ts'
import { type Effect, effectsSince } from '../../../src/db/change-log/effects.ts'
import { lastChangeId } from '../../../src/db/change-log/entry.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'

/**
 * Follows the logs of bases that several servers write to. Every write of records appends an entry in its transaction,
 * and writers of a base are serialized, so what is read after `catchUp` is as new as the request.
 */
export interface LogFollower {
  /**
   * Passes on the effects of all entries since the last call, with one statement. Calls at the same time share it.
   *
   * @returns the id of the newest entry
   */
  catchUp(engine: Pick<Engine, 'all' | 'dialect'>, baseId: string): Promise<number>
  /**
   * Follows a base from an entry on, unless it is followed already.
   *
   * @returns false if effects after the entry have been passed on, or never will be
   */
  begin(baseId: string, entryId: number): boolean
  /** Calls `take` with every effect, in the order of the log and once, before `catchUp` returns. */
  listen(take: (baseId: string, effect: Effect & { entryId: number }) => void): void
}

/** The reads of one base’s log, one at a time. */
interface Reads {
  /** The newest entry that was read; null before the first read. */
  reached: number | null
  /** The last read that began. */
  current: Promise<unknown>
  /** The one after it, for those who ask after the current one began, which may miss what they have to see. */
  next: Promise<number> | null
}

export function createLogFollower(): LogFollower {
  const bases = new Map<string, Reads>()
  const listeners: Parameters<LogFollower['listen']>[0][] = []

  function readsOf(baseId: string): Reads {
    const reads: Reads = bases.get(baseId) ?? { reached: null, current: Promise.resolve(), next: null }
    bases.set(baseId, reads)
    return reads
  }

  async function read(
    engine: Pick<Engine, 'all' | 'dialect'>,
    baseId: string,
    reads: Reads,
  ): Promise<number> {
    if (reads.reached === null) {
      const newest = await lastChangeId(engine)
      reads.reached ??= newest
      return newest
    }
    const { newest, effects } = await effectsSince(engine, reads.reached)
    reads.reached = newest
    for (const effect of effects) for (const take of listeners) take(baseId, effect)
    return newest
  }

  return {
    begin(baseId, entryId) {
      const reads = readsOf(baseId)
      reads.reached ??= entryId
      return reads.reached <= entryId
    },
    listen: (take) => void listeners.push(take),
    catchUp(engine, baseId) {
      const reads = readsOf(baseId)
      if (reads.next) return reads.next
      const begin = (): Promise<number> => {
        reads.current = own
        reads.next = null
        return read(engine, baseId, reads)
      }
      // Runs also if the read before failed, and does not end with the request that happened to start it.
      const own = withoutCaller(() => reads.current.then(begin, begin))
      reads.next = own
      return own
    },
  }
}
