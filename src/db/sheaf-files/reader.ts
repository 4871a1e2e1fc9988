import { Database, SQLiteError } from 'bun:sqlite'
import { badRequest } from '../../core/errors.ts'
import { sqlite } from '../../dialects/sqlite.ts'
import { m } from '../../messages.gen.ts'
import { BATCH_LENGTH, BATCH_ROWS } from '../move/store.ts'
import {
  APPLICATION_ID,
  columnsOf,
  type FileValue,
  FORMAT_VERSION,
  META_TABLES,
  type MetaTable,
} from './format.ts'

/** The beginning of every SQLite file (https://sqlite.org/fileformat.html). */
const MAGIC = 'SQLite format 3\0'
const HEADER_BYTES = 100
/** The versions for writing and reading; 2 is a write-ahead log. */
const JOURNAL_BYTES = [18, 19]
const WRITE_AHEAD = 2

/** Most tables of a file: those of a base, its junction tables, and those of the format. */
const MAX_FILE_TABLES = 5_000
/** Longest declaration of a table. */
const MAX_DECLARATION = 1_000_000
/** Length of all texts of a table of definitions. */
const MAX_DEFINITIONS = 50_000_000

/** Declarations that are evaluated when a table is read or checked. */
const EVALUATED = /\b(check|generated|virtual|as)\b/i

/** A file of a base that was opened for reading. */
export interface SheafFileReader {
  /**
   * All rows of a table of definitions, by column.
   *
   * @throws BAD_REQUEST for more rows, or texts that are too long
   */
  definitions(table: MetaTable, maxRows: number): Record<string, FileValue>[]
  /** Rows of a table in batches, in the order of its first columns. */
  rows(table: string, columns: readonly string[], order: readonly string[]): Iterable<FileValue[][]>
  hasColumns(table: string, columns: readonly string[]): boolean
  /** Parts of a content, in order. @throws BAD_REQUEST for a part that is not bytes */
  content(content: string): Iterable<Uint8Array>
  close(): void
}

const lengthOf = (row: readonly FileValue[]): number =>
  row.reduce<number>(
    (sum, value) => sum + (typeof value === 'string' || value instanceof Uint8Array ? value.length : 0),
    0,
  )

const damaged = () => badRequest(m.base_files_error_damaged())

/**
 * Opens an untrusted file. Nothing in it is executed: views, triggers, virtual tables and expressions in declarations
 * are refused before any record is read, and its pages are checked.
 *
 * @throws BAD_REQUEST for a file that is no base, was written by a later format, is damaged, or has an unknown structure
 */
