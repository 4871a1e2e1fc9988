import { createHmac } from 'node:crypto'
import type { EmailPluginId, PluginValues } from '../core/plugins/index.ts'
import type { MailSettings } from './smtp-settings.ts'

const text = (value: PluginValues[string] | undefined): string | null =>
  value === undefined || value === '' ? null : String(value)

/** The mail settings of each mail service. */
const SETTINGS: Record<EmailPluginId, (values: PluginValues) => MailSettings> = {
  smtp: (values) => ({
    smtpHost: text(values.host),
    smtpPort: Number(values.port),
    smtpUsername: text(values.username),
    smtpPassword: text(values.password),
    smtpSecure: values.secure === true,
    smtpIgnoreTls: values.ignoreTLS === true,
    smtpFrom: text(values.from),
    publicUrl: text(values.public_url),
    clientName: text(values.name),
    allowsInvalidCertificate: values.rejectUnauthorized === false,
  }),
  ses: (values) => ({
    smtpHost: `email-smtp.${values.region}.amazonaws.com`,
    smtpPort: 587,
    smtpUsername: text(values.access_key),
    smtpPassword: sesPassword(String(values.access_secret), String(values.region)),
    smtpSecure: false,
    smtpIgnoreTls: false,
    smtpFrom: text(values.from),
    publicUrl: text(values.public_url),
  }),
}

/** The settings of a configured mail service. `publicUrl` of the environment takes precedence. */
export function mailSettingsOf(
  id: EmailPluginId,
  values: PluginValues,
  publicUrl: string | null,
): MailSettings {
  const settings = SETTINGS[id](values)
  return { ...settings, publicUrl: publicUrl ?? settings.publicUrl }
}

/**
 * The password of Amazon SES's SMTP interface for a secret access key.
 * https://docs.aws.amazon.com/ses/latest/dg/smtp-credentials.html#smtp-credentials-convert
 */
export function sesPassword(secretAccessKey: string, region: string): string {
  const steps = ['11111111', region, 'ses', 'aws4_request', 'SendRawEmail']
  let signature: Buffer = Buffer.from(`AWS4${secretAccessKey}`, 'utf8')
  for (const step of steps) signature = createHmac('sha256', signature).update(step, 'utf8').digest()
  return Buffer.concat([Buffer.of(0x04), signature]).toString('base64')
}
