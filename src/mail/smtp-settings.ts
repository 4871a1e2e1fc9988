import { boolean, integer, mailbox, textOrNull, variable } from '../config-values.ts'

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

/** The variables of the mail server. Without `SMTP_HOST` no mail is sent. */
export const SMTP_VARIABLES = {
  smtpHost: variable({
    name: 'SMTP_HOST',
    aliases: ['NC_SMTP_HOST'],
    default: '',
    help: 'Mail server for outgoing mail; requires `SMTP_FROM` and `PUBLIC_URL`. Empty: no mail is sent.',
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
