import type { Pool, PoolOptions, RowDataPacket } from 'mysql2'
import { fractionDigits } from '../../core/dates.ts'
import { exactNumber } from '../../dialects/exact-number.ts'
import { storedTime } from '../../dialects/standard-sql.ts'
import type { MysqlConnection, SslConfig } from '../connection.ts'
import { codeOf, explainDriverError } from '../driver-errors.ts'
import { FOREIGN_LOCK_MS } from '../mutex.ts'

const CONNECT_TIMEOUT_MS = 8_000
/** Idle connections are closed after this time. */
const IDLE_MS = 60_000

/**
 * Settings of every connection: times in UTC, an error instead of truncation for values that do not fit, backslash
 * escapes and quotes as the driver writes them, and keys of 0 stored as 0, so that restored records keep their keys. The
 * waits for locked rows and tables are limited, in seconds.
 */
const SESSION = `set time_zone = '+00:00',
  sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_VALUE_ON_ZERO',
  group_concat_max_len = 67108864,
  innodb_lock_wait_timeout = ${FOREIGN_LOCK_MS / 1000},
  lock_wait_timeout = ${FOREIGN_LOCK_MS / 1000}`

/**
 * A small connection pool for a MySQL or MariaDB server, which connects on first use.
 *
 * @param settings `encrypted` false: no encryption, for `prefer` with a server that has none. `timeoutMs`: read timeout
 *   of MySQL; MariaDB has a timeout per statement instead
 * @param onVersion called for each connection with the server's version, e.g. `10.11.6-MariaDB`
 */
export async function connectMysql(
  { host, port, user, password, database, ssl }: MysqlConnection,
  { max, encrypted, timeoutMs }: { max: number; encrypted: boolean; timeoutMs: number },
  onVersion: (version: string) => void,
): Promise<Pool> {
  // Loaded on first use, so that the server starts faster.
  const { createPool } = await import('mysql2')
  const options: PoolOptions = {
    host,
    port,
    user,
    password,
    database,
    connectionLimit: max,
    maxIdle: max,
    idleTimeout: IDLE_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    // LOCAL INFILE is off: a hostile server could read files of this machine.
    flags: ['-LOCAL_FILES'],
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    dateStrings: true,
    supportBigNumbers: true,
    jsonStrings: true,
    ssl: encrypted ? sslOption(ssl) : undefined,
    typeCast,
  }
  const pool = createPool(options)
  // Runs first, because statements on a connection run in order.
  pool.on('connection', (connection) => {
    // MariaDB skips this comment; MySQL 5.7.8 and later execute it.
    connection.query(`${SESSION} /*!50708 , max_execution_time = ${timeoutMs} */`)
    // A failure closes the connection, and its waiting callers get the error.
    connection.query<RowDataPacket[]>('select version() as version', (error, rows) => {
      if (!error && rows[0]) onVersion(String(rows[0].version))
    })
  })
  return pool
}

function sslOption(ssl: SslConfig | undefined): PoolOptions['ssl'] {
  if (!ssl || ssl.mode === 'disable') return undefined
  const { ca, cert, key } = ssl
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    rejectUnauthorized: ssl.mode === 'verify-ca' || ssl.mode === 'verify-full',
    verifyIdentity: ssl.mode === 'verify-full',
  }
}

type Cast = Extract<PoolOptions['typeCast'], (...given: never[]) => unknown>

/** Decodes values for cells: exact numbers, dates and JSON as text, bytes as hexadecimal. */
const typeCast: Cast = (field, next) => {
  switch (field.type as string) {
    case 'JSON':
      return field.string('utf8')
    case 'BIT':
      return bits(field.buffer())
    case 'NEWDECIMAL':
    case 'DECIMAL':
    case 'LONGLONG':
      return exactNumber(field.string())
    // The driver's own parsing is inexact: 999999999999999.9 would become 1e15.
    case 'FLOAT':
    case 'DOUBLE':
      return double(field.string())
    case 'DATE':
    case 'NEWDATE':
      return day(field.string())
    case 'DATETIME':
    case 'TIMESTAMP':
      return instant(field.string())
    case 'TIME':
      return time(field.string())
    default: {
      const value = next()
      return value instanceof Uint8Array ? `0x${Buffer.from(value).toString('hex')}` : value
    }
  }
}

const double = (text: string | null): number | null => (text === null ? null : Number(text))

