import { eq } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { type ConnectionConfig, openConnection } from '../../../src/db/connection.ts'
import { introspector } from '../../../src/db/introspect/index.ts'
import type { JobContext } from '../../../src/jobs.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  refuseOwnDatabase,
  SOURCE_JOBS,
  type SourceCreateInput,
  type SourceRow,
  schemaOf,
} from '../../bases/index.ts'
import type { SchemaContext } from '../change/index.ts'
import { linkFieldsOf } from '../links/index.ts'
import { MAX_TABLES } from '../model/index.ts'
import { findDifferences, type SyncChange } from './differences.ts'
import { planSync, type SyncPlan } from './plan-sync.ts'
import { type KnownTable, readKnown } from './plan-table.ts'
import { registerSyncUndo } from './undo.ts'
import {
  actorOf,
  detailOf,
  findSource,
  markStatements,
  NO_INFLECTION,
  planContext,
  planStatements,
  readStructure,
  reportTables,
  resultOf,
  type SourceResult,
  touchedTables,
} from './write-plan.ts'

/** The text of the REST API (wire §6). */
const IN_PROGRESS = 'Meta sync already in progress for this base'

/** The differences between the database of a source and the metadata. */
export interface SourceDifferences {
  source: SourceRow
  changes: SyncChange[]
  known: KnownTable[]
}

/** Compares connected databases with the metadata, and registers the jobs that connect, synchronize and delete sources. */
export function createSyncService(context: SchemaContext) {
  const { bases, access, kernel } = context
  registerSourceJobs(context)
  registerSyncUndo(context)

  /** The connected sources of a base, or one of them. */
  async function openSources(actor: Actor, baseId: string, sourceId?: string): Promise<SourceRow[]> {
    const base = await bases.require(baseId)
    const all = (await bases.sourcesOf([base.id])).get(base.id) ?? []
    const selected = all.filter(({ id }) => sourceId === undefined || id === sourceId)
    if (sourceId !== undefined && selected.length === 0) throw notFound('Source', sourceId.slice(0, 64))
    await access.authorize(actor, 'source.update', base.id)
    return selected.filter(({ isOwn }) => !isOwn)
  }

  return {
    /**
     * Lists the differences between the databases and the metadata.
     * @throws DATABASE_ERROR with the reason if a database cannot be read
     */
    async differences(actor: Actor, baseId: string, sourceId?: string): Promise<SourceDifferences[]> {
      const found: SourceDifferences[] = []
      for (const source of await openSources(actor, baseId, sourceId)) {
        const config = bases.sources.requireConnection(source)
        const known = await readKnown(context, source.id)
        const structure = await readStructure(config)
        const changes = findDifferences(introspector(config.client), known, structure, source.leftOut ?? [])
        found.push({ source, known, changes })
      }
      return found
    },

    /**
     * Starts a job that applies the differences with these keys, or (null) all that are not left out.
     * @throws BAD_REQUEST while another job runs
     */
    async sync(
      actor: Actor,
      baseId: string,
      { sourceId, keys = null }: { sourceId?: string; keys?: string[] | null } = {},
    ): Promise<{ id: string }> {
      const sources = await openSources(actor, baseId, sourceId)
      if (sources.length > 0) await bases.sources.refuseParallel(SOURCE_JOBS.sync, baseId, IN_PROGRESS)
      const userId = actor.kind === 'user' ? actor.id : ''
      const input = { baseId, sourceIds: sources.map(({ id }) => id), keys }
      const { id } = await kernel.jobs.start(SOURCE_JOBS.sync, { userId, baseId, input })
      return { id }
    },
  }
}