export async function openSheafFile(path: string): Promise<SheafFileReader> {
  const head = await Bun.file(path).slice(0, HEADER_BYTES).bytes()
  if (new TextDecoder().decode(head.subarray(0, MAGIC.length)) !== MAGIC)
    throw badRequest(m.base_files_error_no_base())
  // Its log is not here, and opening it would leave files beside it.
  if (JOURNAL_BYTES.some((at) => head[at] === WRITE_AHEAD)) throw badRequest(m.base_files_error_log())
  const file = explained(() => new Database(path, { readonly: true, strict: true, safeIntegers: true }))
  try {
    explained(() => {
      for (const pragma of [
        'trusted_schema = off',
        'cell_size_check = on',
        'query_only = on',
        'mmap_size = 0',
        'cache_size = -16384',
      ])
        file.run(`pragma ${pragma}`)
      checkVersion(file)
      checkStructure(file)
      const [result] = file.query<Record<string, unknown>, []>('pragma quick_check(1)').all()
      if (Object.values(result ?? {})[0] !== 'ok') throw damaged()
    })
  } catch (error) {
    file.close()
    throw error
  }

  function* each(sql: string, params: string[] = []): Iterable<FileValue[]> {
    try {
      for (const row of file.prepare<Record<string, FileValue>, string[]>(sql).iterate(...params))
        yield Object.values(row)
    } catch (error) {
      throw error instanceof SQLiteError ? damaged() : error
    }
  }

  return {
    definitions(table, maxRows) {
      const columns = columnsOf(table)
      const list = columns.map(sqlite.quote).join(', ')
      const found: Record<string, FileValue>[] = []
      let length = 0
      for (const row of each(`select ${list} from ${table} limit ${maxRows + 1}`)) {
        length += lengthOf(row)
        if (length > MAX_DEFINITIONS || found.length >= maxRows)
          throw badRequest(m.base_files_error_too_large())
        found.push(Object.fromEntries(columns.map((column, at) => [column, row[at] ?? null])))
      }
      return found
    },
    *rows(table, columns, order) {
      // Numbered names, because a table may have a column of the same name twice in a list.
      const list = columns.map((column, at) => `${sqlite.quote(column)} as c${at}`).join(', ')
      const sorted = order.map(sqlite.quote).join(', ')
      let batch: FileValue[][] = []
      let length = 0
      for (const row of each(`select ${list} from ${sqlite.quote(table)} order by ${sorted}`)) {
        batch.push(row)
        length += lengthOf(row)
        if (batch.length < BATCH_ROWS && length < BATCH_LENGTH) continue
        yield batch
        batch = []
        length = 0
      }
      if (batch.length > 0) yield batch
    },
    hasColumns(table, columns) {
      const known = new Set(
        file
          .query<{ name: string }, [string]>('select name from pragma_table_xinfo(?)')
          .all(table)
          .map(({ name }) => name),
      )
      return columns.every((column) => known.has(column))
    },
    *content(content) {
      const parts = each('select bytes from sheaf_contents where content = ? order by part', [content])
      for (const [bytes] of parts) {
        if (!(bytes instanceof Uint8Array)) throw damaged()
        yield bytes
      }
    },
    close: () => file.close(),
  }
}

/** Runs `work`; errors of SQLite mean that the file is damaged. */
function explained<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof SQLiteError ? damaged() : error
  }
}

function checkVersion(file: Database): void {
  const read = (name: string) =>
    Number(Object.values(file.query<Record<string, unknown>, []>(`pragma ${name}`).get() ?? {})[0])
  if (read('application_id') !== APPLICATION_ID) throw badRequest(m.base_files_error_no_base())
  const version = read('user_version')
  if (version > FORMAT_VERSION) throw badRequest(m.base_files_error_newer({ version, known: FORMAT_VERSION }))
  // A file gets its number when it is complete.
  if (version < 1) throw damaged()
}

/** @throws BAD_REQUEST unless the file only has plain tables, those of the format among them */
function checkStructure(file: Database): void {
  const objects = file
    .query<{ type: string; name: string; tbl: string; sql: string | null }, []>(
      `select type, name, tbl_name as tbl, sql from sqlite_schema limit ${MAX_FILE_TABLES * 2}`,
    )
    .all()
  const tables = new Map<string, string>()
  for (const { type, name, sql } of objects) {
    const isOwnIndex = type === 'index' && sql === null
    if (isOwnIndex) continue
    if (type !== 'table' || sql === null || sql.length > MAX_DECLARATION)
      throw badRequest(m.base_files_error_object({ type, name: name.slice(0, 100) }))
    // Quoted names may contain any word.
    const words = sql.replace(/"(?:[^"]|"")*"/g, '""')
    if (!/^create table /i.test(sql) || EVALUATED.test(words) || /['`[]/.test(words))
      throw badRequest(m.base_files_error_object({ type, name: name.slice(0, 100) }))
    tables.set(name, sql)
  }
  if (tables.size > MAX_FILE_TABLES) throw badRequest(m.base_files_error_too_large())
  for (const [name, columns] of Object.entries(META_TABLES)) {
    if (tables.get(name)?.toLowerCase() !== `create table ${name} (${columns.join(', ')})`)
      throw badRequest(m.base_files_error_object({ type: 'table', name }))
  }
}
