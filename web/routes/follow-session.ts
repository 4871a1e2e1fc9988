import { session } from '../session/index.ts'
import { queryClient } from '../trpc.ts'
import { readContinuePath } from './continue-path.ts'
import { currentPath, goTo, paths } from './paths.ts'
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
      if (!isLeaving) goTo(paths.signIn(here ?? undefined), { replace: true })
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

let isLeaving = false

/** Signs out here by choice: to the sign-in page, without a way back to the present screen. */
export function leave(): void {
  isLeaving = true
  session.signOut()
  isLeaving = false
  goTo(paths.signIn(), { replace: true })
}
