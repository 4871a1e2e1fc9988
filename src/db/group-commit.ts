import type { Transaction } from '../dialects/dialect.ts'

/** A group accepts no further writes after this time, so that its members do not wait without end. */
const FULL_AFTER_MS = 10

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
  /** Also succeeds if the transaction has already ended. */
  rollback(): Now
  /** Sets a savepoint, replacing the previous one. */
  save(): Now
  rollBackToSaved(): Now
  /** False if an error has ended the whole transaction. */
  isOpen(): boolean
}

interface Member {
  work(transaction: Transaction): Promise<unknown>
  /** Called with the outcome once the group is committed. */
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
 * back alone. No write resolves before the group is on disk.
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
    for (const { member, outcome } of group) if (outcome) member.complete(outcome)
  }

  async function runMembers(session: GroupSession, group: Entry[]): Promise<void> {
    const startedAt = performance.now()
    while (performance.now() - startedAt < FULL_AFTER_MS) {
      // Gives requests that have already arrived a turn of the event loop to join.
      if (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve))
      if (waiting.length === 0) return
      const settled = session.settle?.()
      if (settled) await settled
      const member = waiting.shift()!
      // Added before it runs, so that it gets an outcome whatever fails.
      const entry: Entry = { member, outcome: null }
      group.push(entry)
      // A single write needs no savepoint: the transaction itself serves as one.
      const isAlone = group.length === 1 && waiting.length === 0
      entry.outcome = isAlone
        ? { ok: true, result: await member.work(session.transaction) }
        : await attempt(session, member)
    }
  }

  async function attempt(session: GroupSession, { work }: Member): Promise<Outcome> {
    await session.save()
    try {
      const result = await work(session.transaction)
      await session.settle?.()
      return { ok: true, result }
    } catch (error) {
      // A full disk or a lost connection rolls back the whole transaction.
      if (!session.isOpen()) throw error
      await session.rollBackToSaved()
      return { ok: false, error }
    }
  }

  return function writeTogether<T>(
    work: (tx: Transaction) => Promise<T>,
    onCommit?: (result: T) => void,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    waiting.push({
      work,
      complete(outcome) {
        if (!outcome.ok) return reject(explain(outcome.error))
        onCommit?.(outcome.result as T)
        resolve(outcome.result as T)
      },
    })
    call()
    return promise
  }
}
