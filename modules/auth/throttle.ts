import { isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import { AppError } from '../../src/core/errors.ts'
import { m } from '../../src/messages.gen.ts'

/** Failures within the window: of one account from one address, and of one address. */
export const MAX_FAILURES_PER_ACCOUNT = 10
export const MAX_FAILURES_PER_ADDRESS = 100
export const WINDOW_MS = 15 * 60_000
/** The longest unused are dropped first. */
const MAX_KEYS = 20_000

export type Throttle = ReturnType<typeof createThrottle>

/** Counts failures in a sliding window, in memory. */
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
    const message = m.auth_error_too_many_attempts({ count: Math.ceil(retryAfterSeconds / 60) })
    throw new AppError('TOO_MANY_REQUESTS', message, { retryAfterSeconds })
  }

  const limitsOf = (account: string, address: string) => {
    const network = networkOf(address)
    return [
      [`${account} ${network}`, MAX_FAILURES_PER_ACCOUNT],
      [network, MAX_FAILURES_PER_ADDRESS],
    ] as const
  }

  function refuse(account: string, address: string): void {
    for (const [key, max] of limitsOf(account, address)) check(key, max)
  }

  return {
    /** Refuses after too many failures, without counting. @throws TOO_MANY_REQUESTS */
    refuse,

    /**
     * Runs an attempt by `account` from `address`. It counts as a failure from the start, so that parallel
     * attempts cannot bypass the limit, and no longer once it succeeds.
     * @throws TOO_MANY_REQUESTS with `retryAfterSeconds`, without running it, after too many failures
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
 * The key of an address: the /64 network of an IPv6 address, since one customer has all of it (RFC 6177); an
 * IPv4 address in its IPv6 form is the IPv4 address.
 */
function networkOf(address: string): string {
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
/** The longest unused are dropped first. */
const MAX_LIMITED_KEYS = 20_000

/**
 * Counts events per hour by subject (a public link, sign-up) and address, in memory.
 * @param refusal message above the limit
 */
export function createHourlyLimit(most: number, refusal: () => string, now: () => number = Date.now) {
  const times = new LRUCache<string, number[]>({ max: MAX_LIMITED_KEYS })

  /** Counts one event. @throws TOO_MANY_REQUESTS with `retryAfterSeconds` above the limit */
  function take(subject: string, address: string): string {
    const key = `${subject} ${networkOf(address)}`
    const since = now() - HOUR_MS
    const recent = (times.get(key) ?? []).filter((at) => at > since)
    const [oldest] = recent
    if (oldest !== undefined && recent.length >= most) {
      const retryAfterSeconds = Math.max(1, Math.ceil((oldest + HOUR_MS - now()) / 1000))
      throw new AppError('TOO_MANY_REQUESTS', refusal(), { retryAfterSeconds })
    }
    times.set(key, [...recent, now()])
    return key
  }

  return {
    take: (subject: string, address: string): void => {
      take(subject, address)
    },

    /**
     * Counts one event from the start of `run`, so that parallel ones cannot bypass the limit; failures are not
     * counted. @throws as `take`
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
