import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Actor } from '../../../src/core/actor.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { createHttpClient } from '../../../src/http.ts'
import { plainText } from '../../../src/input.ts'
import { hasEnded, type Job } from '../../../src/jobs.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { wireTime } from '../../../src/wire/lists.ts'
import { mediaTypeOf } from '../../../src/wire/media-type.ts'
import {
  describedBy,
  FILE,
  inputSchema,
  jsonBody,
  listOf,
  ok,
  outputSchema,
  queryParameters,
  REFUSED,
} from '../../../src/wire/openapi.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import { analysisInput } from '../input.ts'
import type { ImportsService } from '../service.ts'
import { fileTooLarge } from '../uploads.ts'
import { jobAnswer, jobStateAnswer, reportAnswer, uploadAnswer } from './answers.ts'

export const FILE_TYPE = 'application/octet-stream'

/** What routes with a file answer beside `REFUSED`. */
export const FILE_REFUSED = { 413: { $ref: '#/components/responses/Refused' } }

/** A body that is a file. */
export const fileBody = { required: true, content: { [FILE_TYPE]: { schema: FILE } } }

const jobsQuery = z.object({ job: plainText(64).optional() })

const listenBody = z.object({
  _mid: z.coerce.number().int().min(0).catch(0),
  data: z.object({ id: z.string().min(1).max(64) }),
})

const beginBody = z.object({ name: plainText(1000), size: z.int().min(0) })

const offsetQuery = z.object({ offset: z.coerce.number().int().min(0) })

const sliceQuery = z.object({
  from: z.coerce.number().int().min(0).default(0),
  to: z.coerce.number().int().min(0).optional(),
})

const cancelQuery = z.object({
  group: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('Cancels the jobs that were started with it as well'),
})

const reportQuery = z.object({
  format: z.enum(['json', 'csv']).default('json'),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  offset: z.coerce.number().int().min(0).default(0),
})

