import { type SQL, sql } from 'drizzle-orm'
import type { RecordChange, Values } from '../../core/changes.ts'
import type { RecordId } from '../../core/model.ts'
import { isOwn, type LogSource, lastChangeId } from './entry.ts'

/*
 * What was changed since an entry, as far as caches depend on it.
 */

/** More records than these are not looked at one by one: their tables count as changed in every field. */
const MAX_EFFECT_RECORDS = 200

/** Longer values are not read for their field ids. */
const MAX_EFFECT_LENGTH = 4_000

/** What a change did to the records of a table, as far as cached counts and results depend on it. */
export interface Effect {
  /** Null if any table of the base may have changed. */
  tableId: string | null
  /** The fields with new values in existing records; null if records came or went or if the fields are unknown. */
  fieldIds: readonly string[] | null
  /** Records that came, less those that went; null if unknown. */
  added: number | null
}

/** The effects on tables of a change whose records are not known. */
export const unknownEffects = (tableIds: Iterable<string>): Effect[] =>
  Array.from(tableIds, (tableId) => ({ tableId, fieldIds: null, added: null }))

/** The effects of changed records, one per table. */
export function effectsOf(records: readonly RecordChange[]): Effect[] {
  const byTable = new Map<string, { fieldIds: Set<string> | null; added: number }>()
  const isLarge = records.length > MAX_EFFECT_RECORDS
  let lastAfter: Values | null = null
  for (const { tableId, before, after } of records) {
    const effect = byTable.get(tableId) ?? { fieldIds: isLarge ? null : new Set<string>(), added: 0 }
    byTable.set(tableId, effect)
    if (before === null) effect.added++
    if (after === null) effect.added--
    if (before === null || after === null) effect.fieldIds = null
    else if (effect.fieldIds && after !== lastAfter) for (const fieldId in after) effect.fieldIds.add(fieldId)
    lastAfter = after
  }
  return [...byTable].map(([tableId, { fieldIds, added }]) => ({
    tableId,
    fieldIds: fieldIds && [...fieldIds],
    added,
  }))
}

/**
 * The effects of the entries after one, each with its entry's id, and the id of the newest entry. Histories of moved records have none.
 *
 * One statement, which reads a bounded number of records however much was written.
 */
export async function effectsSince(
  source: LogSource,
  entryId: number,
): Promise<{ newest: number; effects: (Effect & { entryId: number })[] }> {
  const rows = await source.all<{
    id: number
    kind: string
    records: number
    own_table_id: string | null
    detail: string | null
    table_id: string | null
    is_existing: number | boolean | null
    is_new: number | boolean | null
    after: string | null
  }>(
    source.dialect.render(sql`select c.id as id, c.kind as kind, c.records as records, c.table_id as own_table_id,
        case when length(c.detail) <= ${MAX_EFFECT_LENGTH} then c.detail end as detail, r.table_id as table_id,
        r.before is not null as is_existing, r.after is not null as is_new,
        case when length(r.after) <= ${MAX_EFFECT_LENGTH} then r.after end as after
      from sheaf_changes c left join sheaf_change_records r on r.change_id = c.id
      where c.id > ${entryId} and ${isOwn(sql`c`)} order by c.id limit ${MAX_EFFECT_RECORDS + 1}`),
  )
  if (rows.length > MAX_EFFECT_RECORDS) {
    const newest = await lastChangeId(source)
    return { newest, effects: [{ entryId: newest, ...UNKNOWN_EFFECT }] }
  }
  const byEntry = Map.groupBy(rows, ({ id }) => id)
  const effects = [...byEntry].flatMap(([id, listed]) => {
    const entry = listed[0]!
    const changes = listed.filter(({ table_id }) => table_id !== null)
    const inserted = insertedRange(entry)
    // Schema changes rewrite records without listing them, and some large changes list none.
    const isListed = entry.kind.startsWith('records.') && changes.length + inserted === Number(entry.records)
    if (!isListed) return [{ entryId: id, ...UNKNOWN_EFFECT }]
    const ownEffect: (Effect & { entryId: number })[] =
      inserted > 0 ? [{ entryId: id, tableId: entry.own_table_id, fieldIds: null, added: inserted }] : []
    const others = changes.map(({ table_id, is_existing, is_new, after }) => ({
      entryId: id,
      tableId: table_id,
      fieldIds: is_existing && is_new && after !== null ? Object.keys(JSON.parse(after)) : null,
      added: (is_new ? 1 : 0) - (is_existing ? 1 : 0),
    }))
    return [...ownEffect, ...others]
  })
  return { newest: rows.at(-1)?.id ?? entryId, effects }
}

