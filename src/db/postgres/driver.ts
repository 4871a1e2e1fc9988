import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import postgres, { type Sql } from 'postgres'
import { fractionDigits } from '../../core/dates.ts'
import { AppError } from '../../core/errors.ts'
import { exactNumber } from '../../dialects/exact-number.ts'
import { storedTime } from '../../dialects/standard-sql.ts'
import { m } from '../../messages.gen.ts'
import type { PostgresConnection, SslConfig } from '../connection.ts'

/** Oids of built-in types: https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_type.dat */
const OID = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  text: 25,
  json: 114,
  date: 1082,
  time: 1083,
  timestamp: 1114,
  numeric: 1700,
  float4: 700,
  float8: 701,
  varchar: 1043,
  timestamptz: 1184,
  jsonb: 3802,
}

const same = (text: string): string => text

/** Decodes values for cells: exact numbers; dates, times and JSON as text. */
const TYPES = {
  exact: { to: OID.int8, from: [OID.int8, OID.numeric], serialize: String, parse: exactNumber },
  // JSON has no infinite numbers.
  float: {
    to: OID.float8,
    from: [OID.float4, OID.float8],
    serialize: String,
    parse: (text: string) => exactNumber(Number(text)),
  },
  flag: {
    to: OID.bool,
    from: [OID.bool],
    // PostgreSQL parses bound text itself: `yes`, `off`, `1`.
    serialize: String,
    parse: (text: string) => text === 't',
  },
  json: { to: OID.json, from: [OID.json, OID.jsonb], serialize: String, parse: same },
  date: { to: OID.date, from: [OID.date], serialize: String, parse: same },
  time: { to: OID.time, from: [OID.time], serialize: String, parse: storedTime },
  bytes: { to: OID.bytea, from: [OID.bytea], serialize: String, parse: same },
  instant: {
    to: OID.timestamptz,
    from: [OID.timestamptz, OID.timestamp],
    serialize: String,
    parse: storedInstant,
  },
}

/** Parsers of the text of a value, by its type; null: the text is the value. */
const PARSERS = new Map<number, ((text: string) => unknown) | null>([
  ...[OID.int2, OID.int4].map((oid) => [oid, Number] as const),
  ...[OID.text, OID.varchar].map((oid) => [oid, null] as const),
  ...Object.values(TYPES).flatMap(({ from, parse }) =>
    from.map((oid) => [oid, parse === same ? null : parse] as const),
  ),
  // A cast to text spells it out, unlike the protocol.
  [OID.bool, (text) => text === 'true'],
])

/**
 * How a value that was cast to text becomes the value that the driver would return without the cast: a function, or null
 * if it is the text. Undefined for types of which the cast may differ.
 */
export const parserOfText = (oid: number): ((text: string) => unknown) | null | undefined => PARSERS.get(oid)

const NUMERIC = new Set([OID.int2, OID.int4, ...TYPES.exact.from, ...TYPES.float.from])

/** True for types whose values are numbers. */
export const isNumericType = (oid: number): boolean => NUMERIC.has(oid)

/** Converts `2024-02-29 12:00:00.5+00` to the format of cells, `2024-02-29 12:00:00.500+00:00`. Without a zone, UTC. */
export function storedInstant(text: string): string {
  const match = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.(\d+))?(?:\+00)?$/.exec(text)
  // `infinity`, and dates outside the years 1 to 9999.
  if (!match) return text
  const digits = fractionDigits(match[2] ?? '')
  return `${match[1]}${digits === '' ? '' : `.${digits}`}+00:00`
}

/** Settings of each new connection. */
export interface ConnectionSettings {
  /** Schema for unqualified names; null for the role's own search path. */
  searchPath: string | null
  /** Statement timeout; 0 for no limit. */
  statementTimeoutMs: number
  /** Limit of a transaction's pause between two statements; none by default. */
  idleInTransactionMs?: number
  /** True for the database that servers share: what a machine holds there ends soon after it is gone without a word. */
  isShared?: boolean
  onclose?: () => void
  /** Receives the notifications of subscribed channels. */
  onnotify?: (channel: string, text: string) => void
  /** Aborts a connection attempt for which no caller waits any more. */
  signal?: AbortSignal
}

