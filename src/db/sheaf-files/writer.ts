import { Database } from 'bun:sqlite'
import { sqlite } from '../../dialects/sqlite.ts'
import {
  APPLICATION_ID,
  columnsOf,
  createRecordTable,
  type FileColumn,
  type FileValue,
  FORMAT_VERSION,
  META_TABLES,
  type MetaTable,
} from './format.ts'

/** Writes a new file of a base. */
export interface SheafFileWriter {
  insert(table: MetaTable, rows: readonly (readonly FileValue[])[]): void
  /** Creates a table of records and returns the function that adds rows to it. */
  addRecordTable(
    name: string,
    columns: readonly FileColumn[],
  ): (rows: readonly (readonly FileValue[])[]) => void
  hasContent(content: string): boolean
  /** Renames a stored content, or removes it if `to` exists. */
  renameContent(from: string, to: string): void
  /** Commits and closes. The file is complete only then. */
  finish(): void
  /** Closes without committing. */
  close(): void
}

/** @param path where no file is */
export function createSheafFile(path: string): SheafFileWriter {
  const file = new Database(path, { create: true, strict: true, safeIntegers: true })
  file.run('pragma page_size = 8192')
  // The file is removed if it is not completed, so nothing has to survive a crash.
  file.run('pragma journal_mode = off')
  file.run('pragma synchronous = off')
  file.run('pragma cache_size = -16384')
  file.run(`pragma application_id = ${APPLICATION_ID}`)
  file.run('begin')
  for (const [name, columns] of Object.entries(META_TABLES))
    file.run(`create table ${name} (${columns.join(', ')})`)

  function inserter(table: string, columns: readonly string[]) {
    const names = columns.map(sqlite.quote).join(', ')
    const insert = file.prepare(
      `insert into ${sqlite.quote(table)} (${names}) values (${columns.map(() => '?').join(', ')})`,
    )
    return (rows: readonly (readonly FileValue[])[]) => {
      for (const row of rows) insert.run(...row)
    }
  }

  return {
    insert: (table, rows) => inserter(table, columnsOf(table))(rows),
    addRecordTable(name, columns) {
      file.run(createRecordTable(name, columns))
      return inserter(
        name,
        columns.map((column) => column.name),
      )
    },
    hasContent: (content) =>
      file.query('select 1 from sheaf_contents where content = ? limit 1').get(content) !== null,
    renameContent(from, to) {
      const isKnown = file.query('select 1 from sheaf_contents where content = ? limit 1').get(to) !== null
      if (isKnown) file.run('delete from sheaf_contents where content = ?', [from])
      else file.run('update sheaf_contents set content = ? where content = ?', [to, from])
    },
    finish() {
      file.run('commit')
      file.run(`pragma user_version = ${FORMAT_VERSION}`)
      file.close()
    },
    close: () => file.close(),
  }
}
