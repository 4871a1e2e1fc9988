import {
  BASE_ROLES,
  type BaseRole,
  holdsBaseRole,
  RIGHTS,
  type Right,
  type Rule,
} from '../../src/core/roles.ts'
import type { TestApp, TestUser } from '../support/app.ts'

/** Everyone that an operation is tried as, from none to all. `creator-of-bases`: of the organisation. */
export const ACTORS = ['anonymous', 'stranger', 'creator-of-bases', ...BASE_ROLES, 'super'] as const
export type ActorName = (typeof ACTORS)[number]

/** What an operation asks for: a right, or nothing at all. `nobody`: for visitors of a public link alone. */
export type Gate = Right | 'anyone' | 'nobody'

/** How an operation is refused. */
export type Refusal = 'AUTHENTICATION_REQUIRED' | 'FORBIDDEN' | 'PERMISSION_DENIED'

const isBaseRole = (name: ActorName): name is BaseRole => BASE_ROLES.some((role) => role === name)

/** How the actor must be refused, or null where they must be let through (wire §1.3, §19). */
export function refusalOf(actor: ActorName, gate: Gate): Refusal | null {
  if (gate === 'anyone') return null
  if (gate === 'nobody') return actor === 'anonymous' ? 'AUTHENTICATION_REQUIRED' : 'FORBIDDEN'
  const rule: Rule = RIGHTS[gate]
  if (actor === 'anonymous') return 'AUTHENTICATION_REQUIRED'
  if (actor === 'super' || rule.scope === 'signed-in') return null
  if (rule.scope === 'organisation') {
    return rule.least === 'org-level-creator' && actor === 'creator-of-bases' ? null : 'PERMISSION_DENIED'
  }
  if (!isBaseRole(actor)) return 'FORBIDDEN'
  if (actor === 'no-access') return 'AUTHENTICATION_REQUIRED'
  return holdsBaseRole(actor, rule.least) ? null : 'PERMISSION_DENIED'
}

/** Someone for each actor but the anonymous. The app must have no user yet. */
export async function signUpActors(app: TestApp): Promise<Record<ActorName, TestUser | null>> {
  const found: Partial<Record<ActorName, TestUser | null>> = { anonymous: null }
  found.super = await app.signUp('super@example.com')
  for (const name of ACTORS) if (!(name in found)) found[name] = await app.signUp(`${name}@example.com`)
  const roles = { roles: 'org-level-creator' }
  await app.rest(found.super.token).patch(`/api/v1/users/${found['creator-of-bases']?.id}`, roles)
  return found as Record<ActorName, TestUser | null>
}