/** An empty search path: a statement without a schema fails instead of reaching another base's table. */
export const NOWHERE = 'sheaf_nowhere'

/**
 * A client with a single connection, opened on first use and reopened after a loss.
 *
 * The driver takes missing settings from this server's environment (`PGUSER`, `PGPASSWORD`, …) and reads a host with a
 * `/` as a local socket. Therefore it gets all settings, and sockets that are already connected.
 */
export function connectPostgres(
  target: PostgresConnection,
  {
    searchPath,
    statementTimeoutMs,
    idleInTransactionMs,
    isShared = false,
    onclose,
    onnotify,
    signal,
  }: ConnectionSettings,
): Sql {
  const { host, port, user, password, database } = target
  if (user === '' || host.includes('/')) throw new AppError('DATABASE_ERROR', m.source_error_incomplete())
  const options = {
    // Passed as a list, so that commas do not split it.
    host: [host],
    port: [port],
    user,
    database,
    // A function counts as set even if it returns no password.
    pass: () => password,
    socket: () => dial(target, signal),
    max: 1,
    // The driver must not close the connection, which may be in a transaction.
    idle_timeout: 0,
    max_lifetime: null,
    // `dial` handles timeout and encryption.
    connect_timeout: null,
    backoff: () => 0,
    ssl: false,
    sslnegotiation: null,
    max_pipeline: 100,
    keep_alive: 60,
    prepare: true,
    debug: false,
    publications: 'alltables',
    fetch_types: false,
    onnotice: () => {},
    onclose,
    onnotify,
    types: TYPES,
    connection: {
      application_name: 'sheaf',
      TimeZone: 'UTC',
      DateStyle: 'ISO, MDY',
      IntervalStyle: 'postgres',
      ...(searchPath !== null && { search_path: searchPath }),
      statement_timeout: statementTimeoutMs,
      ...(idleInTransactionMs !== undefined && { idle_in_transaction_session_timeout: idleInTransactionMs }),
      // Within half a minute instead of two hours.
      ...(isShared && {
        tcp_keepalives_idle: 15,
        tcp_keepalives_interval: 5,
        tcp_keepalives_count: 3,
        tcp_user_timeout: 30_000,
      }),
      // No JIT: for a page with many subqueries it takes a second to save milliseconds.
      jit: 'off',
    },
  }
  // The driver's types lack lists of hosts and ports, and null for no time limit.
  return postgres(options as object)
}

/** Timeout for name resolution, connection, TLS and sign-in together. */
const CONNECT_TIMEOUT_MS = 8_000

/** https://www.postgresql.org/docs/current/protocol-message-formats.html */
const SSL_REQUEST = 80877103
const CANCEL_REQUEST = 80877102
const READY_FOR_QUERY = 'Z'.charCodeAt(0)
/** A message's type, and its length without the type. */
const HEADER_BYTES = 5

/**
 * Opens a socket, with TLS if configured, on which the driver signs in. If the server closes it before it is ready for
 * queries, or takes longer than `CONNECT_TIMEOUT_MS`, the socket fails with an error: after a close without an error
 * the driver would reconnect at once, in an endless loop.
 *
 * Errors while connecting are also reported by the stream: after a rejection the driver would never try again.
 */
const dial = (target: PostgresConnection, signal?: AbortSignal): Promise<Duplex> =>
  open(target, signal).catch(failing)

/** A stream that only fails with the error. */
function failing(error: Error): Duplex {
  const stream = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() })
  setImmediate(() => stream.destroy(error))
  return stream
}

