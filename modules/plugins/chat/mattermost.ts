import { type ChatService, fitText, isAccepted, JSON_HEADERS, refusalIn } from './chat-service.ts'

const MAX_TEXT = 16_383 // https://docs.mattermost.com/developers/integrate/webhooks/incoming

/** A zero-width space, which keeps the text readable. */
const BREAK = '\u200b'

/**
 * Breaks mentions of everyone: `@channel`, and Slack's form of it. Webhooks have no option that disables them. Also
 * breaks longer names, of which shortening may leave a mention.
 */
const withoutMentions = (text: string): string =>
  text.replace(/@(?=all|channel|here)/gi, `@${BREAK}`).replaceAll('<!', `<${BREAK}!`)

/** Mattermost's incoming webhooks. */
export const mattermost: ChatService = {
  request: ({ webhook_url }, { text }) => ({
    url: String(webhook_url),
    headers: JSON_HEADERS,
    body: JSON.stringify({ text: fitText(withoutMentions(text), MAX_TEXT) }),
  }),
  problemOf: (reply) => (isAccepted(reply) ? null : refusalIn(reply, 'message')),
}
