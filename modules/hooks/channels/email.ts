import { z } from 'zod'
import { isEmail } from '../../../src/core/fields/checked-text.ts'
import { RenderError, type TemplateKind } from '../../../src/core/templates/template.ts'
import { plainText } from '../../../src/input.ts'
import { m } from '../../../src/messages.gen.ts'
import { defineChannel } from './channel.ts'

const MAX_RECIPIENTS = 10
const KIND: TemplateKind = 'text'
const filled = (max: number) => plainText(max).refine((text) => text.trim() !== '')

/** Mails to addresses, separated by commas. */
export const email = defineChannel({
  type: 'Email',
  payload: z.object({ to: filled(2_000), subject: filled(1_000), body: filled(50_000) }),
  isSigned: false,
  templates: ({ to, subject, body }) => [
    { path: 'to', text: to, kind: KIND },
    { path: 'subject', text: subject, kind: KIND },
    { path: 'body', text: body, kind: KIND },
  ],
  secrets: () => [],
  compose({ to, subject, body }, render) {
    const addresses = render(to, KIND)
      .split(/[,;]/)
      .map((address) => address.trim())
      .filter((address) => address !== '')
    const recipients = [...new Set(addresses)]
    const wrong = recipients.find((address) => !isEmail(address))
    if (wrong !== undefined) throw new RenderError(m.hooks_error_address({ address: wrong.slice(0, 100) }))
    if (recipients.length === 0 || recipients.length > MAX_RECIPIENTS) {
      throw new RenderError(m.hooks_error_recipients({ max: MAX_RECIPIENTS }))
    }
    return { kind: 'mail', recipients, subject: render(subject, KIND), body: render(body, KIND) }
  },
})
