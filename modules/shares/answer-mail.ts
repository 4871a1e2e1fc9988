import { isSecret } from '../../src/core/fields/traits.ts'
import { createId } from '../../src/core/ids.ts'
import type { RecordId } from '../../src/core/model.ts'
import { answerRecipients } from '../../src/core/views/form.ts'
import { type Answers, visibleQuestions } from '../../src/core/views/form-answers.ts'
import { optionsOf } from '../../src/core/views/index.ts'
import { createMutex } from '../../src/db/mutex.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { MailBlock } from '../../src/mail.ts'
import type { RecordsService, SharedForm } from '../records/index.ts'

/** Answers to one form that are mailed within an hour: whoever answers must not fill a mailbox. */
const MAX_MAILED_PER_HOUR = 60
/** Characters of one answer that are mailed; all of it is in the record. */
const MAX_ANSWER_LENGTH = 10_000

/** An answer that has become a record. */
export interface KeptAnswer {
  recordId: RecordId
  /** What was written of it, by field id. */
  values: Answers
  /** The clock of whoever has answered. */
  timeZone: string
}

/** Mails about answers to forms, to whom the form names. */
export function createAnswerMails(
  { mail, log }: Pick<Kernel, 'mail' | 'log'>,
  forms: Pick<RecordsService['forms'], 'read'>,
) {
  // Counted and kept one after the other: answers that come at once must not all find the last place free.
  const exclusively = createMutex()

  async function send(form: SharedForm, answer: KeptAnswer): Promise<void> {
    const { heading, emailTo } = optionsOf(form.view, 'form')
    const recipients = answerRecipients(emailTo)
    if (recipients.length === 0) return
    const topic = `form ${form.view.id}`
    const mailed = await mail.countEvents(topic)
    if (mailed >= MAX_MAILED_PER_HOUR) return
    const title = heading ?? form.view.title
    const blocks: MailBlock[] = [
      { kind: 'text', text: `New response to “${title}”:` },
      { kind: 'list', items: await answersOf(form, answer) },
      { kind: 'link', label: 'Open record', url: mail.addressOf(pathOf(form, answer.recordId)) },
    ]
    if (mailed === MAX_MAILED_PER_HOUR - 1) {
      const text = `This form received ${MAX_MAILED_PER_HOUR} responses within an hour. Further responses are saved, but you won’t get an email for each of them for now.`
      blocks.push({ kind: 'text', text })
    }
    // Its own id, and not the record's: two answers are two, also where a number comes again.
    const event = createId('mail')
    await mail.send({ topic, event, recipients, content: { subject: `New response: ${title}`, blocks } })
  }

  /** The questions that were asked, with their answers as people read them. Passwords stay out of mails. */
  async function answersOf(form: SharedForm, { recordId, values, timeZone }: KeptAnswer) {
    const asked = visibleQuestions(form.view, form.model.fields, values, { now: new Date(), timeZone })
    const shown = asked.filter(({ field }) => !isSecret(field))
    const fields = shown.map(({ field }) => field)
    const texts = await forms.read(form, recordId, fields, timeZone)
    return shown.map(({ field, form: said }, at) => ({
      label: said.label ?? field.title,
      value: shortened(texts[at] || '–'),
    }))
  }

  /** Keeps the mails about an answer. The answer stands, whatever becomes of them. */
  return async function tell(form: SharedForm, answer: KeptAnswer): Promise<void> {
    if (!mail.isConfigured) return
    try {
      await exclusively(() => send(form, answer))
    } catch (error) {
      log.error('an answer could not be mailed', error, { viewId: form.view.id })
    }
  }
}

const pathOf = ({ model: { table } }: SharedForm, recordId: RecordId): string =>
  `/nc/${table.baseId}/${table.id}?rowId=${encodeURIComponent(String(recordId))}`

const shortened = (text: string): string =>
  text.length > MAX_ANSWER_LENGTH ? `${text.slice(0, MAX_ANSWER_LENGTH)}…` : text
