/** A server that takes longer counts as away. */
const ANSWERS_WITHIN_MS = 5_000

const FIRST_PAUSE_MS = 400
const LONGEST_PAUSE_MS = 10_000

/** True if the server answers. A small file, which needs neither a session nor the database. */
export async function isServerThere(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWERS_WITHIN_MS)
    return (await fetch('/builds/latest.json', { cache: 'no-store', signal })).ok
  } catch {
    return false
  }
}

/** Waits before the next try, longer after each: with jitter, so that not all pages ask a server that starts at once. */
export const pauseAfter = (tries: number): Promise<void> =>
  new Promise((resolve) =>
    setTimeout(
      resolve,
      Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS) * (0.5 + Math.random()),
    ),
  )

/**
 * Asks until the server answers.
 *
 * @param onSilence called after each try without an answer, with their number
 * @param signal ends that; the promise then stays open
 */
export async function untilServerAnswers(
  onSilence: (tries: number) => void,
  signal?: AbortSignal,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    await pauseAfter(tries)
    const isThere = !signal?.aborted && (await isServerThere())
    if (signal?.aborted) return new Promise<never>(() => {})
    if (isThere) return
    onSilence(tries)
  }
}
