import { htmlOf, type MailContent, subjectLine, textOf } from './message.ts'
import type { MailSettings, SmtpSettings } from './smtp-settings.ts'

/** Delivers mails. */
export interface MailChannel {
  /** Delivers a mail to one address. `id` is the same for all attempts, so that duplicates are recognised. */
  send(mail: { id: string; recipient: string; content: MailContent }): Promise<Delivery>
}

/**
 * `refused`: the server permanently rejects the address. `away`: it is unreachable or accepts no mail now. `failed`:
 * any other error. `reason` is for the log and holds no password.
 */
export type Delivery = { outcome: 'sent' } | { outcome: 'refused' | 'away' | 'failed'; reason: string }

const CONNECT_TIMEOUT_MS = 10_000
/** Timeout for a silent server. */
const SOCKET_TIMEOUT_MS = 30_000
/** Timeout of a whole delivery, also with a slow server. */
const SEND_TIMEOUT_MS = 120_000

/** No such mailbox (RFC 5321 §4.2.3). Other refusals may be about this server: its account, its address. */
const NO_MAILBOX = [550, 551, 553]

/** Error codes of nodemailer and the system for an unreachable server. */
const AWAY = /^(ECONNECTION|ETIMEDOUT|ESOCKET|EDNS|ETLS|EAUTH|EPROTOCOL|ECONNREFUSED|ECONNRESET)$/

/** @throws if the server cannot be reached, or refuses the account */
export async function verifySmtp(config: SmtpSettings | MailSettings): Promise<void> {
  const transport = await transportTo(config, config.smtpHost ?? '')
  try {
    await transport.verify()
  } finally {
    transport.close()
  }
}

// Connects to any address: the operator chooses the mail server, which is often in the local network.
async function transportTo(config: SmtpSettings & Partial<MailSettings>, host: string) {
  // Loaded on first use, so that the server starts faster.
  const { createTransport } = await import('nodemailer')
  return createTransport({
    host,
    port: config.smtpPort,
    secure: config.smtpSecure,
    ignoreTLS: config.smtpIgnoreTls,
    ...(config.clientName && { name: config.clientName }),
    ...(config.allowsInvalidCertificate && { tls: { rejectUnauthorized: false } }),
    auth: config.smtpUsername === null ? undefined : accountOf(config.smtpUsername, config.smtpPassword),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    dnsTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

/** Channel to a mail server; null if the settings name none. The only file that uses nodemailer. */
export function openSmtpChannel(config: MailSettings): MailChannel | null {
  const { smtpHost: host, smtpFrom: from, publicUrl } = config
  if (host === null || from === null || publicUrl === null) return null
  let opened: ReturnType<typeof transportTo> | null = null
  const domain = new URL(publicUrl).hostname

  return {
    async send({ id, recipient, content }) {
      opened ??= transportTo(config, host)
      const transport = await opened
      const sending = transport.sendMail({
        from,
        // Passed as an object, because a string would be parsed as a list of addresses.
        to: { name: '', address: recipient },
        messageId: `<${id}@${domain}>`,
        subject: subjectLine(content.subject),
        text: textOf(content),
        html: htmlOf(content),
        headers: {
          // Suppresses automatic replies (RFC 3834).
          'Auto-Submitted': 'auto-generated',
          ...(content.unsubscribe && {
            'List-Unsubscribe': { prepared: true, value: `<${content.unsubscribe}>` },
            'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          }),
        },
      })
      return within(SEND_TIMEOUT_MS, sending).then(
        () => ({ outcome: 'sent' as const }),
        (error) => failureOf(error, config.smtpPassword),
      )
    },
  }
}

const accountOf = (user: string, pass: string | null) => ({ user, pass: pass ?? '' })

function failureOf(error: unknown, password: string | null): Delivery {
  const {
    code = '',
    command = '',
    responseCode = 0,
  } = error as Partial<Record<'code' | 'command', string>> & {
    responseCode?: number
  }
  const told = error instanceof Error ? error.message : String(error)
  const secretless = password ? told.replaceAll(password, '…') : told
  const reason = subjectLine(secretless)
  if (command === 'RCPT TO' && NO_MAILBOX.includes(responseCode)) return { outcome: 'refused', reason }
  return { outcome: AWAY.test(code) ? 'away' : 'failed', reason }
}

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(Object.assign(new Error('The mail server took too long'), { code: 'ETIMEDOUT' })),
    timeoutMs,
  )
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
