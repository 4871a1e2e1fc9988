import { readContinuePath } from '../navigation/continue-path.ts'
import { isLeaving } from '../navigation/leave.ts'
import { currentPath, goTo, paths } from '../navigation/paths.ts'
import { session } from '../session/index.ts'
import { queryClient } from '../trpc.ts'
import { router } from './router.tsx'

/**
 * Keeps the screens in step with the session: signed out (also in another tab) leads to sign-in, signed in
 * (also in another tab) leads on, and another person's session shares nothing with the one before.
 */
export function followSession(): void {
  let userId = session.userId()
  let wasExpired = false
  session.subscribe((status) => {
    if (status === 'expired') {
      wasExpired = true
      return
    }
    if (status === 'signedOut') {
      queryClient.clear()
      const here = readContinuePath(currentPath())
      if (!isLeaving()) goTo(paths.signIn(here ?? undefined), { replace: true })
      userId = null
      return
    }
    const isSomeoneElse = userId !== null && userId !== session.userId()
    userId = session.userId()
    if (isSomeoneElse) location.reload()
    else if (wasExpired) void queryClient.invalidateQueries()
    else void router.invalidate()
    wasExpired = false
  })
}
