import { and, eq, gt, lte } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import { badRequest, notFound } from '../../src/core/errors.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { Access } from './access.ts'
import type { Accounts } from './accounts.ts'
import type { ApiTokenRow, ApiTokens } from './api-tokens.ts'
import { hashPassword } from './passwords.ts'
import { isUuid, randomHex80, sha256 } from './secrets.ts'
import type { Sessions } from './sessions.ts'
import { defineAuthTables } from './tables.ts'

/** How long a reset link works (wire §2.2). */
const RESET_LIFE_MS = 60 * 60_000

export type PasswordReset = ReturnType<typeof createPasswordReset>

/** Passwords of people who cannot sign in. */
export function createPasswordReset(
  { meta }: Pick<Kernel, 'meta'>,
  accounts: Accounts,
  access: Access,
  sessions: Sessions,
  tokens: ApiTokens,
) {
  const { users, passwordResets } = meta.tables(defineAuthTables)
  const invalid = () => badRequest('Invalid reset url')
  const isAlive = (token: string) =>
    and(eq(passwordResets.id, sha256(token)), gt(passwordResets.expiresAt, Date.now()))

  const isLate = () => lte(passwordResets.expiresAt, Date.now())
  const fresh = (userId: string) => {
    const token = crypto.randomUUID()
    const expiresAt = Date.now() + RESET_LIFE_MS
    const row = { id: sha256(token), userId, expiresAt }
    return { token, expiresAt, insert: meta.db.insert(passwordResets).values(row) }
  }

  return {
    /**
     * A token as `create` makes it, for whoever asks by mail. Earlier ones stay good: a stranger who asks must not
     * void the link that someone is about to use. `expiresAt` is in milliseconds since 1970.
     */
    async issue(userId: string): Promise<{ token: string; expiresAt: number }> {
      const { token, expiresAt, insert } = fresh(userId)
      await meta.atomically([meta.db.delete(passwordResets).where(isLate()), insert])
      return { token, expiresAt }
    },

    /**
     * A token by which the user can set a new password once, within the hour. It replaces earlier ones.
     * @throws USER_NOT_FOUND
     */
    async create(actor: Actor, userId: string): Promise<string> {
      await access.authorize(actor, 'user.reset-password')
      if (!(await accounts.find(userId))) throw notFound('User', userId)
      const { token, insert } = fresh(userId)
      await meta.atomically([
        meta.db.delete(passwordResets).where(eq(passwordResets.userId, userId)),
        meta.db.delete(passwordResets).where(isLate()),
        insert,
      ])
      return token
    },

    /**
     * The API tokens that go on working after the reset, unless they are revoked with it.
     * @throws BAD_REQUEST when the token is unknown, used or expired
     */
    async check(token: string): Promise<ApiTokenRow[]> {
      const [found] = isUuid(token) ? await meta.db.select().from(passwordResets).where(isAlive(token)) : []
      if (!found) throw invalid()
      return tokens.activeOf(found.userId)
    },

    /**
     * Sets a new password and ends all sessions of the user; the token is used up, and with it all others of theirs.
     * @param revokesTokens whether the user's API tokens end, too
     * @throws BAD_REQUEST when the token is unknown, used or expired
     */
    async reset(token: string, password: string, revokesTokens: boolean): Promise<void> {
      await this.check(token)
      const passwordHash = await hashPassword(password)
      // Taken and used up in one statement: of two who come with it, one gets through.
      const [taken] = await meta.db.delete(passwordResets).where(isAlive(token)).returning()
      if (!taken) throw invalid()
      const updatedAt = new Date().toISOString()
      await meta.atomically([
        meta.db.delete(passwordResets).where(eq(passwordResets.userId, taken.userId)),
        meta.db
          .update(users)
          .set({ passwordHash, tokenVersion: randomHex80(), inviteToken: null, updatedAt })
          .where(eq(users.id, taken.userId)),
      ])
      if (revokesTokens) await tokens.deleteAllOf(taken.userId)
      await sessions.endAll(taken.userId)
      accounts.changed(taken.userId)
    },
  }
}
