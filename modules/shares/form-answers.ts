import { createHmac, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { nowMs } from '../../src/clock.ts'
import type { Config } from '../../src/config.ts'
import type { Actor, ShareActor } from '../../src/core/actor.ts'
import { isTimeZone } from '../../src/core/dates.ts'
import { AppError, badRequest } from '../../src/core/errors.ts'
import { type AttachmentOptions, limitProblem } from '../../src/core/fields/attachment.ts'
import { type AttachmentItem, writeAttachments } from '../../src/core/fields/attachment-item.ts'
import { holdsFiles, isSecret } from '../../src/core/fields/traits.ts'
import { createId } from '../../src/core/ids.ts'
import type { Field, RecordId, View } from '../../src/core/model.ts'
import { type FormState, SUBMISSION_HEADER, TIME_ZONE_HEADER } from '../../src/core/shares.ts'
import { answerRecipients } from '../../src/core/views/form.ts'
import {
  type Answers,
  checkAnswers,
  questionsOf,
  visibleQuestions,
} from '../../src/core/views/form-answers.ts'
import { optionsOf } from '../../src/core/views/index.ts'
import type { Question } from '../../src/core/views/question.ts'
import { createMutex } from '../../src/db/mutex.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { MailBlock } from '../../src/mail.ts'
import { m } from '../../src/messages.gen.ts'
import type { Secrets } from '../../src/secrets.ts'
import { type AuthService, createHourlyLimit, isExpired, noShare, type ShareRow } from '../auth/index.ts'
import type { RecordsService, SharedForm } from '../records/index.ts'

/** Limit of files per answer, over all questions. */
const MAX_FILES = 100

interface SentFile {
  /** Names the question: title or field id, also as `Title[0]` and `_Title`. */
  name: string
  fileName: string
  body: AsyncIterable<Uint8Array>
}

/** Reads an answer by field id. Passes on files as they arrive, once the form is known to accept answers. */
export type ReadAnswers = (
  form: SharedForm,
  takeFile: (file: SentFile) => Promise<void>,
) => Promise<Record<string, unknown>>

export interface Sender {
  address: string
  headers: Headers
}

export interface Answered {
  recordId: RecordId
  /** Value of a `Set-Cookie` header; null if the form allows several answers per person. */
  setCookie: string | null
}

interface Deps {
  kernel: Pick<Kernel, 'config' | 'secrets' | 'events' | 'limits' | 'mail' | 'log'>
  auth: Pick<AuthService, 'shares'>
  records: Pick<RecordsService, 'forms' | 'attachments'>
}

const REFUSALS: Record<Exclude<FormState, 'open'>, () => string> = {
  closed: m.forms_error_closed,
  full: m.forms_error_full,
  answered: m.forms_error_already_answered,
}

/** Accepts answers to shared forms. */
export function createFormAnswers({ kernel, auth, records }: Deps) {
  const limit = createHourlyLimit(
    { limits: kernel.limits, name: 'answers to forms' },
    kernel.config.formAnswersPerHour,
    m.forms_error_too_many_answers,
  )
  const once = createAnswerOnce<Answered>()
  const mailAnswer = createAnswerMails(kernel, records.forms)
  const cookie = createAnsweredCookie(kernel.config, kernel.secrets)

  function stateOf(row: Pick<ShareRow, 'answers'>, view: View, headers: Headers): FormState {
    const { closesAt, maxAnswers, onePerPerson } = optionsOf(view, 'form')
    if (closesAt !== null && Date.parse(closesAt) <= nowMs()) return 'closed'
    if (maxAnswers !== null && row.answers >= maxAnswers) return 'full'
    return onePerPerson && cookie.isIn(headers, view.id) ? 'answered' : 'open'
  }

  /**
   * Saves an answer as a record, limited to the form's questions and checked against their rules.
   * @throws FORBIDDEN with `reason` if the form accepts no answers; TOO_MANY_REQUESTS; INVALID_VALUE_FOR_FIELD
   * with `problems`, each with `fieldId` and `message`
   */
  async function submit(actor: Actor, read: ReadAnswers, sender: Sender): Promise<Answered> {
    if (actor.kind !== 'share') throw new AppError('FORBIDDEN', `Forbidden - ${m.forms_error_needs_link()}`)
    return once(actor.shareId, sender.headers, () => answer(actor, read, sender))
  }

  async function answer(
    actor: ShareActor,
    read: ReadAnswers,
    { address, headers }: Sender,
  ): Promise<Answered> {
    const form = await openTaking(actor, headers)
    limit.take(actor.shareId, address)
    const files = filesOf(actor, form)
    const recordId = await read(form, files.take)
      // Receiving files takes time: the form may have been closed since.
      .then(async (values) =>
        save(actor, await openTaking(actor, headers), { ...values, ...files.values() }, zoneIn(headers)),
      )
      .catch(async (error) => {
        // Files of refused answers must not fill the disk or count against the upload limit.
        await files.discard()
        throw error
      })
    // Removes files of questions that were not shown.
    await files.discard()
    const { onePerPerson } = optionsOf(form.view, 'form')
    return { recordId, setCookie: onePerPerson ? cookie.header(form.view.id) : null }
  }

  /** The form of a link if it accepts answers. @throws VIEW_NOT_FOUND; FORBIDDEN with `reason` */
  async function openTaking(actor: ShareActor, headers: Headers): Promise<SharedForm> {
    const form = await records.forms.open(actor)
    const row = await auth.shares.find(actor.shareId)
    if (!row || isExpired(row)) throw noShare('view', actor.shareId)
    const state = stateOf(row, form.view, headers)
    if (state !== 'open') throw refusal(state)
    return form
  }

  async function save(
    actor: ShareActor,
    form: SharedForm,
    given: Record<string, unknown>,
    timeZone: string | undefined,
  ): Promise<RecordId> {
    const { view, model } = form
    const { values, problems } = checkAnswers({
      view,
      fields: model.fields,
      values: given,
      now: new Date(nowMs()),
      // Conditions and rules see the days that the page saw.
      timeZone,
    })
    const all = problems.length > 0 ? problems : await records.forms.linkProblems(actor, form, values)
    if (all.length > 0) {
      const message = all.map((problem) => problem.message).join('; ')
      throw new AppError('INVALID_VALUE_FOR_FIELD', message, { problems: all })
    }
    // Counted before saving, so that of two answers only one takes the last place.
    if (!(await auth.shares.countAnswer(actor.shareId, optionsOf(view, 'form').maxAnswers)))
      throw refusal('full')
    const recordId = await records.forms.add(actor, form, values, timeZone).catch(async (error) => {
      await auth.shares.discountAnswer(actor.shareId)
      throw error
    })
    const { baseId, id: tableId } = model.table
    kernel.events.emit('form.answered', {
      baseId,
      tableId,
      viewId: view.id,
      shareId: actor.shareId,
      recordId,
    })
    await mailAnswer(form, { recordId, values, timeZone: timeZone ?? 'UTC' })
    return recordId
  }

  /**
   * Receives files for questions that ask for some and ignores others. Only uploads count: visitors cannot name
   * stored paths or addresses.
   */
  function filesOf(actor: ShareActor, { view, model }: SharedForm) {
    const asked = questionsOf(view, model.fields).filter(({ field }) => holdsFiles(field))
    const filesByField = new Map<string, AttachmentItem[]>(asked.map(({ field }) => [field.id, []]))
    let count = 0
    return {
      async take({ name, fileName, body }: SentFile): Promise<void> {
        const question = questionOf(asked, name)
        if (!question) return
        if (++count > MAX_FILES) throw badRequest(m.forms_error_too_many_files({ max: MAX_FILES }))
        const { field } = question
        const limits = field.options as AttachmentOptions
        const items = filesByField.get(field.id) ?? []
        // Checked before receiving the file.
        const most = limits.maxCount ?? kernel.config.attachmentMaxCount
        if (items.length >= most) throw refused(field, m.forms_error_file_count({ count: most }))
        const maxBytes =
          limits.maxSizeMb === null ? kernel.config.attachmentMaxBytes : limits.maxSizeMb * 1024 ** 2
        const { path, title, mimetype, size } = await records.attachments
          .receiveAnswer(actor, { name: fileName, body, maxBytes })
          .catch((error) => {
            const isTooLarge = error instanceof AppError && error.code === 'PAYLOAD_TOO_LARGE'
            if (!isTooLarge || maxBytes >= kernel.config.attachmentMaxBytes) throw error
            const file = fileName.slice(0, 100)
            throw refused(field, m.forms_error_file_too_large({ file, megabytes: limits.maxSizeMb ?? 0 }))
          })
        items.push({ path, title, mimetype, size })
        const problem = limitProblem(items, limits)
        if (problem !== null) throw refused(field, problem)
      },
      discard: () =>
        records.attachments.discard([...filesByField.values()].flat().flatMap(({ path }) => path ?? [])),
      values: (): Record<string, unknown> =>
        Object.fromEntries(
          [...filesByField].map(([id, items]) => [
            id,
            items.length === 0 ? undefined : writeAttachments(items),
          ]),
        ),
    }
  }

  return { submit, stateOf }
}

/** The time zone of the page; undefined if invalid. */
function zoneIn(headers: Headers): string | undefined {
  const zone = headers.get(TIME_ZONE_HEADER)
  return zone !== null && zone.length <= 64 && isTimeZone(zone) ? zone : undefined
}

/**
 * The question of a file's name: `Title`, `Title[0]`, the field's id, or other clients' `_Title`; exact titles
 * first.
 */
function questionOf(asked: Question[], name: string): Question | undefined {
  const plain = name.replace(/\[\d*\]$/, '')
  const named = (title: string) => asked.find(({ field }) => field.title === title)
  const byId = () => asked.find(({ field }) => field.id === plain)
  return named(name) ?? named(plain) ?? byId() ?? named(plain.replace(/^_|_$/g, ''))
}

/** An error that pages show next to its question. */
const refused = ({ id }: Field, message: string): AppError =>
  new AppError('INVALID_VALUE_FOR_FIELD', message, {
    problems: [{ fieldId: id, message, text: message, params: {} }],
  })

const refusal = (reason: Exclude<FormState, 'open'>): AppError =>
  new AppError('FORBIDDEN', `Forbidden - ${REFUSALS[reason]()}`, { reason })

const ID = /^[\w-]{8,64}$/
const MAX_REMEMBERED = 10_000
const REMEMBERED_MS = 3_600_000

/**
 * Saves an answer once even if a page without a reply sends it again. Keeps ids in memory for an hour; answers
 * without an id are always saved.
 */
function createAnswerOnce<T extends object>() {
  const sent = new LRUCache<string, Promise<T>>({ max: MAX_REMEMBERED, ttl: REMEMBERED_MS })

  return function once(shareId: string, headers: Headers, answer: () => Promise<T>): Promise<T> {
    const id = headers.get(SUBMISSION_HEADER)
    if (id === null || !ID.test(id)) return answer()
    const key = `${shareId} ${id}`
    const known = sent.get(key)
    if (known) return known
    const running = answer()
    sent.set(key, running)
    // A refused answer may be corrected and sent again.
    running.catch(() => sent.delete(key))
    return running
  }
}

const YEAR_SECONDS = 365 * 86_400

/**
 * Cookie that marks a form as answered by this browser. Holds nothing about the person, and can be deleted: an
 * anonymous form cannot identify people.
 */
function createAnsweredCookie(config: Pick<Config, 'publicUrl'>, secrets: Pick<Secrets, 'jwt'>) {
  const nameOf = (viewId: string) => `answered-${viewId}`
  const sign = (viewId: string) =>
    createHmac('sha256', secrets.jwt).update(`answered form ${viewId}`).digest('base64url')

  return {
    isIn(headers: Headers, viewId: string): boolean {
      const cookies = (headers.get('cookie') ?? '').split(';').map((part) => part.trim())
      const start = `${nameOf(viewId)}=`
      const given = cookies.find((cookie) => cookie.startsWith(start))?.slice(start.length)
      const [own, other] = [Buffer.from(sign(viewId)), Buffer.from(given ?? '')]
      return own.length === other.length && timingSafeEqual(own, other)
    },

    /** Value of the `Set-Cookie` header after an answer. */
    header(viewId: string): string {
      const secure = config.publicUrl?.startsWith('https://') ? '; Secure' : ''
      return `${nameOf(viewId)}=${sign(viewId)}; Path=/; Max-Age=${YEAR_SECONDS}; HttpOnly; SameSite=Lax${secure}`
    },
  }
}

/** Limit of mails per form, so that answers cannot flood a mailbox. */
const MAX_MAILED_PER_HOUR = 60
/** Longer answers are cut off in mails. */
const MAX_ANSWER_LENGTH = 10_000

/** A saved answer. */
interface KeptAnswer {
  recordId: RecordId
  /** Written values by field id. */
  values: Answers
  /** Time zone of the person who answered. */
  timeZone: string
}

/** Mails answers to the form's recipients. */
function createAnswerMails(
  { mail, log }: Pick<Kernel, 'mail' | 'log'>,
  forms: Pick<RecordsService['forms'], 'read'>,
) {
  // Mails are counted and queued one after the other: parallel answers must not exceed the limit.
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
      { kind: 'text', text: m.mail_response_text({ form: title }) },
      { kind: 'list', items: await answersOf(form, answer) },
      { kind: 'link', label: m.mail_response_link(), url: mail.addressOf(pathOf(form, answer.recordId)) },
    ]
    if (mailed === MAX_MAILED_PER_HOUR - 1) {
      const text = m.mail_response_limit({ count: MAX_MAILED_PER_HOUR })
      blocks.push({ kind: 'text', text })
    }
    // Not the record's id, which the database may assign again.
    const event = createId('mail')
    await mail.send({
      topic,
      event,
      recipients,
      content: { subject: m.mail_response_subject({ form: title }), blocks },
    })
  }

  /** The visible questions with their answers as text, without passwords. */
  async function answersOf(form: SharedForm, { recordId, values, timeZone }: KeptAnswer) {
    const asked = visibleQuestions(form.view, form.model.fields, values, { now: new Date(nowMs()), timeZone })
    const shown = asked.filter(({ field }) => !isSecret(field))
    const fields = shown.map(({ field }) => field)
    const texts = await forms.read(form, recordId, fields, timeZone)
    return shown.map(({ field, form: options }, at) => ({
      label: options.label ?? field.title,
      value: shortened(texts[at] || '–'),
    }))
  }

  /** Queues the mails of an answer. Failures are only logged. */
  return async function mailAnswer(form: SharedForm, answer: KeptAnswer): Promise<void> {
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
