import type { Actor, ShareActor } from '../../src/core/actor.ts'
import { isTimeZone } from '../../src/core/dates.ts'
import { AppError, badRequest } from '../../src/core/errors.ts'
import { type AttachmentOptions, limitProblem } from '../../src/core/fields/attachment.ts'
import { type AttachmentItem, writeAttachments } from '../../src/core/fields/attachment-item.ts'
import { holdsFiles } from '../../src/core/fields/traits.ts'
import type { Field, RecordId, View } from '../../src/core/model.ts'
import { type FormState, TIME_ZONE_HEADER } from '../../src/core/shares.ts'
import { checkAnswers, type Question, questionsOf } from '../../src/core/views/form-answers.ts'
import { optionsOf } from '../../src/core/views/index.ts'
import type { Kernel } from '../../src/kernel.ts'
import { type AuthService, createHourlyLimit, isExpired, noShare, type ShareRow } from '../auth/index.ts'
import type { RecordsService, SharedForm } from '../records/index.ts'
import { createAnswerMails } from './answer-mail.ts'
import { createAnswerOnce } from './answer-once.ts'
import { createAnsweredCookie } from './answered-cookie.ts'

/** Files that one answer may bring, over all its questions. */
const MAX_FILES = 100

/** A file of an answer as it arrives. */
export interface SentFile {
  /** The title of a question, or its field's id; `Title[0]` and `_Title` too. */
  name: string
  fileName: string
  body: AsyncIterable<Uint8Array>
}

/**
 * Reads what someone has sent: answers by field id. Files are handed over on the way, and only once it is
 * certain that the form takes answers.
 */
export type ReadAnswers = (
  form: SharedForm,
  takeFile: (file: SentFile) => Promise<void>,
) => Promise<Record<string, unknown>>

/** From where an answer comes. */
export interface Sender {
  address: string
  headers: Headers
}

export interface Answered {
  recordId: RecordId
  /** Value of a `Set-Cookie` header; null where the form does not ask who has answered. */
  setCookie: string | null
}

interface Deps {
  kernel: Pick<Kernel, 'config' | 'secrets' | 'events' | 'mail' | 'log'>
  auth: Pick<AuthService, 'shares'>
  records: Pick<RecordsService, 'forms' | 'attachments'>
}

const REFUSALS: Record<Exclude<FormState, 'open'>, string> = {
  closed: 'This form no longer accepts responses',
  full: 'This form has reached its response limit',
  answered: 'You’ve already responded to this form',
}

