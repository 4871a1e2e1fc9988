import { boolean, integer, mailbox, textOrNull } from '../config-values.ts'
import { variable } from '../config-variable.ts'

/** The mail server, as the environment names it. */
export interface SmtpSettings {
  smtpHost: string | null
  smtpPort: number
  smtpUsername: string | null
  smtpPassword: string | null
  smtpSecure: boolean
  smtpIgnoreTls: boolean
  smtpFrom: string | null
}

/** The variables that say so. `smtpHost` null: no mail is sent. */
export const SMTP_VARIABLES = {
  smtpHost: variable({
    name: 'SMTP_HOST',
    aliases: ['NC_SMTP_HOST'],
    default: '',
    help: 'Mail server that mails go out by; needs `SMTP_FROM` and `PUBLIC_URL`. Empty: no mail is sent.',
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
    help: 'Account at the mail server. Empty: it asks for none.',
    read: textOrNull,
  }),
  smtpPassword: variable({
    name: 'SMTP_PASSWORD',
    aliases: ['NC_SMTP_PASSWORD'],
    default: '',
    help: 'Password of that account.',
    read: textOrNull,
  }),
  smtpSecure: variable({
    name: 'SMTP_SECURE',
    aliases: ['NC_SMTP_SECURE'],
    default: 'false',
    help: 'When true, the connection is encrypted from its beginning, as port 465 asks; when false, as soon as the mail server offers it.',
    read: boolean,
  }),
  smtpIgnoreTls: variable({
    name: 'SMTP_IGNORE_TLS',
    aliases: ['NC_SMTP_IGNORE_TLS'],
    default: 'false',
    help: 'When true, encryption that the mail server offers is left alone.',
    read: boolean,
  }),
  smtpFrom: variable({
    name: 'SMTP_FROM',
    aliases: ['NC_SMTP_FROM'],
    default: '',
    help: 'Whom mails are from: `sheaf@example.com` or `Sheaf <sheaf@example.com>`.',
    read: mailbox,
  }),
}
