import { isIP } from 'node:net'
import { nowMs } from '../../src/clock.ts'
import { AppError } from '../../src/core/errors.ts'
import { type Limits, LONGEST_WINDOW_MS } from '../../src/limits.ts'
import { m } from '../../src/messages.gen.ts'
import { explainStorage } from '../../src/storage-full.ts'

/** Failures within the window: of one account from one address, and of one address. */
export const MAX_FAILURES_PER_ACCOUNT = 10
export const MAX_FAILURES_PER_ADDRESS = 100
export const WINDOW_MS = 15 * 60_000

/** Where a limit counts: on all servers together. */
interface Scope {
  limits: Pick<Limits, 'of'>
  /** Unique among the limits of a server. */
  name: string
}

export type Throttle = ReturnType<typeof createThrottle>

/** Counts failures in a sliding window, on all servers together. */
export function createThrottle({ limits, name }: Scope, now: () => number = nowMs) {
  const failures = limits.of(name, MAX_FAILURES_PER_ADDRESS)

  const recent = (key: string): number[] => failures.since(key, now() - WINDOW_MS)

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
     * attempts cannot bypass the limit, and no longer once it succeeds. While the database is away, none counts.
     * @throws TOO_MANY_REQUESTS with `retryAfterSeconds`, without running it, after too many failures
     */
    async attempt<T>(account: string, address: string, run: () => Promise<T>): Promise<T> {
      const limits = limitsOf(account, address)
      refuse(account, address)
      const at = now()
      for (const [key] of limits) failures.add(key, at)
      const forget = () => {
        for (const [key] of limits) failures.remove(key, at)
      }
      const result = await run().catch((error) => {
        const reason = explainStorage(error)
        if (reason instanceof AppError && reason.code === 'DATABASE_UNREACHABLE') forget()
        throw error
      })
      forget()
      return result
    },
  }
}

/**
 * The key of an address: the /64 network of an IPv6 address, since one customer has all of it (RFC 6177); an
 * IPv4 address in its IPv6 form is the IPv4 address.
 */
export function networkOf(address: string): string {
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

const HOUR_MS = LONGEST_WINDOW_MS

/**
 * Counts events per hour by subject (a public link, sign-up) and address, on all servers together.
 * @param refusal message above the limit
 */
export function createHourlyLimit(
  { limits, name }: Scope,
  most: number,
  refusal: () => string,
  now: () => number = nowMs,
) {
  const counts = limits.of(name, most)

  /** Counts one event; returns its key and time. @throws TOO_MANY_REQUESTS with `retryAfterSeconds` above the limit */
  function take(subject: string, address: string): { key: string; at: number } {
    const key = `${subject} ${networkOf(address)}`
    const at = now()
    const recent = counts.since(key, at - HOUR_MS)
    const [oldest] = recent
    if (oldest !== undefined && recent.length >= most) {
      const retryAfterSeconds = Math.max(1, Math.ceil((oldest + HOUR_MS - at) / 1000))
      throw new AppError('TOO_MANY_REQUESTS', refusal(), { retryAfterSeconds })
    }
    counts.add(key, at)
    return { key, at }
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
      const { key, at } = take(subject, address)
      try {
        return await run()
      } catch (error) {
        counts.remove(key, at)
        throw error
      }
    },
  }
}
