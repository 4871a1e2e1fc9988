import { and, eq, inArray, isNull, ne, not, notExists, notInArray, or, type SQL, sql } from 'drizzle-orm'
import { nowIso } from '../../src/clock.ts'
import type { Actor, ShareActor, UserActor } from '../../src/core/actor.ts'
import { AppError } from '../../src/core/errors.ts'
import {
  asBaseRole,
  BASE_ROLES,
  type BaseRole,
  holdsBaseRole,
  holdsOrgRole,
  RIGHTS,
  type Right,
  type Rule,
  WORKSPACE_ROLES,
  type WorkspaceRole,
} from '../../src/core/roles.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import { createReadCache } from '../../src/db/read-cache.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { type Accounts, rolesOf, type UserRow } from './accounts.ts'
import { defineAuthTables } from './tables.ts'

const MAX_CACHED_USERS = 10_000
const MAX_NAMED_USERS = 500
/** For more bases, reading all memberships is cheaper than listing ids. */
const MAX_NAMED_BASES = 500
/** Id of the only workspace on the wire. */
const WORKSPACE = 'nc'

/** A person's session version and base roles at one moment. */
interface Standing {
  /** Token version: changes whenever the person's sessions end. */
  sessions: string
  /** Roles by base id; bases without a role are left out. */
  roles: ReadonlyMap<string, BaseRole>
}

/** Someone with a role in a base. */
interface PersonInBase {
  user: UserRow
  role: BaseRole
  /** When they got it, as ISO. */
  since: string
  /** True for a role in all bases. */
  isInAllBases: boolean
}

interface Memberships {
  bases: Map<string, BaseRole>
  workspace: BaseRole | null
}

export type Access = ReturnType<typeof createAccess>

