import { KeyRound, LockKeyhole, LogOut, UserRound } from 'lucide-react'
import type { Action } from '../../../actions/action.ts'
import { isOffline } from '../../../errors.ts'
import { m } from '../../../messages.gen.ts'
import { leave } from '../../../navigation/leave.ts'
import { goTo, paths } from '../../../navigation/paths.ts'
import { api } from '../../../trpc.ts'

const group = () => m.shell_account()

/** Name and e-mail. */
export const editProfile: Action = {
  id: 'account.profile',
  label: () => m.shell_profile(),
  group,
  icon: UserRound,
  run: () => goTo(paths.account('profile')),
}

/** A new password. */
export const changePassword: Action = {
  id: 'account.password',
  label: () => m.common_change_password(),
  group,
  icon: LockKeyhole,
  run: () => goTo(paths.account('password')),
}

/** Tokens for programs. */
export const openTokens: Action = {
  id: 'account.tokens',
  label: () => m.shell_api_tokens(),
  group,
  icon: KeyRound,
  run: () => goTo(paths.account('tokens')),
}

/** Ends the session here and in the other tabs. */
export const signOutAction: Action = {
  id: 'account.signOut',
  label: () => m.shell_sign_out(),
  group,
  icon: LogOut,
  async run() {
    try {
      await api.auth.signOut.mutate()
    } catch (error) {
      // Without an answer the browser forgets its token all the same: that is what the person asked for.
      if (!isOffline(error)) throw error
    }
    leave()
  },
}
