import type { Actor } from './core/actor.ts'
import { badRequest } from './core/errors.ts'
import {
  asBaseRole,
  BASE_ROLES,
  type BaseRole,
  holdsBaseRole,
  holdsOrgRole,
  ORG_ROLES,
  type OrgRole,
  WORKSPACE_ROLES,
} from './core/roles.ts'
import { m } from './messages.gen.ts'

/** The header by which a client previews the product as a lower role (spec §7). */
export const PREVIEW_HEADER = 'xc-preview'

/** Calls that report the real user and ignore the header. */
const UNAFFECTED = /\/(user\/me|admin\/roles)\/?$/

/** The maximum roles in bases and in the organisation for a preview. */
function limitsOf(text: string): { base: BaseRole; org: OrgRole } | null {
  const org = ORG_ROLES.find((known) => known === text)
  if (org) return { base: 'owner', org }
  const workspace = WORKSPACE_ROLES.find((known) => known === text)
  const base = workspace ? asBaseRole(workspace) : BASE_ROLES.find((known) => known === text)
  if (!base) return null
  return { base, org: holdsBaseRole(base, 'creator') ? 'org-level-creator' : 'org-level-viewer' }
}

/**
 * The actor limited to the role in `xc-preview`; unchanged without the header. Never raises rights: a higher role has
 * no effect.
 *
 * @param path of the call; some calls ignore the header
 * @throws BAD_REQUEST for an unknown role
 */
export function previewAs(actor: Actor, headers: Headers, path = ''): Actor {
  const text = headers.get(PREVIEW_HEADER)?.trim()
  if (!text || actor.kind !== 'user' || UNAFFECTED.test(path)) return actor
  const limits = limitsOf(text)
  if (!limits)
    throw badRequest(m.request_error_preview_role({ header: PREVIEW_HEADER, role: text.slice(0, 64) }))
  const isSuper =
    holdsOrgRole(actor.orgRoles, 'super') && !ORG_ROLES.some((role) => role === text && role !== 'super')
  return {
    ...actor,
    orgRoles: holdsOrgRole(actor.orgRoles, limits.org) ? [limits.org] : actor.orgRoles,
    preview: { role: limits.base, isSuper },
  }
}
