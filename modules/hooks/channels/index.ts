/** The channels of webhooks: a file each, and this registry. */

import type { Channel } from './channel.ts'
import { url } from './url.ts'

export type { Channel, HttpDelivery, MailDelivery, Render } from './channel.ts'

export const CHANNELS = [url] as unknown as readonly Channel[]

/** A channel by its name in the API; null if it is unknown. */
export const findChannel = (type: string): Channel | null =>
  CHANNELS.find((channel) => channel.type === type) ?? null
