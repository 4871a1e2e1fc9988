import { setLocalZone } from '../../../../src/core/dates.ts'
import { formatName, namesOf } from '../../../../src/core/fields/linked-names.ts'
import { holdsPeople } from '../../../../src/core/fields/traits.ts'
import type { Field, RecordId } from '../../../../src/core/model.ts'
import { SUBMISSION_HEADER } from '../../../../src/core/share-headers.ts'
import { titleOf } from '../../../cells/link-value.ts'
import { m } from '../../../messages.gen.ts'
import { timeZone } from '../../../time-zone.ts'
import { DialogHost } from '../../../ui/open-dialog.tsx'
import { TooltipHost } from '../../../ui/tooltip.tsx'
import { ANSWER_RULES, type AnswerRules } from '../answer-rules.ts'
import { AnswersRefused, type FormSource, type Submission, type Submitted } from '../form-source.ts'
import { type Prefill, readPrefill } from '../prefill.ts'
import { bodyOf, offline, type ShareClient, ShareError } from './share-client.ts'

/** A form with its rules, prefilled answers and people. */
export interface CompletedForm {
  source: FormSource
  rules: AnswerRules
  prefill: Prefill
}

/** Loads the people whom a form offers, and reads the prefilled answers of its address. */
export async function completeForm({
  client,
  baseId,
  source,
  query,
}: {
  client: ShareClient
  baseId: string
  source: FormSource
  query: URLSearchParams
}): Promise<CompletedForm> {
  setLocalZone(timeZone)
  const { questions } = source
  const hasPeople = questions.some(({ field }) => holdsPeople(field))
  const people = hasPeople ? await client.people(baseId) : []
  return { source: { ...source, people }, rules: ANSWER_RULES, prefill: readPrefill(query, questions) }
}

/** Hosts of the dialogs and tooltips that editors open. */
export const OverlayHosts = () => (
  <>
    <DialogHost />
    <TooltipHost />
  </>
)

/** Reads records that a link question offers. */
export async function readLinkable(
  client: ShareClient,
  tableId: string,
  ...[field, { search, ...page }, signal]: Parameters<FormSource['linkable']>
): ReturnType<FormSource['linkable']> {
  const wanted = search.trim()
  const request = {
    tableId,
    fieldId: field.id,
    recordId: null,
    timeZone,
    ...page,
    ...(wanted !== '' && { search: wanted }),
  }
  const found = await client.linkable(request, signal)
  const lines = found.ids.map((id, row) => {
    const title = found.rows[row]?.[0] ?? null
    const name = formatName(namesOf(field), title) ?? titleOf({ id, title })
    return { id, title, name, details: [] }
  })
  return { lines, hasMore: found.hasMore, mayCreate: false }
}

/** Submits answers as JSON, or as multipart form data with upload progress if there are files. */
export async function sendAnswers(
  client: ShareClient,
  fields: readonly Field[],
  submission: Submission,
): Promise<Submitted> {
  try {
    const { recordId } =
      Object.keys(submission.files).length === 0
        ? await client.submit(submission)
        : await sendForm(client, fields, submission)
    return { recordId }
  } catch (error) {
    throw refusedAnswers(error, fields) ?? error
  }
}

/** Submits multipart form data: `values` as JSON by field id, and each file under its field id. */
async function sendForm(
  client: ShareClient,
  fields: readonly Field[],
  { id, values, files, onProgress, signal }: Submission,
): Promise<Submitted> {
  const form = new FormData()
  form.append('values', JSON.stringify(values))
  for (const [fieldId, list] of Object.entries(files))
    for (const { file } of list) form.append(fieldId, file, file.name)
  const { promise, resolve, reject } = Promise.withResolvers<Submitted>()
  // XMLHttpRequest, because `fetch` does not report upload progress.
  const request = new XMLHttpRequest()
  request.open('POST', client.formAddress)
  for (const [name, value] of Object.entries(client.headers)) request.setRequestHeader(name, value)
  request.setRequestHeader(SUBMISSION_HEADER, id)
  request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
  request.onload = () => {
    try {
      if (request.status >= 300) reject(restError(request.responseText))
      else resolve({ recordId: idIn(bodyOf(request.responseText), fields) })
    } catch (error) {
      reject(error)
    }
  }
  request.onerror = () => reject(offline())
  request.onabort = () => reject(new DOMException('cancelled', 'AbortError'))
  const abort = () => request.abort()
  signal.addEventListener('abort', abort)
  request.send(form)
  return promise.finally(() => signal.removeEventListener('abort', abort))
}

/** The id of the new record, found under the primary key's title. */
function idIn(row: unknown, fields: readonly Field[]): RecordId | null {
  const key = fields.find(({ isPrimaryKey }) => isPrimaryKey)?.title
  const id = key === undefined ? null : (row as Record<string, unknown> | null)?.[key]
  return typeof id === 'number' || typeof id === 'string' ? id : null
}

function restError(text: string): ShareError {
  const body = (bodyOf(text) ?? {}) as { error?: string; message?: string; msg?: string; details?: object }
  const details = (body.details ?? {}) as Record<string, unknown>
  return new ShareError(body.message ?? body.msg ?? '', body.error ?? 'BAD_REQUEST', details)
}

/**
 * Converts the server's field errors to problems of questions, or to a hint that the form has changed if it names only
 * others, and that of a form that is gone; null for any other error.
 */
function refusedAnswers(error: unknown, fields: readonly Field[]): AnswersRefused | ShareError | null {
  if (!(error instanceof ShareError)) return null
  if (error.code === 'VIEW_NOT_FOUND') return new ShareError(m.form_form_link_invalid_hint(), error.code)
  const { problems, fieldId, reason } = error.details
  if (Array.isArray(problems)) {
    const isKnown = problems.some((problem) => fields.some(({ id }) => id === problem.fieldId))
    return isKnown
      ? new AnswersRefused(error.message, problems)
      : new ShareError(m.form_changed_meanwhile(), error.code)
  }
  if (typeof fieldId !== 'string') return null
  return new AnswersRefused(error.message, [
    { fieldId, message: typeof reason === 'string' ? reason : error.message },
  ])
}
