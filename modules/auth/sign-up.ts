import { and, eq, isNull } from 'drizzle-orm'
import { badRequest } from '../../src/core/errors.ts'
import { createId } from '../../src/core/ids.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { Accounts, UserRow } from './accounts.ts'
import { emailKey } from './email.ts'
import { hashPassword } from './passwords.ts'
import { isUuid, randomHex80 } from './secrets.ts'
import type { Settings } from './settings.ts'
import { defineAuthTables } from './tables.ts'

/** Organisation roles of the first user, and of everyone after. */
export const FOUNDER_ROLES = 'org-level-creator,super'
export const NEWCOMER_ROLES = 'org-level-viewer'

export interface SignUpInput {
  email: string
  password: string
  inviteToken?: string
}

export type SignUp = ReturnType<typeof createSignUp>

/** How accounts come to be. */
export function createSignUp({ meta }: Pick<Kernel, 'meta'>, accounts: Accounts, settings: Settings) {
  const { users } = meta.tables(defineAuthTables)

  /** True once the first user has signed up. It stays so: a super admin cannot be deleted. */
  async function hasUsers(): Promise<boolean> {
    const rows = await meta.db.select({ id: users.id }).from(users).where(eq(users.founder, 1))
    return rows.length > 0
  }

  async function insert(
    input: SignUpInput,
    passwordHash: string,
    founder: 1 | null,
  ): Promise<UserRow | undefined> {
    const now = new Date().toISOString()
    const row = {
      id: createId('user'),
      email: input.email.trim(),
      emailKey: emailKey(input.email),
      passwordHash,
      roles: founder ? FOUNDER_ROLES : NEWCOMER_ROLES,
      tokenVersion: randomHex80(),
      founder,
      createdAt: now,
      updatedAt: now,
    }
    // Both indexes count here: a second founder, or a second account of the address, is not inserted.
    const [inserted] = await meta.db.insert(users).values(row).onConflictDoNothing().returning()
    return inserted
  }

  async function acceptInvite(input: SignUpInput, token: string): Promise<UserRow> {
    const isInvited = and(
      eq(users.inviteToken, token),
      eq(users.emailKey, emailKey(input.email)),
      isNull(users.deletedAt),
    )
    const invalid = badRequest('Invalid invite url')
    if (!isUuid(token)) throw invalid
    const [invited] = await meta.db.select({ id: users.id }).from(users).where(isInvited)
    if (!invited) throw invalid
    const passwordHash = await hashPassword(input.password)
    const updatedAt = new Date().toISOString()
    const [joined] = await meta.db
      .update(users)
      .set({ passwordHash, inviteToken: null, tokenVersion: randomHex80(), updatedAt })
      .where(isInvited)
      .returning()
    if (!joined) throw invalid
    accounts.changed(joined.id)
    return joined
  }

  return {
    hasUsers,

    /** The address that an invitation is for; null where it was used or withdrawn, or never was. */
    async findInvited(token: string): Promise<string | null> {
      if (!isUuid(token)) return null
      const isOpen = and(eq(users.inviteToken, token), isNull(users.deletedAt))
      const [invited] = await meta.db.select({ email: users.email }).from(users).where(isOpen)
      return invited?.email ?? null
    },

    /**
     * Makes an account: the server's first with all rights, later ones as viewers, invited ones with
     * what they were invited to.
     *
     * @throws BAD_REQUEST when the address is taken, the invite is not for it, or only the invited
     *   may sign up
     */
    async signUp(input: SignUpInput): Promise<{ user: UserRow; isFirst: boolean }> {
      if (input.inviteToken) return { user: await acceptInvite(input, input.inviteToken), isFirst: false }
      if (!(await hasUsers())) {
        const founder = await insert(input, await hashPassword(input.password), 1)
        if (founder) return { user: founder, isFirst: true }
      }
      if (await settings.isInviteOnly()) throw badRequest('Not allowed to signup, contact super admin.')
      const taken = badRequest('User already exist')
      if (await accounts.findByEmail(input.email)) throw taken
      const user = await insert(input, await hashPassword(input.password), null)
      if (!user) throw taken
      return { user, isFirst: false }
    },
  }
}
