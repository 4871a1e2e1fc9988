import { type ChatService, fitText, isAccepted, JSON_HEADERS, reasonOf, refusalIn } from './chat-service.ts'

/** A message may have 28 KB; a UTF-16 unit takes at most six bytes in JSON. */
const MAX_TEXT = 4_000
/** Each line is a block of its own, which takes 70 bytes. Further lines are joined. */
const MAX_LINES = 40

/**
 * Webhooks of Microsoft Teams: those of workflows, which take Adaptive Cards only, and the older incoming webhooks,
 * which take them as well.
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
 */
export const teams: ChatService = {
  request: ({ webhook_url }, { text }) => ({
    url: String(webhook_url),
    headers: JSON_HEADERS,
    body: JSON.stringify({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.2',
            // Text runs are plain: a TextBlock would read Markdown. Mentions need entities, of which there are none.
            body: linesOf(fitText(text, MAX_TEXT)).map((line) => ({
              type: 'RichTextBlock',
              inlines: [{ type: 'TextRun', text: line || ' ' }],
            })),
            msteams: { width: 'Full' },
          },
        },
      ],
    }),
  }),
  problemOf(reply) {
    // Incoming webhooks answer 200 also where Teams has refused the message, and say so in the body.
    const isRefused = /^Webhook message delivery failed/i.test(reply.body)
    if (isRefused) return reasonOf(reply.body)
    return isAccepted(reply) ? null : refusalIn(reply, 'message')
  },
}

function linesOf(text: string): string[] {
  const lines = text.split('\n')
  const rest = lines.slice(MAX_LINES - 1).join(' ')
  return [...lines.slice(0, MAX_LINES - 1), ...(rest === '' ? [] : [rest])]
}
