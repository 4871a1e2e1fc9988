import { LRUCache } from 'lru-cache'
import { AppError } from '../../src/core/errors.ts'
import { placeOf } from '../auth/index.ts'

const HOUR_MS = 3_600_000
/** Places remembered at once; the longest unseen are forgotten first. */
const MAX_KEYS = 20_000

export type AnswerLimit = ReturnType<typeof createAnswerLimit>

/** Counts what one place sends to one form within an hour, in memory. */
export function createAnswerLimit(most: number, now: () => number = Date.now) {
  const sent = new LRUCache<string, number[]>({ max: MAX_KEYS })

  return {
    /** Counts one more. @throws TOO_MANY_REQUESTS, with `retryAfterSeconds`, where it is one too many */
    take(shareId: string, address: string): void {
      const key = `${shareId} ${placeOf(address)}`
      const since = now() - HOUR_MS
      const recent = (sent.get(key) ?? []).filter((at) => at > since)
      const [oldest] = recent
      if (oldest !== undefined && recent.length >= most) {
        const retryAfterSeconds = Math.max(1, Math.ceil((oldest + HOUR_MS - now()) / 1000))
        throw new AppError('TOO_MANY_REQUESTS', 'Too many answers came from here. Try again later.', {
          retryAfterSeconds,
        })
      }
      sent.set(key, [...recent, now()])
    },
  }
}
