import { nowMs } from '../../src/clock.ts'
import { type Actor, actorIdOf } from '../../src/core/actor.ts'
import { AppError, notFound } from '../../src/core/errors.ts'
import type { Member, MemberInvitation } from '../../src/core/model.ts'
import { type BaseRole, holdsBaseRole } from '../../src/core/roles.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { NOTICES } from '../../src/notices.ts'
import type { AuthService, ListedUser } from '../auth/index.ts'
import type { BaseStore } from './store.ts'

/** The account of a member. */
type Person = Pick<NonNullable<Awaited<ReturnType<AuthService['users']['find']>>>, 'id' | 'email'>

const problem = (message: string): AppError => new AppError('BASE_USER_ERROR', message)

/** Members of bases (wire §5.1). */
export function createMembers(
  { meta, registry }: Pick<Kernel, 'meta' | 'registry'>,
  store: BaseStore,
  access: AuthService['access'],
  users: AuthService['users'],
  audits: AuthService['audits'],
) {
  const roleOf = async (baseId: string, userId: string): Promise<BaseRole | null> =>
    (await access.memberships(userId)).bases.get(baseId) ?? null

  /** Someone's role in all bases, which a membership overrides. */
  const roleInAllBases = async (userId: string): Promise<BaseRole | null> =>
    (await access.memberships(userId)).workspace

  /** @throws FORBIDDEN if the actor's role is below one of these */
  async function mustReach(actor: Actor, baseId: string, roles: (BaseRole | null)[]): Promise<void> {
    const own = await access.baseRole(actor, baseId)
    if (roles.every((role) => role === null || holdsBaseRole(own, role))) return
    throw new AppError('FORBIDDEN', m.wire_error_invite_role())
  }

  /** Changes or ends a membership whose role is `present`, but keeps an owner. */
  async function regrant(
    actor: Actor,
    baseId: string,
    { id: userId, email }: Person,
    present: BaseRole,
    role: BaseRole | null,
  ): Promise<void> {
    const isDone = access.isGranted(baseId, userId, role)
    const audit =
      role === null
        ? ({ baseId, kind: 'member.remove', userId, detail: { name: email } } as const)
        : ({ baseId, kind: 'member.update', userId, detail: { name: email, role } } as const)
    await meta.atomically([
      // Makes two owners who demote each other wait for one another.
      store.lock([baseId]),
      access.regrant(baseId, userId, present, role),
      ...audits.record(actor, audit, isDone),
    ])
    access.changed(userId)
    audits.added(baseId)
    const now = await roleOf(baseId, userId)
    if (now === role) return
    if (now === present) throw problem(m.wire_error_last_owner())
    throw now === null ? problem(m.wire_error_no_such_user({ id: userId })) : hasRole(email, now)
  }

  const hasRole = (email: string, role: BaseRole) => problem(m.wire_error_member_exists({ email, role }))

  /**
   * Adds a member, records that, and notifies them, in one transaction.
   *
   * @throws BASE_USER_ERROR if somebody else has just given them another role
   */
  async function grant(
    actor: Actor,
    baseId: string,
    { id: userId, email }: { id: string; email: string },
    role: BaseRole,
  ): Promise<void> {
    const audit = { baseId, kind: 'member.invite', userId, detail: { name: email, role } } as const
    const isDone = access.isGranted(baseId, userId, role)
    const { statements, stored } = await registry.get(NOTICES).prepare(
      role === 'no-access'
        ? []
        : [
            {
              kind: 'invite',
              userId,
              // Somebody who was removed may be invited again.
              key: `invite ${baseId} ${nowMs()}`,
              actorId: actorIdOf(actor),
              baseId,
            },
          ],
      isDone,
    )
    await meta.atomically([
      access.add(baseId, userId, role),
      ...audits.record(actor, audit, isDone),
      ...statements,
    ])
    // Replaces the role in all bases, so open connections may have lost rights.
    if (await roleInAllBases(userId)) access.changed(userId)
    else access.gained(userId)
    audits.added(baseId)
    stored()
    const now = await roleOf(baseId, userId)
    if (now !== null && now !== role) throw hasRole(email, now)
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
   * The role with which an invitation finds someone in the base already: their membership, or a role in all bases that
   * it would lower without the right to. Null for people who may be added.
   */
  async function presentRole(
    actor: Actor,
    baseId: string,
    userId: string,
    invited: BaseRole,
  ): Promise<BaseRole | null> {
    const present = await roleOf(baseId, userId)
    const everywhere = await roleInAllBases(userId)
    if (present || everywhere === null || holdsBaseRole(invited, everywhere)) return present
    const own = await access.baseRole(actor, baseId)
    return holdsBaseRole(own, everywhere) ? null : everywhere
  }

  /**
   * Adds a member with at most the actor's own role. An address without an account is invited to sign up.
   * @throws FORBIDDEN for a role above the actor's; BASE_USER_ERROR for an invalid address, an existing member, and
   * someone whose role in all bases the actor may not lower
   */
  async function invite(
    actor: Actor,
    baseId: string,
    email: string,
    role: BaseRole,
  ): Promise<Omit<MemberInvitation, 'problem'>> {
    await enter(actor, 'member.create', baseId)
    await mustReach(actor, baseId, [role])
    const row = await users.findOrInvite(actor, email)
    if (!row) throw problem(m.wire_error_email({ email: email.slice(0, 256) }))
    const present = await presentRole(actor, baseId, row.id, role)
    if (present) throw hasRole(row.email, present)
    await grant(actor, baseId, row, role)
    await users.mails.invited(actor, row)
    return { email: row.email, inviteToken: users.inviteTokenFor(actor, row) }
  }

  return {
    /**
     * Everyone with a role in the base, by address: its members, and people with a role in all bases. A
     * membership overrides that role.
     */
    async people(actor: Actor, baseId: string): Promise<Member[]> {
      await store.require(baseId)
      await access.authorize(actor, 'member.list', baseId)
      return (await access.people(baseId))
        .map(({ user, role, since, isInAllBases }) => ({
          id: user.id,
          email: user.email,
          displayName: user.displayName,
          role,
          since,
          isInAllBases,
          isInvited: user.inviteToken !== null,
          inviteToken: users.inviteTokenFor(actor, user),
        }))
        .sort((a, b) => a.email.localeCompare(b.email))
    },

    /** All accounts of the server with their role in the base or null, as REST clients list them. */
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
     * Invites several addresses; a refused one does not stop the others.
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
     * Sends a member's invitation again.
     * @throws BASE_USER_ERROR for other people; BAD_REQUEST without a mail server and for people who have
     * signed up
     */
    async resendInvite(actor: Actor, baseId: string, userId: string): Promise<void> {
      await enter(actor, 'member.update', baseId)
      users.mails.requireMail()
      const row = (await roleOf(baseId, userId)) && (await users.find(userId))
      if (!row) throw problem(m.wire_error_no_such_user({ id: userId.slice(0, 64) }))
      await users.mails.again(actor, row)
    },

    /**
     * Changes someone's role, within the actor's own.
     * @throws BASE_USER_ERROR for unknown people and the last owner; FORBIDDEN for higher people and roles
     */
    async update(actor: Actor, baseId: string, userId: string, role: BaseRole): Promise<void> {
      await enter(actor, 'member.update', baseId)
      const person = await users.find(userId)
      if (!person) throw problem(m.wire_error_no_such_user({ id: userId.slice(0, 64) }))
      const present = await roleOf(baseId, userId)
      await mustReach(actor, baseId, [role, present ?? (await roleInAllBases(userId))])
      if (present) return regrant(actor, baseId, person, present, role)
      await grant(actor, baseId, person, role)
    },

    /**
     * Ends a membership, effective on the person's next call. Does nothing for other people.
     * @throws USER_NOT_FOUND; BASE_USER_ERROR for the actor and the last owner; FORBIDDEN for higher people, also for
     * those who get a higher role in all bases back
     */
    async remove(actor: Actor, baseId: string, userId: string): Promise<void> {
      await enter(actor, 'member.delete', baseId)
      const person = await users.find(userId)
      if (!person) throw notFound('User', userId.slice(0, 64))
      if (actor.kind === 'user' && actor.id === userId) throw problem(m.wire_error_delete_oneself())
      const present = await roleOf(baseId, userId)
      if (!present) return
      await mustReach(actor, baseId, [present, await roleInAllBases(userId)])
      await regrant(actor, baseId, person, present, null)
    },
  }
}
