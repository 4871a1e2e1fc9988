import { type ZodType, z } from 'zod'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest } from '../../../src/core/errors.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { readMultipart } from '../../../src/multipart.ts'
import { mediaTypeOf } from '../../../src/wire/media-type.ts'
import { FILE, inputSchema, queryParameters } from '../../../src/wire/openapi.ts'
import { readBody } from '../../../src/wire/rest-base.ts'
import { fetchUrlInput, newTablesInput, uploadInput } from '../input.ts'
import type { ImportsService } from '../service.ts'
import type { Upload } from '../uploads.ts'
import { FILE_TYPE, requireFile } from './routes.ts'

/** Limit of the options that come beside a file. */
const MAX_OPTIONS_BYTES = 2 * 1024 ** 2

/** A file that a call has sent, or named by its address or an earlier upload, and the options beside it. */
export interface Received {
  upload: Upload
  /** True if the call itself stored the file. */
  isNew: boolean
  options: unknown
}

/** The parameters beside a file that is the body. */
const fileQuery = z.object({
  name: z.string().optional().describe('Name of the file that is the body; default: `import.csv`'),
})

/** The options of imports into new tables beside a file. */
export const NEW_TABLES = {
  beside: newTablesInput,
  json: z.xor([newTablesInput.extend(fetchUrlInput.shape), newTablesInput.extend(uploadInput.shape)]),
}

/** A file alone. */
export const FILE_ALONE = {
  json: z.xor([z.looseObject(fetchUrlInput.shape), z.looseObject(uploadInput.shape)]),
}

/** The ways in which `receiveFile` takes a file, for the OpenAPI document. */
export function describeReceived({ beside, json }: { beside?: ZodType; json: ZodType }) {
  const options = beside && inputSchema(beside)
  return {
    parameters: [
      ...queryParameters(fileQuery),
      ...(options
        ? [
            {
              name: 'options',
              in: 'query',
              description: 'The options beside a file that is the body, as JSON',
              content: { 'application/json': { schema: options } },
            },
          ]
        : []),
    ],
    requestBody: {
      required: true,
      content: {
        'multipart/form-data': {
          schema: {
            type: 'object',
            required: ['file'],
            properties: { file: FILE, ...(options && { options }) },
          },
          ...(options && { encoding: { options: { contentType: 'application/json' } } }),
        },
        [FILE_TYPE]: { schema: FILE },
        'application/json': { schema: inputSchema(json) },
      },
    },
  }
}

interface Sent {
  request: Request
  /** Parsed JSON; empty for files. */
  body: unknown
  query: Record<string, string | undefined>
}

/**
 * Stores the file of a call: the body (`application/octet-stream`, with `name` and `options` as parameters), a part of a
 * form (with the part `options`), or JSON with `url` or `uploadId` and the options. The caller has checked access.
 * @throws BAD_REQUEST for a call without a file, or with several; as `ImportsService.receive` and `fetchUrl`
 */
export async function receiveFile(
  kernel: Pick<Kernel, 'config'>,
  imports: Pick<ImportsService, 'receive' | 'fetchUrl' | 'upload' | 'held'>,
  actor: Actor,
  { request, body, query }: Sent,
): Promise<Received> {
  const type = mediaTypeOf(request)
  if (type === 'multipart/form-data') return receiveForm(imports, actor, request)
  if (type === FILE_TYPE) {
    const options = query.options === undefined ? {} : parseOptions(query.options)
    const file = requireFile(kernel, request)
    return { upload: await imports.receive(actor, query.name ?? 'import.csv', file), isNew: true, options }
  }
  const { url, uploadId, ...options } = (body ?? {}) as Record<string, unknown>
  if ((typeof url === 'string') === (typeof uploadId === 'string'))
    throw badRequest(m.imports_error_one_file())
  if (typeof url === 'string') {
    const named = readBody(fetchUrlInput, { url })
    return { upload: await imports.fetchUrl(actor, named.url), isNew: true, options }
  }
  const named = readBody(uploadInput, { uploadId })
  const { path, ...upload } = await imports.upload(actor, named.uploadId)
  return { upload, isNew: false, options }
}

async function receiveForm(
  imports: Pick<ImportsService, 'receive' | 'held'>,
  actor: Actor,
  request: Request,
): Promise<Received> {
  const type = request.headers.get('content-type') ?? ''
  if (!request.body) throw badRequest(m.imports_error_one_file())
  let upload: Upload | null = null
  let options: unknown = {}
  try {
    for await (const { name, fileName, body } of readMultipart(request.body, type)) {
      if (fileName !== null) {
        if (upload !== null) throw badRequest(m.imports_error_one_file())
        upload = await imports.receive(actor, fileName, body)
      } else if (name === 'options') options = parseOptions(await readText(body))
    }
    if (upload === null) throw badRequest(m.imports_error_one_file())
    return { upload, isNew: true, options }
  } catch (error) {
    if (upload !== null) await imports.held.discard(upload.uploadId)
    throw error
  }
}

function parseOptions(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(m.imports_error_options_json())
    throw error
  }
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > MAX_OPTIONS_BYTES) throw badRequest(m.imports_error_options_json())
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
