import { AppError } from '../../core/errors.ts'
import { codeOf, explainDriverError } from '../driver-errors.ts'

/** Name of the `DATABASE_URL` server in error messages. */
export const OWN_DATABASE = 'this server'

/** Suggested to clients while the own database is away. */
const RETRY_AFTER_SECONDS = 2

/** Error codes for a server that is unreachable or rejects the connection. */
const UNREACHABLE = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'HANDSHAKE_NO_SSL_SUPPORT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ERR_SOCKET_CLOSED',
  'CONNECTION_REFUSED',
  'ERR_POSTGRES_CONNECTION_CLOSED',
])

/**
 * A server that stops, starts, or has too many connections:
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const UNAVAILABLE = new Set(['57P01', '57P02', '57P03', '53300', '53400', '08006', '08001', '08004'])
/** A wrong password, user or database. */
const REFUSED = new Set(['28P01', '28000', '3D000'])
/** Classes of SQLSTATE codes for values that a connected database rejects; `P0` is raised by functions, such as triggers. */
const REFUSED_VALUES = /^(22|23|44|54|428C9|P0)/
/** Codes that extension types such as `hstore` and `ltree` raise for unreadable text: a syntax error, or any. */
const UNREADABLE_VALUE = /^(42601|XX000)$/
/**
 * Tables, columns, schemas and types that were dropped or renamed (`0A000`: under a prepared statement), and columns
 * whose type has changed, so that an operator or function no longer applies.
 */
const GONE = /^(42P01|42703|42704|3F000|0A000|42883|42804|42846|42809)$/

/** True where trying again later may help. */
export function isConnectionError(error: unknown): boolean {
  const code = codeOf(error)
  return UNREACHABLE.has(code) || UNAVAILABLE.has(code)
}

/**
 * Codes of established connections that have ended. Asking again opens a new connection, which succeeds or reports that
 * the server is away.
 */
const LOST = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'ECONNRESET',
  'EPIPE',
  'ERR_SOCKET_CLOSED',
  '57P01',
  '57P02',
])

/** True if the error is the end of a connection rather than a failed attempt to connect. */
export const isLostConnection = (error: unknown): boolean => LOST.has(codeOf(error))

/** True if a column has changed since the statement was prepared; it works on a new connection. */
export const isStalePlan = (error: unknown): boolean => codeOf(error) === '0A000'

/** True if a text would become longer than the gigabyte that a value may have. */
export const isTooLong = (error: unknown): boolean => codeOf(error) === '54000'

/** True if a parameter has a null character. */
export const isUnstorableText = (error: unknown): boolean => codeOf(error) === '22021'

/** True if the statement was cancelled on request. */
export const isCancelled = (error: unknown): boolean => codeOf(error) === '57014'

/** True if an earlier statement of the transaction has failed. */
export const isInFailedTransaction = (error: unknown): boolean => codeOf(error) === '25P02'

/** True if a lock was not granted within `lock_timeout`. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03'

/** Codes of transactions that the server ended for the sake of another one: a deadlock, a serialization failure. */
const CONFLICTING = new Set(['40P01', '40001'])

/**
 * Translates a driver's error into a user-facing one. Returns errors that the dialect recognises (`violation`,
 * `isFullTable`) unchanged, and errors caused by a bug.
 *
 * @param source name of the database, e.g. `this server` or `Shop`
 */
export function explainPostgres(error: unknown, source: string): unknown {
  const isOwn = source === OWN_DATABASE
  const explained = explainDriverError(error, source, (cause, code) => {
    if (isConnectionError(cause) || isTlsError(cause, code)) return 'unreachable'
    if (REFUSED.has(code)) return 'refused'
    if (code === '57014') return 'timeout'
    if (isLockTimeout(cause) || CONFLICTING.has(code)) return 'busy'
    if (code === '42501' || code === '25006') return 'forbidden'
    if (GONE.test(code) && !isOwn) return 'gone'
    if (code === '23505' || code === '23502' || code === '54011') return null
    return REFUSED_VALUES.test(code) || isRefusedByWorker(cause) || (UNREADABLE_VALUE.test(code) && !isOwn)
      ? 'value'
      : null
  })
  // The own database usually restarts and comes back. Connected ones may be away for any reason.
  return isOwn &&
    explained !== error &&
    explained instanceof AppError &&
    explained.code === 'DATABASE_UNREACHABLE'
    ? new AppError(explained.code, explained.message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
    : explained
}

/** True for what a worker of Citus refuses of the rows that an `insert … select` sends it: the coordinator loses its code. */
const isRefusedByWorker = (error: Error): boolean =>
  codeOf(error) === 'XX000' && 'routine' in error && error.routine === 'ReportCopyError'

const isTlsError = (error: Error, code: string): boolean =>
  /^(ERR_TLS|CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)/.test(code) || /certificate/i.test(error.message)
