import { createId } from '../../src/core/ids.ts'
import { createMutex } from '../../src/db/mutex.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { Accounts } from './accounts.ts'
import { createHourlyLimit } from './hourly-limit.ts'
import type { PasswordReset } from './password-reset.ts'

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
        subject: 'Reset your password',
        blocks: [
          {
            kind: 'text',
            text: `We received a request to reset the password of your account ${user.email}.`,
          },
          { kind: 'link', label: 'Reset your password', url: mail.addressOf(`/reset/${token}`) },
          {
            kind: 'text',
            text: 'This link works once and expires after one hour. If you didn’t request a reset, you can ignore this email.',
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
