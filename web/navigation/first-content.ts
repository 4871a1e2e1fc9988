/** Time that a screen has to ask for records, or for what precedes them; one without records takes it all. */
const NEXT_REQUEST_MS = 2_500
/** On slow connections, other downloads start at this time even without records. */
const LATEST_MS = 15_000

const { promise, resolve } = Promise.withResolvers<void>()
setTimeout(resolve, LATEST_MS)
let timer = setTimeout(resolve, NEXT_REQUEST_MS)
let loading = 0

let isShown = false
void promise.then(() => {
  isShown = true
})

/** True once `firstContent` has resolved. */
export const isContentShown = (): boolean => isShown

/** Resolves once the first records are drawn. Before that, other downloads would compete for the connection. */
export const firstContent: Promise<void> = promise

/** Call with the loading of the first records and of what they need. */
export function expectContent(content: Promise<unknown>): void {
  loading++
  clearTimeout(timer)
  const settle = () => {
    loading--
    if (loading === 0) timer = setTimeout(resolve, NEXT_REQUEST_MS)
  }
  content.then(settle, settle)
}

/** Call when records have arrived; the next frame shows them. */
export function noteContent(): void {
  requestAnimationFrame(() => setTimeout(resolve))
}
