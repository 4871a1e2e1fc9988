import { Elysia } from 'elysia'
import { badRequest } from '../../../src/core/errors.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { mediaTypeOf } from '../../../src/wire/media-type.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { ImportsService } from '../../imports/index.ts'
import { FILE_EXPORT_JOB } from '../export-job.ts'
import { FILE_IMPORT_JOB } from '../import-job.ts'
import { ExportBody, ImportQuery } from '../input.ts'
import type { BaseFilesService } from '../service.ts'

const FILE_TYPE = 'application/octet-stream'

/** Whole bases as files, as jobs. The file to be imported is the body of the call. */
export const baseFilesRest = (
  kernel: Kernel,
  {
    auth,
    imports,
    baseFiles,
  }: { auth: AuthService; imports: Pick<ImportsService, 'receive'>; baseFiles: BaseFilesService },
) =>
  new Elysia({ name: 'base-files-rest' })
    .use(restBase(kernel, auth))
    .post('/api/v2/meta/bases/:baseId/export/sheaf', async ({ actor, params, body }) => {
      const { attachments, comments, history } = readBody(ExportBody, body ?? {})
      const { jobId } = await baseFiles.export(actor, params.baseId, {
        withAttachments: attachments,
        withComments: comments,
        withHistory: history,
      })
      return { id: jobId, name: FILE_EXPORT_JOB }
    })
    .post(
      '/api/v2/meta/base-files',
      async ({ actor, request, query }) => {
        await auth.access.authorize(actor, 'base.create')
        if (mediaTypeOf(request) !== FILE_TYPE)
          throw badRequest(m.imports_error_content_type({ type: FILE_TYPE }))
        if (!request.body) throw badRequest(m.imports_error_empty_file())
        const { name, history } = readBody(ImportQuery, query)
        const { uploadId } = await imports.receive(actor, name, request.body)
        const { jobId, baseId } = await baseFiles.import(actor, { uploadId, withHistory: history === 'true' })
        return { id: jobId, name: FILE_IMPORT_JOB, base_id: baseId }
      },
      { parse: 'none' },
    )