/** @throws the system's error; CONNECTION_CLOSED, ETIMEDOUT, HANDSHAKE_NO_SSL_SUPPORT */
async function open({ host, port, ssl }: PostgresConnection, signal?: AbortSignal): Promise<Socket> {
  let socket = connectTcp({ host, port })
  const giveUp = () => socket.destroy(failure('CONNECTION_CLOSED', 'The caller has gone'))
  if (signal?.aborted) giveUp()
  signal?.addEventListener('abort', giveUp, { once: true })
  socket.once('close', () => signal?.removeEventListener('abort', giveUp))
  const timer = setTimeout(
    () => socket.destroy(failure('ETIMEDOUT', 'The server did not answer in time')),
    CONNECT_TIMEOUT_MS,
  )
  try {
    await happened(socket, 'connect')
    if (ssl && ssl.mode !== 'disable') socket = await encrypt(socket, host, ssl)
  } catch (error) {
    clearTimeout(timer)
    socket.destroy()
    throw error
  }
  watchSignIn(socket, timer)
  return socket
}

/** @throws the socket's error; CONNECTION_CLOSED if it closes first */
function happened(socket: Socket, event: 'connect' | 'data' | 'secureConnect'): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const end = () => reject(closedEarly())
    socket.once('error', reject)
    socket.once('close', end)
    socket.once(event, (data?: Buffer) => {
      socket.off('error', reject)
      socket.off('close', end)
      resolve(data)
    })
  })
}

async function encrypt(socket: Socket, host: string, ssl: SslConfig): Promise<Socket> {
  const request = Buffer.alloc(8)
  request.writeInt32BE(8, 0)
  request.writeInt32BE(SSL_REQUEST, 4)
  socket.write(request)
  const answer = await happened(socket, 'data')
  if (answer?.toString('latin1') !== 'S') {
    // More than one byte before the TLS handshake: injected by a man in the middle.
    if (answer?.length !== 1)
      throw failure('CONNECTION_CLOSED', 'The server did not answer as PostgreSQL does')
    if (ssl.mode === 'prefer') return socket
    throw failure('HANDSHAKE_NO_SSL_SUPPORT', 'The server does not support SSL')
  }
  const encrypted = connectTls({
    socket,
    servername: isIP(host) ? undefined : host,
    ...tlsOptions(ssl),
  })
  await happened(encrypted, 'secureConnect')
  return encrypted
}

function tlsOptions({ mode, ca, cert, key }: SslConfig): ConnectionOptions {
  const own = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
  if (mode === 'verify-full') return { ...own, rejectUnauthorized: true }
  if (mode === 'verify-ca') return { ...own, rejectUnauthorized: true, checkServerIdentity: () => undefined }
  return { ...own, rejectUnauthorized: false }
}

/** Turns a closed connection into an error until the sign-in is complete. */
function watchSignIn(socket: Socket, timer: ReturnType<typeof setTimeout>): void {
  let held: Buffer = Buffer.alloc(0)
  const stop = () => {
    clearTimeout(timer)
    socket.off('data', read)
    socket.off('end', end)
    socket.off('close', stop)
  }
  const read = (chunk: Buffer) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    while (held.length >= HEADER_BYTES) {
      if (held[0] === READY_FOR_QUERY) return stop()
      const length = 1 + held.readInt32BE(1)
      if (length < HEADER_BYTES) return socket.destroy(closedEarly())
      // Still incomplete; or an error message follows, which the driver reports.
      if (held.length < length) return
      held = held.subarray(length)
    }
  }
  const end = () => {
    // A connection for a cancel request is closed without an answer.
    if (!isCancelling) socket.destroy(closedEarly())
  }
  let isCancelling = false
  const { write } = socket
  socket.write = ((...given: Parameters<typeof write>) => {
    const [first] = given
    socket.write = write
    isCancelling = Buffer.isBuffer(first) && first.length === 16 && first.readInt32BE(4) === CANCEL_REQUEST
    return write.apply(socket, given)
  }) as typeof write
  socket.on('data', read)
  socket.on('end', end)
  socket.on('close', stop)
}

const closedEarly = (): Error => failure('CONNECTION_CLOSED', 'The server closed the connection')

const failure = (code: string, message: string): Error => Object.assign(new Error(message), { code })
