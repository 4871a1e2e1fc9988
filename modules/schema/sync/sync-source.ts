import { notFound } from '../../../src/core/errors.ts'
import type { ConnectionConfig } from '../../../src/db/connection.ts'
import type { JobContext } from '../../../src/jobs.ts'
import type { SourceRow } from '../../bases/index.ts'
import type { SchemaContext } from '../change/index.ts'
import {
  actorOf,
  findSource,
  followed,
  planContext,
  readStructure,
  resultOf,
  type SourceResult,
} from './job-parts.ts'
import { planSync, type SyncPlan } from './plan-sync.ts'
import { readKnown } from './read-known.ts'
import { detailOf, planStatements, touchedTables } from './write-plan.ts'

/** What the job is given. */
export interface SyncInput {
  baseId: string
  sourceIds: string[]
  /** Keys of the differences to apply; null: all. */
  keys: string[] | null
}

/**
 * Brings the metadata of sources up to date with their databases. What is gone there goes to the trash
 * here; each source is one change, which undo takes back.
 */
export async function syncSources(
  context: SchemaContext,
  input: SyncInput,
  job: JobContext,
): Promise<SourceResult> {
  const { kernel, bases } = context
  let result: SourceResult = { id: input.baseId, tables: 0, views: 0, changes: 0, notes: [] }
  for (const sourceId of input.sourceIds) {
    job.signal.throwIfAborted()
    const source = await findSource(context, input.baseId, sourceId)
    if (!source) throw notFound('Source', sourceId)
    const config = bases.sources.requireConnection(source)
    const one = await syncSource(context, { ...input, source, config }, job)
    result = {
      id: input.sourceIds.length === 1 ? sourceId : input.baseId,
      tables: result.tables + one.tables,
      views: result.views + one.views,
      changes: result.changes + one.changes,
      notes: [...result.notes, ...one.notes],
    }
  }
  kernel.events.emit('schema.changed', { baseId: input.baseId, tableId: null, version: 0 })
  return result
}

/** Names of the database stay as they are. */
const AS_NAMED = { inflection: { table: 'none', column: 'none' } } as const

async function syncSource(
  context: SchemaContext,
  { baseId, keys, source, config }: SyncInput & { source: SourceRow; config: ConnectionConfig },
  job: JobContext,
): Promise<SourceResult> {
  const { store, apply } = context
  const structure = await readStructure(config)
  job.report({ done: 0, total: structure.tables.length, unit: 'tables' })
  const chosen = keys === null ? null : new Set(keys)
  const plan = await apply(actorOf(job.userId), baseId, async ({ now }) => {
    const planned = await planSync(
      { ...planContext(AS_NAMED, source.id, baseId, now, config), leftOut: source.leftOut ?? [] },
      await readKnown(context, source.id),
      structure,
      await store.tablesOf(baseId),
      chosen,
      followed(job),
    )
    const detail = detailOf(source.id, planned)
    const count = countOf(detail)
    return {
      statements: [
        ...(await planStatements(context, planned, { actorId: job.userId, now })),
        ...context.bases.sources.chosen(
          source,
          planned.newTables.map(({ table }) => table.tableName),
        ),
      ],
      entry: count === 0 ? null : { kind: 'source.sync', tableId: null, detail },
      altered: { fields: alteredFields(planned, now) },
      touchesRecords: true,
      tableIds: touchedTables(planned),
      result: { planned, count },
    }
  })
  return resultOf(source.id, plan.planned, plan.count)
}

const countOf = ({ added, removed, restored, changedFields, changedTables }: ReturnType<typeof detailOf>) =>
  [added, removed, restored].reduce((sum, one) => sum + one.tableIds.length + one.fieldIds.length, 0) +
  changedFields.length +
  changedTables.length

/** The fields as the plan leaves them, for those that are computed from them. */
const alteredFields = (plan: SyncPlan, now: string) => [
  ...[...plan.newFields, ...plan.newTables.flatMap(({ fields }) => fields)].map((field) => ({
    ...field,
    deletedAt: null,
  })),
  ...plan.changedFields.map(({ after }) => ({ ...after, deletedAt: null })),
  ...plan.removedFields.map((field) => ({ ...field, deletedAt: now })),
]
