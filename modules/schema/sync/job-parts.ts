import type { UserActor } from '../../../src/core/actor.ts'
import { AppError } from '../../../src/core/errors.ts'
import type { ConnectionConfig } from '../../../src/db/connection.ts'
import {
  type DatabaseStructure,
  explainConnection,
  introspector,
  openReader,
  type StructureReader,
} from '../../../src/db/introspect/index.ts'
import type { JobContext } from '../../../src/jobs.ts'
import { type SourceCreateInput, type SourceRow, schemaOf } from '../../bases/index.ts'
import type { SchemaContext } from '../change/index.ts'
import type { SourceNote } from './plan-links.ts'
import type { SyncPlan } from './plan-sync.ts'

/** What came of a source that was made or synchronised. */
export interface SourceResult {
  id: string
  tables: number
  views: number
  /** How many differences were applied, for a synchronisation. */
  changes: number
  notes: SourceNote[]
}

/** Between so many tables others get a turn, and a cancelled job ends. */
const YIELD_AFTER = 20

/**
 * The structure of a source's database, as it is now.
 *
 * @param look at the database before anything of it is read; may refuse it
 * @throws DATABASE_ERROR with the reason in words
 */
export async function readStructure(
  config: ConnectionConfig,
  look: (reader: StructureReader) => Promise<void> = async () => {},
): Promise<DatabaseStructure> {
  try {
    const reader = await openReader(config)
    try {
      await look(reader)
      return await introspector(config.client).read(reader, schemaOf(config))
    } finally {
      await reader.close()
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('DATABASE_ERROR', explainConnection(error, config))
  }
}

/** Tells how far a plan is, and lets it be stopped between two tables. */
export const followed =
  (job: JobContext, offset = 0) =>
  async (done: number) => {
    job.report({ done: offset + done })
    if (done % YIELD_AFTER === 0) await Bun.sleep(0)
    job.signal.throwIfAborted()
  }

/** What the tables of a source are planned with. */
export const planContext = (
  { inflection }: Pick<SourceCreateInput, 'inflection'>,
  sourceId: string,
  baseId: string,
  now: string,
  config: ConnectionConfig,
) => ({ baseId, sourceId, inflection, now, introspector: introspector(config.client) })

/** What a person hears of a plan that was carried out. */
export const resultOf = (id: string, plan: SyncPlan, changes: number): SourceResult => ({
  id,
  tables: plan.newTables.filter(({ table }) => table.kind === 'table').length,
  views: plan.newTables.filter(({ table }) => table.kind === 'view').length,
  changes,
  notes: plan.notes,
})

/** The source of a base, or null where it is gone. */
export async function findSource(
  { bases }: Pick<SchemaContext, 'bases'>,
  baseId: string,
  sourceId: string,
): Promise<SourceRow | null> {
  return (await bases.sourcesOf([baseId])).get(baseId)?.find(({ id }) => id === sourceId) ?? null
}

/** The person for whom a job works. */
export const actorOf = (id: string): UserActor => ({
  kind: 'user',
  id,
  email: '',
  orgRoles: [],
  via: 'session',
})
