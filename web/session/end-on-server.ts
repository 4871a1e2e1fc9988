import { isUnanswered } from '../errors.ts'
import { api } from '../trpc.ts'
import { signOutLater } from './index.ts'

/** Ends the session on the server, now or, if it does not respond, before this browser would renew the session. */
export async function endOnServer(): Promise<void> {
  try {
    await api.auth.signOut.mutate()
  } catch (error) {
    if (!isUnanswered(error)) throw error
    signOutLater()
  }
}
