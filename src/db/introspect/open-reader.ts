import { Database } from 'bun:sqlite'
import type { Connection, ConnectionOptions } from 'mysql2'
import { type Caller, cancelled, currentCaller, whileWanted } from '../../caller.ts'
import { bound } from '../../dialects/standard-sql.ts'
import type { ConnectionConfig, MysqlConnection, PostgresConnection, SslConfig } from '../connection.ts'
import { shortenMessage } from '../driver-errors.ts'
import { connectPostgres, NOWHERE } from '../postgres/driver.ts'
import { patiently } from '../sqlite-lock.ts'
import type { StructureReader } from './structure.ts'

/** Timeout for connecting. */
const CONNECT_TIMEOUT_MS = 8_000
/** Timeout of one query about the structure. */
const STATEMENT_TIMEOUT_MS = 60_000

/** A separate connection for introspection only. */
export interface OpenReader extends StructureReader {
  close(): Promise<void>
}

/**
 * Connects to a database; the caller closes the connection. If the caller disconnects, a pending connection attempt or
 * query ends at once.
 *
 * @throws the driver's error, for `explainConnection`; QUERY_CANCELLED if the caller has disconnected
 */
export async function openReader(config: ConnectionConfig): Promise<OpenReader> {
  const open = OPEN[config.client] as (config: ConnectionConfig) => Promise<OpenReader>
  return open(config)
}

/** As `whileWanted`, but does not wait for the driver, which may never realign after its connection is destroyed. */
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

/** `prefer` tries with encryption first, because the driver itself has no such mode. */
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

/** The driver's own timeout covers only the TCP connection, not a server that stays silent afterwards. */
async function connected(options: ConnectionOptions): Promise<Connection> {
  const { createConnection } = await import('mysql2')
  const { promise, resolve, reject } = Promise.withResolvers<Connection>()
  const connection = createConnection(options)
  const giveUp = (code: string, message: string) => {
    connection.destroy()
    reject(Object.assign(new Error(message), { code }))
  }
  const timer = setTimeout(() => giveUp('ETIMEDOUT', 'The server said nothing'), CONNECT_TIMEOUT_MS)
  // The listener stays: without one, a connection that breaks later would end the process.
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
    await patiently(() => database.query('select count(*) from sqlite_master').get())
  } catch (error) {
    database.close()
    throw error
  }
  return {
    all: <T>({ sql, params }: { sql: string; params: unknown[] }) =>
      patiently(() => database.prepare(sql).all(...bound(params)) as T[]),
    close: async () => database.close(),
  }
}

type ServerConfig = Exclude<ConnectionConfig, { client: 'sqlite3' }>

/** User-facing message per error code of the drivers, the system and the servers. */
const WORDS: [codes: RegExp, words: (config: ServerConfig, error: Error) => string][] = [
  [
    /^(ECONNREFUSED|CONNECTION_REFUSED)$/,
    ({ host, port }) =>
      `Could not connect to ${host}:${port}. Check that the server is running and reachable.`,
  ],
  [/^(ENOTFOUND|EAI_AGAIN|EAI_NONAME)$/, ({ host }) => `Unknown host “${host}”`],
  [
    /^(ETIMEDOUT|CONNECT_TIMEOUT|EHOSTUNREACH|ENETUNREACH)$/,
    ({ host, port }) => `${host}:${port} did not answer within ${CONNECT_TIMEOUT_MS / 1000} seconds`,
  ],
  [
    /^(ECONNRESET|CONNECTION_CLOSED|CONNECTION_ENDED|PROTOCOL_CONNECTION_LOST|EPIPE|ERR_SOCKET_CLOSED)$/,
    ({ host, port, ssl }) =>
      `${host}:${port} closed the connection: it may be no database of this kind, or ${
        ssl && ssl.mode !== 'disable' ? 'it offers no encryption' : 'it asks for encryption'
      }`,
  ],
  [
    /^(28P01|ER_ACCESS_DENIED_ERROR|ER_ACCESS_DENIED_NO_PASSWORD_ERROR)$/,
    ({ user }) => `The user name "${user}" or the password is wrong`,
  ],
  [/^(3D000|ER_BAD_DB_ERROR)$/, ({ database }) => `Database "${database}" does not exist on this server`],
  [
    /^(ER_DBACCESS_DENIED_ERROR|42501)$/,
    ({ user, database }) => `The user "${user}" has no access to database "${database}"`,
  ],
  [
    /^(ER_SECURE_TRANSPORT_REQUIRED|3159)$/,
    () => 'The server only accepts encrypted connections. Set SSL mode to "Required".',
  ],
  [
    /^HANDSHAKE_NO_SSL_SUPPORT$/,
    () => 'The server does not support encryption. Set SSL mode to "No" or "Preferred".',
  ],
  [/^(53300|ER_CON_COUNT_ERROR)$/, () => 'The server has too many connections'],
  [/^57P03$/, () => 'The server is starting or shutting down. Try again in a moment.'],
]

/** A user-facing reason why a connection failed. Never contains passwords. */
export function explainConnection(error: unknown, config: ConnectionConfig): string {
  const { message, code } = partsOf(error)
  if ('file' in config) return `The file is not a readable SQLite database: ${message}`
  const known = WORDS.find(([codes]) => codes.test(code))
  if (known) return known[1](config, error as Error)
  // PostgreSQL has one code for "no such user", "not from this address" and "not without encryption".
  if (code === '28000' && /no encryption|SSL off/i.test(message)) {
    return 'The server only accepts encrypted connections. Set SSL mode to "Required".'
  }
  if (code === '28000') return `The server rejected user "${config.user}": ${message}`
  if (/certificate|^ERR_TLS|SELF_SIGNED|UNABLE_TO/i.test(`${code} ${message}`)) {
    return `The certificate of the server is not trusted: ${message}`
  }
  if (/does not support SSL/i.test(message) || (/SSL/i.test(message) && /not supported/i.test(message))) {
    return 'The server does not support encryption. Set SSL mode to "No" or "Preferred".'
  }
  return `The database refused the connection: ${message || code}`
}

/** Node wraps several attempts (IPv6, IPv4) in one error without a message. */
function partsOf(error: unknown): { message: string; code: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return partsOf(error.errors[0])
  if (!(error instanceof Error)) return { message: String(error).slice(0, 1000), code: '' }
  return { message: shortenMessage(error).message, code: 'code' in error ? String(error.code) : '' }
}
