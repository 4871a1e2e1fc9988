import { createHash } from 'node:crypto'
import { nowMs } from '../../src/clock.ts'
import { type Notification, notificationPath, notificationText } from '../../src/core/notifications.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { MailBlock, NewMail } from '../../src/mail.ts'
import { m } from '../../src/messages.gen.ts'
import type { AuthService } from '../auth/index.ts'
import type { Presenter } from './presenter.ts'
import type { NotificationSettings } from './settings.ts'
import type { NotificationRow, NotificationStore } from './store.ts'
import type { createUnsubscribeTokens } from './unsubscribe.ts'

/** Notifications that a mail lists; it tells the number of further ones. */
const LISTED = 30
/** Due notifications that are read for a mail. */
const MAX_DUE = 1_000
/** People per round. */
const ROUND = 50
/** Mails to a person within an hour; what is due beyond that waits for the next hour. */
const MAX_PER_HOUR = 12
const HOUR_MS = 3_600_000
const CLAIM = 'notification mails'

interface Deps {
  auth: Pick<AuthService, 'actorOf'>
  store: NotificationStore
  settings: NotificationSettings
  present: Presenter
  tokens: ReturnType<typeof createUnsubscribeTokens>
}

/** Mails of notifications: one to each person for all that is due and still unread. */
export function createNotificationMails(
  { config, mail, meta, log }: Pick<Kernel, 'config' | 'mail' | 'meta' | 'log'>,
  { auth, store, settings, present, tokens }: Deps,
) {
  /** The mail about what a person may still see; null without any. */
  function compose(
    { id, email }: { id: string; email: string },
    rows: readonly NotificationRow[],
    available: readonly Notification[],
  ): NewMail | null {
    const [first] = available
    if (!first) return null
    const token = tokens.tokenFor(id)
    const count = available.length
    const more = count - LISTED
    const fingerprint = rows.map((row) => `${row.id} ${row.at} ${row.mailDueAt}`).join(' ')
    // The same for every server that composes it, so that two cannot both store it.
    const mailId = `ml${createHash('sha256').update(fingerprint).digest('hex').slice(0, 14)}`
    return {
      id: mailId,
      topic: topicOf(id),
      event: mailId,
      recipients: [email],
      content: {
        subject: count === 1 ? notificationText(first) : m.mail_notifications_subject({ count }),
        blocks: [
          ...available.slice(0, LISTED).flatMap(blocksOf),
          ...(more > 0 ? [{ kind: 'text' as const, text: m.mail_notifications_more({ count: more }) }] : []),
          {
            kind: 'link',
            label: m.mail_notifications_settings(),
            url: mail.addressOf('/account/notifications'),
          },
          {
            kind: 'link',
            label: m.mail_notifications_unsubscribe(),
            url: mail.addressOf(`/unsubscribe/${token}`),
          },
        ],
        unsubscribe: `${config.publicUrl}/api/v1/notifications/unsubscribe/${token}`,
      },
    }
  }

  function blocksOf(notification: Notification): MailBlock[] {
    const path = notificationPath(notification)
    const text = notificationText(notification)
    const { text: quoted } = notification.detail
    return [
      path === null ? { kind: 'text', text } : { kind: 'link', label: text, url: mail.addressOf(path) },
      ...(quoted === undefined ? [] : [{ kind: 'text' as const, text: `“${quoted}”` }]),
    ]
  }

  const topicOf = (userId: string): string => `notifications ${userId}`

  async function mailTo(userId: string, now: number): Promise<void> {
    if ((await mail.countEvents(topicOf(userId))) >= MAX_PER_HOUR) {
      await meta.atomically([store.postpone(userId, now, (Math.floor(now / HOUR_MS) + 1) * HOUR_MS)])
      return
    }
    const rows = await store.due(userId, now, MAX_DUE)
    const actor = await auth.actorOf(userId)
    const { isUnsubscribed, daily } = (await settings.effective([userId], null))(userId)
    const statements: MetaStatement[] = []
    if (actor && !isUnsubscribed && rows.length > 0) {
      const shown = await present(actor, rows, daily.timeZone)
      const available = shown.filter(({ isAvailable }) => isAvailable)
      const composed = compose(actor, rows, available)
      if (composed) statements.push(...mail.prepare(composed))
    }
    const ids = rows.map(({ id }) => id)
    await meta.atomically([...statements, store.mailed(userId, now, ids)])
  }

  return {
    /** Stores the mails that are due at a time (milliseconds since 1970); one server at a time does. */
    async sendDue(now = nowMs()): Promise<void> {
      if (!mail.isConfigured || !(await meta.cluster.claims.take(CLAIM))) return
      for (;;) {
        const people = await store.peopleDue(now, ROUND)
        let failures = 0
        for (const userId of people) {
          try {
            await mailTo(userId, now)
          } catch (error) {
            failures++
            log.error('a mail of notifications could not be written', error, { userId })
          }
        }
        mail.wake()
        // Those that failed are tried again in the next round.
        if (people.length < ROUND || failures > 0) return
      }
    },
  }
}
