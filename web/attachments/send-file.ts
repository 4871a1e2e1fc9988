import type { AttachmentItem } from '../../src/core/fields/attachment-item.ts'
import { isSafeImage } from '../../src/core/fields/attachment-kinds.ts'
import { messageOf } from '../errors.ts'
import { m } from '../messages.gen.ts'
import { callRest, RestError } from '../rest.ts'
import { callerHeaders, recoverFrom401 } from '../session/index.ts'
import { rememberUpload } from './signed-files.ts'

/** A local file, or a URL for the server to fetch. */
export type FileSource = { file: File } | { url: string }

const UPLOAD = '/api/v1/db/storage/upload'

interface Sending {
  signal: AbortSignal
  onProgress: (sent: number) => void
}

/**
 * Uploads a file and returns the item to store in the cell.
 * @throws Error with the server's message; AbortError when `signal` aborts
 */
export async function sendFile(source: FileSource, sending: Sending): Promise<AttachmentItem> {
  const uploaded =
    'file' in source ? await sendBytes(source.file, sending) : await sendAddress(source.url, sending)
  const { signedPath, ...item } = uploaded
  if ('file' in source && item.path !== undefined) {
    rememberUpload(item.path, source.file, signedPath, isSafeImage(item.mimetype))
  }
  return item
}

type Uploaded = AttachmentItem & { signedPath: string }

/** Uploads a file; once more after a 401, like `fetchSignedIn`. */
async function sendBytes(file: File, sending: Sending): Promise<Uploaded> {
  let answer = await post(file, sending)
  if (answer.status === 401 && (await recoverFrom401())) answer = await post(file, sending)
  const { status, body } = answer
  if (status === 200 && Array.isArray(body) && isUploaded(body[0])) return body[0]
  throw new Error(errorMessageOf(body))
}

/** XMLHttpRequest, because `fetch` reports no upload progress. */
async function post(file: File, { signal, onProgress }: Sending): Promise<{ status: number; body: unknown }> {
  const headers = await callerHeaders()
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: unknown }>()
  const request = new XMLHttpRequest()
  const form = new FormData()
  form.append('file', file, file.name)
  request.open('POST', UPLOAD)
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
  request.responseType = 'json'
  request.upload.onprogress = ({ loaded }) => onProgress(loaded)
  request.onload = () => resolve({ status: request.status, body: request.response })
  request.onerror = () => reject(new Error(messageOf(new TypeError('offline'))))
  request.onabort = () => reject(new DOMException('cancelled', 'AbortError'))
  const abort = () => request.abort()
  signal.addEventListener('abort', abort)
  request.send(form)
  return promise.finally(() => signal.removeEventListener('abort', abort))
}

async function sendAddress(url: string, { signal }: Sending): Promise<Uploaded> {
  try {
    const answer = await callRest('POST', `${UPLOAD}-by-url`, [{ url }])
    signal.throwIfAborted()
    if (Array.isArray(answer) && isUploaded(answer[0])) return answer[0]
    throw new Error(errorMessageOf(answer))
  } catch (error) {
    if (error instanceof RestError) throw new Error(error.message)
    throw error
  }
}

const isUploaded = (answer: unknown): answer is Uploaded =>
  typeof answer === 'object' && answer !== null && 'path' in answer && typeof answer.path === 'string'

function errorMessageOf(answer: unknown): string {
  const { msg, message } = (answer ?? {}) as { msg?: unknown; message?: unknown }
  const text = [msg, message].find((one) => typeof one === 'string')
  return text === undefined ? m.attachments_file_upload_failed() : String(text)
}
