import { rm } from 'node:fs/promises'
import type { Dialect, Engine, Statement } from '../dialects/dialect.ts'
import { sqlite } from '../dialects/sqlite.ts'
import { CLEAR_LOG } from './change-log.ts'

/** Parts of a base's home that are copied. */
export interface HomeCopy {
  /** Names of the tables; others, such as those in the trash, stay behind. */
  tables: readonly string[]
  /** False: without records. */
  withData: boolean
  /** Columns whose values are replaced in the copy, with the replacement. */
  replaced: readonly { table: string; column: string; value: string | null }[]
}

/**
 * Copies a base's file as it is at one moment, without its log. Written by the database itself in a thread of
 * its own; `open` then gives the engine of the copy.
 */
export async function copySqliteHome(
  from: Engine,
  path: string,
  { tables, withData, replaced }: HomeCopy,
  open: () => Promise<Engine>,
): Promise<void> {
  // Left over where an earlier try was cut off: SQLite writes into no file that holds something.
  await removeSqliteFiles(path)
  await from.values({ sql: 'vacuum into ?', params: [path] }, { scan: true })
  const copy = await open()
  const kept = new Set(tables)
  const names = await copy.all<{ name: string }>({
    sql: `select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\'`,
    params: [],
  })
  const theirs = names.map(({ name }) => name).filter((name) => !name.startsWith('sheaf_'))
  const plain = (sql: string): Statement => ({ sql, params: [] })
  await copy.writeScript([
    ...CLEAR_LOG,
    ...theirs.filter((name) => !kept.has(name)).flatMap((name) => sqlite.dropTable(name)),
    ...(withData ? [] : [plain('delete from sheaf_places')]),
    ...(withData ? [] : theirs.filter((name) => kept.has(name)).map(emptied)),
    ...(withData ? replaced.map((column) => replacement(column, sqlite)) : []),
  ])
}

/** Removes a file of SQLite with all that stands beside it; `-journal` is what a `vacuum into` leaves that was killed. */
export async function removeSqliteFiles(path: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm', '-journal']) await rm(`${path}${suffix}`, { force: true })
}

/** Puts the value in place of all that stand in a column. */
export const replacement = (
  { table, column, value }: HomeCopy['replaced'][number],
  { quote, placeholder }: Pick<Dialect, 'quote' | 'placeholder'>,
): Statement => ({
  sql: `update ${quote(table)} set ${quote(column)} = ${placeholder(0)} where ${quote(column)} is not null`,
  params: [value],
})

const emptied = (name: string): Statement => ({ sql: `delete from ${sqlite.quote(name)}`, params: [] })
