import { userInfo } from 'node:os'
import { z } from 'zod'
import { AppError } from '../core/errors.ts'
import { m } from '../messages.gen.ts'
import { seal, unseal } from '../secrets.ts'

/** How the connection to a database is encrypted. Keys and certificates are PEM texts. */
const sslConfig = z.object({
  /**
   * `disable`: never; `prefer`: if the server supports it; `require`: always, without checking the certificate;
   * `verify-ca`: certificate signed by the authority; `verify-full`: and issued for the host.
   */
  mode: z.enum(['disable', 'prefer', 'require', 'verify-ca', 'verify-full']),
  /** Certificate authority, if not one of the system's. */
  ca: z.string().optional(),
  /** Client certificate of this server, with its key. */
  cert: z.string().optional(),
  key: z.string().optional(),
})

export type SslConfig = z.infer<typeof sslConfig>

const server = {
  host: z.string().min(1),
  port: z.int().min(1).max(65_535),
  user: z.string(),
  password: z.string(),
  database: z.string().min(1),
  ssl: sslConfig.optional(),
}

/** Connection to an external database, stored encrypted in `sources.config`. */
export const connectionConfig = z.discriminatedUnion('client', [
  /** `schema` of its tables; `public` by default. */
  z.object({ client: z.literal('pg'), ...server, schema: z.string().min(1).optional() }),
  z.object({ client: z.literal('mysql2'), ...server }),
  z.object({ client: z.literal('sqlite3'), file: z.string().min(1) }),
])

export type ConnectionConfig = z.infer<typeof connectionConfig>
export type PostgresConnection = Extract<ConnectionConfig, { client: 'pg' }>
export type MysqlConnection = Extract<ConnectionConfig, { client: 'mysql2' }>

/**
 * Encrypts a connection, protected against changes.
 *
 * @param key 32 bytes: `secrets.connections`
 */
export const sealConnection = (key: Uint8Array, config: ConnectionConfig): string =>
  seal(key, JSON.stringify(config))

/**
 * Reverses `sealConnection`.
 *
 * @throws DATABASE_ERROR if the text was sealed with another key, or altered
 */
export function openConnection(key: Uint8Array, sealed: string): ConnectionConfig {
  const text = unseal(key, sealed)
  if (text === null) throw unreadable()
  try {
    return connectionConfig.parse(JSON.parse(text))
  } catch {
    // A later version may have stored another shape.
    throw unreadable()
  }
}

const unreadable = (): AppError => new AppError('DATABASE_ERROR', m.source_error_sealed())

/**
 * Parses a PostgreSQL URL: `postgres://user:password@host:5432/name?sslmode=verify-full`.
 *
 * @throws Error for an unknown `sslmode`
 */
export function postgresConnection(text: string): PostgresConnection {
  const url = new URL(text)
  const mode = url.searchParams.get('sslmode')
  // Defaults like PostgreSQL's own programs. Other connections do not read the environment.
  const user = decodeURIComponent(url.username) || process.env.PGUSER || userInfo().username
  const password = decodeURIComponent(url.password) || process.env.PGPASSWORD || ''
  return connectionConfig.parse({
    client: 'pg',
    host: url.hostname.replace(/^\[|\]$/g, '') || 'localhost',
    port: Number(url.port || 5432),
    user,
    password,
    database: decodeURIComponent(url.pathname.slice(1)) || user,
    ...(mode && { ssl: { mode: mode === 'allow' ? 'prefer' : mode } }),
  }) as PostgresConnection
}
