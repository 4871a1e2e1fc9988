import type { Transaction } from '../dialects/dialect.ts'

/** Most writes that run at the same time: each has up to two statements on their way. */
const MAX_TOGETHER = 50

/** Attempts to run writes at the same time before they run one by one: each finds one that fails, or more. */
const MAX_ATTEMPTS = 6

/** A group accepts no further writes after this time, so that its members do not wait without end. */
const FULL_AFTER_MS = 10

/** Groups that use savepoints after one had to begin again: where writes fail, more of them usually do. */
const GROUPS_WITH_SAVEPOINTS = 50

/** Undefined on synchronous engines, so that nothing can interleave. */
type Now = undefined | Promise<void>

/** A connection that runs a group of writes. */
export interface GroupSession {
  transaction: Transaction
  begin(): Now
  /** Waits for the member's last writes, so that their errors are its own. @throws the first error */
  settle?(): Now
  /** @throws also the error of a write that was not settled */
  commit(): Now
  /** Resolves when the commit is on disk; undefined if it is already. The next group does not wait for it. */
  synced?(): Promise<void> | undefined
  /** Also succeeds if the transaction has already ended. */
  rollback(): Now
  /** Sets a savepoint, replacing the previous one. */
  save(): Now
  rollBackToSaved(): Now
  /** False if an error has ended the whole transaction. */
  isOpen(): boolean
  /**
   * Rows changed so far on this connection. Defined where savepoints cost as much as short writes do: these then run
   * without, and the group begins again if one fails that has changed rows.
   */
  changes?(): number
  /** True for an error that only says that an earlier statement of the transaction has failed. */
  isFollowUp?(error: unknown): boolean
  /**
   * As many transactions as writes run at the same time, on the same connection and within the same savepoint. Undefined
   * where a statement needs no round trip.
   */
  fork?(count: number): Branch[]
}

/** The transaction of one of several writes that run at the same time. */
export interface Branch {
  transaction: Transaction
  settle(): Promise<void>
  /** True from its first statement that may write. */
  hasWritten(): boolean
}

interface Member {
  work(transaction: Transaction): Promise<unknown>
  /** As `Engine.writeTogether`. */
  touches: readonly string[] | null
  /** Called with the result of the work once the group is committed, before it is on disk. */
  committed(result: unknown): void
  /** Called with the outcome once the group is on disk. */
  complete(outcome: Outcome): void
}

type Outcome = { ok: true; result: unknown } | { ok: false; error: unknown }

/** A member of the running group; without an outcome until it has run. */
interface Entry {
  member: Member
  outcome: Outcome | null
}

/**
 * Commits short writes that wait at the same time in one transaction, with one disk sync. A write that throws is rolled
 * back alone; it may run again, and so may the others of its group. No write resolves before the group is on disk.
 *
 * @param withSession runs its argument with exclusive write access
 * @param explain translates an error for the writer
 */
