import { Elysia } from 'elysia'
import { z } from 'zod'
import { type AddressBook, clientAddress } from '../../../src/caller.ts'
import { nowMs } from '../../../src/clock.ts'
import type { Actor } from '../../../src/core/actor.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import { isStoredPath, readAttachments } from '../../../src/core/fields/attachment-item.ts'
import { isSafeImage } from '../../../src/core/fields/attachment-kinds.ts'
import { holdsFiles } from '../../../src/core/fields/traits.ts'
import { plainText } from '../../../src/input.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { readMultipart } from '../../../src/multipart.ts'
import { json } from '../../../src/wire/answer.ts'
import { mediaTypeOf } from '../../../src/wire/media-type.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import { type AuthService, createHourlyLimit } from '../../auth/index.ts'
import type { FileRow, Served } from '../attachments/index.ts'
import type { RecordsService } from '../service.ts'
import { parseRecordId } from '../table/index.ts'
import { presentUpload } from './present.ts'

/** Upload paths of both API generations. */
const UPLOAD_PATHS = ['/api/v1/db/storage', '/api/v2/storage']

/** Files per request: as many as a cell may hold. */
const MAX_FILES = 100

const folder = z.object({ path: plainText(1000).nullish() })
const byUrl = z
  .array(z.object({ url: z.string().min(1).max(2083), fileName: plainText(255).nullish() }))
  .min(1)
  .max(MAX_FILES)

/** An upload request. `path`: the folder that the client requests. */
interface Uploading {
  actor: Actor
  request: Request
  server: AddressBook | null
  path: string | null
}

/** Uploads and downloads of files (wire §13.1). */
export function attachmentsRest(kernel: Kernel, records: RecordsService, auth: AuthService) {
  const { attachments } = records
  const visitorUploads = createHourlyLimit(
    { limits: kernel.limits, name: 'uploads of visitors' },
    kernel.config.linkUploadsPerHour,
    m.uploads_error_too_many_files,
  )
  const app = new Elysia()
    .use(restBase(kernel, auth))
    .get('/dltemp/:signature/:expiry/*', async ({ params, request, query }) => {
      const served = await attachments.open(params.signature, params.expiry, params['*'])
      return served
        ? serveFile(request, { ...served, inline: query.inline !== undefined })
        : noFile('Not found')
    })
    // The reference serves these to anyone; here only actors who may read a cell with the file.
    .get('/download/*', async ({ actor, params, request }) => {
      const path = `download/${params['*']}`
      const served = await attachments.openFor(actor, isStoredPath(path) ? path : '')
      return served ? serveFile(request, served) : noFile('File not found')
    })
    .get('/api/v2/downloadAttachment/:tableId/:fieldId/:recordId', ({ actor, params, query }) =>
      downloadLink(records, actor, params, String(query.urlOrPath ?? '')),
    )
  for (const path of UPLOAD_PATHS) {
    app
      .post(
        `${path}/upload`,
        ({ actor, request, server, query }) =>
          answer(actor, () => upload({ actor, request, server, path: folderOf(query) })),
        {
          parse: 'none',
        },
      )
      .post(`${path}/upload-by-url`, ({ actor, body, query }) =>
        answer(actor, () => uploadByUrl(actor, body, folderOf(query))),
      )
  }
  return app

  async function upload({ actor, request, server, path }: Uploading): Promise<FileRow[]> {
    await attachments.requireUploader(actor)
    const type = request.headers.get('content-type') ?? ''
    if (mediaTypeOf(request) !== 'multipart/form-data' || !request.body)
      throw badRequest('No attachment provided!')
    const rows: FileRow[] = []
    for await (const { fileName, body } of readMultipart(request.body, type)) {
      if (fileName === null || fileName === '') continue
      if (rows.length >= MAX_FILES) throw badRequest(m.records_error_request_files({ max: MAX_FILES }))
      // Counted per file, as one request may have many.
      if (actor.kind === 'share')
        visitorUploads.take(actor.shareId, clientAddress(kernel.config, request, server))
      rows.push(await attachments.receive(actor, { name: fileName, folder: path, body }))
    }
    if (rows.length === 0) throw badRequest('No attachment provided!')
    return rows
  }

  async function uploadByUrl(actor: Actor, body: unknown, path: string | null): Promise<FileRow[]> {
    await attachments.requireUploader(actor)
    const rows: FileRow[] = []
    for (const { url, fileName } of readBody(byUrl, body)) {
      rows.push(await attachments.receiveFrom(actor, { url, name: fileName ?? null, folder: path }))
    }
    return rows
  }

  /** Presents the uploads, or a too large file in the form that clients expect. */
  async function answer(actor: Actor, work: () => Promise<FileRow[]>): Promise<unknown> {
    try {
      const rows = await work()
      const signer = await attachments.signerFor(actor)
      return rows.map((row) => presentUpload(row, signer))
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'PAYLOAD_TOO_LARGE') throw error
      return json({ message: 'File too large', error: 'Payload Too Large', statusCode: 413 }, 413)
    }
  }
}

