import { LRUCache } from 'lru-cache'
import { AppError } from '../../src/core/errors.ts'
import { placeOf } from './throttle.ts'

const HOUR_MS = 3_600_000
/** Places remembered at once; the longest unseen are forgotten first. */
const MAX_KEYS = 20_000

export type HourlyLimit = ReturnType<typeof createHourlyLimit>

/**
 * Counts what one place sends to one subject (a public link, the sign-up) within an hour, in memory.
 *
 * @param sent what is counted, in words: `answers`
 */
export function createHourlyLimit(most: number, sent: string, now: () => number = Date.now) {
  const times = new LRUCache<string, number[]>({ max: MAX_KEYS })

  /** Counts one more. @throws TOO_MANY_REQUESTS, with `retryAfterSeconds`, where it is one too many */
  function take(subject: string, address: string): string {
    const key = `${subject} ${placeOf(address)}`
    const since = now() - HOUR_MS
    const recent = (times.get(key) ?? []).filter((at) => at > since)
    const [oldest] = recent
    if (oldest !== undefined && recent.length >= most) {
      const retryAfterSeconds = Math.max(1, Math.ceil((oldest + HOUR_MS - now()) / 1000))
      throw new AppError('TOO_MANY_REQUESTS', `Too many ${sent}. Try again later.`, {
        retryAfterSeconds,
      })
    }
    times.set(key, [...recent, now()])
    return key
  }

  return {
    take: (subject: string, address: string): void => {
      take(subject, address)
    },

    /**
     * Counts one more from the beginning of `run`, so that many at once do not slip through; a run that fails is
     * not counted. @throws as `take`
     */
    async count<T>(subject: string, address: string, run: () => Promise<T>): Promise<T> {
      const key = take(subject, address)
      const at = times.get(key)?.at(-1)
      try {
        return await run()
      } catch (error) {
        const left = [...(times.get(key) ?? [])]
        const own = left.indexOf(at ?? 0)
        if (own >= 0) left.splice(own, 1)
        times.set(key, left)
        throw error
      }
    },
  }
}
