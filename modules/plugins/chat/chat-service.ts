import type { Config } from '../../../src/config.ts'
import type { PluginValues } from '../../../src/core/plugins/index.ts'
import type { HttpReply } from '../../../src/http.ts'

/** A message to a channel, or to a telephone number. */
export interface ChatMessage {
  /** Plain text. */
  text: string
  /** Telephone number of the recipient, for services without channels. */
  to?: string
}

/** A POST request to a chat service. */
export interface ChatRequest {
  url: string
  headers: readonly (readonly [name: string, value: string])[]
  body: string
}

/** Addresses of the services that are not part of a webhook URL. */
export type ChatAddresses = Pick<Config, 'telegramApiUrl' | 'twilioApiUrl'>

/** How messages are sent to one service. */
export interface ChatService {
  /**
   * The request that posts a message. The text is shortened to what the service accepts, and no part of it can mention
   * everyone in a channel: it may hold the text of records.
   *
   * @param values the configuration of the plugin, or of one of its channels
   */
  request(values: PluginValues, message: ChatMessage, addresses: ChatAddresses): ChatRequest
  /** Why the service has not accepted the message, in its own words if it gives any; null if it has. */
  problemOf(reply: Pick<HttpReply, 'status' | 'statusText' | 'body'>): string | null
}

export const JSON_HEADERS = [['content-type', 'application/json; charset=utf-8']] as const

const MAX_REASON = 300

/** A reason on one line, shortened. */
export const reasonOf = (text: string): string =>
  [...text.replace(/[\p{Cc}\s]+/gu, ' ').trim()].slice(0, MAX_REASON).join('')

/** The text of a property of a JSON object; null if there is none. */
function jsonText(body: string, key: string): string | null {
  try {
    const parsed: unknown = JSON.parse(body)
    const value =
      typeof parsed === 'object' && parsed !== null ? new Map(Object.entries(parsed)).get(key) : null
    return typeof value === 'string' && value !== '' ? value : null
  } catch {
    // Proxies answer with pages of HTML.
    return null
  }
}

/** True for 200 to 299. */
export const isAccepted = ({ status }: Pick<HttpReply, 'status'>): boolean => status >= 200 && status < 300

/** Why a service has refused, by a text of its JSON response, else by the status. */
export const refusalIn = (
  reply: Pick<HttpReply, 'status' | 'statusText' | 'body'>,
  key: 'message' | 'description',
): string => reasonOf(jsonText(reply.body, key) ?? '') || statusOf(reply)

/** The status with its text, e.g. `404 Not Found`. */
export const statusOf = ({ status, statusText }: Pick<HttpReply, 'status' | 'statusText'>): string =>
  `${status} ${statusText}`.trim()

/**
 * Encodes a text and shortens it to a number of UTF-16 units, ending in `…`. Cuts between characters of the original,
 * so that neither a surrogate pair nor an escape sequence is broken.
 */
export function fitText(text: string, max: number, encode: (text: string) => string = String): string {
  const whole = encode(text)
  if (whole.length <= max) return whole
  let fitting = ''
  // Encoding never shortens a text, so more than `max` characters cannot fit.
  for (const character of text.slice(0, max)) {
    const encoded = encode(character)
    if (fitting.length + encoded.length > max - 1) break
    fitting += encoded
  }
  return `${fitting}…`
}
