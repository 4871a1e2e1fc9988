/** Runs callers one after the other, in the order they came. */
export function createMutex() {
  let last: Promise<unknown> = Promise.resolve()
  return function exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work)
    // The queue goes on after a failure; the failure itself is the caller's, in `result`.
    last = result.catch(() => undefined)
    return result
  }
}
