import { eq } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { type ConnectionConfig, openConnection } from '../../../src/db/connection.ts'
import { introspector } from '../../../src/db/introspect/index.ts'
import type { JobContext } from '../../../src/jobs.ts'
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
  followed,
  markStatements,
  planContext,
  planStatements,
  readStructure,
  resultOf,
  type SourceResult,
  touchedTables,
} from './write-plan.ts'

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

/**
 * Reads a database and makes its source, its tables and their views visible in one step.
 *
 * @throws DATABASE_ERROR with the reason in words; BAD_REQUEST where there is nothing to show, or too much
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
        throw badRequest(
          `A base can have up to ${MAX_TABLES} tables. Choose fewer of this database’s ${tables.length} tables.`,
        )
      }
      const planned = await planSync(
        planContext(input, sourceId, baseId, now, config),
        [],
        { tables },
        others,
        null,
        followed(job),
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
    // A source is taken away where it was made, in the list of sources, and not by the undo of an action.
    { silent: true },
  )
  kernel.events.emit('schema.changed', { baseId, tableId: null, version: 0 })
  job.report({ done: tables.length })
  return resultOf(sourceId, plan, 0)
}

function nothingFound(config: ConnectionConfig, hasOthers: boolean): string {
  if (hasOthers) return 'None of the selected tables exist any more'
  return 'file' in config
    ? 'The file has no tables'
    : `There are no tables that "${config.user}" can read in ${'schema' in config ? `the schema "${schemaOf(config)}" of ` : ''}the database "${config.database}"`
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

/** Forgets a source and all that is known of it. Its database is not even asked. */
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
      const gone = new Set(tableIds)
      const links = (await linkFieldsOf(kernel, store, baseId)).filter(
        (field) => !gone.has(field.tableId) && gone.has(linkOf(field)?.relatedTableId ?? ''),
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

/** What the job is given. */
interface SyncInput {
  baseId: string
  sourceIds: string[]
  /** Keys of the differences to apply; null: all. */
  keys: string[] | null
}

/**
 * Brings the metadata of sources up to date with their databases. What is gone there goes to the trash
 * here; each source is one change, which undo takes back.
 */
async function syncSources(context: SchemaContext, input: SyncInput, job: JobContext): Promise<SourceResult> {
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
