import type { Actor } from '../../../src/core/actor.ts'
import { badRequest } from '../../../src/core/errors.ts'
import { insertEntry } from '../../../src/db/change-log.ts'
import type { Engine, Statement } from '../../../src/dialects/dialect.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { SchemaStore } from '../model/index.ts'
import { FULL_TABLE } from './change.ts'
import { createChangeSteps } from './change-steps.ts'
import type { PlannedChange } from './planned-change.ts'

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
