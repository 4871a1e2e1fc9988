import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Actor } from '../../../src/core/actor.ts'
import { isTimeZone } from '../../../src/core/dates.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { BasesService } from '../../bases/index.ts'
import type { SchemaReader, TableModel } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import { BASE_EXPORT_JOB, EXPORT_JOB, type ExportFile, type ExportRequest } from '../export/index.ts'
import type { Opened } from '../read/index.ts'
import type { RecordsService } from '../service.ts'
import { queryOf, readListParameters } from './parameters.ts'
import { visibleFields } from './present.ts'
import { createResolver, type Target } from './v1.ts'

interface Deps {
  auth: AuthService
  bases: BasesService
  schema: SchemaReader
  views: ViewsService
  records: RecordsService
}

const BaseExportBody = z.object({
  /** Ids; default: all tables. */
  tables: z.array(z.string().min(1).max(64)).min(1).max(1000).optional(),
  time_zone: z.string().refine(isTimeZone).optional(),
})

const TABLE = '/api/v1/db/data/:orgs/:base/:table'

/** Exports: as a response (spec §7), or by a job that gives a link (wire §13.4). */
export function exportsRest(kernel: Kernel, deps: Deps) {
  const { records, views } = deps
  const resolve = createResolver(deps)

  async function open(actor: Actor, target: Target, format: string, request: Request): Promise<Response> {
    // Fields are named as the actor sees them.
    const opened = await records.open(actor, target.tableId, target.viewId)
    const wanted = readExport(opened.model, target, format, request)
    const systemFieldIds = systemFieldsOf(opened)
    return fileAnswer(await records.exports.stream(actor, { ...wanted, systemFieldIds }))
  }

  return new Elysia({ tags: ['Records'] })
    .use(restBase(kernel, deps.auth))
    .get(`${TABLE}/export/:type`, async ({ actor, params, request }) =>
      open(actor, await resolve(actor, params), params.type, request),
    )
    .get(`${TABLE}/views/:view/export/:type`, async ({ actor, params, request }) =>
      open(actor, await resolve(actor, params), params.type, request),
    )
    .post('/api/v2/export/:viewId/:type', async ({ actor, params }) => {
      const { tableId, id: viewId } = await views.get(actor, params.viewId)
      const { jobId } = await records.exports.start(actor, {
        query: { tableId, viewId },
        systemFieldIds: systemFieldsOf(await records.open(actor, tableId, viewId)),
        format: params.type,
      })
      return { id: jobId, name: EXPORT_JOB }
    })
    .post('/api/v2/meta/bases/:baseId/export/:type', async ({ actor, params, body }) => {
      const { tables, time_zone: timeZone } = readBody(BaseExportBody, body ?? {})
      const { jobId } = await records.exports.startBase(actor, {
        baseId: params.baseId,
        format: params.type,
        ...(tables && { tableIds: tables }),
        ...(timeZone && { timeZone }),
      })
      return { id: jobId, name: BASE_EXPORT_JOB }
    })
}

/** The system fields that lists through a view with `show_system_fields` have as well. */
const systemFieldsOf = ({ model, context: { view } }: Opened): string[] =>
  view === null
    ? []
    : visibleFields(model, view, null).flatMap(({ id, isSystem, isPrimaryKey }) =>
        isSystem && !isPrimaryKey ? [id] : [],
      )

/** Reads `where`, `sort` and `fields` as lists do, without `limit` and `offset`. @throws as a list */
export function readExport(
  model: TableModel,
  { tableId, viewId }: Target,
  format: string,
  request: Request,
): ExportRequest {
  const { filter, sorts, fields } = readListParameters(model, new URLSearchParams(queryOf(request)))
  return {
    query: { tableId, viewId, filter, sorts },
    format,
    ...(fields && { fieldIds: fields.map(({ id }) => id) }),
  }
}

/** Streams a file of unknown length. */
export function fileAnswer({ name, mediaType, body }: ExportFile): Response {
  const pieces = body[Symbol.asyncIterator]()
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    // Stops reading when the client disconnects.
    cancel: async () => {
      await pieces.return?.(undefined)
    },
  })
  return new Response(stream, {
    headers: {
      'content-type': mediaType.startsWith('text/') ? `${mediaType}; charset=utf-8` : mediaType,
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    },
  })
}
