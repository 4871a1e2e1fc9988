/** Nearly as long as a test may take, so that it says what it waited for. */
export const PATIENCE_MS = 100_000

/** Pauses between looks, which begin short and grow: many looks take processor time from what they wait for. */
const [FIRST_PAUSE_MS, LAST_PAUSE_MS] = [5, 50]

/**
 * Waits until something becomes true: for what happens soon, but on a busy machine at no certain time.
 *
 * @returns when it was found to be true, by `performance.now()`
 * @throws Error naming `what` after `timeoutMs`
 */
export async function until(
  isTrue: () => boolean | Promise<boolean>,
  what = String(isTrue),
  timeoutMs = PATIENCE_MS,
): Promise<number> {
  const deadline = performance.now() + timeoutMs
  for (let pauseMs = FIRST_PAUSE_MS; !(await isTrue()); pauseMs = Math.min(1.3 * pauseMs, LAST_PAUSE_MS)) {
    if (performance.now() > deadline) throw new Error(`Not true within ${timeoutMs} ms: ${what}`)
    await Bun.sleep(pauseMs)
  }
  return performance.now()
}
