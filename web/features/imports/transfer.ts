import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { fetchSignedIn, recoverFrom401, session } from '../../session/index.ts'
import type { ImportSource, ReadBytes } from './source.ts'

/** Reads a part of a local or uploaded file. @throws Error when the upload has expired */
export const readBytes: ReadBytes = async (source, from, to) => {
  if (source.kind === 'file') return source.file.slice(from, to).arrayBuffer()
  const answer = await fetchSignedIn(`/api/internal/uploads/${source.uploadId}?from=${from}&to=${to}`)
  if (!answer.ok) throw new Error(m.imports_uploaded_file_no_longer_available())
  return answer.arrayBuffer()
}

/** Bytes of a file that are sent in one request. */
const PART = 8 << 20

/** Waiting times after a lost connection; the last one repeats until `GIVE_UP_MS` have passed without a byte. */
const RETRY_MS = [500, 1000, 2000, 5000]
const GIVE_UP_MS = 10 * 60_000

interface UploadOptions {
  signal: AbortSignal
  onProgress: (sent: number) => void
  /** Called when the connection is lost, and when the upload goes on. */
  onLost?: (isLost: boolean) => void
}

/**
 * Uploads a file in parts. After a lost connection it goes on by itself, from where it stopped.
 * @returns the id of the upload
 * @throws Error with the server's message; AbortError when `signal` aborts
 */
export async function uploadSource(source: ImportSource, options: UploadOptions): Promise<string> {
  if (source.kind === 'upload') return source.uploadId
  const { size, file, name } = source
  const { signal, onProgress } = options
  const { uploadId } = await persistently(options, async () => {
    const body = JSON.stringify({ name, size })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetchSignedIn('/api/internal/uploads/begin', {
      method: 'POST',
      headers,
      body,
      signal,
    })
    return answerOf(answer.status, await bodyOf(answer))
  })
  let received = 0
  let isRetry = false
  while (received < size) {
    const answer = await persistently(options, async () => {
      const sent = isRetry ? await askReceived(uploadId, signal) : { uploadId, received }
      isRetry = true
      received = sent.received
      if (received >= size) return sent
      const part = await readPart(file, received)
      return sendPart(`/api/internal/uploads/${uploadId}?offset=${received}`, part, {
        signal,
        onProgress: (bytes) => onProgress(received + bytes),
      })
    })
    isRetry = false
    received = answer.received
    onProgress(received)
  }
  return uploadId
}

/** Read before it is sent: a file that is gone would look like a lost connection. @throws Error if it is gone or changed */
async function readPart(file: Blob, from: number): Promise<ArrayBuffer> {
  try {
    return await file.slice(from, from + PART).arrayBuffer()
  } catch (error) {
    throw new Error(m.imports_file_read_failed(), { cause: error })
  }
}

interface Received {
  uploadId: string
  /** Bytes that have arrived. */
  received: number
}

async function askReceived(uploadId: string, signal: AbortSignal): Promise<Received> {
  const answer = await fetchSignedIn(`/api/internal/uploads/${uploadId}/received`, { signal })
  return answerOf(answer.status, await bodyOf(answer))
}

/** The JSON of an answer; null for the page of a proxy. */
async function bodyOf(answer: Response): Promise<unknown> {
  const isJson = answer.headers.get('content-type')?.startsWith('application/json')
  return isJson ? answer.json() : null
}

/** HTTP status of a full disk, which another attempt does not help. */
const STORAGE_FULL = 507

/** A lost connection, a server that restarts, or a part that another request still sends: worth another attempt. */
class Interrupted extends Error {}

function answerOf(status: number, body: unknown): Received {
  const {
    uploadId,
    received = 0,
    msg,
    message,
  } = (body ?? {}) as Partial<Received> & {
    msg?: string
    message?: string
  }
  if (status === 200 && uploadId) return { uploadId, received }
  const text = msg ?? message ?? m.imports_file_upload_failed()
  const isInterrupted = status === 409 || (status >= 502 && status !== STORAGE_FULL)
  throw isInterrupted ? new Interrupted(text) : new Error(text)
}

/** Repeats `work` after a lost connection. @throws its error, and after `GIVE_UP_MS` that of the connection */
async function persistently<T>({ signal, onLost }: UploadOptions, work: () => Promise<T>): Promise<T> {
  const startedAt = Date.now()
  for (let attempt = 0; ; attempt++) {
    try {
      const result = await work()
      if (attempt > 0) onLost?.(false)
      return result
    } catch (error) {
      if (signal.aborted) throw new DOMException('cancelled', 'AbortError')
      const isLost = error instanceof TypeError || error instanceof Interrupted
      if (!isLost || Date.now() - startedAt > GIVE_UP_MS) throw error
      onLost?.(true)
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]))
    }
  }
}

interface Sending {
  signal: AbortSignal
  onProgress: (sent: number) => void
}

/** Sends a part; once more after a 401, like `fetchSignedIn`. */
async function sendPart(url: string, part: ArrayBuffer, sending: Sending): Promise<Received> {
  let answer = await patch(url, part, sending)
  if (answer.status === 401 && (await recoverFrom401())) answer = await patch(url, part, sending)
  return answerOf(answer.status, answer.body)
}

/** XMLHttpRequest, because `fetch` does not report upload progress. */
async function patch(
  url: string,
  part: ArrayBuffer,
  { signal, onProgress }: Sending,
): Promise<{ status: number; body: unknown }> {
  const token = await session.current()
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: unknown }>()
  const request = new XMLHttpRequest()
  request.open('PATCH', url)
  request.setRequestHeader('content-type', 'application/octet-stream')
  if (token) request.setRequestHeader('xc-auth', token)
  request.responseType = 'json'
  request.upload.onprogress = ({ loaded }) => onProgress(loaded)
  request.onload = () => resolve({ status: request.status, body: request.response })
  request.onerror = () => reject(new Interrupted(messageOf(new TypeError('offline'))))
  request.onabort = () => reject(new DOMException('cancelled', 'AbortError'))
  const abort = () => request.abort()
  signal.addEventListener('abort', abort)
  // Bytes would be copied by whatever watches requests in the page, which blocked it for a second.
  request.send(new Blob([part]))
  return promise.finally(() => signal.removeEventListener('abort', abort))
}
