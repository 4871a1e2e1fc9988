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

/** The header by which a client previews the product as a lower role (spec §7). */
export const PREVIEW_HEADER = 'xc-preview'

/** Calls that tell who one really is. */
const UNAFFECTED = /\/(user\/me|admin\/roles)\/?$/

/** The most that a role holds in bases, and in the organisation. */
function limitsOf(text: string): { base: BaseRole; org: OrgRole } | null {
  const org = ORG_ROLES.find((known) => known === text)
  if (org) return { base: 'owner', org }
  const workspace = WORKSPACE_ROLES.find((known) => known === text)
  const base = workspace ? asBaseRole(workspace) : BASE_ROLES.find((known) => known === text)
  if (!base) return null
  return { base, org: holdsBaseRole(base, 'creator') ? 'org-level-creator' : 'org-level-viewer' }
}

/**
 * The actor with no more rights than the role in `xc-preview`; unchanged without the header. It never raises: previewing
 * a higher role than one's own changes nothing.
 *
 * @param path of the call, where some ignore the header
 * @throws BAD_REQUEST for an unknown role
 */
export function previewAs(actor: Actor, headers: Headers, path = ''): Actor {
  const text = headers.get(PREVIEW_HEADER)?.trim()
  if (!text || actor.kind !== 'user' || UNAFFECTED.test(path)) return actor
  const limits = limitsOf(text)
  if (!limits) throw badRequest(`Unknown role in ${PREVIEW_HEADER}: "${text.slice(0, 64)}"`)
  const isSuper =
    holdsOrgRole(actor.orgRoles, 'super') && !ORG_ROLES.some((role) => role === text && role !== 'super')
  return {
    ...actor,
    orgRoles: holdsOrgRole(actor.orgRoles, limits.org) ? [limits.org] : actor.orgRoles,
    preview: { role: limits.base, isSuper },
  }
}
