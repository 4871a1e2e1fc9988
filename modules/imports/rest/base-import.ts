import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Actor } from '../../../src/core/actor.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { describedBy, ok, outputSchema, queryParameters } from '../../../src/wire/openapi.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { BasesService } from '../../bases/index.ts'
import { newTablesInput } from '../input.ts'
import type { ImportsService } from '../service.ts'
import { analysisAnswer, newTablesAnswer, uploadAnswer } from './answers.ts'
import { describeReceived, FILE_ALONE, NEW_TABLES, type Received, receiveFile } from './received.ts'
import { FILE_REFUSED, presentJob } from './routes.ts'

interface Services {
  imports: ImportsService
  bases: Pick<BasesService, 'enter'>
  auth: Pick<AuthService, 'access' | 'authenticate'>
}

/** What a handler gets of a call with a file. */
interface Call {
  actor: Actor
  request: Request
  body: unknown
  query: Record<string, string | undefined>
}

const uploadQuery = z.object({
  baseId: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe('The base of the import; without it, the call requires the right to create bases'),
})

/** Imports files into new tables of a base, with what was detected or what the caller chooses. */
export function baseImportRest(kernel: Kernel, { imports, bases, auth }: Services) {
  return new Elysia({ name: 'base-import-rest' })
    .use(restBase(kernel, auth))
    .post(
      '/api/v2/meta/imports/files',
      async ({ actor, request, body, query }) => {
        const { baseId } = readBody(uploadQuery, query)
        if (baseId === undefined) await auth.access.authorize(actor, 'base.create')
        else await bases.enter(actor, 'import.create', baseId)
        return (await receiveFile(kernel, imports, actor, { request, body, query })).upload
      },
      {
        detail: {
          summary: 'Store a file for an import',
          tags: ['Imports'],
          ...describedBy(() => {
            const { parameters, requestBody } = describeReceived(FILE_ALONE)
            return {
              parameters: [...queryParameters(uploadQuery), ...parameters],
              requestBody,
              responses: { ...ok(outputSchema(uploadAnswer)), ...FILE_REFUSED },
            }
          }),
        },
      },
    )
    .post(
      '/api/v2/meta/bases/:baseId/import/analysis',
      ({ actor, params, request, body, query }) =>
        withFile(
          params.baseId,
          { actor, request, body, query },
          async (baseId, { upload, options }): Promise<z.output<typeof analysisAnswer>> => {
            const input = readBody(newTablesInput, options)
            const tables = await imports.newTables.propose(
              actor,
              baseId,
              upload.uploadId,
              input,
              request.signal,
            )
            return { uploadId: upload.uploadId, fileName: upload.fileName, tables }
          },
        ),
      {
        detail: {
          summary: 'Detect the tables of a file',
          tags: ['Imports'],
          ...describedBy(() => ({
            ...describeReceived(NEW_TABLES),
            responses: { ...ok(outputSchema(analysisAnswer)), ...FILE_REFUSED },
          })),
        },
      },
    )
    .post(
      '/api/v2/meta/bases/:baseId/import',
      ({ actor, params, request, body, query }) =>
        withFile(
          params.baseId,
          { actor, request, body, query },
          async (baseId, { upload, options }): Promise<z.output<typeof newTablesAnswer>> => {
            const input = readBody(newTablesInput, options)
            const started = await imports.newTables.start(
              actor,
              baseId,
              upload.uploadId,
              input,
              request.signal,
            )
            return { ...started, jobs: started.jobs.map(presentJob) }
          },
        ),
      {
        detail: {
          summary: 'Import a file into new tables',
          tags: ['Imports'],
          ...describedBy(() => ({
            ...describeReceived(NEW_TABLES),
            responses: { ...ok(outputSchema(newTablesAnswer)), ...FILE_REFUSED },
          })),
        },
      },
    )

  /** Checks access before the file is read, and keeps no file of a call that fails. */
  async function withFile<T>(
    idOrTitle: string,
    { actor, ...sent }: Call,
    work: (baseId: string, received: Received) => Promise<T>,
  ): Promise<T> {
    const { id: baseId } = await bases.enter(actor, 'import.create', idOrTitle)
    const received = await receiveFile(kernel, imports, actor, sent)
    try {
      return await work(baseId, received)
    } catch (error) {
      if (received.isNew) await imports.held.discard(received.upload.uploadId)
      throw error
    }
  }
}
