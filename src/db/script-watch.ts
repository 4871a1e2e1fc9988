import type { ScriptWatch, Transaction } from '../dialects/dialect.ts'

/** Indexes in the shared memory: the number of rows written, and the script's state. */
const [WRITTEN, STATE] = [0, 1]
/** Values of `STATE`. It leaves `RUNNING` once, so a script is either stopped or commits. */
const [RUNNING, STOPPED, COMMITTING] = [0, 1, 2]
const ASK_EVERY_MS = 200

/**
 * Follows a script in another thread: reports its progress and stops it on a signal.
 *
 * @throws the signal's reason if it has stopped the script
 */
export async function watchScript<T>(
  { signal, progress, commit, guard }: ScriptWatch,
  run: (shared: SharedArrayBuffer | null) => Promise<T>,
): Promise<T> {
  if (!signal && !progress) return run(null)
  signal?.throwIfAborted()
  const shared = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)
  const words = new Int32Array(shared)
  const stop = () => Atomics.compareExchange(words, STATE, RUNNING, STOPPED) !== COMMITTING
  const release = guard?.(stop)
  signal?.addEventListener('abort', stop)
  const timer = progress && setInterval(() => progress(Atomics.load(words, WRITTEN)), ASK_EVERY_MS)
  try {
    const result = await run(shared)
    progress?.(Atomics.load(words, WRITTEN))
    if (!signal?.aborted) commit?.()
    return result
  } catch (error) {
    // The thread does not know the reason of the stop.
    if (Atomics.load(words, STATE) === STOPPED) signal?.throwIfAborted()
    throw error
  } finally {
    clearInterval(timer)
    release?.()
    signal?.removeEventListener('abort', stop)
  }
}

/** Rows written between checks of the watch: about a quarter of a second of work. */
const ROWS_AT_ONCE = 1_000

/** A transaction that reports written rows to its watch and fails once the signal is aborted. */
export function watchedTransaction(tx: Transaction, watch: ScriptWatch | undefined): Transaction {
  if (!watch) return tx
  const { signal } = watch
  let written = 0
  const add = (rows: number) => {
    signal?.throwIfAborted()
    written += rows
    watch.progress?.(written)
  }
  return {
    async run(statement) {
      signal?.throwIfAborted()
      const result = await tx.run(statement)
      add(result.changes)
      return result
    },
    async runMany(sql, rows) {
      for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
        signal?.throwIfAborted()
        const some = rows.length <= ROWS_AT_ONCE ? rows : rows.slice(at, at + ROWS_AT_ONCE)
        await tx.runMany(sql, some)
        add(some.length)
      }
    },
    async all<T>(statement: Parameters<Transaction['all']>[0]) {
      signal?.throwIfAborted()
      const rows = await tx.all<T>(statement)
      signal?.throwIfAborted()
      return rows
    },
    async insertOne(statement, key) {
      signal?.throwIfAborted()
      const made = await tx.insertOne(statement, key)
      add(1)
      return made
    },
    async insertMany(statement, key, count) {
      signal?.throwIfAborted()
      const made = await tx.insertMany(statement, key, count)
      add(count)
      return made
    },
  }
}

/**
 * Runs a statement that `cancel` can end. Waits for a pending cancel request, so that it does not hit a later
 * statement.
 *
 * @throws the signal's reason, even if the statement was faster
 */
export async function untilStopped<T>(
  signal: AbortSignal | undefined,
  run: () => Promise<T>,
  cancel: () => Promise<unknown>,
): Promise<T> {
  if (!signal) return run()
  signal.throwIfAborted()
  let asked: Promise<unknown> | undefined
  const onAbort = () => {
    // If the cancel request fails, the statement runs to its end.
    asked = cancel().catch(() => undefined)
  }
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await run()
  } finally {
    signal.removeEventListener('abort', onAbort)
    await asked
    signal.throwIfAborted()
  }
}

/** The thread's side: call after each statement. @throws Error if the script is to stop */
export function reportTo(shared: SharedArrayBuffer | null): (changes: number) => void {
  if (!shared) return () => {}
  const words = new Int32Array(shared)
  return (changes) => {
    Atomics.add(words, WRITTEN, changes)
    if (Atomics.load(words, STATE) === STOPPED) throw stopped()
  }
}

/**
 * The thread's side: call before the commit, after which nothing stops the script.
 *
 * @throws Error if it was stopped
 */
export function claimCommit(shared: SharedArrayBuffer | null): void {
  if (!shared) return
  if (Atomics.compareExchange(new Int32Array(shared), STATE, RUNNING, COMMITTING) === STOPPED) throw stopped()
}

const stopped = (): Error => new Error('The script was stopped')
