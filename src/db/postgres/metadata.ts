import { drizzle } from 'drizzle-orm/pg-proxy'
import { badRequest } from '../../core/errors.ts'
import type { Statement } from '../../dialects/dialect.ts'
import { m } from '../../messages.gen.ts'
import { startFailure } from '../../start-failure.ts'
import type { PostgresConnection } from '../connection.ts'
import { migratePostgres } from '../migrate.ts'
import { type EngineWatch, reportMetadata } from '../watched-engine.ts'
import { changesCachedRows, joinCluster, type PostgresCluster } from './cluster.ts'
import { connectionShares } from './connection-budget.ts'
import { connectPostgres } from './driver.ts'
import {
  explainPostgres,
  isConnectionError,
  isLostConnection,
  isUnstorableText,
  OWN_DATABASE,
} from './errors.ts'
import { type ConnectionCounts, type Lane, openLanes, rollBack } from './lanes.ts'

/** Metadata is read by key; only a blocked statement takes longer. */
const STATEMENT_TIMEOUT_MS = 60_000

/** The metadata in a PostgreSQL database. */
export interface PostgresMetadata {
  cluster: PostgresCluster
  /** Drizzle's query builder. */
  builder: ReturnType<typeof drizzle>
  query<T>(sql: string): Promise<T[]>
  /** Runs the statements in order in one transaction. */
  transaction(statements: Statement[]): Promise<void>
  connections(): ConnectionCounts
  close(): Promise<void>
}

/**
 * Migrates the metadata, opens its connection pool and joins the servers that share it. All statements go through
 * `run`, which
 *
 * - repeats a read once if its connection was lost, and reports a server that is away as DATABASE_UNREACHABLE,
 * - reports text that PostgreSQL cannot compare or store as BAD_REQUEST: the null character of an id in a path,
 * - returns from a write of rows that other servers cache once they all know of it,
 * - reports how long the statements took, with waiting for a connection.
 *
 * @param maxConnections of this server to the database
 * @throws Error that names the setting to change
 */
export async function openPostgresMetadata(
  connection: PostgresConnection,
  maxConnections: number,
  onError: (message: string, error: unknown) => void,
  watch: EngineWatch,
): Promise<PostgresMetadata> {
  const schema = await prepare(connection, maxConnections).catch((error) => {
    throw startFailure('The database of DATABASE_URL cannot be used', error)
  })
  const lanes = openLanes(connection, {
    max: connectionShares(maxConnections).metadata,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    isShared: true,
  })
  const cluster = joinCluster(connection, { query }, onError)
  await cluster.opened

  async function run<T>(statements: Statement[], work: (lane: Lane) => Promise<T>): Promise<T> {
    const use = () => lanes.use(schema, work)
    const startedAt = performance.now()
    const isRead = statements.every(({ sql }) => /^[\s(]*select\b/i.test(sql))
    const result = await use()
      .catch((error) => {
        if (!isRead || !isLostConnection(error)) throw error
        return use()
      })
      .catch((error) => {
        if (isUnstorableText(error)) throw badRequest(m.schema_error_unstorable_text())
        throw isConnectionError(error) ? explainPostgres(error, OWN_DATABASE) : error
      })
      .finally(() => {
        const [first] = statements
        if (first) reportMetadata(watch, 'pg', { sql: first.sql, statements: statements.length }, startedAt)
      })
    if (statements.some(({ sql }) => changesCachedRows(sql))) await cluster.confirmed()
    return result
  }

  async function query<T>(statement: Statement, arrays = false): Promise<T[]> {
    const { rows } = await run([statement], (lane) => lane.query(statement, { arrays }))
    return rows as T[]
  }

  return {
    cluster,
    builder: drizzle(async (sql, params, method) => ({
      rows: await query({ sql, params }, method === 'all'),
    })),
    query: (sql) => query({ sql, params: [] }),
    transaction: (statements) =>
      run(statements, async (lane) => {
        await lane.command('begin')
        try {
          for (const statement of statements) await lane.query(statement)
          await lane.command('commit')
        } catch (error) {
          await rollBack(lane)
          throw error
        }
      }),
    connections: lanes.counts,
    async close() {
      await cluster.close()
      await lanes.close()
    },
  }
}

/**
 * Migrates the metadata and returns its schema: the first one of the role's search path.
 *
 * @throws Error if the server does not allow so many connections
 */
async function prepare(connection: PostgresConnection, maxConnections: number): Promise<string> {
  const client = connectPostgres(connection, { searchPath: null, statementTimeoutMs: 0 })
  try {
    const [limits] = await client.unsafe<{ schema: string | null; allowed: number }[]>(ALLOWED_CONNECTIONS)
    if (!limits?.schema) throw new Error('No schema of the search path exists')
    if (maxConnections > limits.allowed) {
      throw new Error(
        `DATABASE_CONNECTIONS is ${maxConnections}, but PostgreSQL allows ${limits.allowed}: ` +
          'lower it, or raise max_connections there',
      )
    }
    await migratePostgres(client)
    return limits.schema
  } finally {
    await client.end({ timeout: 5 })
  }
}

/** The connections that the server leaves to ordinary roles, and the limits of the role and the database (-1: none). */
const ALLOWED_CONNECTIONS = `
  select current_schema()::text as schema, least(
    current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
    (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user),
    (select nullif(datconnlimit, -1) from pg_database where datname = current_database())
  )::integer as allowed`
