import { and, asc, count, eq, exists, isNull } from 'drizzle-orm'
import { nowIso } from '../../src/clock.ts'
import type { Actor } from '../../src/core/actor.ts'
import { badRequest, notFound } from '../../src/core/errors.ts'
import { createId } from '../../src/core/ids.ts'
import { holdsOrgRole, type OrgRole, type WorkspaceRole } from '../../src/core/roles.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { defineSlot } from '../../src/registry.ts'
import { type Access, requireUser } from './access.ts'
import { type Accounts, containsText, rolesOf, type UserRow } from './accounts.ts'
import type { Audits } from './audits.ts'
import { emailKey, parseEmail, randomHex80 } from './credentials.ts'
import { type InviteMails, NEWCOMER_ROLES } from './sign-up.ts'
import { defineAuthTables } from './tables.ts'

/** Organisation roles that can be assigned: `super` belongs to the first user only. */
export const GRANTABLE_ORG_ROLES = ['org-level-creator', 'org-level-viewer'] as const satisfies OrgRole[]
type GrantableOrgRole = (typeof GRANTABLE_ORG_ROLES)[number]

export interface ListedUser {
  row: UserRow
  /** Null unless the actor invited them or is a super admin: the token lets its holder sign up as that user. */
  inviteToken: string | null
}

interface OwnedBases {
  /** Titles of those bases that are not in the trash. */
  titlesOf(baseIds: string[]): Promise<string[]>
  /** In a transaction, makes other changes of the owners of these bases wait. */
  lock(baseIds: string[]): MetaStatement
}

/** Set by app.ts from the bases module, which depends on this one. */
export const OWNED_BASES = defineSlot<OwnedBases>('auth.ownedBases')

const MAX_NAMED = 5

