import { Database } from 'bun:sqlite'
import { type Connection, type ConnectionOptions, createConnection } from 'mysql2'
import { type Caller, cancelled, currentCaller, whileWanted } from '../../caller.ts'
import { bound } from '../bound.ts'
import type { ConnectionConfig, MysqlConnection, PostgresConnection, SslConfig } from '../connection.ts'
import { connectPostgres, NOWHERE } from '../postgres/driver.ts'
import type { StructureReader } from './structure.ts'

/** Longest wait for a server to answer at all. */
export const CONNECT_TIMEOUT_MS = 8_000
/** Longest time that one question about the structure may take. */
const STATEMENT_TIMEOUT_MS = 60_000

/** A connection of its own, for looking at a database and nothing else. */
export interface OpenReader extends StructureReader {
  close(): Promise<void>
}

/**
 * Connects to a database. Nothing is kept of it: who opens it closes it. Where the caller goes away, an attempt to
 * connect and a question that is under way end at once.
 *
 * @throws the driver's error, which `explainConnection` words; QUERY_CANCELLED where the caller has gone
 */
export async function openReader(config: ConnectionConfig): Promise<OpenReader> {
  const open = OPEN[config.client] as (config: ConnectionConfig) => Promise<OpenReader>
  return open(config)
}

/** As `whileWanted`; does not wait for the driver, which may say nothing once its connection is destroyed. */
function untilGone<T>(
  caller: Caller | undefined,
  question: () => Promise<T>,
  cancel: () => void,
): Promise<T> {
  const gone = Promise.withResolvers<never>()
  return whileWanted(
    caller,
    () => Promise.race([question(), gone.promise]),
    () => {
      cancel()
      gone.reject(cancelled())
    },
  )
}

const OPEN = { pg: openPostgres, mysql2: openMysql, sqlite3: openSqlite }

async function openPostgres(config: PostgresConnection): Promise<OpenReader> {
  const caller = currentCaller()
  const gone = new AbortController()
  const client = connectPostgres(config, {
    searchPath: NOWHERE,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    signal: gone.signal,
  })
  const close = () => client.end({ timeout: 1 })
  const ask = <T>(question: () => Promise<T>): Promise<T> => untilGone(caller, question, () => gone.abort())
  try {
    await ask(async () => await client.unsafe('select 1'))
  } catch (error) {
    await close()
    throw error
  }
  return {
    all: <T>({ sql, params }: { sql: string; params: unknown[] }) =>
      ask(async () => [...(await client.unsafe(sql, bound(params)))] as T[]),
    close,
  }
}

async function openMysql(config: MysqlConnection): Promise<OpenReader> {
  const caller = currentCaller()
  const connection = await connectMysql(config)
  return {
    all: <T>({ sql, params }: { sql: string; params: unknown[] }) =>
      untilGone(
        caller,
        async () =>
          (
            await connection.promise().query({ sql, values: params, timeout: STATEMENT_TIMEOUT_MS })
          )[0] as T[],
        () => connection.destroy(),
      ),
    close: async () => connection.destroy(),
  }
}

/** `prefer` tries with encryption first: the driver itself knows only with or without. */
async function connectMysql(config: MysqlConnection) {
  const { host, port, user, password, database, ssl } = config
  const options = {
    host,
    port,
    user,
    password,
    database,
    connectTimeout: CONNECT_TIMEOUT_MS,
    charset: 'utf8mb4',
    multipleStatements: false,
    flags: ['-LOCAL_FILES'],
  }
  const encryption = sslOf(ssl)
  if (ssl?.mode !== 'prefer') return connected({ ...options, ...(encryption && { ssl: encryption }) })
  try {
    return await connected({ ...options, ssl: { rejectUnauthorized: false } })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'HANDSHAKE_NO_SSL_SUPPORT')) throw error
    return connected(options)
  }
}

/** The driver's own limit ends when the line is open: a server that then says nothing would be waited for. */
function connected(options: ConnectionOptions): Promise<Connection> {
  const { promise, resolve, reject } = Promise.withResolvers<Connection>()
  const connection = createConnection(options)
  const giveUp = (code: string, message: string) => {
    connection.destroy()
    reject(Object.assign(new Error(message), { code }))
  }
  const timer = setTimeout(() => giveUp('ETIMEDOUT', 'The server said nothing'), CONNECT_TIMEOUT_MS)
  // It stays: a connection that breaks later would otherwise end the process.
  connection.on('error', reject)
  connection.connect((error) => {
    clearTimeout(timer)
    if (error) reject(error)
    else resolve(connection)
  })
  return untilGone(
    currentCaller(),
    () => promise.finally(() => clearTimeout(timer)),
    () => giveUp('PROTOCOL_CONNECTION_LOST', 'The caller has gone'),
  )
}

function sslOf(ssl: SslConfig | undefined) {
  if (!ssl || ssl.mode === 'disable') return undefined
  const { mode, ca, cert, key } = ssl
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    rejectUnauthorized: mode === 'verify-ca' || mode === 'verify-full',
    verifyIdentity: mode === 'verify-full',
  }
}

async function openSqlite({ file }: { file: string }): Promise<OpenReader> {
  const database = new Database(file, { readonly: true, strict: true })
  try {
    database.query('select count(*) from sqlite_master').get()
  } catch (error) {
    database.close()
    throw error
  }
  return {
    all: async <T>({ sql, params }: { sql: string; params: unknown[] }) =>
      database.prepare(sql).all(...bound(params)) as T[],
    close: async () => database.close(),
  }
}
