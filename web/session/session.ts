import { createStore } from 'zustand/vanilla'

/** Remaining life under which a token is renewed before it is used (spec §4). */
export const REFRESH_WINDOW_MS = 5 * 60_000

/**
 * `expired`: the server rejects the session while a page is open; the page stays and a dialog asks to sign in.
 * `signedOut`: signed out here or in another tab, or never signed in.
 * `replaced`: somebody else has signed in, here or in another tab. The page still belongs to the person before and must
 * be loaded again.
 */
export type SessionStatus = 'signedIn' | 'signedOut' | 'expired' | 'replaced'

export interface SessionDeps {
  load(): string | null
  save(token: string | null): void
  /** Requests a new token with the refresh cookie; null if rejected. Throws when offline, which must not sign out. */
  askForToken(): Promise<string | null>
  /** Runs one refresh at a time over all tabs; the cookie can be used only once. */
  exclusively<T>(work: () => Promise<T>): Promise<T>
  now(): number
}

/** The signed-in state of this browser: its token, its renewal, and requests waiting for a sign-in. */
export function createSession(deps: SessionDeps) {
  let token = deps.load()
  let decoded: { token: string | null; claims: TokenClaims | null } = { token: null, claims: null }
  const status = createStore<SessionStatus>(() => (isAlive(token) ? 'signedIn' : 'signedOut'))
  // The first person who is signed in while the page is open, also after they left: their drafts and unsent changes may
  // still be in it.
  let ownerId = isAlive(token) ? (ownClaims()?.id ?? null) : null
  let refreshing: Promise<string | null> | null = null
  let waiting: ((goOn: boolean) => void)[] = []

  function isAlive(candidate: string | null): candidate is string {
    const claims = readToken(candidate)
    return claims !== null && claims.expiresAtMs > deps.now()
  }

  /** The claims of the current token, decoded once per token: every request needs them. */
  function ownClaims(): TokenClaims | null {
    if (decoded.token !== token) decoded = { token, claims: readToken(token) }
    return decoded.claims
  }

  function accept(fresh: string): string | null {
    deps.save(fresh)
    return adopt(fresh)
  }

  /** Goes on with a token of the page's person. Null for somebody else's, which only the next page may use. */
  function adopt(fresh: string): string | null {
    const userId = readToken(fresh)?.id ?? null
    const isReplaced = ownerId !== null && ownerId !== userId
    if (!isReplaced) {
      token = fresh
      ownerId = userId
    }
    status.setState(isReplaced ? 'replaced' : 'signedIn')
    releaseWaiting(!isReplaced)
    return isReplaced ? null : fresh
  }

  function releaseWaiting(goOn: boolean): void {
    const released = waiting
    waiting = []
    for (const resolve of released) resolve(goOn)
  }

  async function renew(): Promise<string | null> {
    const before = token
    return deps.exclusively(async () => {
      // Another tab may have renewed it while this one waited.
      const stored = deps.load()
      if (stored !== before && isAlive(stored)) return accept(stored)
      const fresh = await deps.askForToken()
      if (fresh !== null) return accept(fresh)
      const renewedElsewhere = deps.load()
      return renewedElsewhere !== before && isAlive(renewedElsewhere) ? accept(renewedElsewhere) : null
    })
  }

  /**
   * Requests a new token; null if the server rejects it or somebody else has signed in. Concurrent callers share one
   * request.
   */
  function refresh(): Promise<string | null> {
    refreshing ??= renew().finally(() => {
      refreshing = null
    })
    return refreshing
  }

  return {
    /** The token, even if expired. */
    token: (): string | null => token,
    status: status.getState,
    /** Id of the user whose token this is, also after it expired. */
    userId: (): string | null => ownClaims()?.id ?? null,
    /** Their e-mail address, also after it expired. */
    email: (): string => ownClaims()?.email ?? '',
    refresh,

    /** The token for a request; renewed first if less than five minutes remain. */
    async current(): Promise<string | null> {
      const claims = ownClaims()
      if (claims === null || status.getState() !== 'signedIn') return token
      if (claims.expiresAtMs - deps.now() > REFRESH_WINDOW_MS) return token
      try {
        return (await refresh()) ?? token
      } catch (error) {
        // Offline: the old token may still be accepted while it is valid.
        if (isAlive(token)) return token
        throw error
      }
    },

    /** After sign-up or sign-in: keeps the token and lets the waiting requests of the same person go on. */
    signIn: (fresh: string): void => void accept(fresh),

    /** Forgets the token. Waiting requests fail. */
    signOut(): void {
      token = null
      deps.save(null)
      status.setState('signedOut')
      releaseWaiting(false)
    },

    /** Another tab signed in or out, or renewed. */
    followOtherTab(stored: string | null): void {
      if (isAlive(stored)) {
        adopt(stored)
      } else if (stored === null) {
        token = null
        status.setState('signedOut')
        releaseWaiting(false)
      }
    },

    /** Call after the server rejected both token and refresh: keeps the page and asks to sign in. */
    expire(): void {
      if (status.getState() === 'signedIn') status.setState('expired')
    },

    /** Resolves true once the user has signed in again, false if they left or somebody else has signed in. */
    resumed(): Promise<boolean> {
      if (status.getState() !== 'expired') return Promise.resolve(status.getState() === 'signedIn')
      return new Promise((resolve) => waiting.push(resolve))
    },

    /** Calls back after every change of the status. */
    subscribe: status.subscribe,
  }
}

/** Claims read from the token, unverified; the server checks the signature. */
interface TokenClaims {
  /** Id of the user, e.g. `us2vpf8fjsfpnuwv`. */
  id: string
  email: string
  /** Moment of expiry in milliseconds since 1970. */
  expiresAtMs: number
}

/** The claims of a sign-in token; null if it is invalid. */
function readToken(token: string | null): TokenClaims | null {
  const payload = token?.split('.')[1]
  if (!payload) return null
  try {
    const claims: unknown = JSON.parse(decodeBase64Url(payload))
    if (typeof claims !== 'object' || claims === null) return null
    const { id, email, exp } = claims as Record<string, unknown>
    if (typeof id !== 'string' || typeof exp !== 'number') return null
    return { id, email: typeof email === 'string' ? email : '', expiresAtMs: exp * 1000 }
  } catch (error) {
    // Not base64 (DOMException) or not JSON (SyntaxError): foreign data under our key.
    if (error instanceof SyntaxError || error instanceof DOMException) return null
    throw error
  }
}

function decodeBase64Url(text: string): string {
  const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return new TextDecoder().decode(Uint8Array.from(bytes, (char) => char.charCodeAt(0)))
}
