import { eq, sql } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import type { RecordChange } from '../../src/core/changes.ts'
import { appendChange } from '../../src/db/change-log.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import type { Engine, Transaction } from '../../src/dialects/dialect.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { SchemaStore } from './store.ts'

/** What a change of the schema writes, once it has been checked. */
export interface PlannedChange<T> {
  /** What makes the change visible: all of it in one step. */
  statements: MetaStatement[]
  /** Its line in the log; null where nothing is to be logged. */
  entry: { kind: string; tableId: string | null; detail: unknown; records?: RecordChange[] } | null
  /** The tables that are to be read anew. */
  tableIds: string[]
  result: T
}

/** One transaction of a schema change, with what it may need to know. */
export interface ChangeContext {
  tx: Transaction
  engine: Engine
  /** The time of the change, ISO. */
  now: string
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
  options?: { silent?: boolean },
) => Promise<T>

/** `silent` leaves out the log line: an undo is logged by the one who asks for it. */
export function createApplyChange(kernel: Kernel, store: SchemaStore): ApplyChange {
  const { meta, sources, events } = kernel
  const { tables } = store

  return async function applyChange(actor, baseId, plan, { silent = false } = {}) {
    const engine = sources.engine(baseId)
    const planned = await engine.write(
      async (tx) => {
        const now = new Date().toISOString()
        const done = await plan({ tx, engine, now })
        if (done.entry && !silent) {
          const actorId = actor.kind === 'user' ? actor.id : null
          await appendChange(tx, engine.dialect, { actorId, records: [], ...done.entry })
        }
        return done
      },
      async ({ statements, tableIds }) => {
        const bumps = tableIds.map((tableId) =>
          meta.db.update(tables).set({ version: sql`${tables.version} + 1` }).where(eq(tables.id, tableId)),
        )
        await meta.atomically([...statements, ...bumps])
        for (const tableId of tableIds) store.forget(tableId)
      },
    )
    for (const tableId of planned.tableIds) {
      const table = await store.findTable(tableId)
      events.emit('schema.changed', { baseId, tableId, version: table?.version ?? 0 })
    }
    return planned.result
  }
}

