import type { Actor } from '../../../src/core/actor.ts'
import { clientOf } from '../../../src/core/connection-url.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { holdsOrgRole } from '../../../src/core/roles.ts'
import { findSslMode } from '../../../src/core/ssl-mode.ts'
import { type ConnectionConfig, connectionConfig } from '../../../src/db/connection.ts'
import {
  explainConnection,
  introspector,
  type OpenReader,
  openReader,
  type StructureReader,
  type TableStructure,
} from '../../../src/db/introspect/index.ts'
import type { Sources } from '../../../src/db/sources.ts'
import { m } from '../../../src/messages.gen.ts'

/** A connection as clients send it, with the property names of drivers. */
export interface SentConnection {
  client: string
  connection: Record<string, unknown>
}

/** Default ports (spec §3). */
const PORTS = { pg: 5432, mysql2: 3306 }

/** Limit of a certificate's or key's text. */
const MAX_PEM = 64 * 1024
const MAX_TEXT = 1024

/**
 * Validates a connection. Missing parts come from `known`, the stored connection, so that the password need not
 * be sent again.
 * @throws BAD_REQUEST naming the invalid or missing part; `Database not supported` (spec §8)
 */
export function readConnection({ client: name, connection }: SentConnection, known?: ConnectionConfig) {
  const read = readerOf(name)
  if (!read) throw badRequest(m.wire_error_database_not_supported())
  return read(connection, known)
}

/** True for a supported client, by any of its names. */
export const isSupported = (name: string): boolean => readerOf(name) !== undefined

function readerOf(name: string) {
  const client = clientOf(name) ?? ''
  return Object.hasOwn(READERS, client) ? READERS[client] : undefined
}

type Reader = (connection: Record<string, unknown>, known: ConnectionConfig | undefined) => ConnectionConfig

/** Supported clients. */
const READERS: Record<string, Reader> = {
  pg: (connection, known) => readServer('pg', connection, known),
  mysql2: (connection, known) => readServer('mysql2', connection, known),
  sqlite3: readFile,
}

function readServer(
  client: keyof typeof PORTS,
  connection: Record<string, unknown>,
  known: ConnectionConfig | undefined,
): ConnectionConfig {
  const before = known && 'host' in known ? known : undefined
  const host = text(connection.host, 'host') || before?.host || 'localhost'
  const port = readPort(connection.port) ?? before?.port ?? PORTS[client]
  const password = text(connection.password, 'password')
  const isElsewhere = before && (host !== before.host || port !== before.port)
  // An editor of the source cannot read its password, so must not be able to send it to another server.
  if (isElsewhere && password === undefined && before.password !== '')
    throw badRequest(m.sources_error_password())
  const config = {
    client,
    host,
    port,
    user: text(connection.user, 'user') ?? before?.user ?? '',
    password: password ?? before?.password ?? '',
    database: text(connection.database, 'database') || before?.database || '',
    ...readSsl(connection, before),
    ...readSchema(connection, before),
  }
  if (config.database === '') throw badRequest(m.sources_error_database())
  if (config.user === '') throw badRequest(m.sources_error_user())
  refuseLocalSocket(host)
  if (typeof connection.socketPath === 'string' && connection.socketPath !== '') refuseLocalSocket('/')
  return checked(config)
}

/** A local socket may grant access to the server's own user. */
function refuseLocalSocket(host: string): void {
  if (/[/\\]/.test(host)) throw badRequest(m.sources_error_local_socket())
  if (/[\s,@?#]/.test(host)) throw badRequest(m.sources_error_host({ host: host.slice(0, 100) }))
}

function readFile(
  connection: Record<string, unknown>,
  known: ConnectionConfig | undefined,
): ConnectionConfig {
  // Clients may nest the whole connection in itself here (wire §3).
  const inner = isObject(connection.connection) ? connection.connection : connection
  const file = text(inner.filename ?? inner.file, 'filename')
  return checked({ client: 'sqlite3', file: file || (known && 'file' in known ? known.file : '') })
}

function checked(config: Record<string, unknown>): ConnectionConfig {
  const read = connectionConfig.safeParse(config)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw badRequest(
    m.sources_error_invalid({ part: issue?.path.join('.') ?? '', problem: issue?.message ?? '' }),
  )
}

function text(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || value.length > MAX_TEXT || value.includes('\u0000'))
    throw badRequest(m.sources_error_text({ name, max: MAX_TEXT }))
  return value
}

function readPort(value: unknown): number | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const port = Number(value)
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port
  throw badRequest(m.sources_error_port())
}

function readSchema(
  { searchPath, schema }: Record<string, unknown>,
  before: { client: string; schema?: string } | undefined,
) {
  const first = text(Array.isArray(searchPath) ? searchPath[0] : (searchPath ?? schema), 'schema')
  const named = first === undefined ? before?.schema : first
  return named ? { schema: named } : {}
}

