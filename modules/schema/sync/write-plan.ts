import { eq, inArray } from 'drizzle-orm'
import type { UserActor } from '../../../src/core/actor.ts'
import { AppError } from '../../../src/core/errors.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import type { ConnectionConfig } from '../../../src/db/connection.ts'
import {
  type DatabaseStructure,
  explainConnection,
  introspector,
  openReader,
  type StructureReader,
} from '../../../src/db/introspect/index.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { JobContext } from '../../../src/jobs.ts'
import { type SourceCreateInput, type SourceRow, schemaOf } from '../../bases/index.ts'
import type { SchemaContext } from '../change/index.ts'
import { batches } from '../model/index.ts'
import type { SourceNote } from './plan-links.ts'
import type { SyncPlan } from './plan-sync.ts'

/** Rows or ids per statement; a row has some 25 values, well below every engine's limit of bound parameters. */
const BATCH_SIZE = 500

/** The effect of a synchronization, as the log stores it for undo. */
export interface SyncDetail {
  sourceId: string
  added: { tableIds: string[]; fieldIds: string[] }
  removed: { tableIds: string[]; fieldIds: string[] }
  restored: { tableIds: string[]; fieldIds: string[] }
  changedTables: { before: Table; after: Table }[]
  changedFields: { before: Field; after: Field }[]
}

/** The part of a plan that undo needs. */
export const detailOf = (sourceId: string, plan: SyncPlan): SyncDetail => ({
  sourceId,
  added: {
    tableIds: plan.newTables.map(({ table }) => table.id),
    fieldIds: plan.newFields.map(({ id }) => id),
  },
  removed: plan.removed,
  restored: plan.restored,
  changedTables: plan.changedTables,
  changedFields: plan.changedFields,
})

/** The metadata statements of a plan. */
export async function planStatements(
  context: SchemaContext,
  plan: SyncPlan,
  { actorId, now }: { actorId: string | null; now: string },
): Promise<MetaStatement[]> {
  const { store, kernel, views } = context
  const { tables, fields } = store
  const { db } = kernel.meta
  const times = { createdAt: now, updatedAt: now, deletedAt: null }
  const newFields = [...plan.newTables.flatMap((table) => table.fields), ...plan.newFields]
  const statements: MetaStatement[] = [
    ...batches(plan.newTables, BATCH_SIZE).map((batch) =>
      db.insert(tables).values(batch.map(({ table }) => table)),
    ),
    ...batches(newFields, BATCH_SIZE).map((batch) =>
      db.insert(fields).values(batch.map((field) => ({ ...field, wireMeta: null, ...times }))),
    ),
    ...plan.newTables.flatMap((added) => views.forNewTable(added.table, added.fields, actorId)),
  ]
  for (const field of plan.newFields) {
    const known = plan.restored.tableIds.includes(field.tableId) ? null : await store.load(field.tableId)
    if (known) statements.push(...(await views.forNewField(known, field, {}, null)))
  }
  for (const { after } of plan.changedTables) {
    statements.push(
      db
        .update(tables)
        .set({ ...after, updatedAt: now })
        .where(eq(tables.id, after.id)),
    )
  }
  for (const { after } of plan.changedFields) {
    statements.push(
      db
        .update(fields)
        .set({ ...after, updatedAt: now })
        .where(eq(fields.id, after.id)),
    )
  }
  return [
    ...statements,
    ...markStatements(context, plan.removed, now, now),
    ...markStatements(context, plan.restored, null, now),
  ]
}

/** The statements that move tables and fields to the trash, or restore them (null). */
export function markStatements(
  { store, kernel }: Pick<SchemaContext, 'store' | 'kernel'>,
  { tableIds, fieldIds }: { tableIds: string[]; fieldIds: string[] },
  deletedAt: string | null,
  now: string,
): MetaStatement[] {
  const { tables, fields } = store
  const { db } = kernel.meta
  const set = { deletedAt, deletedBy: null, updatedAt: now }
  return [
    ...batches(tableIds, BATCH_SIZE).map((ids) => db.update(tables).set(set).where(inArray(tables.id, ids))),
    ...batches(fieldIds, BATCH_SIZE).map((ids) => db.update(fields).set(set).where(inArray(fields.id, ids))),
  ]
}

/** The ids of existing tables that the plan changes. */
export function touchedTables(plan: SyncPlan): string[] {
  return [
    ...new Set([
      ...[...plan.newFields, ...plan.removedFields, ...plan.restoredFields].map((field) => field.tableId),
      ...plan.changedFields.map(({ after }) => after.tableId),
      ...plan.changedTables.map(({ after }) => after.id),
      ...plan.removed.tableIds,
      ...plan.restored.tableIds,
    ]),
  ]
}

/** The result of a job that connects or synchronizes a source. */
export interface SourceResult {
  id: string
  tables: number
  views: number
  /** The number of applied differences. */
  changes: number
  notes: SourceNote[]
}

/** Yields to the event loop after this many tables. */
const YIELD_AFTER = 20

/**
 * Reads the structure of a database.
 *
 * @param check inspects the database first and may refuse it
 * @throws DATABASE_ERROR with the reason
 */
export async function readStructure(
  config: ConnectionConfig,
  check: (reader: StructureReader) => Promise<void> = async () => {},
): Promise<DatabaseStructure> {
  try {
    const reader = await openReader(config)
    try {
      await check(reader)
      return await introspector(config.client).read(reader, schemaOf(config))
    } finally {
      await reader.close()
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('DATABASE_ERROR', explainConnection(error, config))
  }
}

/** Reports the progress of a plan after each table, and lets the job be stopped there. */
export const reportTables =
  (job: JobContext) =>
  async (done: number): Promise<void> => {
    job.report({ done })
    if (done % YIELD_AFTER === 0) await Bun.sleep(0)
    job.signal.throwIfAborted()
  }

/** Titles are the names in the database. */
export const NO_INFLECTION = { inflection: { table: 'none', column: 'none' } } as const

/** The context to plan the tables of a source with. */
export const planContext = (
  { inflection }: Pick<SourceCreateInput, 'inflection'>,
  sourceId: string,
  baseId: string,
  now: string,
  config: ConnectionConfig,
) => ({ baseId, sourceId, inflection, now, introspector: introspector(config.client) })

/** Summarizes an applied plan. */
export const resultOf = (id: string, plan: SyncPlan, changes: number): SourceResult => ({
  id,
  tables: plan.newTables.filter(({ table }) => table.kind === 'table').length,
  views: plan.newTables.filter(({ table }) => table.kind === 'view').length,
  changes,
  notes: plan.notes,
})

/** The source of a base, or null. */
export async function findSource(
  { bases }: Pick<SchemaContext, 'bases'>,
  baseId: string,
  sourceId: string,
): Promise<SourceRow | null> {
  return (await bases.sourcesOf([baseId])).get(baseId)?.find(({ id }) => id === sourceId) ?? null
}

/** The actor of a job, by user id. */
export const actorOf = (id: string): UserActor => ({
  kind: 'user',
  id,
  email: '',
  orgRoles: [],
  via: 'session',
})