/** Accounts of this server, for administrators (wire §4.1). */
export function createOrgUsers(
  { meta, registry, jobs, accountRemovals }: Pick<Kernel, 'meta' | 'registry' | 'jobs' | 'accountRemovals'>,
  accounts: Accounts,
  access: Access,
  mails: InviteMails,
  audits: Audits,
) {
  const { users, sessions, apiTokens, memberships, passwordResets } = meta.tables(defineAuthTables)
  const isLive = isNull(users.deletedAt)

  /** @throws BAD_REQUEST with the message of a 404, as clients expect it */
  async function get(userId: string): Promise<UserRow> {
    const account = await accounts.find(userId)
    if (!account) throw badRequest(notFound('User', userId).message)
    return account.row
  }

  /**
   * Returns the ids of the bases that would lose their only owner, all in the trash.
   * @throws BAD_REQUEST naming those that are not
   */
  async function refuseSoleOwner({ id, email }: UserRow): Promise<string[]> {
    const owned = await access.ownedAlone(id)
    const titles = owned.length === 0 ? [] : await registry.get(OWNED_BASES).titlesOf(owned)
    if (titles.length === 0) return owned
    const named = titles
      .slice(0, MAX_NAMED)
      .map((title) => `“${title}”`)
      .join(', ')
    const count = titles.length - MAX_NAMED
    const bases = count > 0 ? m.auth_error_bases_and_more({ bases: named, count }) : named
    throw badRequest(m.auth_error_sole_owner({ email, bases }))
  }

  const isSuper = (row: UserRow) => holdsOrgRole(rolesOf(row), 'super')

  /**
   * Creates an account without a password and with an invite token. Null if the address already has an account.
   */
  async function invite(
    inviter: Actor,
    email: string,
    roles: string = NEWCOMER_ROLES,
  ): Promise<UserRow | null> {
    const now = nowIso()
    const row = {
      id: createId('user'),
      email,
      emailKey: emailKey(email),
      roles,
      tokenVersion: randomHex80(),
      inviteToken: crypto.randomUUID(),
      invitedBy: requireUser(inviter).id,
      createdAt: now,
      updatedAt: now,
    }
    const isIt = eq(users.id, row.id)
    const audit = { kind: 'user.invite', userId: row.id, detail: { name: email, role: roles } } as const
    await meta.atomically([
      meta.db.insert(users).values(row).onConflictDoNothing(),
      ...audits.record(inviter, audit, exists(meta.db.select({ id: users.id }).from(users).where(isIt))),
    ])
    const [invited] = await meta.db.select().from(users).where(isIt)
    return invited ?? null
  }

  return {
    exists: async (userId: string): Promise<boolean> => (await accounts.find(userId)) !== null,

    /**
     * The account of an address, invited first if there is none. Null for an invalid address. Does not check
     * access.
     */
    async findOrInvite(inviter: Actor, email: string): Promise<UserRow | null> {
      const address = parseEmail(email)
      if (address === null) return null
      const find = () => accounts.findByEmail(address)
      // Another call may have invited the address at the same time.
      return (await find()) ?? (await invite(inviter, address)) ?? find()
    },

    /** Every account, oldest first. Does not check access. */
    all: (): Promise<UserRow[]> =>
      Promise.resolve(
        meta.db.select().from(users).where(isLive).orderBy(asc(users.createdAt), asc(users.id)),
      ),

    /** The invite token if the actor may see it (see `ListedUser`). */
    inviteTokenFor: (actor: Actor, row: UserRow): string | null =>
      actor.kind === 'user' && (actor.id === row.invitedBy || holdsOrgRole(actor.orgRoles, 'super'))
        ? row.inviteToken
        : null,

    /** A page of the users whose address contains `query`, oldest first. */
    async list(
      actor: Actor,
      { limit, offset, query }: { limit: number; offset: number; query?: string },
    ): Promise<{ rows: UserRow[]; total: number }> {
      await access.authorize(actor, 'user.list')
      const found = and(isLive, query ? containsText(users.emailKey, query) : undefined)
      const [counted] = await meta.db.select({ total: count() }).from(users).where(found)
      const rows = await meta.db
        .select()
        .from(users)
        .where(found)
        .orderBy(asc(users.createdAt), asc(users.id))
        .limit(limit)
        .offset(offset)
      return { rows, total: counted?.total ?? 0 }
    },

    /** @throws USER_NOT_FOUND */
    async read(actor: Actor, userId: string): Promise<UserRow> {
      await access.authorize(actor, 'user.list')
      const account = await accounts.find(userId)
      if (!account) throw notFound('User', userId.slice(0, 64))
      return account.row
    },

    /** @throws BAD_REQUEST for an invalid address or one with an account */
    async create(actor: Actor, email: string, roles?: GrantableOrgRole): Promise<UserRow> {
      await access.authorize(actor, 'user.create')
      const address = parseEmail(email)
      if (address === null) throw badRequest(m.wire_error_email({ email: email.slice(0, 256) }))
      const invited = await invite(actor, address, roles)
      if (!invited) throw badRequest(m.wire_error_user_exists())
      await mails.invited(actor, invited)
      return invited
    },

    async updateRoles(actor: Actor, userId: string, roles: GrantableOrgRole): Promise<UserRow> {
      await access.authorize(actor, 'user.update')
      const user = await get(userId)
      if (isSuper(user)) throw badRequest(m.wire_error_update_super_admin())
      const updatedAt = nowIso()
      await meta.atomically([
        meta.db.update(users).set({ roles, updatedAt }).where(eq(users.id, userId)),
        ...audits.record(actor, { kind: 'user.roles', userId, detail: { name: user.email, role: roles } }),
      ])
      accounts.changed(userId)
      return get(userId)
    },

    /**
     * Sets or removes (null) a role in every base; a role in a base overrides it.
     * @throws PERMISSION_DENIED below super admin; BAD_REQUEST for a super admin, who owns every base
     */
    async setWorkspaceRole(actor: Actor, userId: string, role: WorkspaceRole | null): Promise<UserRow> {
      await access.authorize(actor, 'user.workspace-role')
      const row = await get(userId)
      if (isSuper(row)) throw badRequest(m.wire_error_update_super_admin())
      const detail = { name: row.email, ...(role !== null && { role }) }
      await access.setWorkspaceRole(
        userId,
        role,
        audits.record(actor, { kind: 'user.workspace-role', userId, detail }),
      )
      return row
    },

    /**
     * Deletes an account with its memberships, sessions and tokens, and frees its address. Cancels its jobs.
     * @throws BAD_REQUEST naming the bases that nobody else owns
     */
    async delete(actor: Actor, userId: string): Promise<void> {
      await access.authorize(actor, 'user.delete')
      const user = await get(userId)
      if (isSuper(user)) throw badRequest(m.wire_error_delete_super_admin())
      const trashed = await refuseSoleOwner(user)
      const deletedAt = nowIso()
      const cleared = { passwordHash: null, inviteToken: null, meta: null, tokenVersion: randomHex80() }
      const isGone = and(eq(users.id, userId), eq(users.tokenVersion, cleared.tokenVersion))
      const isDone = exists(meta.db.select({ id: users.id }).from(users).where(isGone))
      await meta.atomically([
        // Two owners who are deleted at once, or one of whom is demoted, wait for one another.
        registry.get(OWNED_BASES).lock(await access.ownedBy(userId)),
        meta.db
          .update(users)
          .set({ ...cleared, emailKey: `deleted ${userId}`, deletedAt, updatedAt: deletedAt })
          .where(and(eq(users.id, userId), access.ownsNoneAlone(userId, trashed))),
        meta.db.delete(sessions).where(and(eq(sessions.userId, userId), isDone)),
        meta.db.delete(apiTokens).where(and(eq(apiTokens.userId, userId), isDone)),
        meta.db.delete(memberships).where(and(eq(memberships.userId, userId), isDone)),
        meta.db.delete(passwordResets).where(and(eq(passwordResets.userId, userId), isDone)),
        ...accountRemovals.flatMap((forget) => forget(userId, isDone)),
        ...audits.record(actor, { kind: 'user.delete', userId, detail: { name: user.email } }, isDone),
      ])
      accounts.changed(userId)
      // The other owner of a base has gone meanwhile: the next check names the base.
      if (await accounts.find(userId)) return this.delete(actor, userId)
      await jobs.cancelAllOf(userId)
    },

    /**
     * Sends an invitation again.
     * @throws USER_NOT_FOUND; as `InviteMails.again`
     */
    async resendInvite(actor: Actor, userId: string): Promise<void> {
      await access.authorize(actor, 'user.create')
      const account = await accounts.find(userId)
      if (!account) throw notFound('User', userId)
      await mails.again(actor, account.row)
    },

    mails,

    /** Does not check access. */
    find: async (userId: string): Promise<UserRow | null> => (await accounts.find(userId))?.row ?? null,
  }
}
