import { AsyncLocalStorage } from 'node:async_hooks'
import type { Config } from './config.ts'
import type { Actor } from './core/actor.ts'
import { AppError } from './core/errors.ts'

/** Who waits for what a request asks: known to the databases, so that long reads are shared out fairly and end with it. */
export interface Caller {
  /** Aborted where the client has gone. */
  readonly signal: AbortSignal
  /** Whose turn it is where many wait; empty while that is not known. */
  key: string
  /** How long a read may take for them. */
  readonly timeoutMs: number
}

const callers = new AsyncLocalStorage<Caller>()

/** Runs the handling of a request; `currentCaller` knows it in there. */
export function asCaller<T>(request: Request, timeoutMs: number, handle: () => T): T {
  const caller: Caller = {
    // Only made where somebody looks: most requests are answered before they could be given up.
    get signal() {
      return request.signal
    },
    key: '',
    timeoutMs,
  }
  return callers.run(caller, handle)
}

/** Says who the caller is, once that is known: an account, or a public link with all its visitors. */
export function nameCaller(actor: Actor): void {
  const caller = callers.getStore()
  if (!caller) return
  if (actor.kind === 'user') caller.key = `user ${actor.id}`
  else if (actor.kind === 'share') caller.key = `link ${actor.shareId}`
}

/** Who waits for what is done now; undefined in work that goes on by itself, such as jobs. */
export const currentCaller = (): Caller | undefined => callers.getStore()

/** Runs work that goes on without the request that began it. */
export const withoutCaller = <T>(work: () => T): T => callers.exit(work)

/** Runs a write that goes on without its client: its reads end with `signal` instead of the request. */
export function untilAborted<T>(signal: AbortSignal, work: () => T): T {
  const caller = callers.getStore()
  return caller ? callers.run({ signal, key: caller.key, timeoutMs: caller.timeoutMs }, work) : work()
}

/** Nobody reads it: who asked has gone. */
export const cancelled = (): AppError => new AppError('QUERY_CANCELLED', 'The request was cancelled')

/** @param isWaiting true where it has not even begun */
function tooLate(timeoutMs: number, isWaiting = false): AppError {
  const seconds = Math.round(timeoutMs / 1000)
  return isWaiting
    ? new AppError(
        'QUERY_TIMEOUT',
        `Others keep the database busy: this has waited ${seconds} s. Try again later`,
      )
    : new AppError(
        'QUERY_TIMEOUT',
        `This took longer than ${seconds} s and was stopped: narrow it down by a filter, or raise QUERY_TIMEOUT_SECONDS`,
      )
}

/**
 * Calls `end` with the reason where the caller goes away, or waits for too long.
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
 * A read that `cancel` can end, for as long as its caller wants it.
 *
 * @throws QUERY_CANCELLED, QUERY_TIMEOUT once the read has ended
 */
export async function whileWanted<T>(
  caller: Caller | undefined,
  read: () => Promise<T>,
  cancel: () => void,
): Promise<T> {
  if (!caller) return read()
  if (caller.signal.aborted) throw cancelled()
  let reason: AppError | null = null
  const release = watchCaller(caller, (given) => {
    reason = given
    cancel()
  })
  try {
    return await read()
  } catch (error) {
    throw reason ?? error
  } finally {
    release()
  }
}

/** Identifies the caller of a request; implemented by the auth module. */
export interface Authenticator {
  /**
   * The actor of a request by its `xc-auth` (session JWT), `xc-token` or `Authorization: Bearer`
   * (API token) header. A header that is wrong, expired or revoked gives the anonymous actor: what
   * needs a right refuses it later, after unknown ids have been refused. A header that names a public link
   * makes its visitor, and is refused where the link is not open to them.
   *
   * @param address of the client: wrong passwords are counted by it
   */
  authenticate(headers: Headers, address?: string): Actor | Promise<Actor>
}

/** The part of Bun's server that knows a request's address. */
export interface AddressBook {
  requestIP(request: Request): { address: string } | null
}

/**
 * From where a request comes, for limits on attempts: the other end of its connection, or, where a reverse proxy
 * stands in front, what that proxy says. It adds the address that it sees at the end of `X-Forwarded-For`; what stands
 * before that, anyone may have written. Empty if unknown.
 */
export function clientAddress(
  { trustProxy }: Pick<Config, 'trustProxy'>,
  request: Request,
  server: AddressBook | null | undefined,
): string {
  const forwarded = trustProxy ? request.headers.get('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined
  return forwarded || (server?.requestIP(request)?.address ?? '')
}
