import { type ParsedLocation, redirect } from '@tanstack/react-router'
import { session } from '../session/index.ts'
import { localSettings } from '../session/local-settings.ts'
import { cache } from '../trpc.ts'
import { readContinuePath } from './continue-path.ts'
import { paths } from './paths.ts'

interface Going {
  location: ParsedLocation
}

/**
 * Lets through who is signed in. Others go to sign-up on an install without users, else to sign-in, and
 * from there on to where they wanted (spec §2).
 */
export async function requireSignIn({ location }: Going): Promise<void> {
  if ('logout' in (location.search as Record<string, unknown>)) {
    session.signOut()
    throw redirect({ href: paths.signIn(), replace: true })
  }
  // An expired session has a dialog over the page, which stays where it is.
  if (session.status() !== 'signedOut') return
  const wanted = readContinuePath(location.href) ?? undefined
  if ((await cache.app.info.fetch()).firstUser) {
    if (wanted) localSettings.set('continueAfterSignIn', wanted)
    throw redirect({ href: paths.signUp(wanted), replace: true })
  }
  if ((await session.refresh()) === null) throw redirect({ href: paths.signIn(wanted), replace: true })
}

/** Sign-in and sign-up are not for those who are signed in already. */
export function requireSignedOut({ location }: Going): void {
  if (session.status() === 'signedIn')
    throw redirect({ href: takeContinuePath(location.search), replace: true })
}

/** Where to go after signing in: what the address says, else what was kept, else the list of bases. */
export function takeContinuePath(search: unknown): string {
  const kept = localSettings.get('continueAfterSignIn')
  localSettings.remove('continueAfterSignIn')
  const asked = (search as { continueAfterSignIn?: unknown } | null)?.continueAfterSignIn
  return readContinuePath(asked) ?? readContinuePath(kept) ?? paths.bases()
}
