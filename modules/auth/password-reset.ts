import { and, eq, gt, lte } from 'drizzle-orm'
import { nowIso, nowMs } from '../../src/clock.ts'
import { type Actor, ANONYMOUS } from '../../src/core/actor.ts'
import { badRequest, notFound } from '../../src/core/errors.ts'
import { createId } from '../../src/core/ids.ts'
import { createMutex } from '../../src/db/mutex.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import type { Access } from './access.ts'
import type { Accounts } from './accounts.ts'
import type { ApiTokenRow, ApiTokens } from './api-tokens.ts'
import type { Audits } from './audits.ts'
import { hashPassword, isUuid, randomHex80, sha256 } from './credentials.ts'
import type { Sessions } from './sessions.ts'
import { defineAuthTables } from './tables.ts'
import { createHourlyLimit } from './throttle.ts'

/** wire §2.2 */
const RESET_LIFE_MS = 60 * 60_000

type PasswordReset = ReturnType<typeof createPasswordReset>

/** Reset links for forgotten passwords. */
export function createPasswordReset(
  { meta }: Pick<Kernel, 'meta'>,
  accounts: Accounts,
  access: Access,
  sessions: Sessions,
  tokens: ApiTokens,
  audits: Audits,
) {
  const { users, passwordResets } = meta.tables(defineAuthTables)
  const invalid = () => badRequest(m.wire_error_reset_url())
  const isValid = (token: string) =>
    and(eq(passwordResets.id, sha256(token)), gt(passwordResets.expiresAt, nowMs()))

  const isExpired = () => lte(passwordResets.expiresAt, nowMs())
  const newToken = (userId: string) => {
    const token = crypto.randomUUID()
    const expiresAt = nowMs() + RESET_LIFE_MS
    const row = { id: sha256(token), userId, expiresAt }
    return { token, expiresAt, insert: meta.db.insert(passwordResets).values(row) }
  }

  return {
    /**
     * Creates a token for a reset mail and keeps earlier ones: a stranger's request must not void a link that
     * its owner is about to use. `expiresAt` is in milliseconds since 1970.
     */
    async issue(userId: string): Promise<{ token: string; expiresAt: number }> {
      const { token, expiresAt, insert } = newToken(userId)
      await meta.atomically([meta.db.delete(passwordResets).where(isExpired()), insert])
      return { token, expiresAt }
    },

    /**
     * Creates a token that sets a new password once, within an hour. Replaces earlier ones.
     * @throws USER_NOT_FOUND
     */
    async create(actor: Actor, userId: string): Promise<string> {
      await access.authorize(actor, 'user.reset-password')
      const account = await accounts.find(userId)
      if (!account) throw notFound('User', userId)
      const { token, insert } = newToken(userId)
      const detail = { name: account.row.email }
      await meta.atomically([
        meta.db.delete(passwordResets).where(eq(passwordResets.userId, userId)),
        meta.db.delete(passwordResets).where(isExpired()),
        insert,
        ...audits.record(actor, { kind: 'user.reset-link', userId, detail }),
      ])
      return token
    },

    /**
     * The API tokens that stay valid after the reset unless they are revoked.
     * @throws BAD_REQUEST if the token is unknown, used or expired
     */
    async check(token: string): Promise<ApiTokenRow[]> {
      const [found] = isUuid(token) ? await meta.db.select().from(passwordResets).where(isValid(token)) : []
      if (!found) throw invalid()
      return tokens.activeOf(found.userId)
    },

    /**
     * Sets a new password, ends the user's sessions and uses up all their reset tokens.
     * @param revokesTokens also deletes the user's API tokens
     * @throws BAD_REQUEST if the token is unknown, used or expired
     */
    async reset(token: string, password: string, revokesTokens: boolean): Promise<void> {
      await this.check(token)
      const passwordHash = await hashPassword(password)
      // Deleted in one statement, so that a token works once even if it is sent twice at the same time.
      const [taken] = await meta.db.delete(passwordResets).where(isValid(token)).returning()
      if (!taken) throw invalid()
      const account = await accounts.find(taken.userId)
      const updatedAt = nowIso()
      await meta.atomically([
        meta.db.delete(passwordResets).where(eq(passwordResets.userId, taken.userId)),
        meta.db
          .update(users)
          .set({ passwordHash, tokenVersion: randomHex80(), inviteToken: null, updatedAt })
          .where(eq(users.id, taken.userId)),
        // Whoever has the link: an administrator may have created it.
        ...audits.record(ANONYMOUS, {
          kind: 'user.password-reset',
          userId: taken.userId,
          detail: account ? { name: account.row.email } : {},
        }),
      ])
      if (revokesTokens) await tokens.deleteAllOf(ANONYMOUS, taken.userId)
      await sessions.endAll(taken.userId)
      accounts.changed(taken.userId)
    },
  }
}

/** Limits per hour: requests from one address, and mails to one person. */
const MAX_REQUESTS_PER_ADDRESS = 20
const MAX_MAILED_PER_PERSON = 3

/** Mails reset links. */
export function createForgotPassword(
  { mail, log, limits }: Pick<Kernel, 'mail' | 'log' | 'limits'>,
  accounts: Pick<Accounts, 'findByEmail'>,
  passwordReset: Pick<PasswordReset, 'issue'>,
) {
  const limit = createHourlyLimit(
    { limits, name: 'password resets' },
    MAX_REQUESTS_PER_ADDRESS,
    m.auth_error_too_many_reset_requests,
  )
  // Mails are counted and queued one after the other: parallel requests must not exceed the limit.
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
   * Mails a reset link if the address has an account. Neither the answer nor its timing reveals whether it has.
   * Does nothing without a mail server.
   * @throws TOO_MANY_REQUESTS after many requests from one address
   */
  return function forgotPassword(email: string, address: string): void {
    if (!mail.isConfigured) return
    limit.take('forgot', address)
    exclusively(() => send(email)).catch((error) => log.error('a reset link could not be mailed', error))
  }
}
