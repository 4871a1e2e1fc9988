import type { Transaction } from '../dialects/dialect.ts'

/** A group that has taken this long takes no more: who waits for it should not wait for ever. */
const FULL_AFTER_MS = 10

/** Runs synchronously on engines that answer at once, so that nothing can interleave. */
type Now = undefined | Promise<void>

/** A connection on which a group is written. */
export interface GroupSession {
  transaction: Transaction
  begin(): Now
  commit(): Now
  /** Also where the transaction has ended already. */
  rollback(): Now
  /** Marks a place to go back to; the one before it is not needed any more. */
  save(): Now
  rollBackToSaved(): Now
  /** False where a failure has ended the whole transaction. */
  isOpen(): boolean
}

interface Member {
  work(transaction: Transaction): Promise<unknown>
  /** Called with the outcome once the group is committed. */
  complete(outcome: Outcome): void
}

type Outcome = { ok: true; result: unknown } | { ok: false; error: unknown }

/** A member of the group that runs; it has no outcome until it has run. */
interface Entry {
  member: Member
  outcome: Outcome | null
}

/**
 * Commits short writes that wait at the same time as one: the disk is waited for once and not for each.
 * A write that throws takes back itself alone. None is answered before all of them are on the disk.
 *
 * @param withSession runs its argument while no other writer of the base can come in
 * @param explain what a writer is told of an error
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
    // Errors inside a group reach its members. Without a connection there is no group.
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
      // Where not even the transaction began, those who wait would fare no better.
      if (group.length === 0) group.push(...waiting.splice(0).map((member) => ({ member, outcome: null })))
      // Without the commit nothing of the others stands either; who was refused before knows why.
      for (const { member, outcome } of group)
        member.complete(outcome?.ok === false ? outcome : { ok: false, error })
      return
    }
    for (const { member, outcome } of group) if (outcome) member.complete(outcome)
  }

  async function runMembers(session: GroupSession, group: Entry[]): Promise<void> {
    const startedAt = performance.now()
    while (performance.now() - startedAt < FULL_AFTER_MS) {
      // Requests that have arrived by now are read in this turn of the event loop, and join.
      if (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve))
      const member = waiting.shift()
      if (!member) return
      // Listed before it runs: whatever goes wrong, it is answered.
      const entry: Entry = { member, outcome: null }
      group.push(entry)
      // With nothing before it to protect and nobody behind it, the transaction itself is its savepoint.
      const isAlone = group.length === 1 && waiting.length === 0
      entry.outcome = isAlone
        ? { ok: true, result: await member.work(session.transaction) }
        : await attempt(session, member)
    }
  }

  async function attempt(session: GroupSession, { work }: Member): Promise<Outcome> {
    await session.save()
    try {
      return { ok: true, result: await work(session.transaction) }
    } catch (error) {
      // A full disk, or a lost connection, takes back the whole transaction by itself.
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
