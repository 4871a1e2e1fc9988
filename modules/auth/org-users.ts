import { and, asc, count, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import { badRequest, notFound } from '../../src/core/errors.ts'
import { createId } from '../../src/core/ids.ts'
import { holdsOrgRole, type OrgRole, type WorkspaceRole } from '../../src/core/roles.ts'
import type { Kernel } from '../../src/kernel.ts'
import { defineSlot } from '../../src/registry.ts'
import { type Access, requireUser } from './access.ts'
import { type Accounts, rolesOf, type UserRow } from './accounts.ts'
import { emailKey, parseEmail, randomHex80 } from './credentials.ts'
import { type InviteMails, NEWCOMER_ROLES } from './sign-up.ts'
import { defineAuthTables } from './tables.ts'

/** Organisation roles that can be given: `super` is the first user's alone. */
export const GRANTABLE_ORG_ROLES = ['org-level-creator', 'org-level-viewer'] as const satisfies OrgRole[]
export type GrantableOrgRole = (typeof GRANTABLE_ORG_ROLES)[number]

/** A user with what only some may see of them. */
export interface ListedUser {
  row: UserRow
  /** Null unless the one who asks invited them, or is a super admin: who has it can become that user. */
  inviteToken: string | null
}

/** The titles of those of the bases that are not in the trash. */
export type BaseTitles = (baseIds: string[]) => Promise<string[]>

/** Filled by app.ts from the bases module, which comes later. */
export const BASE_TITLES = defineSlot<BaseTitles>('auth.baseTitles')

/** Bases that a refusal names. */
const MAX_NAMED = 5

/** The people of this server, for those who administer it (wire §4.1). */
export function createOrgUsers(
  { meta, registry }: Pick<Kernel, 'meta' | 'registry'>,
  accounts: Accounts,
  access: Access,
  mails: InviteMails,
) {
  const { users, sessions, apiTokens, memberships, passwordResets } = meta.tables(defineAuthTables)
  const isLive = isNull(users.deletedAt)

  /** @throws BAD_REQUEST, as clients know it, where others would answer 404 */
  async function get(userId: string): Promise<UserRow> {
    const account = await accounts.find(userId)
    if (!account) throw badRequest(notFound('User', userId).message)
    return account.row
  }

  /** @throws BAD_REQUEST naming the bases that would be without an owner */
  async function refuseSoleOwner({ id, email }: UserRow): Promise<void> {
    const owned = await access.ownedAlone(id)
    const titles = owned.length === 0 ? [] : await registry.get(BASE_TITLES)(owned)
    if (titles.length === 0) return
    const named = titles.slice(0, MAX_NAMED).map((title) => `"${title}"`)
    const more = titles.length > MAX_NAMED ? ` and ${titles.length - MAX_NAMED} more` : ''
    throw badRequest(
      `${email} is the only owner of ${named.join(', ')}${more}: make someone else an owner, or delete the base, first`,
    )
  }

  const isSuper = (row: UserRow) => holdsOrgRole(rolesOf(row), 'super')

  /**
   * Makes an account that waits for its owner: no password, and a token to sign up with. Null where
   * the address has one already.
   */
  async function invite(
    inviterId: string,
    email: string,
    roles: string = NEWCOMER_ROLES,
  ): Promise<UserRow | null> {
    const now = new Date().toISOString()
    const row = {
      id: createId('user'),
      email,
      emailKey: emailKey(email),
      roles,
      tokenVersion: randomHex80(),
      inviteToken: crypto.randomUUID(),
      invitedBy: inviterId,
      createdAt: now,
      updatedAt: now,
    }
    const [invited] = await meta.db.insert(users).values(row).onConflictDoNothing().returning()
    return invited ?? null
  }

  return {
    /** True for the id of someone who has, or was invited to, an account. */
    exists: async (userId: string): Promise<boolean> => (await accounts.find(userId)) !== null,

    /**
     * The account of an address; made where there is none, to wait for its owner (`isNew`). Null for
     * what is no address. For services: the caller has checked who may invite.
     */
    async findOrInvite(inviter: Actor, email: string): Promise<{ row: UserRow; isNew: boolean } | null> {
      const address = parseEmail(email)
      if (address === null) return null
      const found = await accounts.findByEmail(address)
      if (found) return { row: found, isNew: false }
      const row = await invite(requireUser(inviter).id, address)
      if (row) return { row, isNew: true }
      const made = await accounts.findByEmail(address)
      return made && { row: made, isNew: false }
    },

    /** Everyone on this server. For services: the caller has checked who may see it. */
    all: (): Promise<UserRow[]> =>
      Promise.resolve(
        meta.db.select().from(users).where(isLive).orderBy(asc(users.createdAt), asc(users.id)),
      ),

    /** The invite token as far as the actor may know it (see `ListedUser`). */
    inviteTokenFor: (actor: Actor, row: UserRow): string | null =>
      actor.kind === 'user' && (actor.id === row.invitedBy || holdsOrgRole(actor.orgRoles, 'super'))
        ? row.inviteToken
        : null,

    /** A page of the users whose address holds `query`, the oldest first. */
    async list(
      actor: Actor,
      { limit, offset, query }: { limit: number; offset: number; query?: string },
    ): Promise<{ rows: UserRow[]; total: number }> {
      await access.authorize(actor, 'user.list')
      const found = and(isLive, query ? holds(users.emailKey, query) : undefined)
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

    /** @throws BAD_REQUEST when the address is none, or has an account */
    async create(actor: Actor, email: string, roles?: GrantableOrgRole): Promise<UserRow> {
      await access.authorize(actor, 'user.create')
      const address = parseEmail(email)
      if (address === null) throw badRequest(`Invalid email address : ${email.slice(0, 256)}`)
      const invited = await invite(requireUser(actor).id, address, roles)
      if (!invited) throw badRequest('User already exist')
      await mails.invited(actor, invited)
      return invited
    },

    async updateRoles(actor: Actor, userId: string, roles: GrantableOrgRole): Promise<UserRow> {
      await access.authorize(actor, 'user.update')
      if (isSuper(await get(userId))) throw badRequest('Cannot update super admin roles')
      const updatedAt = new Date().toISOString()
      const [row] = await meta.db
        .update(users)
        .set({ roles, updatedAt })
        .where(eq(users.id, userId))
        .returning()
      accounts.changed(userId)
      return row ?? get(userId)
    },

    /**
     * Gives someone a role in every base of the server, or takes it away (null). A role that a base gives them itself
     * goes before it.
     *
     * @throws PERMISSION_DENIED below super admin; BAD_REQUEST for a super admin, who owns every base
     */
    async setWorkspaceRole(actor: Actor, userId: string, role: WorkspaceRole | null): Promise<UserRow> {
      await access.authorize(actor, 'user.workspace-role')
      const row = await get(userId)
      if (isSuper(row)) throw badRequest('Cannot update super admin roles')
      await access.setWorkspaceRole(userId, role)
      return row
    },

    /**
     * Deletes an account with its memberships, sessions and tokens; its address is free again.
     * @throws BAD_REQUEST naming the bases that nobody else owns
     */
    async delete(actor: Actor, userId: string): Promise<void> {
      await access.authorize(actor, 'user.delete')
      const user = await get(userId)
      if (isSuper(user)) throw badRequest('Cannot delete super admin')
      await refuseSoleOwner(user)
      const deletedAt = new Date().toISOString()
      const remains = { passwordHash: null, inviteToken: null, meta: null, tokenVersion: randomHex80() }
      await meta.atomically([
        meta.db.delete(sessions).where(eq(sessions.userId, userId)),
        meta.db.delete(apiTokens).where(eq(apiTokens.userId, userId)),
        meta.db.delete(memberships).where(eq(memberships.userId, userId)),
        meta.db.delete(passwordResets).where(eq(passwordResets.userId, userId)),
        meta.db
          .update(users)
          .set({ ...remains, emailKey: `deleted ${userId}`, deletedAt, updatedAt: deletedAt })
          .where(eq(users.id, userId)),
      ])
      accounts.changed(userId)
    },

    /**
     * Mails someone's invitation once more.
     * @throws USER_NOT_FOUND; as `InviteMails.again`
     */
    async resendInvite(actor: Actor, userId: string): Promise<void> {
      await access.authorize(actor, 'user.create')
      const account = await accounts.find(userId)
      if (!account) throw notFound('User', userId)
      await mails.again(actor, account.row)
    },

    /** Invitations by mail. For services: the caller has checked who may invite. */
    mails,

    /** The account of an id, or null. For services, as above. */
    find: async (userId: string): Promise<UserRow | null> => (await accounts.find(userId))?.row ?? null,
  }
}

/** True where a column holds the text as it stands, its own % and _ being no wildcards. */
function holds(column: SQL.Aliased | Parameters<typeof eq>[0], text: string): SQL {
  const pattern = `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`
  return sql`${column} like ${pattern} escape '\\'`
}
