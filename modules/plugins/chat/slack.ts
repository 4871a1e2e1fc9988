import { m } from '../../../src/messages.gen.ts'
import { type ChatService, fitText, isAccepted, JSON_HEADERS, reasonOf, statusOf } from './chat-service.ts'

const MAX_TEXT = 40_000 // https://docs.slack.dev/reference/methods/chat.postMessage#truncating

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Escapes what starts mentions and links: https://docs.slack.dev/messaging/formatting-message-text#escaping */
const escapeText = (text: string): string => text.replace(/[&<>]/g, (letter) => ENTITIES[letter] ?? letter)

/** Errors of incoming webhooks: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks#handling_errors */
const PROBLEMS: Record<string, () => string> = {
  invalid_token: m.plugins_slack_invalid_url,
  no_service: m.plugins_slack_invalid_url,
  no_team: m.plugins_slack_invalid_url,
  no_active_hooks: m.plugins_slack_invalid_url,
  channel_not_found: m.plugins_slack_channel_gone,
  channel_is_archived: m.plugins_slack_channel_gone,
  action_prohibited: m.plugins_slack_prohibited,
  posting_to_general_channel_denied: m.plugins_slack_prohibited,
}

/** Slack's incoming webhooks. */
export const slack: ChatService = {
  request: ({ webhook_url }, { text }) => ({
    url: String(webhook_url),
    headers: JSON_HEADERS,
    body: JSON.stringify({ text: fitText(text, MAX_TEXT, escapeText) }),
  }),
  problemOf(reply) {
    if (isAccepted(reply)) return null
    const code = reasonOf(reply.body)
    const explained = Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code]?.() : undefined
    return explained ? `${explained} (${code})` : code || statusOf(reply)
  },
}
