import type { UserActor } from '../../../src/core/actor.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { LinkSchema } from '../links/index.ts'
import { createSetWrites } from '../write/index.ts'
import { atTime, type LogMoment, requireCovered } from './restore-table.ts'

/** A copy of a base's home that still has the log of the original. */
export interface CopyToRewind {
  owner: UserActor
  /** The id of the copy, for the progress. */
  baseId: string
  engine: Engine
  /** The definitions at the moment, under whose ids the log names tables and fields. */
  schema: LinkSchema
  /** Its tables, without junction tables and those of connected databases. */
  tableIds: readonly string[]
  moment: LogMoment
}

/**
 * A time as a moment of the log in a home.
 *
 * @param historySince when the log begins; null: with the base
 * @throws BAD_REQUEST for a time in the future, or before the log begins
 */
export async function momentIn(engine: Engine, historySince: string | null, at: string): Promise<LogMoment> {
  const moment = await atTime(engine, at)
  await requireCovered(engine, historySince, moment)
  return moment
}

/** Rewinds the records of all tables of a copy, with their links, to a moment. Does not check access. */
export async function rewindCopy(
  { works }: Pick<Kernel, 'works'>,
  { owner, baseId, engine, schema, tableIds, moment }: CopyToRewind,
): Promise<void> {
  const sets = createSetWrites({
    kernel: { sources: { engine: async () => engine }, works, events: { emit() {} } },
    schema,
    touch() {},
  })
  const nothing: ReadonlySet<string> = new Set()
  const target = { after: moment.after, at: moment.time, keep: [], except: nothing, exceptLinks: nothing }
  await works.follow(owner, { kind: 'rewind', baseId, canCancel: false }, async () => {
    for (const tableId of tableIds) await sets.rewind(owner, tableId, { ...target, isWhole: true })
  })
}
