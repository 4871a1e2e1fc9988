import { and, eq, gt, lte } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import { badRequest, notFound } from '../../src/core/errors.ts'
import { createId } from '../../src/core/ids.ts'
import { createMutex } from '../../src/db/mutex.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import type { Access } from './access.ts'
import type { Accounts } from './accounts.ts'
import type { ApiTokenRow, ApiTokens } from './api-tokens.ts'
import { hashPassword, isUuid, randomHex80, sha256 } from './credentials.ts'
import type { Sessions } from './sessions.ts'
import { defineAuthTables } from './tables.ts'
import { createHourlyLimit } from './throttle.ts'

/** How long a reset link works (wire §2.2). */
const RESET_LIFE_MS = 60 * 60_000

type PasswordReset = ReturnType<typeof createPasswordReset>

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

/** How often one place may ask within an hour, and for how many of it one person gets a mail. */
export const MAX_ASKED_PER_PLACE = 20
export const MAX_MAILED_PER_PERSON = 3

/** Reset links by mail, for those who can no longer sign in. */
export function createForgotPassword(
  { mail, log }: Pick<Kernel, 'mail' | 'log'>,
  accounts: Pick<Accounts, 'findByEmail'>,
  passwordReset: Pick<PasswordReset, 'issue'>,
) {
  const limit = createHourlyLimit(MAX_ASKED_PER_PLACE, 'requests for a new password')
  // Counted and kept one after the other: who asks many times at once is mailed no more for it.
  const exclusively = createMutex()

  async function send(email: string): Promise<void> {
    const user = await accounts.findByEmail(email)
    if (!user) return
    const topic = `reset ${user.id}`
    if ((await mail.countEvents(topic)) >= MAX_MAILED_PER_PERSON) return
    const { token, expiresAt } = await passwordReset.issue(user.id)
    await mail.send({
      topic,
      event: createId('mail'),
      recipients: [user.email],
      expiresAt,
      content: {
        subject: m.mail_reset_subject(),
        blocks: [
          {
            kind: 'text',
            text: m.mail_reset_text({ email: user.email }),
          },
          { kind: 'link', label: m.mail_reset_link(), url: mail.addressOf(`/reset/${token}`) },
          {
            kind: 'text',
            text: m.mail_reset_expiry(),
          },
        ],
      },
    })
  }

  /**
   * Mails a reset link to whoever has an account with this address. Nothing in the answer, nor in the time that it
   * takes, tells whether somebody has. Without a mail service nothing happens.
   *
   * @throws TOO_MANY_REQUESTS after many requests from one place
   */
  return function forgotPassword(email: string, address: string): void {
    if (!mail.isConfigured) return
    limit.take('forgot', address)
    exclusively(() => send(email)).catch((error) => log.error('a reset link could not be mailed', error))
  }
}
