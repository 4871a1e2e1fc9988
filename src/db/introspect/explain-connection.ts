import type { ConnectionConfig } from '../connection.ts'
import { shortenMessage } from '../driver-message.ts'
import { CONNECT_TIMEOUT_MS } from './open-reader.ts'

type ServerConfig = Exclude<ConnectionConfig, { client: 'sqlite3' }>

/** What each code of the drivers, the system and the servers means to the one who typed the connection. */
const WORDS: [codes: RegExp, words: (config: ServerConfig, error: Error) => string][] = [
  [
    /^(ECONNREFUSED|CONNECTION_REFUSED)$/,
    ({ host, port }) =>
      `Could not connect to ${host}:${port}. Check that the server is running and reachable.`,
  ],
  [/^(ENOTFOUND|EAI_AGAIN|EAI_NONAME)$/, ({ host }) => `Unknown host "${host}"`],
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

/**
 * Why a connection could not be made, in words for the one who entered it. Passwords are in none of them.
 */
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

/** Node puts several attempts (IPv6, IPv4) into one error without words of its own. */
function partsOf(error: unknown): { message: string; code: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return partsOf(error.errors[0])
  if (!(error instanceof Error)) return { message: String(error).slice(0, 1000), code: '' }
  return { message: shortenMessage(error).message, code: 'code' in error ? String(error.code) : '' }
}