function registerSourceJobs(context: SchemaContext): void {
  const { jobs } = context.kernel
  jobs.register<SourceCreateInput>(SOURCE_JOBS.create, {
    run: (input, job) => createSource(context, input, job),
    // Source and tables are written in one transaction, so an existing source is complete.
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

/**
 * Reads a database and creates its source, tables and views in one transaction.
 *
 * @throws DATABASE_ERROR with the reason; BAD_REQUEST for a database without tables, or with too many
 */
async function createSource(
  context: SchemaContext,
  input: SourceCreateInput,
  job: JobContext,
): Promise<SourceResult> {
  const { kernel, bases, store } = context
  const { baseId, sourceId } = input
  const config = openConnection(kernel.secrets.connections, input.config)
  const found = await readStructure(config, (reader) =>
    refuseOwnDatabase(kernel.sources, config, reader, input.mayReadOwn),
  )
  const chosen = input.tables === null ? null : new Set(input.tables)
  const tables = found.tables.filter(({ name }) => chosen === null || chosen.has(name))
  const leftOut = found.tables.filter((table) => !tables.includes(table)).map(({ name }) => name)
  if (tables.length === 0) throw badRequest(nothingFound(config, found.tables.length > 0))
  job.report({ done: 0, total: tables.length, unit: 'tables' })
  await bases.require(baseId)
  const order = await bases.sources.nextOrder(baseId)
  const actor = actorOf(job.userId)
  const plan = await context.apply(
    actor,
    baseId,
    async ({ now }) => {
      const others = await store.tablesOf(baseId)
      if (others.length + tables.length > MAX_TABLES) {
        throw badRequest(m.schema_error_source_tables({ max: MAX_TABLES, count: tables.length }))
      }
      const planned = await planSync(
        planContext(input, sourceId, baseId, now, config),
        [],
        { tables },
        others,
        null,
        reportTables(job),
      )
      const source = { ...input, id: sourceId, order, createdAt: now, updatedAt: now, leftOut }
      return {
        statements: [
          bases.sources.insert(sourceRow(source)),
          ...(await planStatements(context, planned, { actorId: job.userId, now })),
        ],
        entry: { kind: 'source.create', tableId: null, detail: null },
        tableIds: [],
        result: planned,
      }
    },
    // A source is deleted in the list of sources, not by undo.
    { silent: true },
  )
  kernel.events.emit('schema.changed', { baseId, tableId: null, version: 0 })
  job.report({ done: tables.length })
  return resultOf(sourceId, plan, 0)
}

function nothingFound(config: ConnectionConfig, hasOthers: boolean): string {
  if (hasOthers) return m.schema_error_selected_tables()
  if ('file' in config) return m.schema_error_file_without_tables()
  const { user, database } = config
  return 'schema' in config
    ? m.schema_error_schema_without_tables({ user, schema: schemaOf(config), database })
    : m.schema_error_database_without_tables({ user, database })
}

function sourceRow(
  input: SourceCreateInput & Pick<SourceRow, 'id' | 'order' | 'createdAt' | 'updatedAt' | 'leftOut'>,
) {
  const { id, baseId, alias, client, config, isSchemaReadonly, isDataReadonly } = input
  const { order, createdAt, updatedAt, leftOut } = input
  return {
    id,
    baseId,
    alias,
    client,
    config,
    isSchemaReadonly,
    isDataReadonly,
    order,
    createdAt,
    updatedAt,
    isOwn: false,
    isEnabled: true,
    leftOut,
  }
}

/** Deletes a source and its metadata, without connecting to its database. */
async function deleteSource(
  context: SchemaContext,
  { baseId, sourceId }: { baseId: string; sourceId: string },
  job: JobContext,
): Promise<{ id: string }> {
  const { kernel, bases, store, views, apply } = context
  await apply(
    actorOf(job.userId),
    baseId,
    async ({ now }) => {
      const known = await store.tablesOfSource(sourceId)
      const tableIds = known.map(({ id }) => id)
      const deleted = new Set(tableIds)
      const links = (await linkFieldsOf(kernel, store, baseId)).filter(
        (field) => !deleted.has(field.tableId) && deleted.has(linkOf(field)?.relatedTableId ?? ''),
      )
      const { db } = kernel.meta
      const removed = { tableIds: [], fieldIds: links.map(({ id }) => id) }
      return {
        statements: [
          ...views.forRemovedTables(tableIds),
          db.delete(store.tables).where(eq(store.tables.sourceId, sourceId)),
          bases.sources.remove(sourceId),
          ...markStatements(context, removed, now, now),
        ],
        entry: { kind: 'source.delete', tableId: null, detail: null },
        altered: { fields: links.map((field) => ({ ...field, deletedAt: now })) },
        tableIds: [...new Set(links.map((field) => field.tableId)), ...tableIds],
        result: undefined,
      }
    },
    { silent: true },
  )
  bases.sources.forget(sourceId)
  await kernel.sources.drop(sourceId)
  kernel.events.emit('schema.changed', { baseId, tableId: null, version: 0 })
  return { id: sourceId }
}

interface SyncInput {
  baseId: string
  sourceIds: string[]
  /** Keys of the differences to apply; null for all. */
  keys: string[] | null
}

/**
 * Updates the metadata of sources. Tables and columns that no longer exist go to the trash. Each source is one change
 * that can be undone.
 */
async function syncSources(context: SchemaContext, input: SyncInput, job: JobContext): Promise<SourceResult> {
  const { kernel, bases } = context
  let result: SourceResult = { id: input.baseId, tables: 0, views: 0, changes: 0, notes: [] }
  for (const sourceId of input.sourceIds) {
    job.signal.throwIfAborted()
    const source = await findSource(context, input.baseId, sourceId)
    if (!source) throw notFound('Source', sourceId)
    const config = bases.sources.requireConnection(source)
    const added = await syncSource(context, { ...input, source, config }, job)
    result = {
      id: input.sourceIds.length === 1 ? sourceId : input.baseId,
      tables: result.tables + added.tables,
      views: result.views + added.views,
      changes: result.changes + added.changes,
      notes: [...result.notes, ...added.notes],
    }
  }
  kernel.events.emit('schema.changed', { baseId: input.baseId, tableId: null, version: 0 })
  return result
}

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
      { ...planContext(NO_INFLECTION, source.id, baseId, now, config), leftOut: source.leftOut ?? [] },
      await readKnown(context, source.id),
      structure,
      await store.tablesOf(baseId),
      chosen,
      reportTables(job),
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
  [added, removed, restored].flatMap(({ tableIds, fieldIds }) => [...tableIds, ...fieldIds]).length +
  changedFields.length +
  changedTables.length

/** The changed fields, for the computed fields that depend on them. */
const alteredFields = (plan: SyncPlan, now: string) => [
  ...[...plan.newFields, ...plan.newTables.flatMap(({ fields }) => fields)].map((field) => ({
    ...field,
    deletedAt: null,
  })),
  ...plan.changedFields.map(({ after }) => ({ ...after, deletedAt: null })),
  ...plan.removedFields.map((field) => ({ ...field, deletedAt: now })),
]
