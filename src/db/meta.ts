import { Database, SQLiteError, type SQLQueryBindings } from 'bun:sqlite'
import { closeSync, existsSync, openSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite'
import { ALONE, type Cluster } from '../cluster.ts'
import type { Config } from '../config.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { postgres } from '../dialects/postgres.ts'
import { sqlite } from '../dialects/sqlite.ts'
import { bound } from '../dialects/standard-sql.ts'
import type { Log } from '../log.ts'
import { startFailure } from '../start-failure.ts'
import { type Columns, postgresColumns, sqliteColumns, typedAsSqlite } from './columns.ts'
import { postgresConnection } from './connection.ts'
import { lockDataDir } from './lock-data-dir.ts'
import { migrateSqlite } from './migrate.ts'
import { refuseMoved } from './move/installation.ts'
import { readBaseMovesIn, readMoveStateIn } from './move/postgres-installation.ts'
import { readMoveState } from './move/sqlite-installation.ts'
import { DEFAULT_CONNECTIONS } from './postgres/connection-budget.ts'
import type { ConnectionCounts } from './postgres/lanes.ts'
import { openPostgresMetadata } from './postgres/metadata.ts'
import { type EngineWatch, reportMetadata } from './watched-engine.ts'

/** A built query that `atomically` can run: Drizzle's insert, update and delete builders. */
export interface MetaStatement {
  toSQL(): { sql: string; params: unknown[] }
}

/** Reads of metadata: those of this installation, or of a backup. */
export type MetaReader = Pick<BunSQLiteDatabase, 'select'>

/**
 * The metadata database: accounts, bases, table definitions, views, jobs. An SQLite file or a PostgreSQL database,
 * chosen by `DATABASE_URL`; the same queries run on both.
 */
export interface Meta {
  client: 'sqlite3' | 'pg'
  /** The servers that share it. A write of cached rows returns once all servers know of it. */
  cluster: Cluster
  /**
   * Query builder, limited to the methods of both engines. Always await queries: PostgreSQL is asynchronous, SQLite is
   * not.
   */
  db: Pick<BunSQLiteDatabase, 'select' | 'selectDistinct' | 'insert' | 'update' | 'delete' | '$with' | 'with'>
  /** A module's tables for the engine. Calls with the same definition return the same object. */
  tables<T>(define: (columns: Columns) => T): T
  /** Runs all statements in order in one transaction. */
  atomically(statements: MetaStatement[]): Promise<void>
  /** As `Dialect.violation`, for errors of this database. */
  violation: Dialect['violation']
  /** True if it holds data encrypted with the connections key. */
  holdsSealed(): Promise<boolean>
  /** Checks that the database answers. @throws if it does not */
  check(): Promise<void>
  /** The connections to PostgreSQL for metadata; null in SQLite. */
  connections(): ConnectionCounts | null
  close(): Promise<void>
}

/** Queries for encrypted data: connections to other databases, queued mails, plugins and buckets. */
const SEALED = [
  'select 1 from sources where config is not null limit 1',
  'select 1 from mails where content is not null limit 1',
  'select 1 from plugins where input is not null limit 1',
  'select 1 from base_imports where credentials is not null limit 1',
  'select 1 from file_buckets limit 1',
  'select 1 from backup_settings limit 1',
]

/** Opens the metadata database after migrating it. */
export async function openMeta(
  {
    dataDir,
    databaseUrl,
    databaseConnections = DEFAULT_CONNECTIONS,
  }: Pick<Config, 'dataDir' | 'databaseUrl'> & Partial<Pick<Config, 'databaseConnections'>>,
  log?: Pick<Log, 'error'>,
  watch: EngineWatch = {},
): Promise<Meta> {
  return databaseUrl === null
    ? openSqlite(dataDir, watch)
    : openPostgres(databaseUrl, databaseConnections, log, watch)
}

function openSqlite(dataDir: string, watch: EngineWatch): Meta {
  const unlock = lockDataDir(dataDir)
  const path = join(dataDir, 'sheaf.db')
  const file = openFile(path, dataDir)
  const runAll = file.transaction((statements: MetaStatement[]) => {
    for (const statement of statements) {
      const { sql, params } = statement.toSQL()
      file.prepare(sql).run(...bound(params))
    }
  })
  return {
    client: 'sqlite3',
    cluster: ALONE,
    db: drizzle(watchFile(file, watch)),
    tables: memoised(sqliteColumns),
    async atomically(statements) {
      const [first] = statements
      if (!first) return
      const startedAt = performance.now()
      try {
        runAll.immediate(statements)
      } finally {
        reportMetadata(watch, 'sqlite3', { sql: first.toSQL().sql, statements: statements.length }, startedAt)
      }
    },
    violation: sqlite.violation,
    holdsSealed: async () => SEALED.some((sql) => file.query(sql).get() !== null),
    async check() {
      if (!existsSync(path)) throw new Error(`${path} is missing`)
      file.query('select count(*) from migrations').get()
    },
    connections: () => null,
    close: async () => {
      file.run('pragma wal_checkpoint(truncate)')
      file.close()
      unlock()
    },
  }
}

/** The file as Drizzle uses it, with its statements observed. */
function watchFile(file: Database, watch: EngineWatch): Database {
  if (!watch.observe && !watch.slow) return file
  const prepare = (sql: string) => {
    const statement = file.prepare(sql)
    const watched =
      <R>(run: (...params: SQLQueryBindings[]) => R) =>
      (...params: SQLQueryBindings[]): R => {
        const startedAt = performance.now()
        try {
          return run(...params)
        } finally {
          reportMetadata(watch, 'sqlite3', { sql }, startedAt)
        }
      }
    return {
      run: watched((...params) => statement.run(...params)),
      all: watched((...params) => statement.all(...params)),
      values: watched((...params) => statement.values(...params)),
    }
  }
  return { prepare } as unknown as Database
}

/** @throws Error naming the file, if it is unusable or written by a later version */
function openFile(path: string, dataDir: string): Database {
  try {
    if (isGone(path)) refuseLost(path, dataDir)
    // Readable by the owner only, even in a shared folder. SQLite gives the companion files the same mode.
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
    const file = new Database(path, { strict: true })
    file.run('pragma journal_mode = wal')
    file.run('pragma synchronous = full')
    file.run('pragma foreign_keys = on')
    file.run('pragma busy_timeout = 5000')
    migrateSqlite(file)
    refuseMoved(`The data folder ${dataDir}`, readMoveState(file))
    return file
  } catch (error) {
    throw error instanceof SQLiteError ? startFailure(`${path} cannot be opened`, error) : error
  }
}

/** True if the data folder already holds metadata. */
export const hasMetadata = ({ dataDir }: Pick<Config, 'dataDir'>): boolean =>
  !isGone(join(dataDir, 'sheaf.db'))

/** True for a missing or empty file, which SQLite would open as an empty database. */
const isGone = (path: string): boolean => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0

/**
 * Rejects a data folder that has bases but no metadata: the metadata has been lost.
 *
 * @throws Error that names the file
 */
function refuseLost(path: string, dataDir: string): void {
  // The latest writes may be only in the write-ahead log.
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0 && existsSync(path)) return
  for (const folder of ['bases', 'attachments']) {
    const inside = join(dataDir, folder)
    if (!existsSync(inside) || readdirSync(inside).length === 0) continue
    throw new Error(
      `${path} is missing or empty, but ${inside} holds data: restore the file from a backup, ` +
        'or start with another DATA_DIR. Nothing was created',
    )
  }
}

