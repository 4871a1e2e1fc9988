import { badRequest } from '../../../src/core/errors.ts'
import { m } from '../../../src/messages.gen.ts'
import { type ChatService, fitText, isAccepted, refusalIn } from './chat-service.ts'

const MAX_TEXT = 1_600 // https://www.twilio.com/docs/messaging/api/message-resource

/** A telephone number with its country code (E.164). */
const PHONE_NUMBER = /^\+[1-9]\d{4,14}$/

/** Messages through Twilio, whose numbers have a prefix for each way of sending. */
const through = (prefix: '' | 'whatsapp:'): ChatService => ({
  request({ sid, token, from }, { text, to = '' }, { twilioApiUrl }) {
    const number = to.replace(/[\s().-]/g, '')
    if (!PHONE_NUMBER.test(number))
      throw badRequest(m.plugins_error_phone_number({ number: to.slice(0, 40) }))
    const account = `${sid}:${token}`
    return {
      url: `${twilioApiUrl}/2010-04-01/Accounts/${encodeURIComponent(String(sid))}/Messages.json`,
      headers: [
        ['authorization', `Basic ${Buffer.from(account, 'utf8').toString('base64')}`],
        ['content-type', 'application/x-www-form-urlencoded'],
      ],
      body: new URLSearchParams({
        To: prefix + number,
        From: String(from).startsWith(prefix) ? String(from) : prefix + from,
        Body: fitText(text, MAX_TEXT),
      }).toString(),
    }
  },
  problemOf: (reply) => (isAccepted(reply) ? null : refusalIn(reply, 'message')),
})

/** Text messages. */
export const twilioSms: ChatService = through('')

/** WhatsApp messages. */
export const twilioWhatsapp: ChatService = through('whatsapp:')
