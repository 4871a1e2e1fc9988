import { LRUCache } from 'lru-cache'
import { AppError } from '../../src/core/errors.ts'
import { placeOf } from './throttle.ts'

const HOUR_MS = 3_600_000
/** Places remembered at once; the longest unseen are forgotten first. */
const MAX_KEYS = 20_000

export type HourlyLimit = ReturnType<typeof createHourlyLimit>

/**
 * Counts what one place sends by one public link within an hour, in memory.
 *
 * @param sent what is counted, in words: `answers`
 */
export function createHourlyLimit(most: number, sent: string, now: () => number = Date.now) {
  const times = new LRUCache<string, number[]>({ max: MAX_KEYS })

  return {
    /** Counts one more. @throws TOO_MANY_REQUESTS, with `retryAfterSeconds`, where it is one too many */
    take(shareId: string, address: string): void {
      const key = `${shareId} ${placeOf(address)}`
      const since = now() - HOUR_MS
      const recent = (times.get(key) ?? []).filter((at) => at > since)
      const [oldest] = recent
      if (oldest !== undefined && recent.length >= most) {
        const retryAfterSeconds = Math.max(1, Math.ceil((oldest + HOUR_MS - now()) / 1000))
        throw new AppError('TOO_MANY_REQUESTS', `Too many ${sent} came from here. Try again later.`, {
          retryAfterSeconds,
        })
      }
      times.set(key, [...recent, now()])
    },
  }
}
