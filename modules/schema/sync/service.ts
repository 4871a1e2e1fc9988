import type { Actor } from '../../../src/core/actor.ts'
import { notFound } from '../../../src/core/errors.ts'
import { introspector } from '../../../src/db/introspect/index.ts'
import { SOURCE_JOBS, type SourceCreateInput, type SourceRow } from '../../bases/index.ts'
import type { SchemaContext } from '../change/index.ts'
import { createSource } from './create-source.ts'
import { deleteSource } from './delete-source.ts'
import { findDifferences, type KnownTable, type SyncChange } from './differences.ts'
import { findSource, readStructure } from './job-parts.ts'
import { readKnown } from './read-known.ts'
import { type SyncInput, syncSources } from './sync-source.ts'
import { registerSyncUndo } from './undo.ts'

/** As REST clients know it (wire §6). */
const IN_PROGRESS = 'Meta sync already in progress for this base'

/** How the database of one source differs from what is known of it. */
export interface SourceDifferences {
  source: SourceRow
  changes: SyncChange[]
  known: KnownTable[]
}

/** Sources held against their databases. */
export type SyncService = ReturnType<typeof createSyncService>

/** Finds and applies what has changed in the databases that a base is connected to. */
export function createSyncService(context: SchemaContext) {
  const { bases, access, kernel } = context
  registerSourceJobs(context)
  registerSyncUndo(context)

  /** The connected sources of a base, or the one of them that is meant. The base's own is never behind. */
  async function chosen(actor: Actor, baseId: string, sourceId?: string): Promise<SourceRow[]> {
    const base = await bases.require(baseId)
    const all = (await bases.sourcesOf([base.id])).get(base.id) ?? []
    const wanted = all.filter(({ id }) => sourceId === undefined || id === sourceId)
    if (sourceId !== undefined && wanted.length === 0) throw notFound('Source', sourceId.slice(0, 64))
    await access.authorize(actor, 'source.update', base.id)
    return wanted.filter(({ isOwn }) => !isOwn)
  }

  return {
    /**
     * What has changed in the databases since they were read.
     * @throws DATABASE_ERROR with the reason where one cannot be read
     */
    async differences(actor: Actor, baseId: string, sourceId?: string): Promise<SourceDifferences[]> {
      const found: SourceDifferences[] = []
      for (const source of await chosen(actor, baseId, sourceId)) {
        const config = bases.sources.requireConnection(source)
        const known = await readKnown(context, source.id)
        const structure = await readStructure(config)
        const changes = findDifferences(introspector(config.client), known, structure, source.leftOut ?? [])
        found.push({ source, known, changes })
      }
      return found
    },

    /**
     * Starts the job that applies differences: those of the keys, or all but the tables that were left out.
     * @throws BAD_REQUEST while another runs
     */
    async sync(
      actor: Actor,
      baseId: string,
      { sourceId, keys = null }: { sourceId?: string; keys?: string[] | null } = {},
    ): Promise<{ id: string }> {
      const sources = await chosen(actor, baseId, sourceId)
      if (sources.length > 0) await bases.sources.refuseParallel(SOURCE_JOBS.sync, baseId, IN_PROGRESS)
      const userId = actor.kind === 'user' ? actor.id : ''
      const input = { baseId, sourceIds: sources.map(({ id }) => id), keys }
      const { id } = await kernel.jobs.start(SOURCE_JOBS.sync, { userId, baseId, input })
      return { id }
    },
  }
}

/** Does the jobs that the sources of a base have. */
function registerSourceJobs(context: SchemaContext): void {
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