/** The number of a BIT value. */
function bits(bytes: Uint8Array | null) {
  if (bytes === null) return null
  return exactNumber(BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`))
}

/** Null, or one of MySQL's "zero dates" (`0000-00-00`, month or day 0), which mean a missing value. */
const isNone = (text: string | null): boolean => text === null || /^(0000|\d{4}-00|\d{4}-\d\d-00)/.test(text)

const day = (text: string | null) => (isNone(text) ? null : text)

const time = (text: string | null) => (text === null ? null : storedTime(text))

function instant(text: string | null): string | null {
  if (text === null || isNone(text)) return null
  const [whole, fraction = ''] = text.split('.')
  const digits = fractionDigits(fraction)
  return `${whole}${digits === '' ? '' : `.${digits}`}+00:00`
}

/** Error codes for an unreachable server: of the driver, the system and the server. */
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'PROTOCOL_CONNECTION_LOST',
  'ER_CON_COUNT_ERROR',
  'ER_SERVER_SHUTDOWN',
  'HANDSHAKE_SSL_ERROR',
  'HANDSHAKE_NO_SSL_SUPPORT',
  'POOL_CLOSED',
  'ER_SECURE_TRANSPORT_REQUIRED',
])
const REFUSED = new Set(['ER_ACCESS_DENIED_ERROR', 'ER_DBACCESS_DENIED_ERROR', 'ER_BAD_DB_ERROR'])
const FORBIDDEN =
  /^ER_(TABLEACCESS|COLUMNACCESS|SPECIFIC_ACCESS|PROCACCESS)_DENIED_ERROR$|^ER_OPTION_PREVENTS/
const BUSY = new Set(['ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT'])
/** Error codes for tables and columns that were dropped or renamed. */
const GONE = new Set(['ER_NO_SUCH_TABLE', 'ER_BAD_FIELD_ERROR', 'ER_VIEW_INVALID', 'ER_UNKNOWN_TABLE'])
/** Error codes for values that the database or its constraints reject. */
const REFUSED_VALUES =
  /^(ER_TRUNCATED_WRONG_VALUE|ER_WARN_DATA|WARN_DATA|ER_DATA_|ER_NO_REFERENCED_ROW|ER_ROW_IS_REFERENCED|ER_CHECK_CONSTRAINT|ER_CONSTRAINT_FAILED|ER_INVALID_|ER_SIGNAL_EXCEPTION|ER_WRONG_VALUE|ER_CANT_CREATE_GEOMETRY|ER_GENERATED_COLUMN|ER_NON_INSERTABLE|ER_TOO_LONG|ER_WARN_DEPRECATED|ER_DIVISION)/

/** Error code for comparing a column with text that its character set cannot represent. */
const OTHER_LETTERS = /^ER_CANT_AGGREGATE_/

/** MariaDB's check violation, which the driver names by MySQL's meaning of the number. */
const isCheckOfMariadb = (error: Error): boolean => 'errno' in error && error.errno === 4025

/**
 * Errors of reads that the server has aborted because they take too long: 1969 of MariaDB and 3024 of MySQL for the
 * statement, 3699 (`regexp_time_limit`) and 3698 (`regexp_stack_limit`) of MySQL for a regular expression on one text.
 */
const TIME_LIMITS: ReadonlySet<unknown> = new Set([1969, 3024, 3698, 3699])
const isTimeLimit = (error: Error): boolean => 'errno' in error && TIME_LIMITS.has(error.errno)

/** True if a later retry may succeed. */
export const isMysqlConnectionError = (error: unknown): boolean => UNREACHABLE.has(codeOf(error))

/** True if encryption was requested and the server does not offer it. */
export const hasNoEncryption = (error: unknown): boolean => codeOf(error) === 'HANDSHAKE_NO_SSL_SUPPORT'

/**
 * Translates a driver's error into a user-facing one. Returns unique and not-null violations unchanged (for
 * `Dialect.violation`), and errors caused by a bug.
 *
 * @param source name of the database
 */
export function explainMysql(error: unknown, source: string): unknown {
  return explainDriverError(error, source, (cause, code) => {
    if (UNREACHABLE.has(code) || /certificate|self.signed/i.test(cause.message)) return 'unreachable'
    if (REFUSED.has(code)) return 'refused'
    if (code === 'PROTOCOL_SEQUENCE_TIMEOUT' || isTimeLimit(cause)) return 'timeout'
    if (FORBIDDEN.test(code)) return 'forbidden'
    if (BUSY.has(code)) return 'busy'
    if (GONE.has(code)) return 'gone'
    if (OTHER_LETTERS.test(code)) return 'character set'
    return REFUSED_VALUES.test(code) || isCheckOfMariadb(cause) ? 'value' : null
  })
}
