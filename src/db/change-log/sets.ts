import { type SQL, sql } from 'drizzle-orm'
import type { Dialect } from '../../dialects/dialect.ts'
import { isOwn, listOf } from './entry.ts'
import { hasKey } from './keys.ts'
import { logRows } from './set-entries.ts'

/*
 * Records under entries as parts of the statements of a set write, such as an undo of many records.
 */

/** The records of a table under an entry, as parts of the statements of a set write. */
export interface LoggedSet {
  /** The table (with alias) to select from. */
  table: SQL
  /** Condition for the log rows of the entry and table. */
  where: SQL
  recordId: SQL
  before: SQL
  after: SQL
}

/**
 * The records of a table under an entry, for set writes that start from the log.
 *
 * @param alias of the log in the statement, where its own name would be ambiguous
 */
export function loggedSet(changeId: SQL | number, tableId: string, alias?: string): LoggedSet {
  const name = sql.raw(alias ?? 'sheaf_change_records')
  return {
    table: alias === undefined ? name : sql`sheaf_change_records ${name}`,
    where: sql`${name}.change_id = ${changeId} and ${name}.table_id = ${tableId}`,
    recordId: sql`${name}.record_id`,
    before: sql`${name}.before`,
    after: sql`${name}.after`,
  }
}

/** The changes of a table's records that are taken back as one. */
export interface Squash {
  tableId: string
  /** The last entry before them. */
  after: number
  /** People whose changes are kept. */
  keep: readonly string[]
  /** Records that entries after `after` added as a range of ids. */
  ranges: readonly { from: number; to: number; isKept: boolean }[]
  /** Only looks at records that list one of these keys. */
  keys?: readonly string[]
  /** True to take back values that went with a change of their field as well, such as those of a renamed option. */
  withFields?: boolean
}

/**
 * The records of a table that entries after one touched. `before` has the values that they should have again, of the
 * touched fields only, or null if they should not exist. A key may occur twice: `jsonValue` returns the right one.
 *
 * @param alias of the set in the statement
 * @param unlisted selects the ids (as the log keeps them) of further records to be removed
 */
export function squashedSet(
  dialect: Pick<Dialect, 'repeatedKey' | 'or'>,
  { tableId, after, keep, ranges, keys, withFields = false }: Squash,
  alias: string,
  unlisted?: SQL,
): LoggedSet {
  const name = sql.raw(alias)
  const byKept = keep.length === 0 ? sql`1 = 0` : sql`c.actor_id in (${listOf(keep)})`
  const isIn = (some: Squash['ranges']): SQL =>
    dialect.or([sql`1 = 0`, ...some.map(isInRange(sql`r.record_id`))])
  const lastKept = sql`max(case when ${byKept} then r.change_id end)`
  const lastKeptDeletion = sql`max(case when ${byKept} and r.after is null then r.change_id end)`
  const addition = sql`min(case when r.before is null then r.change_id end)`
  const isKept = sql`(${lastKept} is not null or ${isIn(ranges.filter((range) => range.isKept))})`
  const existed = sql`((${addition} is null or ${addition} > min(r.change_id)) and not ${isIn(ranges)})`
  const stays = sql`case when ${isKept} then coalesce(${lastKeptDeletion} < ${lastKept}, 1 = 1) else ${existed} end`
  const isFirstUsed = dialect.repeatedKey === 'first'
  const pairs = (side: SQL, where: SQL, isLatestFirst: boolean): SQL => sql`string_agg(
      substr(${side}, 2, length(${side}) - 2), ',' order by r.change_id ${sql.raw(isLatestFirst ? 'desc' : 'asc')})
      filter (where ${where} and length(${side}) > 2)`
  // The last value of a kept person is preferred to the first value that a change replaced.
  const kept = pairs(sql`r.after`, sql`r.after is not null and ${byKept}`, isFirstUsed)
  const replaced = pairs(sql`r.before`, sql`r.before is not null`, !isFirstUsed)
  const both = isFirstUsed ? [kept, replaced] : [replaced, kept]
  const merged =
    keep.length === 0
      ? sql`coalesce(${replaced}, '')`
      : sql`coalesce(${both[0]} || ',' || ${both[1]}, ${both[0]}, ${both[1]}, '')`
  const mentions =
    keys === undefined
      ? sql``
      : sql`and ${dialect.or(keys.flatMap((key) => [hasKey(sql`r.before`, key), hasKey(sql`r.after`, key)]))}`
  return {
    table: sql`(select r.record_id as record_id, case when ${stays} then '{' || ${merged} || '}' end as before
      from sheaf_change_records r join sheaf_changes c on c.id = r.change_id
      where r.table_id = ${tableId} and r.change_id > ${after} and ${isOwn(sql`c`)}
        ${withFields ? sql`` : sql`and c.kind not like 'field.%'`} ${mentions}
      group by r.record_id ${unlisted === undefined ? sql`` : sql`union all select id, null from (${unlisted}) as unlisted`}) ${name}`,
    where: sql`1 = 1`,
    recordId: sql`${name}.record_id`,
    before: sql`${name}.before`,
    after: sql`null`,
  }
}

/** True for an id of the log within a range. */
export const isInRange =
  (id: SQL) =>
  ({ from, to }: { from: number; to: number }): SQL =>
    sql`cast(${id} as bigint) between ${sql.raw(String(from))} and ${sql.raw(String(to))}`

/** The id under which `stageSet` lists records while a script runs; entries begin with 1. */
const STAGED_ID = sql.raw('0')

/** The statement that stores a set, as the `stagedSet` of later statements of the same script. */
export const stageSet = (
  dialect: Pick<Dialect, 'insertSelected'>,
  tableId: string,
  { table, recordId, before }: LoggedSet,
): SQL =>
  logRows(dialect, {
    changeId: STAGED_ID,
    tableId: sql`${tableId}`,
    recordId,
    before,
    after: sql`cast(null as text)`,
    source: sql`from ${table} where 1 = 1`,
  })

/** The records that `stageSet` listed. */
export const stagedSet = (tableId: string, alias: string): LoggedSet => loggedSet(STAGED_ID, tableId, alias)

/** The statement that ends the use of `stagedSet`. */
export const UNSTAGE = sql`delete from sheaf_change_records where change_id = ${STAGED_ID}`

/** The records of a table that an entry changed, without those that it added or deleted. */
export const changedSet = (changeId: SQL | number, tableId: string, alias: string): LoggedSet => {
  const set = loggedSet(changeId, tableId, alias)
  return { ...set, where: sql`${set.where} and ${set.before} is not null and ${set.after} is not null` }
}

/** Selects the ids, as the log keeps them, of the records of a table that an entry deleted. */
export function selectDeletedIds(changeId: SQL | number, tableId: string): SQL {
  return sql`select record_id from sheaf_change_records
    where change_id = ${changeId} and table_id = ${tableId} and after is null`
}

/** Selects the ids, as the log keeps them, of the records of a table that an entry added or put back. */
export function selectInsertedIds(changeId: SQL | number, tableId: string): SQL {
  return sql`select record_id from sheaf_change_records
    where change_id = ${changeId} and table_id = ${tableId} and before is null`
}
