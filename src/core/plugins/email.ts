import { m } from '../messages.gen.ts'
import type { PluginDefinition, PluginInput } from './plugin.ts'

const from: PluginInput = {
  key: 'from',
  label: m.plugin_input_from,
  kind: 'text',
  format: 'mailbox',
  isRequired: true,
  placeholder: 'Sheaf <sheaf@example.com>',
}

/** Needed only where the environment does not set it (`PUBLIC_URL`). */
const publicUrl: PluginInput = {
  key: 'public_url',
  label: m.plugin_input_public_url,
  kind: 'text',
  format: 'address',
  placeholder: 'https://sheaf.example.com',
  help: m.plugin_help_public_url,
}

/** Mail services. One of them sends all mails. */
export const EMAIL_PLUGINS = [
  {
    id: 'smtp',
    title: 'SMTP',
    category: 'email',
    description: m.plugin_description_smtp,
    inputs: [
      from,
      {
        key: 'host',
        label: m.plugin_input_mail_server,
        kind: 'text',
        format: 'host',
        isRequired: true,
        isDestination: true,
        placeholder: 'smtp.example.com',
      },
      {
        key: 'port',
        label: m.plugin_input_port,
        kind: 'number',
        format: 'port',
        isRequired: true,
        isDestination: true,
        placeholder: '587',
        help: m.plugin_help_mail_port,
      },
      { key: 'username', label: m.plugin_input_username, kind: 'text', help: m.plugin_help_username },
      { key: 'password', label: m.plugin_input_password, kind: 'secret', usedWith: 'username' },
      { key: 'secure', label: m.plugin_input_secure, kind: 'switch', help: m.plugin_help_secure },
      { key: 'ignoreTLS', label: m.plugin_input_ignore_tls, kind: 'switch', help: m.plugin_help_ignore_tls },
      {
        key: 'rejectUnauthorized',
        label: m.plugin_input_check_certificate,
        kind: 'switch',
        isOn: true,
        help: m.plugin_help_check_certificate,
      },
      {
        key: 'name',
        label: m.plugin_input_client_name,
        kind: 'text',
        format: 'host',
        placeholder: 'example.com',
        help: m.plugin_help_client_name,
      },
      publicUrl,
    ],
  },
  {
    id: 'ses',
    title: 'Amazon SES',
    category: 'email',
    description: m.plugin_description_ses,
    inputs: [
      from,
      {
        key: 'region',
        label: m.plugin_input_region,
        kind: 'text',
        format: 'region',
        isRequired: true,
        isDestination: true,
        placeholder: 'eu-central-1',
      },
      { key: 'access_key', label: m.plugin_input_access_key, kind: 'text', isRequired: true },
      {
        key: 'access_secret',
        label: m.plugin_input_access_secret,
        kind: 'secret',
        isRequired: true,
        help: m.plugin_help_ses_secret,
      },
      publicUrl,
    ],
  },
] as const satisfies readonly PluginDefinition[]

export type EmailPluginId = (typeof EMAIL_PLUGINS)[number]['id']
