import type { Engine, Statement } from '../../dialects/dialect.ts'
import { FINAL, IS_OWN } from './entry.ts'

/*
 * Removes what retention and final deletions no longer keep.
 */

/**
 * The newest entry before a moment, with the columns mentioned by the entries up to it (needed to undo them). Never the
 * log's last entry, so that ids continue. Null if no entry is that old.
 *
 * @param before ISO 8601
 */
export async function oldEntries(
  engine: Engine,
  before: string,
): Promise<{ lastId: number; columns: LoggedColumn[] } | null> {
  const { placeholder } = engine.dialect
  const [row] = await engine.all<{ id: number | null }>(
    {
      sql: `select max(id) as id from sheaf_changes
        where at < ${placeholder(0)} and ${IS_OWN} and id < (select max(id) from sheaf_changes)`,
      params: [before],
    },
    { scan: true },
  )
  const lastId = row?.id ?? null
  if (lastId === null) return null
  return { lastId: Number(lastId), columns: await columnsIn(engine, `id <= ${placeholder(0)}`, [lastId]) }
}

/** A column that an entry mentions. */
interface LoggedColumn {
  tableId: string
  columnName: string
}

/** The columns that the entries of the log mention. */
export const columnsInLog = (engine: Engine): Promise<LoggedColumn[]> => columnsIn(engine, '1 = 1', [])

async function columnsIn(engine: Engine, condition: string, params: unknown[]): Promise<LoggedColumn[]> {
  const entries = await engine.all<{ table_id: string | null; detail: string }>(
    {
      sql: `select table_id, detail from sheaf_changes where ${condition} and kind = 'field.update' and detail is not null`,
      params,
    },
    { scan: true },
  )
  return entries.flatMap(({ table_id: tableId, detail }) => {
    const { before, after } = JSON.parse(detail) as Partial<
      Record<'before' | 'after', { columnName?: unknown }>
    >
    return [before, after].flatMap((definition) =>
      tableId !== null && typeof definition?.columnName === 'string' && definition.columnName !== ''
        ? [{ tableId, columnName: definition.columnName }]
        : [],
    )
  })
}

/** Log rows removed per transaction: bounds how long other writers wait. */
export const RECORDS_AT_ONCE = 20_000

/** Removes the entries up to one, then their records in portions. Returns the number of removed entries. */
export async function removeEntries(engine: Engine, lastId: number): Promise<number> {
  const { placeholder } = engine.dialect
  // Entries first: an entry without all its records could be undone in part. After a crash, the next call removes the
  // rest.
  const [removed] = await engine.writeScript([
    { sql: `delete from sheaf_changes where id <= ${placeholder(0)}`, params: [lastId] },
  ])
  await removeRecords(engine, {
    sql: 'change_id < (select min(id) from sheaf_changes) order by change_id',
    params: [],
  })
  return Number(removed?.changes ?? 0)
}

/** Removes records of the log, `RECORDS_AT_ONCE` in each transaction. @param where a condition and an order */
export async function removeRecords(engine: Engine, where: Statement): Promise<void> {
  for (;;) {
    const [part] = await engine.writeScript([
      {
        sql: `delete from sheaf_change_records where (change_id, table_id, record_id) in (
          select change_id, table_id, record_id from sheaf_change_records
          where ${where.sql} limit ${RECORDS_AT_ONCE})`,
        params: where.params,
      },
    ])
    if ((part?.changes ?? 0) === 0) return
  }
}

/**
 * Makes entries of permanently deleted tables and fields final, and removes the log's records of the tables in
 * portions.
 */
export async function forgetParts(
  engine: Engine,
  { tableIds, fieldIds }: { tableIds: readonly string[]; fieldIds: readonly string[] },
): Promise<void> {
  const { placeholder } = engine.dialect
  const finish = (condition: string, param: string): Statement => ({
    sql: `update sheaf_changes set undone_by = ${FINAL} where ${condition}`,
    params: [param],
  })
  // Entries first: an entry without all its records could be undone in part.
  await engine.writeScript([
    ...tableIds.map((id) => finish(`table_id = ${placeholder(0)}`, id)),
    ...fieldIds.map((id) => finish(`kind like 'field.%' and detail like ${placeholder(0)}`, `%"${id}"%`)),
  ])
  for (const id of tableIds) {
    const condition = `table_id = ${placeholder(0)}`
    await removeRecords(engine, { sql: `${condition} order by record_id, change_id`, params: [id] })
  }
}