/** Uploads and reports for the web app, and jobs for REST clients (wire §13.2). */
export const importsRest = (
  kernel: Kernel,
  { imports, auth }: { imports: ImportsService; auth: Pick<AuthService, 'access' | 'authenticate'> },
) => {
  const messages = createJobMessages(kernel)
  return new Elysia()
    .use(fetchRest(kernel, auth))
    .use(restBase(kernel, auth))
    .post('/api/internal/uploads', ({ actor, request, query }) => receive(actor, request, query.name), {
      parse: 'none',
      detail: {
        tags: ['Web app'],
        ...describedBy(() => ({
          parameters: [{ name: 'name', in: 'query', schema: { type: 'string' } }],
          requestBody: fileBody,
          responses: { ...ok(outputSchema(uploadAnswer)), ...FILE_REFUSED },
        })),
      },
    })
    .post(
      '/api/internal/uploads/begin',
      ({ actor, body }) => {
        refuseToken(actor)
        const { name, size } = readBody(beginBody, body)
        return imports.beginUpload(actor, name, size)
      },
      {
        detail: {
          tags: ['Web app'],
          ...describedBy(() => ({
            requestBody: jsonBody(inputSchema(beginBody)),
            responses: { ...ok(outputSchema(uploadAnswer)), ...FILE_REFUSED },
          })),
        },
      },
    )
    .patch(
      '/api/internal/uploads/:uploadId',
      ({ actor, params, query, request }) => {
        refuseToken(actor)
        const { offset } = readBody(offsetQuery, query)
        const part = { offset, body: requireFile(kernel, request) }
        return imports.appendUpload(actor, params.uploadId, part)
      },
      {
        parse: 'none',
        detail: {
          tags: ['Web app'],
          ...describedBy(() => ({ parameters: queryParameters(offsetQuery), requestBody: fileBody })),
        },
      },
    )
    .get('/api/internal/uploads/:uploadId/received', ({ actor, params }) =>
      imports.receivedUpload(actor, params.uploadId),
    )
    .get('/api/internal/uploads/:uploadId', async ({ actor, params, query }) => {
      const { path } = await imports.upload(actor, params.uploadId)
      const { from, to } = readBody(sliceQuery, query)
      return download(Bun.file(path).slice(from, to), 'upload.csv')
    })
    .post(
      '/api/internal/uploads/:uploadId/analysis',
      async ({ actor, params, body, request }) => {
        const input = readBody(analysisInput, body ?? {})
        // Ends the thread when the page is left.
        const ended = new AbortController()
        request.signal.addEventListener('abort', () => ended.abort())
        return jsonLines(await imports.analyse(actor, params.uploadId, input, ended.signal), ended)
      },
      {
        detail: {
          tags: ['Web app'],
          ...describedBy(() => ({
            requestBody: { ...jsonBody(inputSchema(analysisInput)), required: false },
          })),
        },
      },
    )
    .get('/api/internal/jobs/:jobId/report', async ({ actor, params }) => {
      const { path, fileName } = await imports.report(actor, params.jobId)
      return download(Bun.file(path), fileName)
    })
    .get(
      '/api/v2/meta/jobs/:jobId',
      async ({ actor, params }) => {
        await auth.access.authorize(actor, 'account.read')
        return presentState(await imports.jobs.get(actor, params.jobId))
      },
      {
        detail: {
          summary: 'The state of a job',
          tags: ['Jobs'],
          ...describedBy(() => ({ responses: ok(outputSchema(jobStateAnswer)) })),
        },
      },
    )
    .post(
      '/api/v2/meta/jobs/:jobId/cancel',
      async ({ actor, params, query }) => {
        await auth.access.authorize(actor, 'account.read')
        await imports.jobs.cancel(actor, params.jobId, readBody(cancelQuery, query).group)
        return presentState(await imports.jobs.get(actor, params.jobId))
      },
      {
        detail: {
          summary: 'Cancel a job',
          tags: ['Jobs'],
          ...describedBy(() => ({
            parameters: queryParameters(cancelQuery),
            responses: ok(outputSchema(jobStateAnswer)),
          })),
        },
      },
    )
    .get(
      '/api/v2/meta/jobs/:jobId/report',
      async ({ actor, params, query }) => {
        const { format, ...page } = readBody(reportQuery, query)
        if (format === 'json') return imports.reportLines(actor, params.jobId, page)
        const { path, fileName } = await imports.report(actor, params.jobId)
        return download(Bun.file(path), fileName)
      },
      {
        detail: {
          summary: 'What an import has not imported',
          tags: ['Jobs'],
          ...describedBy(() => ({
            parameters: queryParameters(reportQuery),
            responses: {
              200: {
                description: 'OK',
                content: {
                  'application/json': { schema: outputSchema(reportAnswer) },
                  'text/csv': { schema: { type: 'string' } },
                },
              },
              ...REFUSED,
            },
          })),
        },
      },
    )
    .post('/jobs/listen', async ({ actor, body, request }) => {
      const { _mid, data } = readBody(listenBody, body)
      const news = await messages.listen(data.id, _mid, request.signal)
      // Whoever knows a job's id may follow its state.
      return (await imports.jobs.maySeeResult(actor, data.id)) ? news : withoutData(news)
    })
    .post(
      '/api/v2/jobs/:baseId',
      async ({ actor, params, body, set }) => {
        const jobs = await imports.jobsOf(actor, params.baseId, readBody(jobsQuery, body).job)
        set.status = 201
        return jobs.map(presentJob)
      },
      {
        detail: {
          summary: 'List the jobs of a base',
          tags: ['Jobs'],
          ...describedBy(() => {
            const { 200: answer = {}, ...refusals } = ok(listOf(outputSchema(jobAnswer)))
            return {
              requestBody: { ...jsonBody(inputSchema(jobsQuery)), required: false },
              responses: { 201: answer, ...refusals },
            }
          }),
        },
      },
    )

  /** Streams the file to disk. */
  async function receive(actor: Actor, request: Request, name = 'upload.csv'): Promise<unknown> {
    refuseToken(actor)
    return imports.receive(actor, name, requireFile(kernel, request))
  }
}

