import { eq, sql } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import { AppError, notFound } from '../../src/core/errors.ts'
import type { Member, MemberInvitation } from '../../src/core/model.ts'
import { type BaseRole, holdsBaseRole } from '../../src/core/roles.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { AuthService, ListedUser } from '../auth/index.ts'
import type { BaseStore } from './store.ts'

const problem = (message: string): AppError => new AppError('BASE_USER_ERROR', message)

/** The members of bases (wire §5.1). */
export function createMembers(
  { meta }: Pick<Kernel, 'meta'>,
  store: BaseStore,
  access: AuthService['access'],
  users: AuthService['users'],
) {
  const { bases } = store.tables

  const roleOf = async (baseId: string, userId: string): Promise<BaseRole | null> =>
    (await access.memberships(userId)).bases.get(baseId) ?? null

  /** @throws FORBIDDEN when the actor's own role is below any of these */
  async function mustReach(actor: Actor, baseId: string, roles: (BaseRole | null)[]): Promise<void> {
    const own = await access.baseRole(actor, baseId)
    if (roles.every((role) => role === null || holdsBaseRole(own, role))) return
    throw new AppError('FORBIDDEN', 'Forbidden - Insufficient privilege to invite with this role')
  }

  /** Changes or ends a membership, while the base keeps an owner. */
  async function regrant(baseId: string, userId: string, role: BaseRole | null): Promise<void> {
    // The lock on the base makes two owners who demote each other wait for one another.
    const lock = meta.db.update(bases).set({ updatedAt: sql`updated_at` }).where(eq(bases.id, baseId))
    await meta.atomically([lock, access.regrant(baseId, userId, role)])
    access.changed(userId)
    if ((await roleOf(baseId, userId)) !== role) throw problem('At least one owner is required')
  }

  async function enter(
    actor: Actor,
    right: 'member.create' | 'member.update' | 'member.delete',
    baseId: string,
  ): Promise<void> {
    await store.require(baseId)
    await access.authorize(actor, right, baseId)
  }

  /**
   * Makes someone a member, with at most the actor's own role. An address without an account gets one
   * that waits for its owner.
   *
   * @throws FORBIDDEN for a role above the actor's; BASE_USER_ERROR for what is no address, and for
   *   someone who is a member already
   */
  async function invite(
    actor: Actor,
    baseId: string,
    email: string,
    role: BaseRole,
  ): Promise<Omit<MemberInvitation, 'problem'>> {
    await enter(actor, 'member.create', baseId)
    await mustReach(actor, baseId, [role])
    const invited = await users.findOrInvite(actor, email)
    if (!invited) throw problem(`Invalid email address : ${email.slice(0, 256)}`)
    const { row } = invited
    const present = await roleOf(baseId, row.id)
    if (present) throw problem(`${row.email} with role ${present} already exists in this base`)
    await meta.atomically([access.grant(baseId, row.id, role)])
    access.gained(row.id)
    await users.mails.invited(actor, row)
    return { email: row.email, inviteToken: invited.isNew ? row.inviteToken : null }
  }

  return {
    /**
     * Who has a role in the base, by address: its members, and those whose role in all bases an administrator gave.
     * A role in the base itself counts instead of that one.
     */
    async people(actor: Actor, baseId: string): Promise<Member[]> {
      await store.require(baseId)
      await access.authorize(actor, 'member.list', baseId)
      const own = await access.members(baseId)
      const ownIds = new Set(own.map(({ user }) => user.id))
      const others = (await access.workspaceMembers()).filter(({ user }) => !ownIds.has(user.id))
      return [...own, ...others]
        .map(({ user, role, since }) => ({
          id: user.id,
          email: user.email,
          displayName: user.displayName,
          role,
          since,
          isInAllBases: !ownIds.has(user.id),
          isInvited: user.inviteToken !== null,
          inviteToken: users.inviteTokenFor(actor, user),
        }))
        .sort((a, b) => a.email.localeCompare(b.email))
    },

    /** Everyone on this server, with their role in the base or null: what REST clients choose from. */
    async everyone(actor: Actor, baseId: string): Promise<(ListedUser & { role: BaseRole | null })[]> {
      await store.require(baseId)
      await access.authorize(actor, 'member.list', baseId)
      const roles = new Map((await access.members(baseId)).map(({ user, role }) => [user.id, role]))
      return (await users.all()).map((row) => ({
        row,
        inviteToken: users.inviteTokenFor(actor, row),
        role: roles.get(row.id) ?? null,
      }))
    },

    invite,

    /**
     * Invites several, each by itself: an address that is none, or a member's, keeps no other from coming.
     * @throws FORBIDDEN for a role above the actor's
     */
    async inviteEach(
      actor: Actor,
      baseId: string,
      emails: readonly string[],
      role: BaseRole,
    ): Promise<MemberInvitation[]> {
      await enter(actor, 'member.create', baseId)
      const outcomes: MemberInvitation[] = []
      for (const email of emails) {
        try {
          outcomes.push({ ...(await invite(actor, baseId, email, role)), problem: null })
        } catch (error) {
          if (!(error instanceof AppError) || error.code !== 'BASE_USER_ERROR') throw error
          outcomes.push({ email, inviteToken: null, problem: error.message })
        }
      }
      return outcomes
    },

    /**
     * Mails the invitation of a member who has not signed up yet once more.
     * @throws BASE_USER_ERROR for who is no member; BAD_REQUEST where no mail can be sent, and for who has signed up
     */
    async resendInvite(actor: Actor, baseId: string, userId: string): Promise<void> {
      await enter(actor, 'member.update', baseId)
      users.mails.requireMail()
      const row = (await roleOf(baseId, userId)) && (await users.find(userId))
      if (!row) throw problem(`User with id '${userId.slice(0, 64)}' doesn't exist`)
      await users.mails.again(actor, row)
    },

    /**
     * Changes someone's role, within the reach of the actor's own.
     * @throws BASE_USER_ERROR for unknown people and the last owner; FORBIDDEN for people and roles above
     */
    async update(actor: Actor, baseId: string, userId: string, role: BaseRole): Promise<void> {
      await enter(actor, 'member.update', baseId)
      if (!(await users.exists(userId))) throw problem(`User with id '${userId.slice(0, 64)}' doesn't exist`)
      const present = await roleOf(baseId, userId)
      await mustReach(actor, baseId, [role, present])
      if (present) return regrant(baseId, userId, role)
      await meta.atomically([access.grant(baseId, userId, role)])
      access.gained(userId)
    },

    /**
     * Ends a membership, effective on the person's next call. Who is none is left alone.
     * @throws USER_NOT_FOUND; BASE_USER_ERROR for oneself and the last owner; FORBIDDEN for people above
     */
    async remove(actor: Actor, baseId: string, userId: string): Promise<void> {
      await enter(actor, 'member.delete', baseId)
      if (!(await users.exists(userId))) throw notFound('User', userId.slice(0, 64))
      if (actor.kind === 'user' && actor.id === userId) throw problem("Admin can't delete themselves!")
      const present = await roleOf(baseId, userId)
      await mustReach(actor, baseId, [present])
      if (present) await regrant(baseId, userId, null)
    },
  }
}
