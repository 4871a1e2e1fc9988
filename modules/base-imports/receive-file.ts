import { setTimeout as sleep } from 'node:timers/promises'
import { badRequest } from '../../src/core/errors.ts'
import type { AttachmentItem } from '../../src/core/fields/attachment-item.ts'
import { type HttpClient, HttpFailure, TRANSIENT_STATUSES } from '../../src/http.ts'
import { m } from '../../src/messages.gen.ts'
import type { RecordsService } from '../records/index.ts'
import type { SourceFile } from './source.ts'
import type { ReceiveFile } from './writer/index.ts'

/** Files may be of any size; only the time is limited. */
const TIMEOUT_MS = 6 * 3_600_000
const MAX_TRIES = 6
const FIRST_PAUSE_MS = 200

interface Deps {
  http: HttpClient
  attachments: Pick<RecordsService['attachments'], 'keepFor'>
  /** Owner of the stored files. */
  userId: string
}

function mayRecover(error: unknown): boolean {
  if (!(error instanceof HttpFailure)) return false
  const { reason, responseStatus } = error
  if (responseStatus === null) return reason !== 'private address'
  return responseStatus >= 500 || TRANSIENT_STATUSES.has(responseStatus)
}

/** The content of a file that has so many bytes. @throws HttpFailure if fewer arrive: a proxy may end an answer early without a fault */
async function* ofSize(body: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let received = 0
  for await (const bytes of body) {
    received += bytes.byteLength
    yield bytes
  }
  if (received < size)
    throw new HttpFailure('unreachable', m.base_imports_reason_file_cut({ received, size }))
}

/** Streams files of a source into the store of this server, whatever their size. */
export function createFileReceiver({ http, attachments, userId }: Deps): ReceiveFile {
  const open = async (file: SourceFile, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> => {
    const { read, url, size } = file
    if (read) return read()
    if (url === null) throw badRequest(m.base_imports_reason_file_address())
    const answer = await http.get(url, { maxBytes: Number.MAX_SAFE_INTEGER, timeoutMs: TIMEOUT_MS, signal })
    return size === null ? answer.body : ofSize(answer.body, size)
  }

  return async (file, signal): Promise<AttachmentItem> => {
    for (let tried = 1; ; tried++) {
      try {
        const body = await open(file, signal)
        const row = await attachments.keepFor(userId, { name: file.name, folder: 'imports', body })
        const { path, title, mimetype, size, width, height } = row
        return {
          path,
          title,
          mimetype,
          size,
          ...(width !== null && { width }),
          ...(height !== null && { height }),
        }
      } catch (error) {
        signal.throwIfAborted()
        if (!mayRecover(error) || tried === MAX_TRIES) throw error
        await sleep(FIRST_PAUSE_MS * 2 ** tried, undefined, { signal })
      }
    }
  }
}
