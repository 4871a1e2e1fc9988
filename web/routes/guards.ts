import { type ParsedLocation, redirect } from '@tanstack/react-router'
import { isOffline } from '../errors.ts'
import { readContinuePath } from '../navigation/continue-path.ts'
import { paths } from '../navigation/paths.ts'
import { session } from '../session/index.ts'
import { localSettings } from '../session/local-settings.ts'
import { api, cache } from '../trpc.ts'

interface Going {
  location: ParsedLocation
}

/**
 * Requires a session. Without one opens sign-up on an installation without users, else sign-in, which leads back to
 * the requested page (spec §2).
 */
export async function requireSignIn({ location }: Going): Promise<void> {
  await signOutIfAsked(location)
  // For an expired session, a dialog opens over the page instead.
  if (session.status() !== 'signedOut') return
  const wanted = readContinuePath(location.href) ?? undefined
  if ((await cache.app.info.fetch()).firstUser) {
    if (wanted) localSettings.set('continueAfterSignIn', wanted)
    throw redirect({ href: paths.signUp(wanted), replace: true })
  }
  if ((await session.refresh()) === null) throw redirect({ href: paths.signIn(wanted), replace: true })
}

/** `?logout` in any address of the app ends the session, on the server too, and leads to sign-in (spec §2). */
async function signOutIfAsked({ search }: ParsedLocation): Promise<void> {
  if (!('logout' in (search as Record<string, unknown>))) return
  try {
    if (session.status() !== 'signedOut') await api.auth.signOut.mutate()
  } catch (error) {
    // The browser deletes its token even if the server does not respond.
    if (!isOffline(error)) throw error
  }
  session.signOut()
  throw redirect({ href: paths.signIn(), replace: true })
}

/** Redirects signed-in users away from sign-in, sign-up and password reset. */
export async function requireSignedOut({ location }: Going): Promise<void> {
  await signOutIfAsked(location)
  if (session.status() === 'signedIn')
    throw redirect({ href: takeContinuePath(location.search), replace: true })
}

/** Target after sign-in: from the address, else the stored one, else the list of bases. */
function takeContinuePath(search: unknown): string {
  const kept = localSettings.get('continueAfterSignIn')
  localSettings.remove('continueAfterSignIn')
  const asked = (search as { continueAfterSignIn?: unknown } | null)?.continueAfterSignIn
  return readContinuePath(asked) ?? readContinuePath(kept) ?? paths.bases()
}
