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
import type { SourceNote } from './plan-links.ts'
import type { SyncPlan } from './plan-sync.ts'

/** Rows in one insert: with some 25 values each, well within what every engine binds. */
const ROWS_AT_ONCE = 500
/** Ids in one list. */
const IDS_PER_STATEMENT = 500

/** What a synchronisation did, as the log keeps it for undo. */
export interface SyncDetail {
  sourceId: string
  added: { tableIds: string[]; fieldIds: string[] }
  removed: { tableIds: string[]; fieldIds: string[] }
  restored: { tableIds: string[]; fieldIds: string[] }
  changedTables: { before: Table; after: Table }[]
  changedFields: { before: Field; after: Field }[]
}

/** The part of a plan that its undo has to know. */
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

/** The statements that make a plan true: a thousand tables take some hundred of them. */
export async function planStatements(
  context: SchemaContext,
  plan: SyncPlan,
  { actorId, now }: { actorId: string | null; now: string },
): Promise<MetaStatement[]> {
  const { store, kernel, views } = context
  const { tables, fields } = store
  const { db } = kernel.meta
  const times = { createdAt: now, updatedAt: now, deletedAt: null }
  const newFields = [...plan.newTables.flatMap((one) => one.fields), ...plan.newFields]
  const statements: MetaStatement[] = [
    ...chunks(plan.newTables, ROWS_AT_ONCE).map((part) =>
      db.insert(tables).values(part.map(({ table }) => table)),
    ),
    ...chunks(newFields, ROWS_AT_ONCE).map((part) =>
      db.insert(fields).values(part.map((field) => ({ ...field, wireMeta: null, ...times }))),
    ),
    ...plan.newTables.flatMap((one) => views.forNewTable(one.table, one.fields, actorId)),
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

/** Gives tables and fields the mark of the trash, or (null) takes it away. */
export function markStatements(
  { store, kernel }: Pick<SchemaContext, 'store' | 'kernel'>,
  { tableIds, fieldIds }: { tableIds: string[]; fieldIds: string[] },
  deletedAt: string | null,
  now: string,
): MetaStatement[] {
  const { tables, fields } = store
  const { db } = kernel.meta
  const set = { deletedAt, updatedAt: now }
  return [
    ...chunks(tableIds, IDS_PER_STATEMENT).map((ids) =>
      db.update(tables).set(set).where(inArray(tables.id, ids)),
    ),
    ...chunks(fieldIds, IDS_PER_STATEMENT).map((ids) =>
      db.update(fields).set(set).where(inArray(fields.id, ids)),
    ),
  ]
}

/** The list in parts of at most `size`. */
export function chunks<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  )
}

/** The tables that exist already and are others after the plan. */
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
