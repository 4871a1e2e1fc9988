import { holdsOrgRole, type OrgRole } from '../../src/core/roles.ts'
import { trpc } from '../trpc.ts'

/** Whoever is signed in, and what they may do in the organisation. */
export function useMe() {
  const me = trpc.auth.me.useQuery(undefined, { staleTime: 5 * 60_000 })
  const roles = me.data?.orgRoles ?? []
  return {
    user: me.data?.user ?? null,
    /** True where they hold the role or one above it; false also while it is being read. */
    holds: (least: OrgRole) => holdsOrgRole(roles, least),
  }
}
