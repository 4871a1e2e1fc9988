import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { fetchSignedIn, session } from '../../session/index.ts'
import type { ImportSource, ReadBytes } from './source.ts'

/** Reads a part of a local or uploaded file. @throws Error when the upload has expired */
export const readBytes: ReadBytes = async (source, from, to) => {
  if (source.kind === 'file') return source.file.slice(from, to).arrayBuffer()
  const answer = await fetchSignedIn(`/api/internal/uploads/${source.uploadId}?from=${from}&to=${to}`)
  if (!answer.ok) throw new Error(m.imports_uploaded_file_no_longer_available())
  return answer.arrayBuffer()
}

/**
 * Uploads a file, with XMLHttpRequest because `fetch` does not report upload progress.
 * @returns the id of the upload
 * @throws Error with the server's message; AbortError when `signal` aborts
 */
export async function uploadSource(
  source: ImportSource,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (sent: number) => void },
): Promise<string> {
  if (source.kind === 'upload') return source.uploadId
  const token = await session.current()
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const request = new XMLHttpRequest()
  request.open('POST', `/api/internal/uploads?name=${encodeURIComponent(source.name)}`)
  request.setRequestHeader('content-type', 'application/octet-stream')
  if (token) request.setRequestHeader('xc-auth', token)
  request.responseType = 'json'
  request.upload.onprogress = ({ loaded }) => onProgress(loaded)
  request.onload = () => {
    const { uploadId, msg, message } = (request.response ?? {}) as {
      uploadId?: string
      msg?: string
      message?: string
    }
    if (request.status === 200 && uploadId) resolve(uploadId)
    else reject(new Error(msg ?? message ?? m.imports_file_upload_failed()))
  }
  request.onerror = () => reject(new Error(messageOf(new TypeError('offline'))))
  request.onabort = () => reject(new DOMException('cancelled', 'AbortError'))
  const abort = () => request.abort()
  signal.addEventListener('abort', abort)
  request.send(source.file)
  return promise.finally(() => signal.removeEventListener('abort', abort))
}
