import type { Actor } from '../../src/core/actor.ts'
import { createId } from '../../src/core/ids.ts'
import type { Kernel } from '../../src/kernel.ts'
import { type AuthService, requireUser } from '../auth/index.ts'
import type { BasesService } from '../bases/index.ts'
import type { CommentsService } from '../comments/index.ts'
import type { ImportsService } from '../imports/index.ts'
import type { RecordsService } from '../records/index.ts'
import type { SchemaService } from '../schema/index.ts'
import type { ViewsService } from '../views/index.ts'
import {
  createFileExportJob,
  createWriteFile,
  FILE_EXPORT_JOB,
  type FileExportInput,
  type FileOptions,
} from './export-job.ts'
import { createFileImportJob, FILE_IMPORT_JOB, type FileImportInput } from './import-job.ts'
import { createOperator } from './operator.ts'

interface Deps {
  auth: Pick<AuthService, 'access' | 'people' | 'peopleByEmail'>
  bases: BasesService
  schema: SchemaService
  views: ViewsService
  records: RecordsService
  comments: CommentsService
  imports: ImportsService
}

export type BaseFilesService = ReturnType<typeof createBaseFilesService>

/** Whole bases as single files (`.sheaf`). */
export function createBaseFilesService(kernel: Kernel, deps: Deps) {
  const { auth, bases, imports } = deps
  const write = createWriteFile({ kernel, ...deps })
  kernel.jobs.register(FILE_EXPORT_JOB, createFileExportJob(deps, write))
  kernel.jobs.register(FILE_IMPORT_JOB, createFileImportJob({ kernel, ...deps }))

  return {
    /**
     * Starts a job that writes a base into a file and results in a link to it.
     * @throws BASE_NOT_FOUND; PERMISSION_DENIED below creator
     */
    async export(actor: Actor, baseId: string, options: FileOptions): Promise<{ jobId: string }> {
      const base = await bases.enter(actor, 'base.export', baseId)
      const user = requireUser(actor)
      const input: FileExportInput = { actor: user, baseId: base.id, title: `${base.title}.sheaf`, options }
      const job = await kernel.jobs.start(FILE_EXPORT_JOB, { userId: user.id, baseId: base.id, input })
      return { jobId: job.id }
    },

    /**
     * Starts a job that opens an uploaded file as a new base of the actor, which appears when it is complete.
     * @throws NOT_FOUND for the upload; PERMISSION_DENIED for users who may not create bases
     */
    async import(
      actor: Actor,
      { uploadId, withHistory }: { uploadId: string; withHistory: boolean },
    ): Promise<{ jobId: string; baseId: string }> {
      await auth.access.authorize(actor, 'base.create')
      const user = requireUser(actor)
      const { fileName } = await imports.upload(user, uploadId)
      const newBaseId = createId('base')
      const input: FileImportInput = { actor: user, file: { uploadId }, fileName, newBaseId, withHistory }
      const id = createId('job')
      await imports.held.hold(id, uploadId)
      try {
        await kernel.jobs.start(FILE_IMPORT_JOB, { id, userId: user.id, baseId: null, input })
      } catch (error) {
        await imports.held.release(id)
        throw error
      }
      return { jobId: id, baseId: input.newBaseId }
    },

    /** For the command line of the installation: access is not checked. */
    operator: createOperator(kernel, deps, write),
  }
}
