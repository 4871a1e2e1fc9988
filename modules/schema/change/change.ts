import { eq, sql } from 'drizzle-orm'
import { nowIso } from '../../../src/clock.ts'
import { type Actor, actorIdOf } from '../../../src/core/actor.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { createId } from '../../../src/core/ids.ts'
import { appendChange, insertEntry, type NewEntry } from '../../../src/db/change-log/append.ts'
import { lastChangeId } from '../../../src/db/change-log/entry.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { Dialect, Engine, Statement, Transaction } from '../../../src/dialects/dialect.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { currentWork, type WorkName } from '../../../src/works.ts'
import { type Alteration, recomputeResults } from '../computed/index.ts'
import type { SchemaStore, TableModel } from '../model/index.ts'

/** A checked change of the schema, ready to be written. */
export interface PlannedChange<T> {
  /** The metadata statements, run in one transaction. */
  statements: MetaStatement[]
  /**
   * Further ones of the same transaction, made right before it: they replace what also changes without the lease of the
   * base. They violate a not-null constraint if that has changed since they were made, and are made anew. Run once more
   * afterwards, for what was stored in between.
   */
  late?: () => Promise<LateStatements>
  /** The log entry; null if nothing changes: then nothing is written and no event is sent. */
  entry: Pick<NewEntry, 'kind' | 'tableId' | 'detail' | 'isFinal'> | null
  /** The changed fields and tables, if computed fields may depend on them; their results are updated as well. */
  altered?: Alteration
  /** Cell values that change with it. */
  cells?: CellsWrite
  /** True if records look different afterwards, so that clients reload them. */
  touchesRecords?: boolean
  /** The tables whose models change. */
  tableIds: string[]
  /** Tables of another base that change in the same transaction of the metadata. */
  elsewhere?: { baseId: string; tableIds: string[] }
  result: T
}

/** Statements, and what to do once they are stored. */
export interface LateStatements {
  statements: MetaStatement[]
  stored(): void
}

/** A write of cell values that belongs to a change of the schema. */
export interface CellsWrite {
  /** How many records change. */
  count: number
  /** Writes the values and logs each record under the entry; null for a change without a log entry. */
  write(changeId: number | null): Promise<void>
}

type MetadataChange = Pick<
  PlannedChange<unknown>,
  'statements' | 'late' | 'tableIds' | 'elsewhere' | 'touchesRecords'
>

/** Times that `late` statements are made. */
const LATE_TRIES = 10

/** The steps that all changes of the schema share. */
function createChangeSteps(
  { meta, events, log }: Pick<Kernel, 'meta' | 'events' | 'log'>,
  store: SchemaStore,
) {
  const { tables } = store

  /** Runs statements in one transaction with those of `late`. */
  async function write(
    statements: MetaStatement[],
    late = async (): Promise<LateStatements> => ({ statements: [], stored() {} }),
  ): Promise<void> {
    for (let tries = 1; ; tries++) {
      const further = await late()
      const all = [...statements, ...further.statements]
      if (all.length === 0) return
      try {
        await meta.atomically(all)
        return further.stored()
      } catch (error) {
        const isOutdated = further.statements.length > 0 && meta.violation(error)?.kind === 'required'
        if (!isOutdated || tries === LATE_TRIES) throw error
      }
    }
  }

  return {
    /** Adds the updates of computed fields to the change. */
    async withComputed<P extends MetadataChange & Pick<PlannedChange<unknown>, 'altered'>>(
      baseId: string,
      planned: P,
    ): Promise<P> {
      if (!planned.altered) return planned
      const computed = await recomputeResults({ meta }, store, baseId, planned.altered)
      return {
        ...planned,
        statements: [...planned.statements, ...computed.statements],
        touchesRecords: planned.touchesRecords || computed.statements.length > 0,
        tableIds: [...new Set([...planned.tableIds, ...computed.tableIds])],
      }
    },

    /** Writes the metadata and drops the cached models. */
    async publish({ statements, late, tableIds, elsewhere }: MetadataChange): Promise<void> {
      const all = [...tableIds, ...(elsewhere?.tableIds ?? [])]
      const bumps = all.map((tableId) =>
        meta.db
          .update(tables)
          .set({ version: sql`${tables.version} + 1` })
          .where(eq(tables.id, tableId)),
      )
      await write([...statements, ...bumps], late)
      for (const tableId of all) store.forget(tableId)
      if (late)
        await write([], late).catch((error) =>
          log.error('what was stored during a change of a table was not carried along', error, {
            tables: tableIds.join(' '),
          }),
        )
    },

    /** Sends the events to all clients that have the base open. */
    async announce(
      actorId: string | null,
      baseId: string,
      { tableIds, elsewhere, touchesRecords }: MetadataChange,
      logged: { id: number; at: string },
    ): Promise<void> {
      const changed = [
        ...tableIds.map((tableId) => ({ baseId, tableId })),
        ...(elsewhere?.tableIds ?? []).map((tableId) => ({ baseId: elsewhere?.baseId ?? baseId, tableId })),
      ]
      for (const each of changed) {
        const table = await store.findTable(each.tableId)
        events.emit('schema.changed', { ...each, version: table?.version ?? 0 })
      }
      if (touchesRecords) {
        events.emit('records.changed', {
          ...logged,
          baseId,
          actorId,
          records: [],
          truncated: true,
          tableIds,
        })
      }
    },
  }
}

