import { z } from 'zod'
import { MAX_CHAT_RECEIVERS } from '../../../src/core/hooks.ts'
import { CHAT_PLUGINS, type ChatPluginId } from '../../../src/core/plugins/index.ts'
import type { TemplateKind } from '../../../src/core/templates/template.ts'
import { plainText } from '../../../src/input.ts'
import type { ChatTarget } from '../../plugins/index.ts'
import { type Channel, type ChannelServices, defineChannel, type HttpDelivery } from './channel.ts'

const MAX_BODY = 50_000
const MAX_URL = 2_083 // spec §5

/** A message is plain text; the service escapes it as a whole. */
const KIND: TemplateKind = 'text'
const body = plainText(MAX_BODY).refine((text) => text.trim() !== '')

interface Receiver {
  channel?: string | null | undefined
  webhook_url?: string | null | undefined
}

/** Identifies a receiver; webhook URLs are passwords, so their hash does. */
const keyOf = ({ channel, webhook_url: url }: Receiver): string =>
  channel ? `name ${channel}` : `url ${new Bun.CryptoHasher('sha256').update(url ?? '').digest('base64url')}`

/** A message to channels that a super admin has configured by name, or to the webhook URLs of some. */
const toChannel = (id: ChatPluginId, type: string) =>
  defineChannel({
    type,
    payload: z.object({
      channels: z
        .array(z.object({ channel: plainText(255).nullish(), webhook_url: plainText(MAX_URL).nullish() }))
        .min(1)
        .max(MAX_CHAT_RECEIVERS)
        .refine((channels) => channels.every((one) => one.channel || one.webhook_url))
        .refine((channels) => new Set(channels.map(keyOf)).size === channels.length),
      body,
    }),
    isSigned: false,
    templates: (payload) => [{ path: 'body', text: payload.body, kind: KIND }],
    secrets: ({ channels }) => channels.flatMap(({ webhook_url: url }) => (url ? [url] : [])),
    receivers: (payload) =>
      payload.channels.map((target) => ({ key: keyOf(target), payload: { ...payload, channels: [target] } })),
    compose({ channels: [target], body: text }, render, { chat }) {
      const { channel, webhook_url: webhookUrl } = target ?? {}
      const to = { ...(channel && { channel }), ...(webhookUrl && { webhookUrl }) }
      return post(chat, id, to, render(text, KIND))
    },
  })

/** A message to a telephone number. */
const toPhone = (id: ChatPluginId, type: string) =>
  defineChannel({
    type,
    payload: z.object({ to: plainText(1_000).refine((text) => text.trim() !== ''), body }),
    isSigned: false,
    templates: (payload) => [
      { path: 'to', text: payload.to, kind: KIND },
      { path: 'body', text: payload.body, kind: KIND },
    ],
    secrets: () => [],
    compose: ({ to, body: text }, render, { chat }) =>
      post(chat, id, { to: render(to, KIND) }, render(text, KIND)),
  })

function post(
  chat: ChannelServices['chat'],
  id: ChatPluginId,
  target: ChatTarget,
  text: string,
): HttpDelivery {
  const { url, headers, body: sent } = chat.request(id, target, text)
  const { pathname, search } = new URL(url)
  const authorization = headers.filter(([name]) => name === 'authorization').map(([, value]) => value)
  return {
    kind: 'http',
    method: 'POST',
    url,
    headers: headers.map(([name, value]) => [name, value]),
    body: sent,
    // The path of a webhook URL is its password.
    secrets: [`${pathname}${search}`, ...authorization],
    problemOf: (reply) => chat.problemOf(id, reply),
  }
}

/** The channels of all chat services. */
export const chats: readonly Channel[] = CHAT_PLUGINS.map((plugin) =>
  'isList' in plugin ? toChannel(plugin.id, plugin.hookChannel) : toPhone(plugin.id, plugin.hookChannel),
)
