import { KeyRound, LockKeyhole, LogOut, UserRound } from 'lucide-react'
import type { Action } from '../../../actions/action.ts'
import { isOffline } from '../../../errors.ts'
import { t } from '../../../i18n.ts'
import { leave } from '../../../navigation/leave.ts'
import { goTo, paths } from '../../../navigation/paths.ts'
import { api } from '../../../trpc.ts'

const group = () => t('Account')

/** Name and e-mail. */
export const editProfile: Action = {
  id: 'account.profile',
  label: () => t('Profile'),
  group,
  icon: UserRound,
  run: () => goTo(paths.account('profile')),
}

/** A new password. */
export const changePassword: Action = {
  id: 'account.password',
  label: () => t('Change password'),
  group,
  icon: LockKeyhole,
  run: () => goTo(paths.account('password')),
}

/** Tokens for programs. */
export const openTokens: Action = {
  id: 'account.tokens',
  label: () => t('API tokens'),
  group,
  icon: KeyRound,
  run: () => goTo(paths.account('tokens')),
}

/** Ends the session here and in the other tabs. */
export const signOutAction: Action = {
  id: 'account.signOut',
  label: () => t('Sign out'),
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