/** The transaction of a schema change in the base's database. */
export interface ChangeContext {
  tx: Transaction
  engine: Engine
  /** The time of the change, ISO 8601. */
  now: string
}

export interface ChangeOptions {
  /** Writes no log entry: the undo itself is logged by its caller. */
  silent?: boolean
  /** Called before the change is planned, when no other writer can run. What it throws ends the change. */
  check?: () => Promise<void>
  /** The name under which a long change reports progress and can be stopped. */
  work?: Omit<WorkName, 'baseId'>
}

/**
 * Runs a change of a base's schema. `plan` checks it and only adds to the base's database; the log entry is written in
 * the same transaction, and the metadata before the next writer starts. A crash in between leaves at most an unused
 * column or table.
 */
export type ApplyChange = <T>(
  actor: Actor,
  baseId: string,
  plan: (context: ChangeContext) => Promise<PlannedChange<T>>,
  options?: ChangeOptions,
) => Promise<T>

/** Creates the function through which all changes of tables, fields and views go. */
export function createApplyChange(kernel: Kernel, store: SchemaStore): ApplyChange {
  const { withComputed, publish, announce } = createChangeSteps(kernel, store)

  return function applyChange(actor, baseId, plan, { work, ...options } = {}) {
    const write = () => applyNow(actor, baseId, plan, options)
    return work ? kernel.works.follow(actor, { ...work, baseId }, write) : write()
  }

  async function applyNow<T>(
    actor: Actor,
    baseId: string,
    plan: (context: ChangeContext) => Promise<PlannedChange<T>>,
    { silent = false, check }: ChangeOptions,
  ): Promise<T> {
    const engine = await kernel.sources.engine(baseId)
    const actorId = actorIdOf(actor)
    const { planned, logged } = await engine.write(
      async (tx) => {
        await check?.()
        const change = await plan({ tx, engine, now: nowIso() }).catch((error) => {
          throw engine.dialect.isFullTable(error) ? badRequest(m.schema_error_column_limit()) : error
        })
        if (change.entry === null) return { planned: change, logged: null }
        const planned = await withComputed(baseId, change)
        const logged = silent
          ? { id: await lastChangeId(tx), at: nowIso() }
          : await appendChange(tx, engine.dialect, {
              actorId,
              ...change.entry,
              records: [],
              actionId: actor.kind === 'user' ? actor.actionId : undefined,
              recordCount: planned.cells?.count ?? 0,
            })
        await planned.cells?.write(silent ? null : logged.id)
        return { planned, logged }
      },
      async ({ planned }) => {
        if (planned.entry !== null) await publish(planned)
      },
    )
    if (logged !== null) await announce(actorId, baseId, planned, logged)
    return planned.result
  }
}

