import { eq, sql } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { createId } from '../../../src/core/ids.ts'
import { appendChange, insertEntry, lastChangeId } from '../../../src/db/change-log.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { Dialect, Engine, Statement, Transaction } from '../../../src/dialects/dialect.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { currentWork, type WorkName } from '../../../src/works.ts'
import { type Alteration, settle } from '../computed/index.ts'
import type { SchemaStore, TableModel } from '../model/index.ts'

/** What a change of the schema writes, once it has been checked. */
export interface PlannedChange<T> {
  /** What makes the change visible: all of it in one step. */
  statements: MetaStatement[]
  /** Its line in the log; null where all is as it was: then nothing is written and nobody is told. */
  entry: { kind: string; tableId: string | null; detail: unknown } | null
  /** Fields and tables as they will be, where others may be computed from them: what follows is written too. */
  altered?: Alteration
  /** Values of records that change with it. */
  cells?: CellsWrite
  /** True where records look different afterwards: whoever shows them is to read them again. */
  touchesRecords?: boolean
  /** The tables that are to be read anew. */
  tableIds: string[]
  result: T
}

/** A write of values that belongs to a change of the schema. */
export interface CellsWrite {
  /** How many records change. */
  count: number
  /** Writes them, listing each under the log line; null where the change has no line of its own. */
  write(changeId: number | null): Promise<void>
}

type Visible = Pick<PlannedChange<unknown>, 'statements' | 'tableIds' | 'touchesRecords'>