/** Reads `{ sslMode, ssl: { ca, cert, key } }`, or `ssl` alone as drivers take it. */
function readSsl(connection: Record<string, unknown>, before: { ssl?: object } | undefined) {
  const { ssl, sslMode, sslmode } = connection
  const sent = sslMode ?? sslmode ?? (typeof ssl === 'object' ? undefined : ssl)
  if (sent === undefined && !isObject(ssl)) return before?.ssl ? { ssl: before.ssl } : {}
  const parts = isObject(ssl) ? ssl : {}
  const own = { ca: pem(parts.ca, 'ca'), cert: pem(parts.cert, 'cert'), key: pem(parts.key, 'key') }
  const kept = (before?.ssl ?? {}) as Record<string, string | undefined>
  const files = Object.fromEntries(
    Object.entries(own).flatMap(([name, value]) => {
      // Undefined keeps the stored file, empty text removes it.
      const pemText = value === undefined ? kept[name] : value
      return pemText ? [[name, pemText]] : []
    }),
  )
  const usual = parts.rejectUnauthorized === false || !own.ca ? 'require' : 'verify-ca'
  const mode = sent === undefined ? usual : findSslMode(String(sent))
  if (!mode && /^allow(ed)?$/i.test(String(sent)))
    throw badRequest(m.sources_error_ssl_allow({ mode: String(sent) }))
  if (!mode) throw badRequest(m.sources_error_ssl_mode({ mode: String(sent).slice(0, 40) }))
  return { ssl: { mode, ...files } }
}

function pem(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || value.length > MAX_PEM) throw badRequest(m.sources_error_pem({ name }))
  if (value.trim() === '') return ''
  if (!value.includes('-----BEGIN')) throw badRequest(m.sources_error_pem({ name }))
  return value
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** True if the actor may connect a base to this server's own database, which holds all accounts and bases. */
export const mayReadOwnDatabase = (actor: Actor): boolean =>
  actor.kind === 'user' && holdsOrgRole(actor.orgRoles, 'super')

/**
 * Refuses a connection to this server's own database. Compares the databases' identities: one server has many
 * addresses.
 * @throws FORBIDDEN unless `mayReadOwn`
 */
export async function refuseOwnDatabase(
  sources: Pick<Sources, 'ownDatabase'>,
  config: ConnectionConfig,
  reader: StructureReader,
  mayReadOwn: boolean,
): Promise<void> {
  if (mayReadOwn) return
  const own = await sources.ownDatabase()
  if (own === null || own !== (await introspector(config.client).identity(reader))) return
  throw new AppError('FORBIDDEN', m.sources_error_own_database())
}

/** Checks an open connection. @throws AppError to refuse it */
export type Look = (config: ConnectionConfig, reader: StructureReader) => Promise<void>

export type ConnectionTest = { ok: true } | { ok: false; message: string }

/** Schemas and tables of a database. */
export interface Inspection {
  /** Empty for databases without schemas. */
  schemas: string[]
  tables: { name: string; kind: TableStructure['kind']; columns: number; rowEstimate: number | null }[]
}

/** spec §3 */
export const DEFAULT_SCHEMA = 'public'

/** The schema of a connection; databases without schemas ignore it. */
export const schemaOf = (config: ConnectionConfig): string =>
  ('schema' in config ? config.schema : undefined) ?? DEFAULT_SCHEMA

/** Opens a connection, reads from it and closes it. Private addresses are allowed: most databases have one. */
export async function testConnection(config: ConnectionConfig, look: Look): Promise<ConnectionTest> {
  try {
    await using reader = await connect(config)
    await look(config, reader)
    await introspector(config.client).schemas(reader)
    return { ok: true }
  } catch (error) {
    return {
      ok: false,
      message: error instanceof AppError ? error.message : explainConnection(error, config),
    }
  }
}

/** Lists the schemas, and the tables of the connection's schema. @throws errors for `explainConnection` */
export async function inspectDatabase(config: ConnectionConfig, look: Look): Promise<Inspection> {
  await using reader = await connect(config)
  await look(config, reader)
  const { schemas, read } = introspector(config.client)
  const { tables } = await read(reader, schemaOf(config))
  return {
    schemas: await schemas(reader),
    tables: tables.map(({ name, kind, columns, rowEstimate }) => ({
      name,
      kind,
      rowEstimate,
      columns: columns.length,
    })),
  }
}

async function connect(config: ConnectionConfig): Promise<OpenReader & AsyncDisposable> {
  const reader = await openReader(config)
  return { ...reader, [Symbol.asyncDispose]: () => reader.close() }
}
