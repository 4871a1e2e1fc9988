/** By then the first screen is complete, or shows no records. */
const LATEST_MS = 2500

const { promise, resolve } = Promise.withResolvers<void>()
setTimeout(resolve, LATEST_MS)

/** Resolves once the first records are drawn. Before that, other downloads would compete for the connection. */
export const firstContent: Promise<void> = promise

/** Called when records have arrived, which the next frame shows. */
export function noteContent(): void {
  requestAnimationFrame(() => setTimeout(resolve))
}
