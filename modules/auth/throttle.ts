import { isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import { AppError } from '../../src/core/errors.ts'

/** Failures of one person from one place, of one place, and how long they count. */
export const MAX_FAILURES_PER_ACCOUNT = 10
export const MAX_FAILURES_PER_ADDRESS = 100
export const WINDOW_MS = 15 * 60_000
/** Places and accounts remembered at once; the longest unseen are forgotten first. */
const MAX_KEYS = 20_000

export type Throttle = ReturnType<typeof createThrottle>

/** Counts failures over a sliding window, in memory. */
export function createThrottle(now: () => number = Date.now) {
  const failures = new LRUCache<string, number[]>({ max: MAX_KEYS })

  function recent(key: string): number[] {
    const since = now() - WINDOW_MS
    return (failures.get(key) ?? []).filter((at) => at > since)
  }

  function check(key: string, max: number): void {
    const times = recent(key)
    const oldest = times[times.length - max]
    if (oldest === undefined) return
    const retryAfterSeconds = Math.max(1, Math.ceil((oldest + WINDOW_MS - now()) / 1000))
    const minutes = Math.ceil(retryAfterSeconds / 60)
    throw new AppError(
      'TOO_MANY_REQUESTS',
      `Too many failed attempts. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`,
      { retryAfterSeconds },
    )
  }

  const limitsOf = (account: string, address: string) => {
    const place = placeOf(address)
    return [
      [`${account} ${place}`, MAX_FAILURES_PER_ACCOUNT],
      [place, MAX_FAILURES_PER_ADDRESS],
    ] as const
  }

  function refuse(account: string, address: string): void {
    for (const [key, max] of limitsOf(account, address)) check(key, max)
  }

  return {
    /** Refuses where there were too many failures, without counting anything. @throws TOO_MANY_REQUESTS */
    refuse,

    /**
     * Runs an attempt by `account` from `address`. It counts from its beginning, so that many at once
     * do not slip through, and is forgiven unless it throws.
     *
     * @throws TOO_MANY_REQUESTS without running it, when there were too many failures; `details`
     *   carry `retryAfterSeconds`
     */
    async attempt<T>(account: string, address: string, run: () => Promise<T>): Promise<T> {
      const limits = limitsOf(account, address)
      refuse(account, address)
      const at = now()
      for (const [key, max] of limits) failures.set(key, [...recent(key), at].slice(-max))
      const result = await run()
      for (const [key] of limits) {
        const times = recent(key)
        const own = times.indexOf(at)
        if (own >= 0) times.splice(own, 1)
        if (times.length === 0) failures.delete(key)
        else failures.set(key, times)
      }
      return result
    },
  }
}

/**
 * What an address counts as. A single customer has the 2^64 addresses of an IPv6 network (RFC 6177), so
 * only its network tells places apart; an IPv4 address is the same in its IPv6 form.
 */
function placeOf(address: string): string {
  const [plain = ''] = address.split('%')
  const mapped = /^::ffff:([\d.]+)$/i.exec(plain)?.[1]
  if (mapped !== undefined) return mapped
  if (isIP(plain) !== 6) return address
  const [front = '', back] = plain.split('::')
  const groupsOf = (part: string) => part.split(':').filter((group) => group !== '')
  const [head, tail] = [groupsOf(front), groupsOf(back ?? '')]
  const zeros = new Array(Math.max(0, 8 - head.length - tail.length)).fill('0')
  const network = [...head, ...(back === undefined ? [] : zeros), ...tail].slice(0, 4)
  return network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')
}

const HOUR_MS = 3_600_000
/** Places remembered at once; the longest unseen are forgotten first. */
const MAX_LIMITED_KEYS = 20_000

export type HourlyLimit = ReturnType<typeof createHourlyLimit>

/**
 * Counts what one place sends to one subject (a public link, the sign-up) within an hour, in memory.
 *
 * @param sent what is counted, in words: `answers`
 */
export function createHourlyLimit(most: number, sent: string, now: () => number = Date.now) {
  const times = new LRUCache<string, number[]>({ max: MAX_LIMITED_KEYS })

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
