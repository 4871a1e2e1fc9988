import type { SQL } from 'drizzle-orm'
import { atNewestEntry, type Effect } from '../../../src/db/change-log/effects.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../../schema/index.ts'
import { isForeign } from '../table/index.ts'
import type { LogFollower } from './log-follower.ts'

/**
 * The number of records of each table, so that pages have a total without counting. Exact, because every write passes
 * the write door, which reports its additions; a table is counted when first asked for.
 *
 * Where several servers write to the same base, the additions come from the base’s log. Connected tables are counted
 * each time, because other programs write to them.
 */
export interface RowCounts {
  /** True if even a known count costs a query. */
  readonly isQueried: boolean
  /** @param query counts all records of the table */
  get(engine: CountingEngine, model: TableModel, query: SQL): Promise<number>
  /** Differs after every change of the table’s count that `get` includes. */
  versionOf(model: TableModel): string
  /** Call when changes of records are committed, before they are acknowledged. */
  touch(effects: Iterable<Effect>): void
}

type CountingEngine = Pick<Engine, 'all' | 'dialect'>

interface Count {
  baseId: string
  count: number
  /** The newest entry of the base’s log that it includes. */
  entryId: number
  countedAt: number
}

/** After this time a table is counted again, in case another program has written to PostgreSQL. */
const MAX_AGE_MS = 10 * 60_000

/** @param follower of the logs, where other processes write to the same tables; null where none does */
export function createRowCounts(follower: LogFollower | null): RowCounts {
  const counts = new Map<string, Count>()
  /** Incremented when a table’s count changes, so that a count in progress is not cached. */
  const touched = new Map<string, number>()
  /** Incremented when any table of any base may have changed. */
  let generation = 0

  function note({ tableId, added }: Effect, entryId: number): void {
    if (tableId === null || added === 0) return
    touched.set(tableId, (touched.get(tableId) ?? 0) + 1)
    const known = counts.get(tableId)
    if (!known || entryId <= known.entryId) return
    if (added === null) counts.delete(tableId)
    else known.count += added
  }

  function forget(baseId: string, entryId: number): void {
    generation++
    for (const [tableId, known] of counts) {
      if (known.baseId === baseId && known.entryId < entryId) counts.delete(tableId)
    }
  }

  follower?.listen((baseId, effect) => {
    if (effect.tableId === null) forget(baseId, effect.entryId)
    else note(effect, effect.entryId)
  })

  const versionOf = ({ table }: TableModel): string => `${generation} ${touched.get(table.id) ?? 0}`

  async function count(engine: CountingEngine, query: SQL, hasLog: boolean): Promise<Omit<Count, 'baseId'>> {
    const statement = engine.dialect.render(follower && hasLog ? atNewestEntry(query) : query)
    const [row] = await engine.all<{ count: number; newest?: number }>(statement, { scan: true })
    return { count: Number(row?.count ?? 0), entryId: Number(row?.newest ?? 0), countedAt: Date.now() }
  }

  return {
    isQueried: follower !== null,
    async get(engine, model, query) {
      const { id, baseId } = model.table
      // The log is in the base's home, not in the connected database.
      if (isForeign(model)) return (await count(engine, query, false)).count
      if (counts.has(id)) await follower?.catchUp(engine, baseId)
      const known = counts.get(id)
      if (known && !(follower && Date.now() - known.countedAt > MAX_AGE_MS)) return known.count
      const before = versionOf(model)
      const counted = await count(engine, query, true)
      const isFollowed = follower?.begin(baseId, counted.entryId) ?? true
      if (isFollowed && versionOf(model) === before) counts.set(id, { baseId, ...counted })
      return counted.count
    },
    versionOf,
    touch(effects) {
      // With a follower, the effects come from the log.
      if (!follower) for (const effect of effects) note(effect, Number.POSITIVE_INFINITY)
    },
  }
}
