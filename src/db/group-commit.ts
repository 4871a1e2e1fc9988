import type { Database } from 'bun:sqlite'
import type { Transaction } from '../dialects/dialect.ts'

/** A group that has taken this long takes no more: who waits for it should not wait for ever. */
const FULL_AFTER_MS = 10

interface Member {
  work(): Promise<unknown>
  /** Called with the outcome once the group is committed. */
  settle(outcome: Outcome): void
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
 */
export function createGroupCommit(
  file: Database,
  transaction: Transaction,
  exclusively: <T>(work: () => Promise<T>) => Promise<T>,
) {
  const waiting: Member[] = []
  let isCalled = false

  function call(): void {
    if (isCalled || waiting.length === 0) return
    isCalled = true
    // What goes wrong is told to the members; nobody waits for the group itself.
    void exclusively(async () => {
      isCalled = false
      await runGroup()
      call()
    })
  }

  async function runGroup(): Promise<void> {
    const group: Entry[] = []
    try {
      file.run('begin immediate')
      await runMembers(group)
      file.run('commit')
    } catch (error) {
      if (file.inTransaction) file.run('rollback')
      // Where not even the transaction began, those who wait would fare no better.
      if (group.length === 0) group.push(...waiting.splice(0).map((member) => ({ member, outcome: null })))
      // Without the commit nothing of the others stands either; who was refused before knows why.
      for (const { member, outcome } of group)
        member.settle(outcome?.ok === false ? outcome : { ok: false, error })
      return
    }
    for (const { member, outcome } of group) if (outcome) member.settle(outcome)
  }

  async function runMembers(group: Entry[]): Promise<void> {
    const startedAt = performance.now()
    while (performance.now() - startedAt < FULL_AFTER_MS) {
      // Requests that have arrived by now are read in this turn of the event loop, and join.
      if (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve))
      const member = waiting.shift()
      if (!member) return
      // Listed before it runs: whatever goes wrong, it is answered.
      const entry: Entry = { member, outcome: null }
      group.push(entry)
      entry.outcome = await attempt(member)
    }
  }

  async function attempt({ work }: Member): Promise<Outcome> {
    file.run('savepoint member')
    try {
      const result = await work()
      file.run('release member')
      return { ok: true, result }
    } catch (error) {
      // A full disk takes back the whole transaction by itself.
      if (!file.inTransaction) throw error
      file.run('rollback to member')
      file.run('release member')
      return { ok: false, error }
    }
  }

  return function writeTogether<T>(
    work: (tx: Transaction) => Promise<T>,
    onCommit?: (result: T) => void,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    waiting.push({
      work: () => work(transaction),
      settle(outcome) {
        if (!outcome.ok) return reject(outcome.error)
        onCommit?.(outcome.result as T)
        resolve(outcome.result as T)
      },
    })
    call()
    return promise
  }
}
