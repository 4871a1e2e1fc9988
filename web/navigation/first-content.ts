/** Timeout for screens without records. */
const LATEST_MS = 2500

const { promise, resolve } = Promise.withResolvers<void>()
setTimeout(resolve, LATEST_MS)

let isShown = false
void promise.then(() => {
  isShown = true
})

/** True once `firstContent` has resolved. */
export const isContentShown = (): boolean => isShown

/** Resolves once the first records are drawn. Before that, other downloads would compete for the connection. */
export const firstContent: Promise<void> = promise

/** Call when records have arrived; the next frame shows them. */
export function noteContent(): void {
  requestAnimationFrame(() => setTimeout(resolve))
}
