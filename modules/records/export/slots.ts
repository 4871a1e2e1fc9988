import { AppError } from '../../../src/core/errors.ts'

/** Downloads that one public link has at a time: each keeps the server busy for as long as it takes. */
const MAX_AT_ONCE = 3
/** A download that takes nothing for so long does not count any more. */
const IDLE_MS = 60_000

/** Counts the downloads that are under way, by public link. */
export function createDownloadSlots() {
  const taken = new Map<string, number>()

  return {
    /**
     * The same pieces, which count for the link until the last of them, or until nobody takes any more.
     *
     * @throws TOO_MANY_REQUESTS where the link has too many downloads under way
     */
    count(shareId: string, pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
      const count = taken.get(shareId) ?? 0
      if (count >= MAX_AT_ONCE) {
        throw new AppError(
          'TOO_MANY_REQUESTS',
          'Too many downloads by this link at the moment. Try again in a minute.',
          { retryAfterSeconds: 60 },
        )
      }
      taken.set(shareId, count + 1)
      let isHeld = true
      const release = () => {
        clearTimeout(idle)
        if (!isHeld) return
        isHeld = false
        const left = (taken.get(shareId) ?? 1) - 1
        if (left > 0) taken.set(shareId, left)
        else taken.delete(shareId)
      }
      let idle = setTimeout(release, IDLE_MS)
      idle.unref()
      const inner = pieces[Symbol.asyncIterator]()
      const iterator: AsyncIterator<Uint8Array> = {
        async next() {
          clearTimeout(idle)
          try {
            const piece = await inner.next()
            if (piece.done) release()
            else if (isHeld) {
              idle = setTimeout(release, IDLE_MS)
              idle.unref()
            }
            return piece
          } catch (error) {
            release()
            throw error
          }
        },
        async return(value) {
          release()
          return (await inner.return?.(value)) ?? { done: true, value }
        },
      }
      return { [Symbol.asyncIterator]: () => iterator }
    },
  }
}