async function openPostgres(
  url: string,
  maxConnections: number,
  log: Pick<Log, 'error'> | undefined,
  watch: EngineWatch,
): Promise<Meta> {
  const { cluster, builder, query, transaction, connections, close } = await openPostgresMetadata(
    postgresConnection(url),
    maxConnections,
    (message, error) => log?.error(message, error),
    watch,
  )
  try {
    // After joining the other servers: a move marks the database first and then looks for servers.
    refuseMoved('The database of DATABASE_URL', await readMoveStateIn(query), await readBaseMovesIn(query))
  } catch (error) {
    await close()
    throw error
  }
  return {
    client: 'pg',
    cluster,
    db: typedAsSqlite(builder),
    tables: memoised(postgresColumns),
    atomically: (statements) => transaction(statements.map((statement) => statement.toSQL())),
    violation: postgres.violation,
    async holdsSealed() {
      const found = await Promise.all(SEALED.map((sql) => query(sql)))
      return found.some(({ length }) => length > 0)
    },
    async check() {
      await query('select count(*) from migrations')
    },
    connections,
    close,
  }
}

function memoised(columns: Columns): Meta['tables'] {
  const made = new Map<unknown, unknown>()
  return <T>(define: (columns: Columns) => T): T => {
    if (!made.has(define)) made.set(define, define(columns))
    return made.get(define) as T
  }
}
