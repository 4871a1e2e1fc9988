import { type ChatService, fitText, isAccepted, JSON_HEADERS, refusalIn } from './chat-service.ts'

const MAX_TEXT = 4_096 // https://core.telegram.org/bots/api#sendmessage

/** Messages of a Telegram bot. */
export const telegram: ChatService = {
  request: ({ token, chat_id }, { text }, { telegramApiUrl }) => ({
    url: `${telegramApiUrl}/bot${encodeURIComponent(String(token)).replaceAll('%3A', ':')}/sendMessage`,
    headers: JSON_HEADERS,
    // Without a parse mode, the text is plain.
    body: JSON.stringify({
      chat_id,
      text: fitText(text, MAX_TEXT),
      link_preview_options: { is_disabled: true },
    }),
  }),
  problemOf: (reply) =>
    isAccepted(reply) && /^\{\s*"ok"\s*:\s*true/.test(reply.body.trimStart())
      ? null
      : refusalIn(reply, 'description'),
}
