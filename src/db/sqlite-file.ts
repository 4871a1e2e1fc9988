import { Database } from 'bun:sqlite'

/** An uploaded SQLite file of another program, opened for reading. */
export interface SqliteFile {
  /** Names of its ordinary tables: neither views nor virtual tables, whose reads run code of the file. */
  tables: ReadonlySet<string>
  all<T>(sql: string, ...params: (string | number)[]): T[]
  close(): void
}

/** Opens a file that nobody vouches for. Null if it is no SQLite database. */
export function openSqliteFile(path: string): SqliteFile | null {
  let file: Database | null = null
  try {
    file = new Database(path, { readonly: true })
    // Functions with side effects cannot be called by views, triggers and defaults of the file.
    file.run('pragma trusted_schema = off')
    file.run('pragma query_only = on')
    const opened = file
    const names = opened
      .query<{ name: string }, []>(
        "select name from sqlite_master where type = 'table' and sql not like 'create virtual%'",
      )
      .all()
    return {
      tables: new Set(names.map(({ name }) => name)),
      all: <T>(sql: string, ...params: (string | number)[]) =>
        opened.query<T, (string | number)[]>(sql).all(...params),
      close: () => opened.close(),
    }
  } catch (error) {
    file?.close()
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_')) return null
    throw error
  }
}
