import type { ChatPluginId } from '../../../src/core/plugins/index.ts'
import type { ChatService } from './chat-service.ts'
import { discord } from './discord.ts'
import { mattermost } from './mattermost.ts'
import { slack } from './slack.ts'
import { teams } from './teams.ts'
import { telegram } from './telegram.ts'
import { twilioSms, twilioWhatsapp } from './twilio.ts'

export type { ChatAddresses, ChatMessage, ChatRequest, ChatService } from './chat-service.ts'

/** How messages are sent to each service. */
export const CHAT_SERVICES: Record<ChatPluginId, ChatService> = {
  slack,
  'ms-teams': teams,
  discord,
  mattermost,
  telegram,
  twilio: twilioSms,
  'twilio-whatsapp': twilioWhatsapp,
}
