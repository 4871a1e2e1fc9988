import type { Actor } from '../../../src/core/actor.ts'
import { badRequest } from '../../../src/core/errors.ts'
import { appendChange, lastChangeId } from '../../../src/db/change-log.ts'
import type { Engine, Transaction } from '../../../src/dialects/dialect.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { WorkName } from '../../../src/works.ts'
import type { SchemaStore } from '../model/index.ts'
import { createChangeSteps } from './change-steps.ts'
import type { PlannedChange } from './planned-change.ts'

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
export const FULL_TABLE =
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