const folderOf = (query: unknown): string | null => readBody(folder, query).path ?? null

/**
 * A link to one file of a cell: `{path}` of a stored file, `{url}` of an external one.
 *
 * @param place the file’s path or URL as in the cell
 * @throws FIELD_NOT_FOUND, RECORD_NOT_FOUND; GENERIC_NOT_FOUND for a file that is not in the cell
 */
export async function downloadLink(
  records: RecordsService,
  actor: Actor,
  { tableId, fieldId, recordId }: { tableId: string; fieldId: string; recordId: string },
  place: string,
): Promise<Record<string, string>> {
  const { model } = await records.open(actor, tableId)
  const field = model.field(fieldId)
  if (!field || !holdsFiles(field)) throw notFound('Field', fieldId)
  const { values } = await records.get(actor, tableId, parseRecordId(model, recordId))
  const item = readAttachments(values[field.id] ?? null).find(({ path, url }) => place === (path ?? url))
  if (!item) throw new AppError('GENERIC_NOT_FOUND', `Attachment '${place.slice(0, 200)}' not found`)
  return item.path === undefined
    ? { url: item.url ?? '' }
    : { path: (await records.attachments.signerFor(actor)).signedPath(item.path) }
}

/** The file may run and load nothing, and other sites may not frame it. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"

/**
 * Serves a file. Browsers show only images that cannot run scripts, and download everything else. Supports ranges for
 * audio and video (RFC 9110 §14).
 */
function serveFile(request: Request, served: Served): Response {
  const { file, mimetype, keepUntil } = served
  const headers = new Headers({
    'content-type': servedType(mimetype),
    'content-disposition': disposition(served),
    'content-security-policy': mayBeInline(served) ? POLICY : `${POLICY}; sandbox`,
    'x-content-type-options': 'nosniff',
    // Links to images are meant for pages of other sites too.
    'cross-origin-resource-policy': isSafeImage(mimetype) ? 'cross-origin' : 'same-origin',
    'referrer-policy': 'no-referrer',
    'accept-ranges': 'bytes',
    'cache-control': cacheControl(keepUntil),
  })
  const range = readRange(request.headers.get('range'), file.size)
  if (range === 'unfit') {
    headers.set('content-range', `bytes */${file.size}`)
    headers.delete('content-disposition')
    return new Response(null, { status: 416, headers })
  }
  const { from, to } = range ?? { from: 0, to: file.size }
  if (range) headers.set('content-range', `bytes ${from}-${to - 1}/${file.size}`)
  headers.set('content-length', String(to - from))
  const body = request.method === 'HEAD' ? null : range ? file.read(from, to) : file.read()
  return new Response(body, { status: range ? 206 : 200, headers })
}

/** Types that a page of this server could load as script, style, worker or document. */
const ACTIVE = /^(?:text\/(?:html|xml|css|xsl|cache-manifest)|application\/(?:xml|wasm|json|manifest))$/
const ACTIVE_ENDING = /(?:script|\+xml|\+json)$/

/** The served type: plain text for types that a page could run. SVG runs nothing as an image. */
function servedType(mimetype: string): string {
  const type = isActive(mimetype) ? 'text/plain' : mimetype
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type
}

const isActive = (mimetype: string): boolean =>
  mimetype !== 'image/svg+xml' && (ACTIVE.test(mimetype) || ACTIVE_ENDING.test(mimetype))

/** The 404 answers of the reference. */
const noFile = (text: 'File not found' | 'Not found'): Response =>
  new Response(text, { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' } })

const mayBeInline = ({ inline, mimetype }: Served): boolean =>
  inline === true && mimetype === 'application/pdf'

function disposition(served: Served): string {
  const kind = isSafeImage(served.mimetype) || mayBeInline(served) ? 'inline' : 'attachment'
  const plain = served.title.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(served.title).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  )
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`
}

function cacheControl(keepUntil: number | null): string {
  const seconds = keepUntil === null ? 0 : Math.floor((keepUntil - nowMs()) / 1000)
  return seconds > 0 ? `private, max-age=${seconds}, immutable` : 'no-store'
}

/** The requested byte range; null for none or one that may be ignored: several, or another unit. */
function readRange(header: string | null, size: number): { from: number; to: number } | 'unfit' | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (first === '' && last === '') return null
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const to = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  return from < to && from < size ? { from, to } : 'unfit'
}
