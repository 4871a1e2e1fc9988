import { type SQL, sql } from 'drizzle-orm'
import type { Engine } from '../../dialects/dialect.ts'
import {
  type EntryRow,
  entryColumns,
  IS_ACTION,
  inTable,
  isOwn,
  listOf,
  type StoredEntry,
  selectEntries,
  toEntry,
} from './entry.ts'

/*
 * Actions of a person that can be undone or redone.
 */

/** The entry of a user action by its id; null also for an undo or redo. */
export async function findAction(engine: Engine, entryId: number): Promise<StoredEntry | null> {
  const [entry] = await selectEntries(engine, sql`where id = ${entryId} and ${IS_ACTION}`)
  return entry ?? null
}

/**
 * An actor's latest action that can be undone, or null.
 *
 * @param tableId looks in this table only
 * @param except entries to pass over
 */
export async function latestUndoable(
  engine: Engine,
  actorId: string,
  { tableId, except }: { tableId?: string; except: ReadonlySet<number> },
): Promise<StoredEntry | null> {
  const [entry] = await selectEntries(
    engine,
    sql`where actor_id = ${actorId} and undone_by is null and ${IS_ACTION} ${inTable(tableId)}
      ${except.size === 0 ? sql`` : sql`and id not in (${listOf([...except])})`}
      order by id desc limit 1`,
  )
  return entry ?? null
}

/** The action that an actor undid last, unless the actor has acted since; else null. Restricted to `tableId` if given. */
export async function latestRedoable(
  engine: Engine,
  actorId: string,
  { tableId }: { tableId?: string },
): Promise<StoredEntry | null> {
  const within = (alias: SQL): SQL =>
    tableId === undefined ? sql`` : sql`and ${alias}.table_id = ${tableId}`
  const [row] = await engine.all<EntryRow>(
    engine.dialect.render(sql`select ${entryColumns('e')} from sheaf_changes u join sheaf_changes e on e.id = u.undoes
      where u.actor_id = ${actorId} and u.undoes is not null and e.undone_by = u.id ${within(sql`e`)}
        and u.id > coalesce((select max(own.id) from sheaf_changes own
          where own.actor_id = ${actorId} and own.undoes is null and own.redoes is null
            and ${isOwn(sql`own`)} ${within(sql`own`)}), 0)
      order by u.id desc limit 1`),
  )
  return row ? toEntry(row) : null
}

/** An action's entries are looked for among this many entries of its author before and after those that are known. */
const ACTION_SPAN = 10_000

/**
 * All entries of an entry's action that share its state, in the order in which to undo (latest first) or redo them
 * (last undone first).
 */
export async function entriesOfAction(
  engine: Engine,
  entry: StoredEntry,
  direction: 'undo' | 'redo',
): Promise<StoredEntry[]> {
  const { actionId, actorId } = entry
  if (actionId === null) return [entry]
  const isUndo = direction === 'undo'
  const sharesState = ({ undoneBy }: StoredEntry) => (isUndo ? undoneBy === null : (undoneBy ?? 0) > 0)
  const found = [entry]
  // Goes on from the furthest entry that is found: a job may take long, with entries of others in between.
  for (const side of ['before', 'after'] as const) {
    for (let from = entry.id; ; ) {
      const beyond = side === 'before' ? sql`id < ${from} order by id desc` : sql`id > ${from} order by id`
      const near = await selectEntries(
        engine,
        sql`where action_id = ${actionId} and ${IS_ACTION} and id in (
          select id from sheaf_changes where actor_id = ${actorId} and ${beyond} limit ${ACTION_SPAN})`,
      )
      if (near.length === 0) break
      found.push(...near.filter(sharesState))
      const ids = near.map(({ id }) => id)
      from = side === 'before' ? Math.min(...ids) : Math.max(...ids)
    }
  }
  const position = ({ id, undoneBy }: StoredEntry) => (isUndo ? id : (undoneBy ?? 0))
  return found.toSorted((a, b) => position(b) - position(a))
}
