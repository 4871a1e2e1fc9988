import { createTRPCClient, httpLink, TRPCClientError } from '@trpc/client'
import { useSyncExternalStore } from 'react'
import type { AppRouter } from '../../src/router.ts'
import { localSettings } from './local-settings.ts'
import { createSession, type SessionStatus } from './session.ts'
import { isVisitorPage, visitor } from './visitor.ts'

// A separate client: the usual one renews tokens and would wait for itself. To sign out, the server requires the header,
// but no valid token.
const refreshClient = createTRPCClient<AppRouter>({
  links: [httpLink({ url: '/trpc', headers: { 'xc-auth': 'none' } })],
})

/** The session of this browser. */
export const session = createSession({
  load: () => (isVisitorPage ? null : localSettings.get('token')),
  save(token) {
    if (token === null) return localSettings.remove('token')
    // The cookie belongs to a new session now. Not removed, because other tabs would keep their copy in memory.
    localSettings.set('unsentSignOut', 'false')
    localSettings.set('token', token)
  },
  now: Date.now,

  async askForToken() {
    try {
      if (localSettings.get('unsentSignOut') === 'true') {
        await refreshClient.auth.signOut.mutate()
        localSettings.set('unsentSignOut', 'false')
      }
      return (await refreshClient.auth.refresh.mutate()).token
    } catch (error) {
      if (error instanceof TRPCClientError && isRefusal(error)) return null
      throw error
    }
  },

  // Web locks require https or localhost; otherwise `renew` reads the storage again.
  exclusively: (work) => (navigator.locks ? navigator.locks.request('sheaf.refresh', work) : work()),
})

if (!isVisitorPage) localSettings.onChangeElsewhere('token', (token) => session.followOtherTab(token))

/** True for 4xx responses. A 5xx or network error does not invalidate the session. */
const isRefusal = (error: TRPCClientError<AppRouter>): boolean => {
  const status = error.data?.httpStatus
  return status !== undefined && status >= 400 && status < 500 && status !== 429
}

/** Makes this browser ask the server to end the session of its cookie, instead of using the cookie again. */
export const signOutLater = (): void => localSettings.set('unsentSignOut', 'true')

/** The session's status as a hook. */
export const useSessionStatus = (): SessionStatus => useSyncExternalStore(session.subscribe, session.status)

/** Headers that identify the caller: the shared link of a visitor page, or the session token. */
export async function callerHeaders(): Promise<Record<string, string>> {
  const visiting = visitor.headers()
  if (visiting) return visiting
  const token = await session.current()
  return token ? { 'xc-auth': token } : {}
}

/**
 * `fetch` with the session: sends `xc-auth`, renews the token on a 401 and retries once. For uploads and downloads;
 * other calls use `api` and `trpc`.
 */
export async function fetchSignedIn(url: string, init: RequestInit = {}): Promise<Response> {
  const send = async () => {
    const headers = new Headers(init.headers)
    for (const [name, value] of Object.entries(await callerHeaders())) headers.set(name, value)
    return fetch(url, { ...init, headers })
  }
  const answer = await send()
  if (answer.status !== 401 || !(await recoverFrom401())) return answer
  return send()
}

/**
 * Recovers from a 401 by one shared refresh or, if that is rejected, the sign-in dialog. Resolves true to resend the
 * request, false if the user left, somebody else has signed in, or a visitor has no session to renew.
 */
export async function recoverFrom401(): Promise<boolean> {
  if (session.status() === 'signedOut' || visitor.link() !== null) return false
  if (session.status() === 'expired') return session.resumed()
  if ((await session.refresh()) !== null) return true
  session.expire()
  return session.resumed()
}
