import { isPublicPath, readContinuePath } from '../navigation/continue-path.ts'
import { isLeaving } from '../navigation/leave.ts'
import { currentPath, goTo, paths } from '../navigation/paths.ts'
import { session } from '../session/index.ts'
import { isUnsavedGivenUp } from '../session/unsaved.ts'
import { queryClient } from '../trpc.ts'
import { router } from './router.tsx'

/**
 * Follows the session in all tabs: signing out opens sign-in unless the page is public (spec §4), signing in continues,
 * and another person's session starts with a new page, as does one after changes were given up.
 */
export function followSession(): void {
  let wasExpired = false
  session.subscribe((status) => {
    if (status === 'expired') {
      wasExpired = true
      return
    }
    if (status === 'signedOut') {
      queryClient.clear()
      const here = currentPath()
      if (!isLeaving() && !isPublicPath(here))
        goTo(paths.signIn(readContinuePath(here) ?? undefined), { replace: true })
      return
    }
    if (status === 'replaced' || isUnsavedGivenUp()) {
      location.reload()
      return
    }
    if (wasExpired) void queryClient.invalidateQueries()
    else router.reload()
    wasExpired = false
  })
}
