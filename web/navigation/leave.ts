import { session } from '../session/index.ts'
import { goTo, paths } from './paths.ts'

let leaves = false

/** True while the user signs out, so that the current screen is not restored after signing in. */
export const isLeaving = (): boolean => leaves

/** Signs out here by choice: to the sign-in page, without a way back to the present screen. */
export function leave(): void {
  leaves = true
  session.signOut()
  leaves = false
  goTo(paths.signIn(), { replace: true })
}
