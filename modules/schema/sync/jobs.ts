import { SOURCE_JOBS, type SourceCreateInput } from '../../bases/index.ts'
import type { SchemaContext } from '../change/index.ts'
import { createSource } from './create-source.ts'
import { deleteSource } from './delete-source.ts'
import { findSource } from './job-parts.ts'
import { type SyncInput, syncSources } from './sync-source.ts'

/** Does the jobs that the sources of a base have. */
export function registerSourceJobs(context: SchemaContext): void {
  const { jobs } = context.kernel
  jobs.register<SourceCreateInput>(SOURCE_JOBS.create, {
    run: (input, job) => createSource(context, input, job),
    // Source and tables are written in one step: either it is all there, or nothing of it is.
    async recover({ baseId, sourceId }) {
      const known = await findSource(context, baseId, sourceId)
      return known ? { result: { id: sourceId } } : null
    },
  })
  jobs.register<{ baseId: string; sourceId: string }>(SOURCE_JOBS.delete, {
    run: (input, job) => deleteSource(context, input, job),
    recover: async ({ baseId, sourceId }) =>
      (await findSource(context, baseId, sourceId)) ? null : { result: { id: sourceId } },
  })
  jobs.register<SyncInput>(SOURCE_JOBS.sync, {
    run: (input, job) => syncSources(context, input, job),
    recover: async () => null,
  })
}
