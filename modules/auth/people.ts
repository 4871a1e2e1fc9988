import { and, eq, inArray, isNull, like, or } from 'drizzle-orm'
import { nowIso } from '../../src/clock.ts'
import type { Actor, UserActor } from '../../src/core/actor.ts'
import type { Person } from '../../src/core/model.ts'
import { holdsOrgRole } from '../../src/core/roles.ts'
import type { Kernel } from '../../src/kernel.ts'
import { type Access, isSuperAdmin, requireUser } from './access.ts'
import { type Accounts, asPerson, rolesOf, type UserRow } from './accounts.ts'
import { emailKey } from './credentials.ts'
import { defineAuthTables } from './tables.ts'

/**
 * A person as visitors of public links see them: their display name, else the part of their address before the
 * @.
 */
export const asPublicPerson = ({ id, email, displayName }: Person): Person => ({
  id,
  email: '',
  displayName: displayName?.trim() || (email.split('@')[0] ?? ''),
})

/** Well below every engine's limit of bound parameters. */
const EMAILS_PER_STATEMENT = 500

/** Looks up the people behind ids in records. */
export function createPeople({ meta }: Pick<Kernel, 'meta'>, access: Access) {
  const { users, memberships } = meta.tables(defineAuthTables)

  /** The ids of those with whom a person shares a base. */
  const sharingWith = (userId: string) => {
    const own = meta.db
      .select({ scopeId: memberships.scopeId })
      .from(memberships)
      .where(eq(memberships.userId, userId))
    return meta.db
      .select({ userId: memberships.userId })
      .from(memberships)
      .where(inArray(memberships.scopeId, own))
  }

  return {
    /** The people of these ids, including deleted accounts, so that old records keep their names. */
    async people(ids: string[]): Promise<Person[]> {
      if (ids.length === 0) return []
      return (await meta.db.select().from(users).where(inArray(users.id, ids))).map(asPerson)
    },

    /**
     * The people with these e-mail addresses, ignoring case, whom the actor may know: themselves, and those with whom they
     * share a base. Super admins know all. Deleted accounts are left out.
     */
    async peopleByEmail(actor: UserActor, emails: readonly string[]): Promise<Person[]> {
      const isKnown = isSuperAdmin(actor)
        ? undefined
        : or(eq(users.id, actor.id), inArray(users.id, sharingWith(actor.id)))
      const keys = [...new Set(emails.map(emailKey))]
      const found: Person[] = []
      for (let from = 0; from < keys.length; from += EMAILS_PER_STATEMENT) {
        const some = inArray(users.emailKey, keys.slice(from, from + EMAILS_PER_STATEMENT))
        const rows = await meta.db
          .select()
          .from(users)
          .where(and(some, isKnown, isNull(users.deletedAt)))
        found.push(...rows.map(asPerson))
      }
      return found
    },

    /** The ids of all super admins, without deleted accounts. */
    async superAdmins(): Promise<string[]> {
      const rows = await meta.db
        .select({ id: users.id, roles: users.roles })
        .from(users)
        .where(and(like(users.roles, '%super%'), isNull(users.deletedAt)))
      return rows.filter((row) => holdsOrgRole(rolesOf(row), 'super')).map(({ id }) => id)
    },

    /** The people whom records of a base may name: everyone with a role in it. */
    async peopleOf(baseId: string): Promise<Person[]> {
      return (await access.people(baseId)).map(({ user }) => asPerson(user))
    },

    /** Everyone with a role in one of these bases. */
    async peopleIn(baseIds: readonly string[]): Promise<Person[]> {
      return (await access.peopleIn(baseIds)).map(asPerson)
    },
  }
}

interface ProfilePatch {
  displayName?: string | null
  meta?: Record<string, unknown> | null
}

/** The actor's own profile. */
export function createProfile({ meta }: Pick<Kernel, 'meta'>, accounts: Accounts, access: Access) {
  const { users } = meta.tables(defineAuthTables)
  return {
    /** The actor's account; null for anonymous callers. */
    async me(actor: Actor): Promise<UserRow | null> {
      return actor.kind === 'user' ? ((await accounts.find(actor.id))?.row ?? null) : null
    },

    async updateProfile(actor: Actor, patch: ProfilePatch): Promise<UserRow> {
      await access.authorize(actor, 'account.update')
      const { id } = requireUser(actor)
      const [row] = await meta.db
        .update(users)
        .set({ ...patch, updatedAt: nowIso() })
        .where(eq(users.id, id))
        .returning()
      if (!row) throw new Error(`The account ${id} is gone`)
      accounts.refreshed(id)
      return row
    },
  }
}
