import { nowMs } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Meta, MetaStatement } from '../db/meta.ts'
import { createMutex } from '../db/mutex.ts'
import type { Log } from '../log.ts'
import type { Registry } from '../registry.ts'
import type { Secrets } from '../secrets.ts'
import { isOutage } from '../storage-full.ts'
import type { MailContent } from './message.ts'
import { type ClaimedMail, createOutbox, type NewMail } from './outbox.ts'
import { type MailChannel, openSmtpChannel } from './smtp-channel.ts'
import { MAIL_SETTINGS, type MailSettings } from './smtp-settings.ts'

/** Sends mails. They are stored first and sent in the background, so that no request waits for the mail server. */
export interface Mail {
  /** False without a mail server: sending then throws. Changes with the settings of the account area. */
  readonly isConfigured: boolean
  /** The full address of a path of the web app such as `/nc/p123`, from the settings, never from a request. */
  addressOf(path: string): string
  /** Stores a mail, to be sent as soon as the mail server accepts it. @throws Error without a mail server */
  send(mail: NewMail): Promise<void>
  /** Statements that store a mail, for a transaction with others; `wake` sends it afterwards. @throws as `send` */
  prepare(mail: NewMail): MetaStatement[]
  /** Sends what is due, in the background. */
  wake(): void
  /**
   * Sends a mail at once, through other settings if given. Resolves to the reason for a failure, or null.
   * @throws Error without a mail server
   */
  sendNow(
    id: string,
    recipient: string,
    content: MailContent,
    settings?: MailSettings,
  ): Promise<string | null>
  /** The number of a topic's events with mails within the last hour. */
  countEvents(topic: string): Promise<number>
  /** Sends the mails due at a time (milliseconds since 1970). Resolves when all have been tried. */
  sendDue(now?: number): Promise<void>
  /** Starts sending. */
  start(): void
  /** Stops sending; resolves when the current mail is done, or after a few seconds. */
  close(): Promise<void>
}

/** Delays before the second and further attempts; after the last the mail is given up. */
const WAITS_MS = [1, 5, 30, 120, 360].map((minutes) => minutes * 60_000)
/** Interval of looking for due mails, including those that other processes have left. */
const LOOK_EVERY_MS = 30_000
const FORGET_EVERY_MS = 3_600_000
const STOP_PATIENCE_MS = 4_000
/** How often the outcome of a mail is stored again while the database is away. */
const STORE_AGAIN_MS = 500

const NOT_CONFIGURED = 'No mail service is configured on this server'

interface Parts {
  config: Config
  meta: Meta
  secrets: Secrets
  log: Log
  registry: Registry
}

