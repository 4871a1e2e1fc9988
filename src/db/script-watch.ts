import type { ScriptWatch } from '../dialects/dialect.ts'

/** Words of the memory that both threads see: how many rows are written, and whether the script is to stop. */
const [WRITTEN, STOP] = [0, 1]
const ASK_EVERY_MS = 200

/**
 * Follows a script that runs in another thread: tells how far it is, and lets a signal stop it.
 *
 * @throws the signal's reason where it has stopped the script
 */
export async function watchScript<T>(
  { signal, progress }: ScriptWatch,
  run: (shared: SharedArrayBuffer | null) => Promise<T>,
): Promise<T> {
  if (!signal && !progress) return run(null)
  signal?.throwIfAborted()
  const shared = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)
  const words = new Int32Array(shared)
  const stop = () => Atomics.store(words, STOP, 1)
  signal?.addEventListener('abort', stop)
  const timer = progress && setInterval(() => progress(Atomics.load(words, WRITTEN)), ASK_EVERY_MS)
  try {
    const result = await run(shared)
    progress?.(Atomics.load(words, WRITTEN))
    return result
  } catch (error) {
    // The thread can only say that it was stopped, and not why.
    if (Atomics.load(words, STOP) === 1) signal?.throwIfAborted()
    throw error
  } finally {
    clearInterval(timer)
    signal?.removeEventListener('abort', stop)
  }
}

/** The other side: to be called after each statement. @throws Error where the script is to stop */
export function reportTo(shared: SharedArrayBuffer | null): (changes: number) => void {
  if (!shared) return () => {}
  const words = new Int32Array(shared)
  return (changes) => {
    Atomics.add(words, WRITTEN, changes)
    if (Atomics.load(words, STOP) === 1) throw new Error('The script was stopped')
  }
}
