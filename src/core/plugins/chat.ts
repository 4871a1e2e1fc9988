import { m } from '../messages.gen.ts'
import type { PluginDefinition, PluginInput } from './plugin.ts'

const channel: PluginInput = {
  key: 'channel',
  label: m.plugin_input_channel,
  kind: 'text',
  isRequired: true,
  placeholder: 'general',
}
const webhookUrl: PluginInput = {
  key: 'webhook_url',
  label: m.plugin_input_webhook_url,
  kind: 'secret',
  format: 'address',
  isRequired: true,
}
const phoneNumber: PluginInput = {
  key: 'from',
  label: m.plugin_input_phone_number,
  kind: 'text',
  isRequired: true,
  placeholder: '+15550100',
}
const twilioAccount: readonly PluginInput[] = [
  { key: 'sid', label: m.plugin_input_account_sid, kind: 'text', format: 'name', isRequired: true },
  { key: 'token', label: m.plugin_input_auth_token, kind: 'secret', isRequired: true },
  phoneNumber,
]

const chat = <const I extends string>(id: I, title: string) => ({
  id,
  title,
  hookChannel: title,
  category: 'chat' as const,
  description: () => m.plugin_description_chat({ service: title }),
})

/** Services that webhooks send messages to. */
export const CHAT_PLUGINS = [
  { ...chat('slack', 'Slack'), inputs: [channel, webhookUrl], isList: true },
  { ...chat('ms-teams', 'Microsoft Teams'), inputs: [channel, webhookUrl], isList: true },
  { ...chat('discord', 'Discord'), inputs: [channel, webhookUrl], isList: true },
  { ...chat('mattermost', 'Mattermost'), inputs: [channel, webhookUrl], isList: true },
  {
    ...chat('telegram', 'Telegram'),
    inputs: [
      channel,
      { key: 'token', label: m.plugin_input_bot_token, kind: 'secret', isRequired: true },
      {
        key: 'chat_id',
        label: m.plugin_input_chat_id,
        kind: 'text',
        isRequired: true,
        placeholder: '-1001234567890',
        help: m.plugin_help_chat_id,
      },
    ],
    isList: true,
  },
  {
    id: 'twilio',
    title: 'Twilio SMS',
    hookChannel: 'Twilio',
    category: 'chat',
    description: m.plugin_description_twilio,
    inputs: twilioAccount,
  },
  {
    id: 'twilio-whatsapp',
    title: 'WhatsApp (Twilio)',
    hookChannel: 'Whatsapp Twilio',
    category: 'chat',
    description: m.plugin_description_whatsapp,
    inputs: twilioAccount,
  },
] as const satisfies readonly PluginDefinition[]

export type ChatPluginId = (typeof CHAT_PLUGINS)[number]['id']
