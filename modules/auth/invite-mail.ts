import type { Actor } from '../../src/core/actor.ts'
import { AppError, badRequest } from '../../src/core/errors.ts'
import { createId } from '../../src/core/ids.ts'
import { createMutex } from '../../src/db/mutex.ts'
import type { Kernel } from '../../src/kernel.ts'
import { requireUser } from './access.ts'
import type { UserRow } from './accounts.ts'

/** Invitations that one person may have mailed within an hour: this server must not write to the world for them. */
export const MAX_INVITES_PER_HOUR = 100

/** As clients know it where no mail can be sent. */
const NO_MAIL =
  'No Email Plugin is found. Please go to App Store to configure first or copy the invitation URL to users instead.'

export type InviteMails = ReturnType<typeof createInviteMails>

/** Invitations by mail, to those who have not signed up yet. */
export function createInviteMails({ mail, log }: Pick<Kernel, 'mail' | 'log'>) {
  const exclusively = createMutex()

  /** False where it would be one too many. */
  async function send(inviter: Actor, { email, inviteToken }: UserRow): Promise<boolean> {
    const { id, email: by } = requireUser(inviter)
    const topic = `invite ${id}`
    if ((await mail.countEvents(topic)) >= MAX_INVITES_PER_HOUR) return false
    // Nothing in it is of the inviter's choice but the address: it goes to people who have not asked for it.
    const text = `${by} invited you to a base on ${new URL(mail.addressOf('/')).host}. Sign up with this email address: ${email}.`
    await mail.send({
      topic,
      event: createId('mail'),
      recipients: [email],
      content: {
        subject: `${by} invited you to Sheaf`,
        blocks: [
          { kind: 'text', text },
          { kind: 'link', label: 'Sign up', url: mail.addressOf(`/signup/${inviteToken}`) },
        ],
      },
    })
    return true
  }

  /** @throws BAD_REQUEST where no mail can be sent */
  function requireMail(): void {
    if (!mail.isConfigured) throw badRequest(NO_MAIL)
  }

  return {
    requireMail,

    /** Mails an invitation that was just made. It stands, whatever becomes of the mail: its link can be handed over. */
    async invited(inviter: Actor, row: UserRow): Promise<void> {
      if (!mail.isConfigured || row.inviteToken === null) return
      try {
        await exclusively(() => send(inviter, row))
      } catch (error) {
        log.error('an invitation could not be mailed', error, { userId: row.id })
      }
    },

    /**
     * Mails an invitation once more. For services: the caller has checked who may invite.
     * @throws BAD_REQUEST where no mail can be sent, and for who has signed up; TOO_MANY_REQUESTS
     */
    async again(inviter: Actor, row: UserRow): Promise<void> {
      requireMail()
      if (row.inviteToken === null) throw badRequest(`${row.email} has signed up already`)
      if (await exclusively(() => send(inviter, row))) return
      const message = 'Too many invitations were sent. Try again later.'
      throw new AppError('TOO_MANY_REQUESTS', message, { retryAfterSeconds: 3600 })
    },
  }
}
