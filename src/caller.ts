import { AsyncLocalStorage } from 'node:async_hooks'
import type { Config } from './config.ts'
import type { Actor } from './core/actor.ts'
import { AppError } from './core/errors.ts'
import { m } from './messages.gen.ts'

/** The client of a request. The databases use it to schedule long reads fairly and to end them with the request. */
export interface Caller {
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
  /** Key for fair scheduling; empty until the client is authenticated. */
  key: string
  /** Template of the matched route, e.g. `/api/v2/tables/:tableId`; empty until it is known. */
  route: string
  /** Id of the request in the log and in `x-request-id`; empty until it is known. */
  requestId: string
  /** Read timeout. */
  readonly timeoutMs: number
  /** Network address and `User-Agent`, for audits. */
  readonly origin: () => Origin
}

/** Where a request came from. */
export interface Origin {
  /** IP address; null if unknown. */
  address: string | null
  userAgent: string | null
}

/** An IPv6 address with a zone may be longer, and `X-Forwarded-For` may hold any text. */
const MAX_ADDRESS_LENGTH = 64
const MAX_USER_AGENT_LENGTH = 256

const callers = new AsyncLocalStorage<Caller>()

/**
 * Handles a request; inside, `currentCaller` returns its caller.
 * @param addressOf called only where the address is needed
 */
export function asCaller<T>(
  request: Request,
  timeoutMs: number,
  handle: () => T,
  addressOf: () => string = () => '',
): T {
  const caller: Caller = {
    // Created on demand: most requests finish before they could be aborted.
    get signal() {
      return request.signal
    },
    key: '',
    route: '',
    requestId: '',
    timeoutMs,
    origin: () => ({
      address: addressOf().slice(0, MAX_ADDRESS_LENGTH) || null,
      userAgent: request.headers.get('user-agent')?.slice(0, MAX_USER_AGENT_LENGTH) || null,
    }),
  }
  return callers.run(caller, handle)
}

/** Records the request's route for metrics, and its id for the log of slow queries. */
export function nameRoute(route: string, requestId = ''): void {
  const caller = callers.getStore()
  if (!caller) return
  // The framework's templates end in a slash where a prefix and `/` make the route.
  caller.route = route.length > 1 && route.endsWith('/') ? route.slice(0, -1) : route
  caller.requestId = requestId
}

/** Sets the scheduling key after authentication: an account, or a public link with all its visitors. */
export function nameCaller(actor: Actor): void {
  const caller = callers.getStore()
  if (!caller) return
  if (actor.kind === 'user') caller.key = `user ${actor.id}`
  else if (actor.kind === 'share') caller.key = `link ${actor.shareId}`
}

/** The current request's caller; undefined in background work such as jobs. */
export const currentCaller = (): Caller | undefined => callers.getStore()

/** Where the current request came from; nulls in background work. */
export const currentOrigin = (): Origin => callers.getStore()?.origin() ?? { address: null, userAgent: null }

/** Runs work that continues after the request that started it. */
export const withoutCaller = <T>(work: () => T): T => callers.exit(work)

/**
 * Runs work whose reads end with `signal` instead of the request: a write that continues without its client, or a
 * read with a time limit of its own.
 */
export function untilAborted<T>(signal: AbortSignal, work: () => T): T {
  const caller = callers.getStore()
  if (!caller) return work()
  const { key, route, requestId, timeoutMs, origin } = caller
  return callers.run({ signal, key, route, requestId, timeoutMs, origin }, work)
}

/** The result of a read, or null if the time is up before it ends. Without a caller, the read is not limited. */
export async function withinTime<T>(timeUp: AbortSignal, read: () => Promise<T>): Promise<T | null> {
  const caller = currentCaller()
  try {
    return await untilAborted(caller ? AbortSignal.any([caller.signal, timeUp]) : timeUp, read)
  } catch (error) {
    const isTimeUp = error instanceof AppError && error.code === 'QUERY_CANCELLED' && timeUp.aborted
    if (isTimeUp && !caller?.signal.aborted) return null
    throw error
  }
}

/** The error for a disconnected client, which never reads it. */
export const cancelled = (): AppError => new AppError('QUERY_CANCELLED', m.request_error_cancelled())

/** @param isWaiting true if the read has not started */
function tooLate(timeoutMs: number, isWaiting = false): AppError {
  const seconds = Math.round(timeoutMs / 1000)
  return new AppError(
    'QUERY_TIMEOUT',
    isWaiting ? m.request_error_wait_timeout({ seconds }) : m.request_error_read_timeout({ seconds }),
  )
}

/**
 * Calls `end` with the reason when the caller disconnects or its timeout expires.
 *
 * @returns ends the watch
 */
export function watchCaller(
  { signal, timeoutMs }: Caller,
  end: (reason: AppError) => void,
  isWaiting = false,
): () => void {
  const onAbort = () => end(cancelled())
  const timer = setTimeout(() => end(tooLate(timeoutMs, isWaiting)), timeoutMs)
  signal.addEventListener('abort', onAbort, { once: true })
  return () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

/**
 * Runs a read, which `cancel` ends when the caller disconnects or its timeout expires. Waits for the cancellation, so
 * that it does not hit a later read.
 *
 * @throws QUERY_CANCELLED, QUERY_TIMEOUT once the read has ended
 */
export async function whileWanted<T>(
  caller: Caller | undefined,
  read: () => Promise<T>,
  cancel: () => unknown,
): Promise<T> {
  if (!caller) return read()
  if (caller.signal.aborted) throw cancelled()
  let reason: AppError | null = null
  let cancelling: unknown
  const release = watchCaller(caller, (given) => {
    reason = given
    cancelling = cancel()
  })
  try {
    return await read()
  } catch (error) {
    throw reason ?? error
  } finally {
    release()
    await cancelling
  }
}

/** Identifies the caller of a request; implemented by the auth module. */
export interface Authenticator {
  /**
   * The actor of a request by its `xc-auth` (session JWT), `xc-token` or `Authorization: Bearer` (API token) header. A
   * wrong, expired or revoked credential gives the anonymous actor, which is rejected later, after unknown ids. A
   * header with a public link gives the link's visitor, or is rejected if the link is closed to them.
   *
   * @param address of the client, by which wrong passwords are counted
   */
  authenticate(headers: Headers, address?: string): Actor | Promise<Actor>
}

/** The part of Bun's server that knows a request's address. */
export interface AddressBook {
  requestIP(request: Request): { address: string } | null
}

/**
 * The client's address, for rate limits: the peer of the connection, or behind a reverse proxy the last entry of
 * `X-Forwarded-For`, which the proxy appends; earlier entries can be forged. Empty if unknown.
 */
export function clientAddress(
  { trustProxy }: Pick<Config, 'trustProxy'>,
  request: Request,
  server: AddressBook | null | undefined,
): string {
  const forwarded = trustProxy ? request.headers.get('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined
  return forwarded || (server?.requestIP(request)?.address ?? '')
}
