/** The channels of webhooks: a file each, and this registry. */

import type { Channel } from './channel.ts'
import { chats } from './chat.ts'
import { email } from './email.ts'
import { url } from './url.ts'

export type { Channel, ChannelServices, HttpDelivery, MailDelivery, Render } from './channel.ts'

export const CHANNELS: readonly Channel[] = [url, email, ...chats]

/** Names of channels in earlier versions of the API (spec §3). */
const EARLIER: Record<string, string> = { Whatsapp: 'Whatsapp Twilio' }

/** A channel by its name in the API; null if it is unknown. */
export const findChannel = (type: string): Channel | null =>
  CHANNELS.find((channel) => channel.type === (EARLIER[type] ?? type)) ?? null