/** Most records that are followed one by one, see `recordsSince`. */
export const MAX_CHANGED = 128

/** Most entries that are read for them. */
const MAX_FOLLOWED_ENTRIES = 300

/** Longer values are not read. */
const MAX_BEFORE_LENGTH = 20_000

/** A record of a table that has changed since an entry. */
export interface ChangedRecord {
  recordId: RecordId
  /** False if it did not exist at that entry. */
  existed: boolean
  /** The values at that entry of the fields that have changed since; all stored values of a deleted record. */
  before: Values
}

/**
 * The records of a table that have changed since an entry, each once, and the newest entry. Null if the log does not list
 * all that has changed in the base since, or too much has.
 *
 * One statement, which reads a bounded number of records however much was written.
 */
export async function recordsSince(
  source: LogSource,
  tableId: string,
  entryId: number,
): Promise<{ newest: number; records: ChangedRecord[] } | null> {
  const rows = await source.all<{
    id: number
    kind: string
    records: number
    listed: number | null
    record_id: RecordId | null
    is_existing: number | boolean | null
    is_left: number | boolean | null
    before: string | null
    is_whole: number | boolean
  }>(
    source.dialect.render(sql`select c.id as id, c.kind as kind, c.records as records,
        case when c.records <= ${MAX_CHANGED}
          then (select count(*) from sheaf_change_records l where l.change_id = c.id) end as listed,
        r.record_id as record_id, r.before is not null as is_existing, r.after is not null as is_left,
        case when length(r.before) <= ${MAX_BEFORE_LENGTH} then r.before end as before,
        exists (select 1 from sheaf_changes f where f.id = ${entryId}) as is_whole
      from sheaf_changes c left join sheaf_change_records r on r.change_id = c.id and r.table_id = ${tableId}
      where c.id > ${entryId} and ${isOwn(sql`c`)} order by c.id limit ${MAX_FOLLOWED_ENTRIES + 1}`),
  )
  if (rows.length > MAX_FOLLOWED_ENTRIES) return null
  // Old entries are removed from the first on: without this one, later ones may be gone as well.
  if (rows.some(({ is_whole }) => !is_whole)) return null
  const records = new Map<RecordId, ChangedRecord>()
  /** Records whose former values are known, as they were added or deleted. */
  const complete = new Set<RecordId>()
  for (const { kind, records: count, listed, record_id, is_existing, is_left, before } of rows) {
    // Schema changes rewrite records without listing them, and of many new records there is a range only.
    if (!kind.startsWith('records.') || listed === null || Number(listed) !== Number(count)) return null
    if (record_id === null) continue
    if (is_existing && before === null) return null
    const recordId = Number(record_id)
    const record = records.get(recordId) ?? { recordId, existed: before !== null, before: {} }
    records.set(recordId, record)
    if (complete.has(recordId)) continue
    if (before !== null) record.before = { ...JSON.parse(before), ...record.before }
    if (!is_existing || !is_left) complete.add(recordId)
  }
  if (records.size > MAX_CHANGED) return null
  return { newest: Number(rows.at(-1)?.id ?? entryId), records: [...records.values()] }
}

/** The number of new records of which an entry has the range of ids only. */
function insertedRange({ kind, detail }: { kind: string; detail: string | null }): number {
  if (kind !== 'records.insert' || detail === null) return 0
  const { from, to } = JSON.parse(detail)
  return typeof from === 'number' && typeof to === 'number' ? to - from + 1 : 0
}

/** A query for `count`, with the id of the newest entry that the same snapshot has as `newest`. */
export const atNewestEntry = (query: SQL): SQL =>
  sql`select counted.count as count, (select max(id) from sheaf_changes) as newest from (${query}) as counted`

const UNKNOWN_EFFECT: Effect = { tableId: null, fieldIds: null, added: null }
