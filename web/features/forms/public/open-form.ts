import { formatName, namesOf } from '../../../../src/core/fields/linked-names.ts'
import { holdsPeople } from '../../../../src/core/fields/traits.ts'
import type { Field, Person, RecordId, View } from '../../../../src/core/model.ts'
import type { OpenedShare } from '../../../../src/core/shares.ts'
import { SUBMISSION_HEADER } from '../../../../src/core/shares.ts'
import { form } from '../../../../src/core/views/form.ts'
import { questionsOf } from '../../../../src/core/views/form-answers.ts'
import { optionsOfKind } from '../../../../src/core/views/view-kind.ts'
import { titleOf } from '../../../cells/link-value.ts'
import { m } from '../../../messages.gen.ts'
import { timeZone } from '../../../time-zone.ts'
import { loadInputs } from '../answers/answer-input.tsx'
import type { FormSource } from '../form-source.ts'
import { AnswersRefused, type Submission, type Submitted } from '../form-source.ts'
import { bodyOf, offline, type ShareClient, ShareError } from './share-client.ts'

/** A form opened through its public link. */
export interface OpenForm {
  share: OpenedShare
  source: FormSource
}

/**
 * Loads a form by its public link, with everything its first render needs. Returns only the share if the form
 * does not accept responses.
 *
 * @throws ShareError with the server's code; `NO_FORM` when the link does not lead to a form
 */
export async function openForm(client: ShareClient, linkId: string): Promise<OpenForm | OpenedShare> {
  const share = await client.open()
  if (share.form === null || share.tableId === null) {
    throw new ShareError(m.form_link_doesnt_lead_form(), 'NO_FORM')
  }
  if (share.form !== 'open') return share
  const { tableId } = share
  const { fields, views } = await client.table(tableId)
  const view = views.find(({ id }) => id === share.viewId) ?? views[0]
  if (!view) throw new ShareError(m.form_link_doesnt_lead_form(), 'NO_FORM')
  const asked = questionsOf(view, fields).map(({ field }) => field)
  const [people, pictures] = await Promise.all([
    asked.some(holdsPeople) ? client.people(share.baseId) : ([] as Person[]),
    readPictures(client, tableId, view),
    loadInputs(asked),
  ])
  const source: FormSource = {
    keepAs: linkId,
    view,
    fields,
    people,
    actorId: null,
    pictures,
    async linkable(field, page, signal) {
      const { search, ...rest } = page
      const wanted = search.trim()
      const request = {
        tableId,
        fieldId: field.id,
        recordId: null,
        timeZone,
        ...rest,
        ...(wanted !== '' && { search: wanted }),
      }
      const found = await client.linkable(request, signal)
      const lines = found.ids.map((id, row) => {
        const title = found.rows[row]?.[0] ?? null
        const name = formatName(namesOf(field), title) ?? titleOf({ id, title })
        return { id, title, name, details: [] }
      })
      return { lines, hasMore: found.hasMore, mayCreate: false }
    },
    submit: (submission) => sendAnswers(client, fields, submission),
  }
  return { share, source }
}

/** Signed URLs of banner and logo. Failures are only logged, as the form works without its pictures. */
async function readPictures(
  client: ShareClient,
  tableId: string,
  view: View,
): Promise<FormSource['pictures']> {
  const { bannerPath, logoPath, hideBanner } = optionsOfKind(form, view)
  const banner = hideBanner ? null : bannerPath
  const paths = [banner, logoPath].filter((path) => path !== null)
  if (paths.length === 0) return { banner: null, logo: null }
  try {
    const { files } = await client.signFiles(tableId, paths)
    const urlOf = (path: string | null) => (path === null ? null : (files[path]?.url ?? null))
    return { banner: urlOf(banner), logo: urlOf(logoPath) }
  } catch (error) {
    if (!(error instanceof ShareError)) throw error
    console.warn('the pictures of the form could not be read', error)
    return { banner: null, logo: null }
  }
}

/** Submits answers as JSON, or as multipart form data with upload progress if there are files. */
async function sendAnswers(
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
    throw refusedAnswers(error) ?? error
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

/** Converts the server's field errors to problems of questions; null for any other error. */
function refusedAnswers(error: unknown): AnswersRefused | null {
  if (!(error instanceof ShareError)) return null
  const { problems, fieldId, reason } = error.details
  if (Array.isArray(problems)) return new AnswersRefused(error.message, problems)
  if (typeof fieldId !== 'string') return null
  return new AnswersRefused(error.message, [
    { fieldId, message: typeof reason === 'string' ? reason : error.message },
  ])
}