/** Access control: every operation passes `authorize`. */
export function createAccess({ meta, events }: Pick<Kernel, 'meta' | 'events'>, accounts: Accounts) {
  const { memberships, shares, users } = meta.tables(defineAuthTables)
  const cache = createReadCache<Memberships, 'memberships'>(meta, {
    name: 'memberships',
    max: MAX_CACHED_USERS,
    table: 'memberships',
    keyOf: (row) => row.user_id,
  })
  events.on('access.changed', ({ userId }) => cache.forget(userId))

  async function load(userId: string): Promise<Memberships> {
    return rolesIn(await meta.db.select().from(memberships).where(eq(memberships.userId, userId)))
  }

  const of = async (userId: string): Promise<Memberships> =>
    cache.peek(userId) ??
    (await cache.read(userId, () => load(userId))) ?? { bases: new Map(), workspace: null }

  /**
   * The actor's role in a base: their membership, else their workspace role, else null. A super admin owns
   * every base.
   */
  async function baseRole(actor: Actor, baseId: string): Promise<BaseRole | null> {
    if (actor.kind === 'share') return shareRole(actor, baseId)
    if (actor.kind === 'anonymous') return null
    if (isSuperAdmin(actor)) return capped(actor, 'owner')
    const { bases, workspace } = await of(actor.id)
    return capped(actor, bases.get(baseId) ?? workspace)
  }

  const membersIn = (scope: SQL | undefined) =>
    meta.db
      .select({
        user: users,
        scope: memberships.scope,
        role: memberships.role,
        since: memberships.createdAt,
      })
      .from(memberships)
      .innerJoin(users, eq(users.id, memberships.userId))
      .where(and(scope, isNull(users.deletedAt)))

  const isMembershipOf = (baseId: string) =>
    and(eq(memberships.scope, 'base'), eq(memberships.scopeId, baseId))

  const isMembership = (baseId: string, userId: string) =>
    and(isMembershipOf(baseId), eq(memberships.userId, userId))

  const isOwner = (userId: string) =>
    and(eq(memberships.scope, 'base'), eq(memberships.userId, userId), eq(memberships.role, 'owner'))

  const isOnlyOwner = (userId: string) => {
    const others = sql`exists (select 1 from memberships other join users on users.id = other.user_id
      where other.scope = 'base' and other.scope_id = ${memberships.scopeId} and other.role = 'owner'
      and other.user_id <> ${userId} and users.deleted_at is null)`
    return and(isOwner(userId), not(others))
  }

  async function idsOfOwned(isOwned: SQL | undefined): Promise<string[]> {
    const rows = await meta.db.select({ baseId: memberships.scopeId }).from(memberships).where(isOwned)
    return rows.map(({ baseId }) => baseId)
  }

  /** Adds a member or changes their role. Run it with `meta.atomically`, then call `changed` or `gained`. */
  const grant = (baseId: string, userId: string, role: BaseRole): MetaStatement =>
    meta.db
      .insert(memberships)
      .values({ scope: 'base', scopeId: baseId, userId, role, createdAt: nowIso() })
      .onConflictDoUpdate({
        target: [memberships.scope, memberships.scopeId, memberships.userId],
        set: { role },
      })

  /** As `grant`, but leaves a member's role as it is. */
  const add = (baseId: string, userId: string, role: BaseRole): MetaStatement =>
    meta.db
      .insert(memberships)
      .values({ scope: 'base', scopeId: baseId, userId, role, createdAt: nowIso() })
      .onConflictDoNothing()

  return {
    /**
     * Passes if the actor holds the right, for base rights in `baseId`.
     * @throws AUTHENTICATION_REQUIRED for anonymous callers and the role `no-access`; API_TOKEN_NOT_ALLOWED
     * where a session is required; FORBIDDEN without a role in the base; PERMISSION_DENIED for a role that is
     * too low
     */
    async authorize(actor: Actor, right: Right, baseId?: string): Promise<void> {
      const rule: Rule = RIGHTS[right]
      if (actor.kind === 'share') return authorizeShare(actor, right, baseId)
      const user = requireUser(actor)
      if (rule.sessionOnly && user.via === 'token') {
        throw new AppError('API_TOKEN_NOT_ALLOWED', m.wire_error_api_token())
      }
      if (rule.scope === 'signed-in') return
      if (rule.scope === 'organisation') {
        if (!holdsOrgRole(user.orgRoles, rule.least)) throw denied(right, user.orgRoles, [])
        return
      }
      if (baseId === undefined) throw new Error(`The right ${right} is one of a base, and no base was named`)
      const role = await baseRole(user, baseId)
      if (role === null) throw forbidden(m.wire_error_no_access())
      if (role === 'no-access') {
        throw new AppError('AUTHENTICATION_REQUIRED', m.wire_error_unauthorized())
      }
      if (!holdsBaseRole(role, rule.least)) throw denied(right, [role], [role])
    },

    baseRole,

    /** A user's own memberships, without the bases that they open as super admin. */
    async memberships(
      userId: string,
    ): Promise<{ bases: ReadonlyMap<string, BaseRole>; workspace: BaseRole | null }> {
      return of(userId)
    },

    /**
     * Reads sessions and roles of several people in some bases from the database, in two statements per 500
     * people. Deleted accounts are left out.
     */
    async standings(userIds: readonly string[], baseIds: readonly string[]): Promise<Map<string, Standing>> {
      const found = new Map<string, Standing>()
      for (let start = 0; start < userIds.length; start += MAX_NAMED_USERS) {
        const some = userIds.slice(start, start + MAX_NAMED_USERS)
        const inScope = or(
          eq(memberships.scope, 'workspace'),
          and(eq(memberships.scope, 'base'), inArray(memberships.scopeId, [...baseIds])),
        )
        const [people, roles] = await Promise.all([
          meta.db
            .select({ id: users.id, sessions: users.tokenVersion, roles: users.roles })
            .from(users)
            .where(and(inArray(users.id, some), isNull(users.deletedAt))),
          meta.db
            .select()
            .from(memberships)
            .where(and(inArray(memberships.userId, some), inScope)),
        ])
        const held = Map.groupBy(roles, ({ userId }) => userId)
        for (const person of people) {
          const isSuper = holdsOrgRole(rolesOf(person), 'super')
          const own = rolesIn(held.get(person.id) ?? [])
          const entries = baseIds.flatMap((baseId): [string, BaseRole][] => {
            const role = isSuper ? 'owner' : (own.bases.get(baseId) ?? own.workspace)
            return role === null ? [] : [[baseId, role]]
          })
          found.set(person.id, { sessions: person.sessions, roles: new Map(entries) })
        }
      }
      return found
    },

    /** Members of a base, unordered, without deleted accounts. */
    async members(baseId: string): Promise<{ user: UserRow; role: BaseRole; since: string }[]> {
      const rows = await membersIn(isMembershipOf(baseId))
      return rows.flatMap(({ user, role, since }) => (isBaseRole(role) ? [{ user, role, since }] : []))
    },

    /**
     * Everyone with a role in a base, unordered: its members, and people with a role in all bases, which a membership
     * overrides.
     */
    async people(baseId: string): Promise<PersonInBase[]> {
      const rows = await membersIn(or(isMembershipOf(baseId), eq(memberships.scope, 'workspace')))
      const own = rows.flatMap(({ scope, user, role, since }) =>
        scope === 'base' && isBaseRole(role) ? [{ user, role, since, isInAllBases: false }] : [],
      )
      const ownIds = new Set(own.map(({ user }) => user.id))
      const others = rows.flatMap(({ scope, user, role, since }) => {
        if (scope !== 'workspace' || !isWorkspaceRole(role) || ownIds.has(user.id)) return []
        const inBase = asBaseRole(role)
        return inBase === 'no-access' ? [] : [{ user, role: inBase, since, isInAllBases: true }]
      })
      return [...own, ...others]
    },

    /** Everyone with a role in one of these bases, without deleted accounts. */
    async peopleIn(baseIds: readonly string[]): Promise<UserRow[]> {
      const isNamed =
        baseIds.length <= MAX_NAMED_BASES ? inArray(memberships.scopeId, [...baseIds]) : undefined
      const wanted = new Set(baseIds)
      const rows = await meta.db
        .select({
          user: users,
          scope: memberships.scope,
          scopeId: memberships.scopeId,
          role: memberships.role,
        })
        .from(memberships)
        .innerJoin(users, eq(users.id, memberships.userId))
        .where(
          and(
            or(and(eq(memberships.scope, 'base'), isNamed), eq(memberships.scope, 'workspace')),
            isNull(users.deletedAt),
          ),
        )
      const found = rows.filter(({ scope, scopeId, role }) =>
        scope === 'base'
          ? wanted.has(scopeId) && isBaseRole(role)
          : isWorkspaceRole(role) && asBaseRole(role) !== 'no-access',
      )
      return [...new Map(found.map(({ user }) => [user.id, user])).values()]
    },

    /** Number of memberships by user id. */
    async countBases(userIds: string[]): Promise<Map<string, number>> {
      const counts = new Map<string, number>()
      if (userIds.length === 0) return counts
      const rows = await meta.db
        .select({ userId: memberships.userId })
        .from(memberships)
        .where(and(eq(memberships.scope, 'base'), inArray(memberships.userId, userIds)))
      for (const { userId } of rows) counts.set(userId, (counts.get(userId) ?? 0) + 1)
      return counts
    },

    /** Ids of the bases, trashed ones included, that this person owns. */
    ownedBy: (userId: string): Promise<string[]> => idsOfOwned(isOwner(userId)),

    /** Ids of those whose only owner they are. */
    ownedAlone: (userId: string): Promise<string[]> => idsOfOwned(isOnlyOwner(userId)),

    /** True in a transaction if they are the only owner of no base except these. */
    ownsNoneAlone: (userId: string, except: readonly string[]): SQL =>
      notExists(
        meta.db
          .select({ baseId: memberships.scopeId })
          .from(memberships)
          .where(and(isOnlyOwner(userId), notInArray(memberships.scopeId, [...except]))),
      ),

    async workspaceRole(userId: string): Promise<WorkspaceRole | null> {
      const { workspace } = await of(userId)
      return workspace && `workspace-level-${workspace}`
    },

    /** Workspace roles by user id; users without one are left out. */
    async workspaceRoles(userIds: string[]): Promise<Map<string, WorkspaceRole>> {
      if (userIds.length === 0) return new Map()
      const rows = await meta.db
        .select({ userId: memberships.userId, role: memberships.role })
        .from(memberships)
        .where(and(eq(memberships.scope, 'workspace'), inArray(memberships.userId, userIds)))
      const known = rows.flatMap(({ userId, role }): [string, WorkspaceRole][] =>
        isWorkspaceRole(role) ? [[userId, role]] : [],
      )
      return new Map(known)
    },

    /**
     * Sets or removes (null) a workspace role, effective on the person's next call.
     * @param also statements for the end of the transaction
     */
    async setWorkspaceRole(userId: string, role: WorkspaceRole | null, also: MetaStatement[]): Promise<void> {
      const own = and(eq(memberships.scope, 'workspace'), eq(memberships.userId, userId))
      const row = {
        scope: 'workspace' as const,
        scopeId: WORKSPACE,
        userId,
        createdAt: nowIso(),
      }
      await meta.atomically([
        meta.db.delete(memberships).where(own),
        ...(role === null ? [] : [meta.db.insert(memberships).values({ ...row, role })]),
        ...also,
      ])
      accounts.changed(userId)
    },

    grant,
    add,

    /**
     * Changes or removes (null) a membership whose role is `present`, except the last owner's: then no row changes. Run it with
     * `meta.atomically` after a statement that locks the base, so that two owners cannot demote each other at
     * once; then call `changed`.
     */
    regrant(baseId: string, userId: string, present: BaseRole, role: BaseRole | null): MetaStatement {
      const anotherOwner = sql`exists (select 1 from memberships other where other.scope = 'base'
        and other.scope_id = ${baseId} and other.role = 'owner' and other.user_id <> ${userId})`
      const isPresent = and(isMembership(baseId, userId), eq(memberships.role, present))
      const keepsAnOwner = or(ne(memberships.role, 'owner'), anotherOwner)
      if (role === null) return meta.db.delete(memberships).where(and(isPresent, keepsAnOwner))
      const allowed = role === 'owner' ? undefined : keepsAnOwner
      return meta.db.update(memberships).set({ role }).where(and(isPresent, allowed))
    },

    /** True in the transaction of `add` or `regrant` if the membership is, or is removed, as it was asked for. */
    isGranted(baseId: string, userId: string, role: BaseRole | null): SQL {
      const there = sql`exists (select 1 from memberships own where own.scope = 'base' and own.scope_id = ${baseId}
        and own.user_id = ${userId} ${role === null ? sql`` : sql`and own.role = ${role}`})`
      return role === null ? sql`not ${there}` : there
    },

    /** Statements that remove the memberships and public links of a base that is deleted forever. */
    forRemovedBase: (baseId: string): MetaStatement[] => [
      meta.db.delete(memberships).where(isMembershipOf(baseId)),
      meta.db.delete(shares).where(eq(shares.baseId, baseId)),
    ],

    /** Call once a change of someone's memberships is committed. */
    changed: (userId: string): void => accounts.changed(userId),

    /** Like `changed` for a role that was only added: open connections may stay. */
    gained: (userId: string): void => cache.forget(userId),

    /** Sets or removes (null) a membership, effective on the person's next call. */
    async setMembership(baseId: string, userId: string, role: BaseRole | null): Promise<void> {
      if (role === null) await meta.db.delete(memberships).where(isMembership(baseId, userId))
      else await meta.atomically([grant(baseId, userId, role)])
      accounts.changed(userId)
    },
  }
}

