import { readContinuePath } from '../navigation/continue-path.ts'
import { paths } from '../navigation/paths.ts'
import type { RouteLocation } from '../navigation/router.tsx'
import { endOnServer } from '../session/end-on-server.ts'
import { session, signOutLater } from '../session/index.ts'
import { localSettings } from '../session/local-settings.ts'
import { giveUpUnsaved, mayLoseUnsaved } from '../session/unsaved.ts'
import { cache } from '../trpc.ts'

/**
 * Requires a session. Without one opens sign-up on an installation without users, else sign-in, which leads back to
 * the requested page (spec §2).
 */
export async function requireSignIn(location: RouteLocation): Promise<string | null> {
  const ended = await endAsAsked(location)
  if (ended !== null) return ended
  // For an expired session, a dialog opens over the page instead.
  if (session.status() !== 'signedOut') return null
  const wanted = readContinuePath(location.href) ?? undefined
  if ((await cache.app.info.fetch()).firstUser) {
    if (wanted) localSettings.set('continueAfterSignIn', wanted)
    return paths.signUp(wanted)
  }
  return (await session.refresh()) === null ? paths.signIn(wanted) : null
}

/**
 * `?logout` in any address of the app ends the session, on the server too, and leads to sign-in (spec §2), unless the user
 * keeps changes that are not stored yet. Returns the path to open; null without it.
 */
async function endAsAsked({ href, search }: RouteLocation): Promise<string | null> {
  if (search.logout === undefined) return null
  // Without a token there may still be a cookie, which lets this browser in again.
  if (session.status() === 'signedOut') signOutLater()
  else {
    const lost = await mayLoseUnsaved()
    if (lost === null) return withoutLogout(href)
    await endOnServer()
    if (lost > 0) giveUpUnsaved()
  }
  session.signOut()
  return paths.signIn()
}

function withoutLogout(href: string): string {
  const [path = '', query] = href.split('?')
  const search = new URLSearchParams(query)
  search.delete('logout')
  return search.size > 0 ? `${path}?${search}` : path
}

/** Redirects signed-in users away from sign-in, sign-up and password reset. */
export async function requireSignedOut(location: RouteLocation): Promise<string | null> {
  const ended = await endAsAsked(location)
  if (ended !== null) return ended
  return session.status() === 'signedIn' ? takeContinuePath(location) : null
}

/** Target after sign-in: from the address, else the stored one, else the list of bases. */
function takeContinuePath({ search }: RouteLocation): string {
  const kept = localSettings.get('continueAfterSignIn')
  localSettings.remove('continueAfterSignIn')
  return readContinuePath(search.continueAfterSignIn) ?? readContinuePath(kept) ?? paths.bases()
}