export function createGroupCommit(
  withSession: (work: (session: GroupSession) => Promise<void>) => Promise<void>,
  explain: (error: unknown) => unknown = (error) => error,
) {
  const waiting: Member[] = []
  let isCalled = false
  let groupsWithSavepoints = 0

  function call(): void {
    if (isCalled || waiting.length === 0) return
    isCalled = true
    const run = withSession(async (session) => {
      isCalled = false
      await runGroup(session)
      call()
    })
    // Errors inside a group are passed to its members. Only a missing connection rejects here.
    run.catch((error) => {
      isCalled = false
      for (const member of waiting.splice(0)) member.complete({ ok: false, error })
    })
  }

  async function runGroup(session: GroupSession): Promise<void> {
    const group: Entry[] = []
    try {
      // Waited for: a write decides what to do while it has the lock of the base, which another server may hold.
      await session.begin()
      await runMembers(session, group)
      const committed = session.commit()
      if (committed) await committed
    } catch (error) {
      await session.rollback()
      // If the transaction could not begin, the waiting writes would fail as well.
      if (group.length === 0) group.push(...waiting.splice(0).map((member) => ({ member, outcome: null })))
      // A failed commit fails all members; those that failed before keep their own error.
      for (const { member, outcome } of group)
        member.complete(outcome?.ok === false ? outcome : { ok: false, error })
      return
    }
    for (const { member, outcome } of group) if (outcome?.ok) member.committed(outcome.result)
    const synced = session.synced?.()
    if (!synced) return complete(group)
    synced.then(
      () => complete(group),
      (error) => complete(group, { ok: false, error }),
    )
  }

  /** @param failure of what all that succeeded need */
  function complete(group: readonly Entry[], failure?: Outcome): void {
    for (const { member, outcome } of group)
      if (outcome) member.complete(outcome.ok && failure ? failure : outcome)
  }

  async function runMembers(session: GroupSession, group: Entry[]): Promise<void> {
    const startedAt = performance.now()
    groupsWithSavepoints = Math.max(0, groupsWithSavepoints - 1)
    while (performance.now() - startedAt < FULL_AFTER_MS) {
      // Gives requests that have already arrived a turn of the event loop to join.
      if (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve))
      if (waiting.length === 0) return
      const settled = session.settle?.()
      if (settled) await settled
      const together = session.fork ? countDisjoint() : 0
      if (together > 1) {
        const entries = waiting.splice(0, together).map((member): Entry => ({ member, outcome: null }))
        group.push(...entries)
        await runAtOnce(session, entries)
        continue
      }
      const member = waiting.shift()!
      // Added before it runs, so that it gets an outcome whatever fails.
      const entry: Entry = { member, outcome: null }
      group.push(entry)
      // A single write needs no savepoint: the transaction itself serves as one.
      const isAlone = group.length === 1 && waiting.length === 0
      if (isAlone) entry.outcome = { ok: true, result: await member.work(session.transaction) }
      else if (session.changes && groupsWithSavepoints === 0)
        entry.outcome = await runOrBeginAgain(session, session.changes, group)
      else entry.outcome = await attempt(session, member)
    }
  }

  /**
   * Runs the last write of a group without a savepoint. If it fails after it has changed rows, the group begins again
   * without it.
   */
  async function runOrBeginAgain(
    session: GroupSession,
    changes: () => number,
    group: readonly Entry[],
  ): Promise<Outcome> {
    const earlier = group.slice(0, -1)
    const { member } = group.at(-1)!
    const before = changes()
    try {
      return { ok: true, result: await member.work(session.transaction) }
    } catch (error) {
      if (!session.isOpen()) throw error
      if (changes() === before) return { ok: false, error }
      groupsWithSavepoints = GROUPS_WITH_SAVEPOINTS
      await session.rollback()
      await session.begin()
      for (const entry of earlier) if (entry.outcome?.ok) entry.outcome = await attempt(session, entry.member)
      return { ok: false, error }
    }
  }

  /** The number of writes at the front of the queue that may run at the same time. */
  function countDisjoint(): number {
    const touched = new Set<string>()
    const isApart = ({ touches }: Member) => {
      if (touches === null || touches.some((key) => touched.has(key))) return false
      for (const key of touches) touched.add(key)
      return true
    }
    const end = waiting.slice(0, MAX_TOGETHER).findIndex((member) => !isApart(member))
    return end < 0 ? Math.min(waiting.length, MAX_TOGETHER) : end
  }

  /**
   * Runs writes at the same time, so that their statements share round trips. They share a savepoint as well: if one fails
   * after it has written, all are rolled back. The others run at the same time again, and then those that failed, one by
   * one, each with a savepoint of its own.
   */
  async function runAtOnce(session: GroupSession, entries: readonly Entry[]): Promise<void> {
    const failed: Entry[] = []
    let rest = entries
    for (let attempts = 0; rest.length > 0; attempts++) {
      if (rest.length === 1 || attempts === MAX_ATTEMPTS) {
        failed.unshift(...rest)
        break
      }
      const refused = await runTogether(session, rest)
      failed.push(...refused)
      if (refused.length === 0) break
      rest = rest.filter((entry) => !refused.includes(entry))
    }
    for (const entry of failed) entry.outcome = await attempt(session, entry.member)
  }

  /**
   * Runs writes within one savepoint.
   *
   * @returns the writes that made it necessary to roll all of them back; none if all have their outcome
   */
  async function runTogether(session: GroupSession, entries: readonly Entry[]): Promise<Entry[]> {
    const saved = Promise.resolve(session.save())
    const branches = session.fork!(entries.length)
    const runs = entries.map(async ({ member }, at) => {
      const { transaction, settle } = branches[at]!
      const result = await member.work(transaction)
      await settle()
      return result
    })
    const [isSaved, ...ended] = await Promise.allSettled([saved, ...runs])
    // Statements that a failed write has not waited for.
    await Promise.allSettled(branches.map(({ settle }) => settle()))
    if (isSaved.status === 'rejected') throw isSaved.reason
    const isHarmless = ended.every(({ status }, at) => status === 'fulfilled' || !branches[at]!.hasWritten())
    if (isHarmless) {
      for (const [at, end] of ended.entries()) {
        entries[at]!.outcome =
          end.status === 'fulfilled' ? { ok: true, result: end.value } : { ok: false, error: end.reason }
      }
      return []
    }
    if (!session.isOpen()) throw ended.find((end) => end.status === 'rejected')?.reason
    await session.rollBackToSaved()
    const refused = entries.filter((_, at) => {
      const end = ended[at]!
      return end.status === 'rejected' && branches[at]!.hasWritten() && !session.isFollowUp?.(end.reason)
    })
    // Where nobody knows which one has failed, all run one by one.
    return refused.length > 0 ? refused : [...entries]
  }

  async function attempt(session: GroupSession, { work }: Member): Promise<Outcome> {
    // Not waited for: statements behind one that failed fail as well.
    const saved = session.save()
    saved?.catch(() => {})
    try {
      const result = await work(session.transaction)
      await session.settle?.()
      return { ok: true, result }
    } catch (error) {
      // A full disk or a lost connection rolls back the whole transaction.
      if (!session.isOpen()) throw error
      await saved
      await session.rollBackToSaved()
      return { ok: false, error }
    }
  }

  return function writeTogether<T>(
    work: (tx: Transaction) => Promise<T>,
    onCommit?: (result: T) => void,
    touches: readonly string[] | null = null,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    waiting.push({
      work,
      touches,
      committed: (result) => onCommit?.(result as T),
      complete(outcome) {
        if (!outcome.ok) return reject(explain(outcome.error))
        resolve(outcome.result as T)
      },
    })
    call()
    return promise
  }
}