/** True for a super admin, also while they preview a lower base role. */
export const isSuperAdmin = (actor: UserActor): boolean =>
  actor.preview ? actor.preview.isSuper : holdsOrgRole(actor.orgRoles, 'super')

/** Limits a role to the one that the actor previews. */
export const capped = ({ preview }: UserActor, role: BaseRole | null): BaseRole | null =>
  preview && holdsBaseRole(role, preview.role) ? preview.role : role

function rolesIn(rows: readonly { scope: string; scopeId: string; role: string }[]): Memberships {
  const found: Memberships = { bases: new Map(), workspace: null }
  for (const { scope, scopeId, role } of rows) {
    if (scope === 'base' && isBaseRole(role)) found.bases.set(scopeId, role)
    if (scope === 'workspace' && isWorkspaceRole(role)) found.workspace = asBaseRole(role)
  }
  return found
}

const isWorkspaceRole = (role: string): role is WorkspaceRole =>
  WORKSPACE_ROLES.some((known) => known === role)

/** The base role of a link's visitor; links to views and diagrams give none. */
const shareRole = ({ grant, baseId: shared }: ShareActor, baseId: string): BaseRole | null =>
  grant.kind === 'base' && shared === baseId ? grant.role : null

/**
 * Allows the rights of a shared base that are marked `shared`, within the link's role. Links to views hold no
 * right: the read door decides what they show.
 * @throws FORBIDDEN
 */
