import type { Field, RecordId } from '../../../../src/core/model.ts'
import { SUBMISSION_HEADER } from '../../../../src/core/shares.ts'
import { AnswersRefused, type Submission, type Submitted } from '../form-source.ts'
import { bodyOf, offline, type ShareClient, ShareError } from './share-client.ts'

/** Sends answers by a link: as JSON, or with their files as a form of the browser's own, which tells how far it is. */
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
    throw refusedAnswers(error) ?? error
  }
}

/** Answers by field id, and the files under those of their fields. */
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
  // XMLHttpRequest, because `fetch` does not tell how much it has sent.
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

/** The id of the new record: it stands under the title of the key. */
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

/** What the server says of single answers stands at their questions. */
function refusedAnswers(error: unknown): AnswersRefused | null {
  if (!(error instanceof ShareError)) return null
  const { problems, fieldId, reason } = error.details
  if (Array.isArray(problems)) return new AnswersRefused(error.message, problems)
  if (typeof fieldId !== 'string') return null
  return new AnswersRefused(error.message, [
    { fieldId, message: typeof reason === 'string' ? reason : error.message },
  ])
}
