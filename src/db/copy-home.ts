import { rm } from 'node:fs/promises'
import { isAutomaticIndex } from '../dialects/automatic-index.ts'
import type { Dialect, Engine, Statement } from '../dialects/dialect.ts'
import { sqlite } from '../dialects/sqlite.ts'
import { hasSearchIndexes, sqliteSearchBatches } from '../dialects/sqlite-search.ts'
import { CLEAR_LOG } from './change-log/tables.ts'

/** Parts of a base's home that are copied. */
export interface HomeCopy {
  /** Names of the tables to copy; others, such as those in the trash, are left out. */
  tables: readonly string[]
  /** False: without records. */
  withData: boolean
  /** Columns whose values are all replaced in the copy, with the new value. */
  replaced: readonly { table: string; column: string; value: string | null }[]
}

/** Copies a consistent snapshot of a base's file. Runs as `vacuum into` in a worker thread. */
export async function snapshotSqliteHome(from: Engine, path: string): Promise<void> {
  // An interrupted attempt may have left a file, and SQLite refuses to write into a file with content.
  await removeSqliteFiles(path)
  await from.values({ sql: 'vacuum into ?', params: [path] }, { scan: true })
}

/** Removes from the copy of a base's file what the copy does not take over, and the log. */
export async function reduceSqliteCopy(
  copy: Engine,
  { tables, withData, replaced }: HomeCopy,
): Promise<void> {
  const kept = new Set(tables)
  const names = await copy.all<{ name: string }>({
    sql: `select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\'`,
    params: [],
  })
  // An index holds texts of records that the copy may not have. Searches in the copy build their own.
  const [list] = await copy.all<{ n: number }>(hasSearchIndexes)
  const indexes = list?.n
    ? await copy.all<{ name: string; generation: number }>(sqliteSearchBatches.listAll)
    : []
  // The metadata of the copy know no automatic indexes; its own reads decide which it gets.
  const ownIndexes = await copy.all<{ name: string }>({
    sql: `select name from sqlite_schema where type = 'index'`,
    params: [],
  })
  const automatic = ownIndexes.map(({ name }) => name).filter(isAutomaticIndex)
  const theirs = names.map(({ name }) => name).filter((name) => !name.startsWith('sheaf_'))
  const plain = (sql: string): Statement => ({ sql, params: [] })
  await copy.writeScript([
    ...CLEAR_LOG,
    ...indexes.flatMap(({ name, generation }) => sqliteSearchBatches.drop({ name, key: '' }, generation)),
    ...automatic.flatMap(sqlite.dropAutomaticIndex),
    ...theirs.filter((name) => !kept.has(name)).flatMap((name) => sqlite.dropTable(name)),
    ...(withData ? [] : [plain('delete from sheaf_places')]),
    ...(withData ? [] : theirs.filter((name) => kept.has(name)).map(emptied)),
    ...(withData ? replaced.map((column) => replacement(column, sqlite)) : []),
  ])
}

/** Removes an SQLite file and its companions; a killed `vacuum into` leaves a `-journal`. */
export async function removeSqliteFiles(path: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm', '-journal']) await rm(`${path}${suffix}`, { force: true })
}

/** Replaces all values of a column. */
export const replacement = (
  { table, column, value }: HomeCopy['replaced'][number],
  { quote, placeholder }: Pick<Dialect, 'quote' | 'placeholder'>,
): Statement => ({
  sql: `update ${quote(table)} set ${quote(column)} = ${placeholder(0)} where ${quote(column)} is not null`,
  params: [value],
})

const emptied = (name: string): Statement => ({ sql: `delete from ${sqlite.quote(name)}`, params: [] })