function authorizeShare(actor: ShareActor, right: Right, baseId: string | undefined): void {
  const rule: Rule = RIGHTS[right]
  const role = baseId === undefined ? null : shareRole(actor, baseId)
  if (rule.scope !== 'base' || !rule.shared || !holdsBaseRole(role, rule.least)) {
    throw forbidden(m.shares_error_not_allowed())
  }
  const { grant } = actor
  if (right === 'record.export' && grant.kind === 'base' && !grant.mayDownload) {
    throw forbidden(m.shares_error_downloads())
  }
}

/** @throws AUTHENTICATION_REQUIRED for anyone but a signed-in user */
export function requireUser(actor: Actor): UserActor {
  if (actor.kind === 'user') return actor
  throw new AppError('AUTHENTICATION_REQUIRED', m.wire_error_invalid_token())
}

export const forbidden = (reason: string): AppError => new AppError('FORBIDDEN', `Forbidden - ${reason}`)

const isBaseRole = (role: string): role is BaseRole => BASE_ROLES.some((known) => known === role)

/** Error for a role that is too low. Clients expect the action in camel case: `baseUpdate`. */
function denied(right: Right, roles: readonly string[], named: readonly string[]): AppError {
  const permissionName = right.replace(/[.-](\w)/g, (_, letter: string) => letter.toUpperCase())
  const names = named.map((role) => role.charAt(0).toUpperCase() + role.slice(1)).join(', ')
  return new AppError(
    'PERMISSION_DENIED',
    m.wire_error_permission_denied({ permission: permissionName, roles: names }),
    { permissionName, roles: Object.fromEntries(roles.map((role) => [role, true])) },
  )
}
