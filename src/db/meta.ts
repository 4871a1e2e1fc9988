import { Database, SQLiteError } from 'bun:sqlite'
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import { drizzle as drizzleSqlite } from 'drizzle-orm/bun-sqlite'
import { drizzle as drizzlePostgres } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import type { Config } from '../config.ts'
import { startFailure } from '../start-failure.ts'
import { type Claims, createPostgresClaims, UNSHARED } from './claims.ts'
import { type Columns, postgresColumns, sqliteColumns } from './columns.ts'
import { lockDataDir } from './data-lock.ts'
import { migratePostgres, migrateSqlite } from './migrate.ts'

/** A built query that `atomically` can run: what Drizzle's insert, update and delete builders are. */
export interface MetaStatement {
  toSQL(): { sql: string; params: unknown[] }
}

/**
 * Our own tables: accounts, bases, tables' definitions, views, jobs. An SQLite file or a PostgreSQL
 * database, chosen by `DATABASE_URL`; the same queries run on both.
 */
export interface Meta {
  client: 'sqlite3' | 'pg'
  /**
   * True where other processes may write to it as well. What one process has read may then be
   * outdated at once, so nothing that a revocation must void is held in memory (see `createReadCache`).
   */
  isShared: boolean
  /** What this process works on: others over the same metadata leave it alone. */
  claims: Claims
  /** Query builder. Always await a query: PostgreSQL answers later, SQLite at once. */
  db: BunSQLiteDatabase
  /** The engine's version of a module's tables; every call with one definition gives the same object. */
  tables<T>(define: (columns: Columns) => T): T
  /** Runs all statements in one transaction, in order: all of them hold afterwards, or none. */
  atomically(statements: MetaStatement[]): Promise<void>
  close(): Promise<void>
}

/** Opens the metadata database, bringing its tables up to date first. */
export async function openMeta(config: Pick<Config, 'dataDir' | 'databaseUrl'>): Promise<Meta> {
  return config.databaseUrl === null ? openSqlite(config.dataDir) : openPostgres(config.databaseUrl)
}

function openSqlite(dataDir: string): Meta {
  const unlock = lockDataDir(dataDir)
  const file = openFile(join(dataDir, 'sheaf.db'))
  const runAll = file.transaction((statements: MetaStatement[]) => {
    for (const statement of statements) {
      const { sql, params } = statement.toSQL()
      file.prepare(sql).run(...(params as never[]))
    }
  })
  return {
    client: 'sqlite3',
    isShared: false,
    claims: UNSHARED,
    db: drizzleSqlite(file),
    tables: memoised(sqliteColumns),
    atomically: async (statements) => runAll.immediate(statements),
    close: async () => {
      file.run('pragma wal_checkpoint(truncate)')
      file.close()
      unlock()
    },
  }
}

/** @throws Error that names the file, where it cannot be used or is of a later version */
function openFile(path: string): Database {
  try {
    // Its owner's alone, also in a folder that others may enter. SQLite gives the files beside it the same rights.
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
    const file = new Database(path, { strict: true })
    file.run('pragma journal_mode = wal')
    file.run('pragma synchronous = full')
    file.run('pragma foreign_keys = on')
    file.run('pragma busy_timeout = 5000')
    migrateSqlite(file)
    return file
  } catch (error) {
    throw error instanceof SQLiteError ? startFailure(`${path} cannot be opened`, error) : error
  }
}

async function openPostgres(url: string): Promise<Meta> {
  const client = postgres(url, { max: 10, onnotice: () => {} })
  await migratePostgres(client).catch((error) => {
    throw startFailure('The database of DATABASE_URL cannot be used', error)
  })
  // Nobody but us closes it: the claims would go with it.
  const claiming = postgres(url, { max: 1, idle_timeout: 0, max_lifetime: null, onnotice: () => {} })
  const claims = createPostgresClaims(claiming)
  return {
    client: 'pg',
    isShared: true,
    claims,
    // The builders of both dialects share the methods that are used; the values are held equal by `Columns`.
    db: drizzlePostgres(client) as never,
    tables: memoised(postgresColumns),
    atomically: async (statements) => {
      await client.begin(async (tx) => {
        for (const statement of statements) {
          const { sql, params } = statement.toSQL()
          await tx.unsafe(sql, params as never[])
        }
      })
    },
    async close() {
      await Promise.all([claiming.end({ timeout: 5 }), client.end({ timeout: 5 })])
    },
  }
}

function memoised(columns: Columns): Meta['tables'] {
  const made = new Map<unknown, unknown>()
  return <T>(define: (columns: Columns) => T): T => {
    if (!made.has(define)) made.set(define, define(columns))
    return made.get(define) as T
  }
}