export function createMail({ config, meta, secrets, log, registry }: Parts): Mail {
  let opened: { settings: MailSettings; channel: MailChannel | null } | null = null
  const outbox = createOutbox(meta, secrets.connections)
  /** One round at a time. */
  const exclusively = createMutex()
  let closing = false
  let timers: Timer[] = []
  let running: Promise<void> = Promise.resolve()
  let isQueued = false

  /** The environment takes precedence. */
  const settingsNow = (): MailSettings | null =>
    config.smtpHost === null ? registry.get(MAIL_SETTINGS).current() : config

  /** The channel of the current settings; null if no mail can be sent. */
  function channelNow(): MailChannel | null {
    const settings = settingsNow()
    if (settings === null) return null
    if (opened?.settings !== settings) opened = { settings, channel: openSmtpChannel(settings) }
    return opened.channel
  }

  /** Sends due mails, and runs again if more arrive in the meantime. */
  function wake(): void {
    if (isQueued || closing) return
    isQueued = true
    running = exclusively(() => {
      isQueued = false
      return round()
    }).catch((error) => log.error('the mails that are due could not be read', error))
  }

  /** @param aheadMs sends what will be due after this time */
  async function round(aheadMs = 0): Promise<void> {
    if (channelNow() === null) return
    for (;;) {
      const ids = await outbox.due(nowMs() + aheadMs)
      if (ids.length === 0) return
      for (const id of ids) {
        if (closing) return
        // A slow mail server makes rounds long, so each lease begins at its own time.
        const now = nowMs() + aheadMs
        const mail = await outbox.claim(id, now)
        // An unreachable server ends the round; the next round tries again.
        if (mail && (await attempt(mail, now)) === 'away') return
      }
    }
  }

  async function attempt(mail: ClaimedMail, now: number): Promise<'away' | 'done'> {
    const { id, attempts, recipient, content } = mail
    if (content === null) {
      await giveUp(mail, 'It was sealed with another CONNECTION_SECRET')
      return 'done'
    }
    if (mail.isExpired) {
      await giveUp(mail, 'It is too late for it')
      return 'done'
    }
    const channel = channelNow()
    if (channel === null) {
      // The settings were removed meanwhile. The mail waits for new ones.
      await outbox.postpone(id, now, NOT_CONFIGURED)
      return 'away'
    }
    const delivery = await channel.send({ id, recipient, content })
    if (delivery.outcome === 'sent') {
      await surely(() => outbox.sent(id))
      log.info('mail sent', { mailId: id, topic: mail.topic })
      return 'done'
    }
    const { outcome, reason } = delivery
    const wait = WAITS_MS[attempts - 1]
    if (outcome === 'refused' || wait === undefined) {
      await giveUp(mail, reason)
    } else {
      log.warn('mail not sent', { mailId: id, topic: mail.topic, attempts, reason })
      await surely(() => outbox.postpone(id, now + wait, reason))
    }
    return outcome === 'away' ? 'away' : 'done'
  }

  async function giveUp({ id, topic, recipient, attempts }: ClaimedMail, reason: string): Promise<void> {
    await surely(() => outbox.giveUp(id, reason))
    log.error('mail given up', new Error(reason), { mailId: id, topic, recipient, attempts })
  }

  /** Stores what has become of a mail, also if the database is away for a while: it would be sent again. */
  async function surely(store: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await store()
      } catch (error) {
        if (!isOutage(error) || closing) throw error
        await Bun.sleep(STORE_AGAIN_MS)
      }
    }
  }

  function forget(): void {
    outbox.forgetOld(nowMs()).catch((error) => log.error('old mails could not be removed', error))
  }

  return {
    get isConfigured() {
      return channelNow() !== null
    },
    addressOf(path) {
      const publicUrl = config.publicUrl ?? settingsNow()?.publicUrl ?? null
      if (publicUrl === null) throw new Error(NOT_CONFIGURED)
      return `${publicUrl}/dashboard/#${path}`
    },
    async send(mail) {
      if (channelNow() === null) throw new Error(NOT_CONFIGURED)
      await meta.atomically(outbox.add(mail))
      wake()
    },
    prepare(mail) {
      if (channelNow() === null) throw new Error(NOT_CONFIGURED)
      return outbox.add(mail)
    },
    wake,
    async sendNow(id, recipient, content, settings) {
      const channel = settings ? openSmtpChannel(settings) : channelNow()
      if (channel === null) throw new Error(NOT_CONFIGURED)
      const delivery = await channel.send({ id, recipient, content })
      return delivery.outcome === 'sent' ? null : delivery.reason
    },
    countEvents: (topic) => outbox.countEvents(topic, nowMs() - 3_600_000),
    sendDue: (now = nowMs()) => exclusively(() => round(now - nowMs())),
    start() {
      timers = [setInterval(wake, LOOK_EVERY_MS), setInterval(forget, FORGET_EVERY_MS)]
      for (const timer of timers) timer.unref()
      forget()
      wake()
    },
    async close() {
      closing = true
      for (const timer of timers) clearInterval(timer)
      await Promise.race([running, Bun.sleep(STOP_PATIENCE_MS)])
    },
  }
}
