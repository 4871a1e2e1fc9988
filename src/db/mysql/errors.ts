import { AppError } from '../../core/errors.ts'
import { changedThere } from '../changed-there.ts'
import { shortenMessage } from '../driver-message.ts'

/** What the driver, the system and the server say where a server does not answer. */
const UNREACHABLE = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH'],
  ...['ENETUNREACH', 'ENOENT', 'PROTOCOL_CONNECTION_LOST', 'ER_CON_COUNT_ERROR', 'ER_SERVER_SHUTDOWN'],
  ...['HANDSHAKE_SSL_ERROR', 'HANDSHAKE_NO_SSL_SUPPORT', 'POOL_CLOSED', 'ER_SECURE_TRANSPORT_REQUIRED'],
])
const REFUSED = new Set(['ER_ACCESS_DENIED_ERROR', 'ER_DBACCESS_DENIED_ERROR', 'ER_BAD_DB_ERROR'])
const FORBIDDEN =
  /^ER_(TABLEACCESS|COLUMNACCESS|SPECIFIC_ACCESS|PROCACCESS)_DENIED_ERROR$|^ER_OPTION_PREVENTS/
const BUSY = new Set(['ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT'])
/** Tables and columns that somebody has dropped or renamed there. */
const GONE = new Set(['ER_NO_SUCH_TABLE', 'ER_BAD_FIELD_ERROR', 'ER_VIEW_INVALID', 'ER_UNKNOWN_TABLE'])
/** What the data or the rules of the database refuse. */
const REFUSED_VALUES =
  /^(ER_TRUNCATED_WRONG_VALUE|ER_WARN_DATA|WARN_DATA|ER_DATA_|ER_NO_REFERENCED_ROW|ER_ROW_IS_REFERENCED|ER_CHECK_CONSTRAINT|ER_CONSTRAINT_FAILED|ER_INVALID_|ER_SIGNAL_EXCEPTION|ER_WRONG_VALUE|ER_CANT_CREATE_GEOMETRY|ER_GENERATED_COLUMN|ER_NON_INSERTABLE|ER_TOO_LONG|ER_WARN_DEPRECATED|ER_DIVISION)/

/** A text is compared with a column whose character set has no such letters. */
const OTHER_LETTERS = /^ER_CANT_AGGREGATE_/

/** The driver calls it by what MySQL means by the number. */
const isCheckOfMariadb = (error: Error): boolean => 'errno' in error && error.errno === 4025

/** The server has stopped a read: error 1969 of MariaDB, 3024 of MySQL. */
const isTimeLimit = (error: Error): boolean =>
  'errno' in error && (error.errno === 1969 || error.errno === 3024)

/** True where trying again later may help. */
export const isMysqlConnectionError = (error: unknown): boolean => UNREACHABLE.has(codeOf(error))

/** True where the server was asked for encryption and offers none. */
export const hasNoEncryption = (error: unknown): boolean => codeOf(error) === 'HANDSHAKE_NO_SSL_SUPPORT'

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/**
 * What went wrong in words for the person who asked. Unique and not-null violations pass as they are, for
 * `Dialect.violation`; so does what is a fault of ours.
 *
 * @param source what the database is called
 */
export function explainMysql(error: unknown, source: string): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error
  shortenMessage(error)
  const code = codeOf(error)
  const refuse = (what: string) => new AppError('DATABASE_ERROR', `The database of ${source} ${what}`)
  if (UNREACHABLE.has(code) || /certificate|self.signed/i.test(error.message)) {
    const message = `The database of ${source} cannot be reached: ${error.message || code}`
    return new AppError('DATABASE_UNREACHABLE', message)
  }
  if (REFUSED.has(code)) return refuse(`refused the connection: ${error.message}`)
  if (code === 'PROTOCOL_SEQUENCE_TIMEOUT' || isTimeLimit(error)) return refuse('took too long to answer')
  if (FORBIDDEN.test(code)) return refuse(`does not allow this: ${error.message}`)
  if (BUSY.has(code)) return new AppError('CONFLICT', `The database of ${source} is busy. Try again.`)
  if (GONE.has(code)) return new AppError('DATABASE_ERROR', `${changedThere(source)}: ${error.message}`)
  if (OTHER_LETTERS.test(code)) {
    return refuse(
      `cannot compare this text: the column's character set has no such letters (${error.message})`,
    )
  }
  if (REFUSED_VALUES.test(code) || isCheckOfMariadb(error))
    return refuse(`refused the value: ${error.message}`)
  return error
}
