import { type ChatService, fitText, isAccepted, JSON_HEADERS, refusalIn } from './chat-service.ts'

const MAX_TEXT = 2_000 // https://docs.discord.com/developers/resources/webhook#execute-webhook

/** Discord's webhooks. */
export const discord: ChatService = {
  request: ({ webhook_url }, { text }) => ({
    url: String(webhook_url),
    headers: JSON_HEADERS,
    // Without allowed mentions, `@everyone` is plain text.
    body: JSON.stringify({ content: fitText(text, MAX_TEXT), allowed_mentions: { parse: [] } }),
  }),
  problemOf: (reply) => (isAccepted(reply) ? null : refusalIn(reply, 'message')),
}