/** A change of the schema that writes records with a script in a worker. */
export interface PlannedScript<T> extends Omit<PlannedChange<T>, 'cells' | 'entry'> {
  entry: NonNullable<PlannedChange<T>['entry']>
  /** The statements for the base's database. */
  script: Statement[]
  /** Estimated number of rows written, for the progress. */
  rows: number
}

/** The input of the plan of a script. */
export type ScriptContext = Pick<ChangeContext, 'engine' | 'now'>

/** Follows the progress of a long change and can stop it. */
export interface ScriptFollower {
  signal?: AbortSignal
  progress?(done: number, total: number): void
}

/**
 * Like `ApplyChange` for changes that write whole tables: the script runs in a worker, in one transaction with the log
 * entry. `plan` is called while no other writer can run.
 *
 * @throws the reason of the signal that stopped it; then the transaction is rolled back
 */
export type ApplyScript = <T>(
  actor: Actor,
  baseId: string,
  plan: (context: ScriptContext) => Promise<PlannedScript<T>>,
  follower?: ScriptFollower,
) => Promise<T>

export function createApplyScript(kernel: Kernel, store: SchemaStore): ApplyScript {
  const { withComputed, publish, announce } = createChangeSteps(kernel, store)

  return async function applyScript<T>(
    actor: Actor,
    baseId: string,
    plan: (context: ScriptContext) => Promise<PlannedScript<T>>,
    { signal, progress }: ScriptFollower = {},
  ): Promise<T> {
    const engine = await kernel.sources.engine(baseId)
    const { dialect } = engine
    const actorId = actorIdOf(actor)
    const actionId = actor.kind === 'user' ? actor.actionId : undefined
    let at = nowIso()
    const state: { change: PlannedScript<T> | null } = { change: null }
    const planned = (): PlannedScript<T> => {
      if (!state.change) throw new Error('A script was written before it was planned')
      return state.change
    }
    const script = async () => {
      signal?.throwIfAborted()
      // Not before the wait for the lease: the entries of a log are in the order of time.
      at = nowIso()
      state.change = await withComputed(baseId, await plan({ engine, now: at }))
      const { entry, script } = state.change
      return [...script, insertEntry(dialect, { actorId, actionId, ...entry, records: [] }, at)]
    }
    const results = await engine
      .writeScript(script, {
        signal,
        progress: progress && ((rows) => progress(Math.min(rows, planned().rows), planned().rows)),
        afterCommit: () => publish(planned()),
      })
      .catch((error) => {
        throw dialect.isFullTable(error) ? badRequest(m.schema_error_column_limit()) : error
      })
    await announce(actorId, baseId, planned(), { id: Number(results.at(-1)?.rows[0]?.id ?? 0), at })
    return planned().result
  }
}

/** Sets the expected size of the current long write to the number of records in a table. */
export async function expectRecords(
  tx: Pick<Transaction, 'all'>,
  dialect: Dialect,
  { table }: Pick<TableModel, 'table'>,
): Promise<void> {
  const work = currentWork()
  if (!work) return
  const [found] = await tx.all<{ n: number }>(
    dialect.render(sql`select count(*) as n from ${sql.identifier(table.tableName)}`),
  )
  const count = Number(found?.n ?? 0)
  work.expect(count, count)
}

/**
 * Runs a change that creates a table or column, and retries it with a random name suffix if that fails: a killed process
 * may have left an object of this name behind.
 */
export async function withFreshName<T>(attempt: (suffix: string) => Promise<T>): Promise<T> {
  try {
    return await attempt('')
  } catch (error) {
    if (error instanceof AppError) throw error
    return attempt(freshSuffix())
  }
}

/** A random suffix of a name in the database. */
export const freshSuffix = (): string => `_${createId('option').slice(-6)}`
