import type { Actor } from '../../../src/core/actor.ts'
import type { BaseRole, WorkspaceRole } from '../../../src/core/roles.ts'
import { wireTime } from '../../../src/wire/lists.ts'
import { rolesOf, type UserRow } from '../accounts.ts'
import { type ApiTokenRow, maskedToken } from '../api-tokens.ts'

const asObject = (roles: readonly string[]): Record<string, true> =>
  Object.fromEntries(roles.map((role) => [role, true as const]))

/** `me` for anonymous callers. */
export const GUEST = { roles: { guest: true }, workspace_roles: null, base_roles: null }

/** `me` for visitors of a shared base (wire §2.2). */
export const presentVisitor = (role: BaseRole) => ({
  roles: asObject([role]),
  base_roles: asObject([role]),
  workspace_roles: null,
  isAuthorized: true,
  isPublicBase: true,
})

/** `me` for users (wire §2.2); API tokens get no session details. */
export function presentMe(
  row: UserRow,
  via: 'session' | 'token',
  { baseRole, workspaceRole }: { baseRole: BaseRole | null; workspaceRole: WorkspaceRole | null },
) {
  const roles = {
    roles: asObject(rolesOf(row)),
    workspace_roles: workspaceRole && asObject([workspaceRole]),
    base_roles: baseRole && asObject([baseRole]),
  }
  const account = { id: row.id, email: row.email, display_name: row.displayName }
  if (via === 'token') return { ...account, ...roles, isAuthorized: true, is_api_token: true }
  return {
    ...account,
    email_verified: null,
    token_version: row.tokenVersion,
    user_name: null,
    blocked: false,
    blocked_reason: null,
    deleted_at: null,
    is_deleted: false,
    meta: row.meta,
    is_new_user: false,
    ...roles,
    isAuthorized: true,
  }
}

/** A user in the organisation's list (wire §4.1). */
export const presentOrgUser = (
  row: UserRow,
  {
    inviteToken,
    projectsCount,
    workspaceRole,
  }: { inviteToken: string | null; projectsCount: number; workspaceRole: WorkspaceRole | null },
) => ({
  id: row.id,
  email: row.email,
  email_verified: null,
  invite_token: inviteToken,
  created_at: wireTime(row.createdAt),
  updated_at: wireTime(row.updatedAt),
  roles: row.roles,
  display_name: row.displayName,
  is_new_user: false,
  meta: row.meta,
  projectsCount,
  // NocoDB's free edition has no such roles.
  workspace_roles: workspaceRole,
})

/** An API token in a list, masked. */
export const presentToken = (row: ApiTokenRow, owner: Extract<Actor, { kind: 'user' }>) => ({
  id: row.id,
  token: maskedToken(row),
  description: row.description,
  fk_user_id: row.userId,
  fk_sso_client_id: null,
  base_id: null,
  expiry: row.expiresAt,
  created_at: wireTime(row.createdAt),
  updated_at: wireTime(row.createdAt),
  created_by: owner.email,
})

/** A new API token: the only answer with its text. */
export const presentNewToken = (row: ApiTokenRow, token: string) => ({
  id: row.id,
  base_id: null,
  db_alias: null,
  description: row.description,
  permissions: null,
  token,
  expiry: row.expiresAt,
  enabled: true,
  created_at: wireTime(row.createdAt),
  updated_at: wireTime(row.createdAt),
  fk_user_id: row.userId,
  fk_sso_client_id: null,
})
