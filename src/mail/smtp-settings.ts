import { boolean, integer, mailbox, textOrNull, variable } from '../config-values.ts'
import { defineSlot } from '../registry.ts'

/** Settings of the mail server. */
export interface SmtpSettings {
  smtpHost: string | null
  smtpPort: number
  smtpUsername: string | null
  smtpPassword: string | null
  smtpSecure: boolean
  smtpIgnoreTls: boolean
  smtpFrom: string | null
}

/** Everything that sending mails needs. */
export interface MailSettings extends SmtpSettings {
  /** Base address of the links in mails. */
  publicUrl: string | null
  /** The name with which the server greets the mail server; null: its host name. */
  clientName?: string | null
  /** Accepts certificates that no authority has signed. */
  allowsInvalidCertificate?: boolean
}

/** Mail settings from the account area, which apply without `SMTP_HOST`; `current` is null if there are none. */
export const MAIL_SETTINGS = defineSlot<{ current(): MailSettings | null }>('mail.settings')

/** The variables of the mail server. Without `SMTP_HOST`, the settings of the account area apply. */
export const SMTP_VARIABLES = {
  smtpHost: variable({
    name: 'SMTP_HOST',
    aliases: ['NC_SMTP_HOST'],
    default: '',
    help: 'Mail server for outgoing mail; requires `SMTP_FROM` and `PUBLIC_URL`. Empty: as configured in the account area under *Setup*.',
    read: textOrNull,
  }),
  smtpPort: variable({
    name: 'SMTP_PORT',
    aliases: ['NC_SMTP_PORT'],
    default: '587',
    help: 'Port of the mail server.',
    read: integer(1, 65_535),
  }),
  smtpUsername: variable({
    name: 'SMTP_USERNAME',
    aliases: ['NC_SMTP_USERNAME'],
    default: '',
    help: 'User name at the mail server. Empty: no authentication.',
    read: textOrNull,
  }),
  smtpPassword: variable({
    name: 'SMTP_PASSWORD',
    aliases: ['NC_SMTP_PASSWORD'],
    default: '',
    help: 'Password for `SMTP_USERNAME`.',
    read: textOrNull,
  }),
  smtpSecure: variable({
    name: 'SMTP_SECURE',
    aliases: ['NC_SMTP_SECURE'],
    default: 'false',
    help: 'When true, the connection uses TLS from the start, as on port 465. When false, it upgrades with STARTTLS where the mail server offers it.',
    read: boolean,
  }),
  smtpIgnoreTls: variable({
    name: 'SMTP_IGNORE_TLS',
    aliases: ['NC_SMTP_IGNORE_TLS'],
    default: 'false',
    help: 'When true, STARTTLS is not used even where the mail server offers it.',
    read: boolean,
  }),
  smtpFrom: variable({
    name: 'SMTP_FROM',
    aliases: ['NC_SMTP_FROM'],
    default: '',
    help: 'Sender address: `sheaf@example.com` or `Sheaf <sheaf@example.com>`.',
    read: mailbox,
  }),
}