/** Answers to forms that are shared, from whoever has the link. */
export function createFormAnswers({ kernel, auth, records }: Deps) {
  const limit = createHourlyLimit(kernel.config.formAnswersPerHour, 'answers')
  const once = createAnswerOnce<Answered>()
  const tell = createAnswerMails(kernel, records.forms)
  const cookie = createAnsweredCookie(kernel.config, kernel.secrets)

  function stateOf(row: Pick<ShareRow, 'answers'>, view: View, headers: Headers): FormState {
    const { closesAt, maxAnswers, onePerPerson } = optionsOf(view, 'form')
    if (closesAt !== null && Date.parse(closesAt) <= Date.now()) return 'closed'
    if (maxAnswers !== null && row.answers >= maxAnswers) return 'full'
    return onePerPerson && cookie.isIn(headers, view.id) ? 'answered' : 'open'
  }

  /**
   * Keeps an answer as a record. Only what the form asks for is taken, and held against its rules.
   *
   * @throws FORBIDDEN with `reason` where the form takes no answer; TOO_MANY_REQUESTS;
   *   INVALID_VALUE_FOR_FIELD with the `problems`, each with its `fieldId` and `message`
   */
  async function submit(actor: Actor, read: ReadAnswers, sender: Sender): Promise<Answered> {
    if (actor.kind !== 'share') throw new AppError('FORBIDDEN', 'Forbidden - Responses need a public link')
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
      // Files may take their time, and the form may have been closed meanwhile.
      .then(async (values) =>
        keep(actor, await openTaking(actor, headers), { ...values, ...files.values() }, zoneIn(headers)),
      )
      .catch(async (error) => {
        // What nobody has answered with must not fill the disk, nor count among what may wait for its record.
        await files.discard()
        throw error
      })
    // Nor what came for a question that was not asked after all.
    await files.discard()
    const { onePerPerson } = optionsOf(form.view, 'form')
    return { recordId, setCookie: onePerPerson ? cookie.header(form.view.id) : null }
  }

  /** The form of a link that takes answers now. @throws VIEW_NOT_FOUND; FORBIDDEN with `reason` */
  async function openTaking(actor: ShareActor, headers: Headers): Promise<SharedForm> {
    const form = await records.forms.open(actor)
    const row = await auth.shares.find(actor.shareId)
    if (!row || isExpired(row)) throw noShare('view', actor.shareId)
    const state = stateOf(row, form.view, headers)
    if (state !== 'open') throw refusal(state)
    return form
  }

  async function keep(
    actor: ShareActor,
    form: SharedForm,
    given: Record<string, unknown>,
    timeZone: string | undefined,
  ): Promise<RecordId> {
    const { view, model } = form
    const { values, problems } = checkAnswers({ view, fields: model.fields, values: given, now: new Date() })
    const all = problems.length > 0 ? problems : await records.forms.linkProblems(actor, form, values)
    if (all.length > 0) {
      const message = all.map((problem) => problem.message).join('; ')
      throw new AppError('INVALID_VALUE_FOR_FIELD', message, { problems: all })
    }
    // Counted ahead, so that of two who come for the last place one is told.
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
    await tell(form, { recordId, values, timeZone: timeZone ?? 'UTC' })
    return recordId
  }

  /**
   * Takes in the files of the questions that ask for some; all others are passed over. A file is one that comes
   * with the answer: a path that somebody knows, or an address elsewhere, is none.
   */
  function filesOf(actor: ShareActor, { view, model }: SharedForm) {
    const asked = questionsOf(view, model.fields).filter(({ field }) => holdsFiles(field))
    const kept = new Map<string, AttachmentItem[]>(asked.map(({ field }) => [field.id, []]))
    let count = 0
    return {
      async take({ name, fileName, body }: SentFile): Promise<void> {
        const question = questionOf(asked, name)
        if (!question) return
        if (++count > MAX_FILES) throw badRequest(`A response can contain up to ${MAX_FILES} files`)
        const { field } = question
        const limits = field.options as AttachmentOptions
        const items = kept.get(field.id) ?? []
        // Ahead of the file, so that nothing is kept or looked at that the field would not take.
        const most = limits.maxCount ?? kernel.config.attachmentMaxCount
        if (items.length >= most) throw refused(field, `Add up to ${most} ${most === 1 ? 'file' : 'files'}`)
        const maxBytes =
          limits.maxSizeMb === null ? kernel.config.attachmentMaxBytes : limits.maxSizeMb * 1024 ** 2
        const { path, title, mimetype, size } = await records.attachments
          .receiveAnswer(actor, { name: fileName, body, maxBytes })
          .catch((error) => {
            const isTooLarge = error instanceof AppError && error.code === 'PAYLOAD_TOO_LARGE'
            if (!isTooLarge || maxBytes >= kernel.config.attachmentMaxBytes) throw error
            const shown = fileName.slice(0, 100)
            throw refused(field, `"${shown}" is larger than the ${limits.maxSizeMb} MB that this field takes`)
          })
        items.push({ path, title, mimetype, size })
        const problem = limitProblem(items, limits)
        if (problem !== null) throw refused(field, problem)
      },
      discard: () => records.attachments.discard([...kept.values()].flat().flatMap(({ path }) => path ?? [])),
      values: (): Record<string, unknown> =>
        Object.fromEntries(
          [...kept].map(([id, items]) => [id, items.length === 0 ? undefined : writeAttachments(items)]),
        ),
    }
  }

  return { submit, stateOf }
}

/** The zone that a page names; one that is not known here is as good as none. */
function zoneIn(headers: Headers): string | undefined {
  const zone = headers.get(TIME_ZONE_HEADER)
  return zone !== null && zone.length <= 64 && isTimeZone(zone) ? zone : undefined
}

/** `Title`, `Title[0]`, the field's id, or `_Title`, as the pages of other clients send it: the nearest first. */
function questionOf(asked: Question[], name: string): Question | undefined {
  const plain = name.replace(/\[\d*\]$/, '')
  const named = (title: string) => asked.find(({ field }) => field.title === title)
  const byId = () => asked.find(({ field }) => field.id === plain)
  return named(name) ?? named(plain) ?? byId() ?? named(plain.replace(/^_|_$/g, ''))
}

/** The refusal of one answer, in the shape that pages show beside its question. */
const refused = ({ id }: Field, message: string): AppError =>
  new AppError('INVALID_VALUE_FOR_FIELD', message, {
    problems: [{ fieldId: id, message, text: message, params: {} }],
  })

const refusal = (reason: Exclude<FormState, 'open'>): AppError =>
  new AppError('FORBIDDEN', `Forbidden - ${REFUSALS[reason]}`, { reason })