/** One JSON text per line, as they come. */
function jsonLines(messages: AsyncGenerator<unknown>, ended: AbortController): Response {
  const encoder = new TextEncoder()
  const body = new ReadableStream({
    async pull(controller) {
      const { done, value } = await messages.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`))
    },
    async cancel() {
      ended.abort()
      await messages.return(undefined)
    },
  })
  const headers = {
    'content-type': 'application/x-ndjson',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  }
  return new Response(body, { headers })
}

function refuseToken(actor: Actor): void {
  if (actor.kind !== 'user' || actor.via !== 'token') return
  throw new AppError('API_TOKEN_NOT_ALLOWED', 'This request is not allowed with API token')
}

/** The body of an upload. @throws PAYLOAD_TOO_LARGE; BAD_REQUEST for another type, and without a body */
export function requireFile(
  { config }: Pick<Kernel, 'config'>,
  request: Request,
): ReadableStream<Uint8Array> {
  const { importMaxBytes } = config
  if (Number(request.headers.get('content-length') ?? 0) > importMaxBytes) throw fileTooLarge(importMaxBytes)
  // Bodies of other types have been parsed by now (see `parseBody`).
  if (mediaTypeOf(request) !== FILE_TYPE) throw badRequest(m.imports_error_content_type({ type: FILE_TYPE }))
  if (!request.body) throw badRequest(m.imports_error_empty_file())
  return request.body
}

function withoutData(news: JobMessage | JobMessage[]): JobMessage | JobMessage[] {
  if (!Array.isArray(news)) return news
  return news.map(({ data, ...message }) => ({
    ...message,
    data: data && { id: data.id, ...(data.status && { status: data.status }) },
  }))
}

/** Sent so that browsers never render it. */
function download(file: Blob, name: string): Response {
  return new Response(file, {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    },
  })
}

export function presentJob(job: Job): z.output<typeof jobAnswer> {
  return {
    id: job.id,
    job: job.kind,
    status: job.status,
    result: job.result,
    fk_user_id: job.userId,
    fk_workspace_id: null,
    base_id: job.baseId,
    created_at: wireTime(job.createdAt),
    updated_at: wireTime(job.updatedAt),
  }
}

const presentState = (job: Job): z.output<typeof jobStateAnswer> => ({
  ...presentJob(job),
  group: job.group,
  progress: job.progress,
  error: job.error,
})

const FETCH_PATHS = ['/api/v1/db/meta/axiosRequestMake', '/api/v2/meta/axiosRequestMake']

/** Types of files that clients import; others get an empty answer. */
const DATA_FILE = /\.(csv|json|xls|xlsx|xlsm|ods|ots)$/i
/** Answered as a JSON array of bytes; larger files use `imports.fetchUrl`. */
const MAX_FETCHED_BYTES = 10 * 1024 ** 2
const FETCH_TIMEOUT_MS = 60_000

const FetchBody = z.object({ apiMeta: z.object({ url: z.string().max(4096) }) })

/** The bytes of the file; empty for an address of another kind of file. */
const FetchAnswer = z.object({
  type: z.literal('Buffer').optional(),
  data: z.array(z.int().min(0).max(255)).optional(),
})

/** Downloads a data file for signed-in clients that parse it themselves (wire §3). */
const fetchRest = (kernel: Kernel, auth: Pick<AuthService, 'access' | 'authenticate'>) => {
  const http = createHttpClient(kernel.config)
  const app = new Elysia().use(restBase(kernel, auth))
  for (const path of FETCH_PATHS) {
    app.post(
      path,
      async ({ actor, body, request }) => {
        await auth.access.authorize(actor, 'account.read')
        const { url } = readBody(FetchBody, body).apiMeta
        if (!URL.canParse(url) || !DATA_FILE.test(new URL(url).pathname)) return {}
        const limits = { maxBytes: MAX_FETCHED_BYTES, timeoutMs: FETCH_TIMEOUT_MS, signal: request.signal }
        const answer = await http.get(url, limits)
        return Buffer.concat(await Array.fromAsync(answer.body)).toJSON()
      },
      {
        detail: {
          summary: 'Download a data file',
          tags: ['Imports'],
          ...describedBy(() => ({
            requestBody: jsonBody(inputSchema(FetchBody)),
            responses: ok(outputSchema(FetchAnswer)),
          })),
        },
      },
    )
  }
  return app
}

/** Below the timeouts of common proxies; the client then asks again. */
const WAIT_MS = 25_000
/** Messages of ended jobs are kept this long. */
const MESSAGES_KEPT_MS = 5 * 60_000
/** Clients show each message as a line. */
const PROGRESS_EVERY_MS = 1000

/** wire §13.2 */
interface JobMessage {
  status: 'update' | 'close' | 'refresh'
  data?: { id: string; status?: string; data?: unknown }
  _mid?: number
}

interface Channel {
  messages: JobMessage[]
  reportedAt: number
  status: Job['status'] | null
  waiting: Set<() => void>
}

/** Messages about jobs for long polling. */
function createJobMessages({ events, jobs }: Pick<Kernel, 'events' | 'jobs'>) {
  const channels = new Map<string, Channel>()

  function channelOf(jobId: string): Channel {
    const known = channels.get(jobId)
    if (known) return known
    const channel: Channel = { messages: [], reportedAt: 0, status: null, waiting: new Set() }
    channels.set(jobId, channel)
    return channel
  }

  function publish(channel: Channel, jobId: string, data: { status?: string; data?: unknown }): void {
    channel.messages.push({
      status: 'update',
      data: { id: jobId, ...data },
      _mid: channel.messages.length + 1,
    })
    for (const wake of channel.waiting) wake()
  }

  function receive(job: Job): void {
    const channel = channelOf(job.id)
    if (job.status !== channel.status) {
      channel.status = job.status
      publish(channel, job.id, stateOf(job))
      if (hasEnded(job.status)) setTimeout(() => channels.delete(job.id), MESSAGES_KEPT_MS).unref()
    } else if (Date.now() - channel.reportedAt > PROGRESS_EVERY_MS) {
      channel.reportedAt = Date.now()
      publish(channel, job.id, { data: { message: `${job.progress.done} ${job.progress.unit}` } })
    }
  }

  events.on('job.changed', receive)

  /** Waits for messages after `lastId`. A client that gets `refresh` asks again with the same id. */
  async function listen(
    jobId: string,
    lastId: number,
    signal: AbortSignal,
  ): Promise<JobMessage[] | JobMessage> {
    if (!channels.has(jobId)) {
      const job = await jobs.find(jobId)
      if (!job) return { status: 'refresh' }
      // An event that was received meanwhile is newer.
      if (!channels.has(jobId)) receive(job)
    }
    const channel = channelOf(jobId)
    const news = () => channel.messages.slice(lastId)
    if (news().length > 0) return news()
    if (channel.status !== null && hasEnded(channel.status)) return { status: 'close' }
    const { promise, resolve } = Promise.withResolvers<void>()
    const wake = () => resolve()
    const timer = setTimeout(wake, WAIT_MS)
    channel.waiting.add(wake)
    signal.addEventListener('abort', wake)
    try {
      await promise
    } finally {
      clearTimeout(timer)
      channel.waiting.delete(wake)
      signal.removeEventListener('abort', wake)
    }
    const heard = news()
    return heard.length > 0 ? heard : { status: 'refresh' }
  }

  return { listen }
}

function stateOf(job: Job): { status: string; data?: unknown } {
  if (job.status === 'completed') return { status: 'completed', data: { result: job.result } }
  if (job.status === 'failed') return { status: 'failed', data: { error: { message: job.error } } }
  if (job.status === 'cancelled') return { status: 'failed', data: { error: { message: 'Cancelled' } } }
  return { status: job.status }
}
