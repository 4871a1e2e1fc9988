import type { ScriptWatch, Transaction } from '../dialects/dialect.ts'

/** Words of the memory that both threads share: the number of rows written, and the state of the script. */
const [WRITTEN, STATE] = [0, 1]
/** `STATE`: either side leaves `RUNNING` once, so a script is stopped or commits, never both. */
const [RUNNING, STOPPED, COMMITTING] = [0, 1, 2]
const ASK_EVERY_MS = 200

/**
 * Follows a script that runs in another thread: tells how far it is, and lets a signal stop it.
 *
 * @throws the signal's reason where it has stopped the script
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
    // The thread can only say that it was stopped, and not why.
    if (Atomics.load(words, STATE) === STOPPED) signal?.throwIfAborted()
    throw error
  } finally {
    clearInterval(timer)
    release?.()
    signal?.removeEventListener('abort', stop)
  }
}

/** Rows that one call writes before its watch is asked again: about a quarter of a second of work. */
const ROWS_AT_ONCE = 1_000

/** A transaction that tells its watch of the rows that it writes, and ends once the signal says so. */
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
  }
}

/**
 * Runs a statement on a server, which `cancel` asks to end it. Goes on once that has been asked, so that it meets
 * no later statement.
 *
 * @throws the signal's reason, also where the statement was faster
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
    // Where the server cannot be asked, the statement comes to its own end.
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

/** The other side: to be called after each statement. @throws Error where the script is to stop */
export function reportTo(shared: SharedArrayBuffer | null): (changes: number) => void {
  if (!shared) return () => {}
  const words = new Int32Array(shared)
  return (changes) => {
    Atomics.add(words, WRITTEN, changes)
    if (Atomics.load(words, STATE) === STOPPED) throw stopped()
  }
}

/**
 * The other side: to be called before the commit, after which nothing stops the script.
 *
 * @throws Error where it was stopped
 */
export function claimCommit(shared: SharedArrayBuffer | null): void {
  if (!shared) return
  if (Atomics.compareExchange(new Int32Array(shared), STATE, RUNNING, COMMITTING) === STOPPED) throw stopped()
}

const stopped = (): Error => new Error('The script was stopped')
