import { useEffect } from 'react'
import { holdsOrgRole, type OrgRole } from '../../src/core/roles.ts'
import { trpc } from '../trpc.ts'
import { recoverFrom401, useSessionStatus } from './index.ts'

/** The signed-in user and their organisation roles. */
export function useMe() {
  const me = trpc.auth.me.useQuery(undefined, { staleTime: 5 * 60_000 })
  const roles = me.data?.orgRoles ?? []
  return {
    user: me.data?.user ?? null,
    /** True if the user has the role or a higher one; false while loading. */
    holds: (least: OrgRole) => holdsOrgRole(roles, least),
  }
}

/**
 * `auth.me` also answers without a session, with no user. If this browser believes it is signed in, that means the
 * same as a 401: the token is void.
 */
export function useCheckOfSession(): void {
  const status = useSessionStatus()
  const { data, refetch } = trpc.auth.me.useQuery(undefined, { staleTime: 5 * 60_000 })
  const isVoid = status === 'signedIn' && data !== undefined && data.user === null
  useEffect(() => {
    if (!isVoid) return
    recoverFrom401().then(
      (goOn) => {
        if (goOn) void refetch()
      },
      (error) => console.warn('the session could not be checked', error),
    )
  }, [isVoid, refetch])
}
