import { badRequest } from '../../../src/core/errors.ts'
import { type ConnectionConfig, openConnection } from '../../../src/db/connection.ts'
import type { JobContext } from '../../../src/jobs.ts'
import { refuseOwnDatabase, type SourceCreateInput, type SourceRow, schemaOf } from '../../bases/index.ts'
import type { SchemaContext } from '../change/index.ts'
import { MAX_TABLES } from '../model/index.ts'
import { actorOf, followed, planContext, readStructure, resultOf, type SourceResult } from './job-parts.ts'
import { planSync } from './plan-sync.ts'
import { planStatements } from './write-plan.ts'

/**
 * Reads a database and makes its source, its tables and their views visible in one step.
 *
 * @throws DATABASE_ERROR with the reason in words; BAD_REQUEST where there is nothing to show, or too much
 */
export async function createSource(
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
  const order = await bases.sources.nextPlace(baseId)
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