/** What every change of the schema does around its own work, however that is written. */
function createChangeSteps({ meta, events }: Pick<Kernel, 'meta' | 'events'>, store: SchemaStore) {
  const { tables } = store
  return {
    /** The change with what follows from it for computed fields. */
    async withComputed<P extends Visible & Pick<PlannedChange<unknown>, 'altered'>>(
      baseId: string,
      planned: P,
    ): Promise<P> {
      if (!planned.altered) return planned
      const settled = await settle({ meta }, store, baseId, planned.altered)
      return {
        ...planned,
        statements: [...planned.statements, ...settled.statements],
        touchesRecords: planned.touchesRecords || settled.statements.length > 0,
        tableIds: [...new Set([...planned.tableIds, ...settled.tableIds])],
      }
    },

    /** Makes it visible, in one step. */
    async publish({ statements, tableIds }: Visible): Promise<void> {
      const bumps = tableIds.map((tableId) =>
        meta.db
          .update(tables)
          .set({ version: sql`${tables.version} + 1` })
          .where(eq(tables.id, tableId)),
      )
      await meta.atomically([...statements, ...bumps])
      for (const tableId of tableIds) store.forget(tableId)
    },

    /** Tells everyone who has the base open. */
    async tell(
      actorId: string | null,
      baseId: string,
      { tableIds, touchesRecords }: Visible,
      logged: { id: number; at: string },
    ): Promise<void> {
      for (const tableId of tableIds) {
        const table = await store.findTable(tableId)
        events.emit('schema.changed', { baseId, tableId, version: table?.version ?? 0 })
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

/** One transaction of a schema change, with what it may need to know. */
export interface ChangeContext {
  tx: Transaction
  engine: Engine
  /** The time of the change, ISO. */
  now: string
}

/** How a change is written. */
export interface ChangeOptions {
  /** Leaves out the log line: an undo is logged by the one who asks for it. */
  silent?: boolean
  /** How it is announced where it takes long. Its engine reports to that, and can stop it. */
  work?: Omit<WorkName, 'baseId'>
}

/**
 * Carries out a change of a base's schema. `plan` checks it and alters the base's file in additive
 * steps; the log line goes into the same transaction, and the metadata follows before the next
 * writer may begin. A stop in between leaves at most an unused column or table behind.
 */
export type ApplyChange = <T>(
  actor: Actor,
  baseId: string,
  plan: (context: ChangeContext) => Promise<PlannedChange<T>>,
  options?: ChangeOptions,
) => Promise<T>

/** What whoever asks for one column too many is told. */
const FULL_TABLE =
  'The table has reached its database’s column limit, which includes deleted fields and earlier types. Continue in a copy of the table.'

/** Makes the one door through which tables, fields and views are changed. */
export function createApplyChange(kernel: Kernel, store: SchemaStore): ApplyChange {
  const { withComputed, publish, tell } = createChangeSteps(kernel, store)

  return function applyChange(actor, baseId, plan, { work, ...options } = {}) {
    const write = () => applyNow(actor, baseId, plan, options)
    return work ? kernel.works.follow(actor, { ...work, baseId }, write) : write()
  }

  async function applyNow<T>(
    actor: Actor,
    baseId: string,
    plan: (context: ChangeContext) => Promise<PlannedChange<T>>,
    { silent = false }: ChangeOptions,
  ): Promise<T> {
    const engine = await kernel.sources.engine(baseId)
    const actorId = actor.kind === 'user' ? actor.id : null
    const { planned, logged } = await engine.write(
      async (tx) => {
        const change = await plan({ tx, engine, now: new Date().toISOString() }).catch((error) => {
          throw engine.dialect.isFullTable(error) ? badRequest(FULL_TABLE) : error
        })
        if (change.entry === null) return { planned: change, logged: null }
        const planned = await withComputed(baseId, change)
        const logged = silent
          ? { id: await lastChangeId(tx), at: new Date().toISOString() }
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
    if (logged !== null) await tell(actorId, baseId, planned, logged)
    return planned.result
  }
}

/** A change of the schema that is written as a script. */
export interface PlannedScript<T> extends Omit<PlannedChange<T>, 'cells' | 'entry'> {
  entry: NonNullable<PlannedChange<T>['entry']>
  /** What it writes in the base's home. */
  script: Statement[]
  /** About how many rows that are, for whoever waits. */
  rows: number
}

/** What a plan may need to know. */
export interface ScriptContext {
  engine: Engine
  /** The time of the change, ISO. */
  now: string
}

/** How a long change is followed and stopped. */
export interface ScriptFollower {
  signal?: AbortSignal
  progress?(done: number, total: number): void
}

/**
 * As `ApplyChange`, for changes that write whole tables: off this thread, in one transaction with the log
 * line. `plan` is asked once no other writer can come in between.
 *
 * @throws the reason of a signal that has stopped it; then nothing of it is left
 */
export type ApplyScript = <T>(
  actor: Actor,
  baseId: string,
  plan: (context: ScriptContext) => Promise<PlannedScript<T>>,
  follower?: ScriptFollower,
) => Promise<T>

export function createApplyScript(kernel: Kernel, store: SchemaStore): ApplyScript {
  const { withComputed, publish, tell } = createChangeSteps(kernel, store)

  return async function applyScript<T>(
    actor: Actor,
    baseId: string,
    plan: (context: ScriptContext) => Promise<PlannedScript<T>>,
    { signal, progress }: ScriptFollower = {},
  ): Promise<T> {
    const engine = await kernel.sources.engine(baseId)
    const { dialect } = engine
    const actorId = actor.kind === 'user' ? actor.id : null
    const actionId = actor.kind === 'user' ? actor.actionId : undefined
    const at = new Date().toISOString()
    const made: { change: PlannedScript<T> | null } = { change: null }
    const planned = (): PlannedScript<T> => {
      if (!made.change) throw new Error('A script was written before it was planned')
      return made.change
    }
    const script = async () => {
      signal?.throwIfAborted()
      made.change = await withComputed(baseId, await plan({ engine, now: at }))
      const { entry, script } = made.change
      return [...script, insertEntry(dialect, { actorId, actionId, ...entry, records: [] }, at)]
    }
    const results = await engine
      .writeScript(script, {
        signal,
        progress: progress && ((rows) => progress(Math.min(rows, planned().rows), planned().rows)),
        afterCommit: () => publish(planned()),
      })
      .catch((error) => {
        throw dialect.isFullTable(error) ? badRequest(FULL_TABLE) : error
      })
    await tell(actorId, baseId, planned(), { id: Number(results.at(-1)?.rows[0]?.id ?? 0), at })
    return planned().result
  }
}

/** Tells the followed write that it is about all records of a table. */
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
 * Runs a change that makes a table or column, and once more under a name that nobody can have, where
 * the first name cannot be used: a process that was killed may have left one behind.
 */
export async function withFreshName<T>(attempt: (suffix: string) => Promise<T>): Promise<T> {
  try {
    return await attempt('')
  } catch (error) {
    if (error instanceof AppError) throw error
    return attempt(`_${createId('option').slice(-6)}`)
  }
}
