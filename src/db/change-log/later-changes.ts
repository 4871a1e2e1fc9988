import { type SQL, sql } from 'drizzle-orm'
import type { RecordId } from '../../core/model.ts'
import type { Engine } from '../../dialects/dialect.ts'
import { isOwn, LOOKED_UP, listOf } from './entry.ts'
import type { LoggedRecord } from './records.ts'
import { isInRange } from './sets.ts'

/*
 * What actions have changed in records since an entry.
 */

/** True if entries of this base after one list a record of a table. @param id as the log keeps it */
export const isListedAfter = (tableId: string, after: number, id: SQL): SQL =>
  sql`exists (select 1 from sheaf_change_records as listed where listed.table_id = ${tableId}
    and listed.record_id = ${id} and listed.change_id + 0 > ${after}
    and exists (select 1 from sheaf_changes as action where action.id = listed.change_id and ${isOwn(sql`action`)} ${LOOKED_UP})
    ${LOOKED_UP})`

/**
 * True if an action after an entry wrote a record, and is still in effect.
 *
 * @param id as the log keeps it
 * @param before an entry that does not count, nor later ones
 */
export const isWrittenAfter = (tableId: string | SQL, after: number, id: SQL, before?: SQL): SQL =>
  sql`exists (select 1 from sheaf_change_records as later
    where later.table_id = ${tableId} and later.record_id = ${id} and later.change_id + 0 > ${after}
      ${before === undefined ? sql`` : sql`and later.change_id < ${before}`}
      and exists (select 1 from sheaf_changes as action where action.id = later.change_id and ${IN_EFFECT} ${LOOKED_UP})
    ${LOOKED_UP})`

/** Neither undone nor an undo or redo. */
const IN_EFFECT = sql`action.undoes is null and action.redoes is null and coalesce(action.undone_by, 0) <= 0`

/**
 * The records that an entry added or deleted, and that actions in effect have written since: changed the added ones, or
 * put the deleted ones back, whether or not they are there now.
 */
export const writtenSince = (
  engine: Engine,
  changeId: number,
  which: 'added' | 'deleted',
): Promise<Pick<LoggedRecord, 'table_id' | 'record_id'>[]> =>
  engine.all(
    engine.dialect.render(sql`select own.table_id, own.record_id from sheaf_change_records as own
      where own.change_id = ${changeId} and ${sql.raw(which === 'added' ? 'own.before' : 'own.after')} is null
        and ${isWrittenAfter(sql`own.table_id`, changeId, sql`own.record_id`)}`),
    { scan: true },
  )

/** A later change of a record that an entry lists. */
export interface LaterChange {
  table_id: string
  record_id: RecordId
  /** The values that the entry replaced and wrote; both null for a record of a range. */
  own_before: string | null
  own_after: string | null
  before: string | null
  after: string | null
  change_id: number
  actor_id: string | null
  at: string
}

/**
 * What actions in effect have changed in the records of an entry since, newest first.
 *
 * @param range the records that it added as a range of ids
 * @param except entries that are left out
 */
export async function laterChanges(
  engine: Engine,
  entry: { id: number; tableId: string | null },
  {
    range,
    except,
    limit,
  }: { range: { from: number; to: number } | null; except: readonly number[]; limit: number },
): Promise<LaterChange[]> {
  const isOther = except.length === 0 ? sql`` : sql`and later.change_id not in (${listOf(except)})`
  const columns = sql`later.table_id, later.record_id, later.before, later.after, later.change_id, action.actor_id, action.at`
  const inRange =
    range === null
      ? sql``
      : sql`union all select ${columns}, null as own_before, null as own_after
          from sheaf_change_records as later join sheaf_changes as action on action.id = later.change_id
          where later.table_id = ${entry.tableId} and later.change_id > ${entry.id} and ${IN_EFFECT} ${isOther}
            and ${isInRange(sql`later.record_id`)(range)}`
  const rows = await engine.all<LaterChange>(
    engine.dialect.render(sql`select * from (
        select ${columns}, own.before as own_before, own.after as own_after
        from sheaf_change_records as own
          join sheaf_change_records as later on later.table_id = own.table_id and later.record_id = own.record_id
            and later.change_id + 0 > own.change_id
          join sheaf_changes as action on action.id = later.change_id
        where own.change_id = ${entry.id} and ${IN_EFFECT} ${isOther} ${inRange}) as found
      order by change_id desc, table_id, record_id limit ${limit}`),
    { scan: true },
  )
  return rows.map((row) => ({ ...row, change_id: Number(row.change_id) }))
}
