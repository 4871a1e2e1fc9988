import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { AppError } from '../core/errors.ts'

/** How the connection to a database is encrypted. Keys and certificates are PEM texts. */
const sslConfig = z.object({
  /**
   * `disable`: not at all; `prefer`: where the server can; `require`: always, whoever answers; `verify-ca`: a
   * certificate that the authority has signed; `verify-full`: and that names the host.
   */
  mode: z.enum(['disable', 'prefer', 'require', 'verify-ca', 'verify-full']),
  /** The authority, where it is none that the system knows. */
  ca: z.string().optional(),
  /** What this server shows of itself, with its key. */
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

/** How to reach a database that is not ours: what is kept, encrypted, in `sources.config`. */
export const connectionConfig = z.discriminatedUnion('client', [
  /** `schema`: where its tables are; `public` where none is named. */
  z.object({ client: z.literal('pg'), ...server, schema: z.string().min(1).optional() }),
  z.object({ client: z.literal('mysql2'), ...server }),
  z.object({ client: z.literal('sqlite3'), file: z.string().min(1) }),
])

export type ConnectionConfig = z.infer<typeof connectionConfig>
export type PostgresConnection = Extract<ConnectionConfig, { client: 'pg' }>
export type MysqlConnection = Extract<ConnectionConfig, { client: 'mysql2' }>
export type SqliteConnection = Extract<ConnectionConfig, { client: 'sqlite3' }>

/** First byte of what is sealed: a later way to seal will have another. */
const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * A connection as text that only the holder of the key can read or change (AES-256-GCM): version, nonce,
 * tag and cipher text, in base64url.
 *
 * @param key 32 bytes: `secrets.connections`
 */
export function sealConnection(key: Uint8Array, config: ConnectionConfig): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const text = Buffer.concat([cipher.update(JSON.stringify(config), 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), text]).toString('base64url')
}

/**
 * What `sealConnection` was given.
 *
 * @throws DATABASE_ERROR where the text was sealed with another key, or altered since
 */
export function openConnection(key: Uint8Array, sealed: string): ConnectionConfig {
  const bytes = Buffer.from(sealed, 'base64url')
  const nonce = bytes.subarray(1, 1 + NONCE_BYTES)
  const tag = bytes.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES)
  if (bytes[0] !== VERSION || tag.length !== TAG_BYTES) throw unreadable()
  const decipher = createDecipheriv('aes-256-gcm', key, nonce)
  decipher.setAuthTag(tag)
  try {
    const text = Buffer.concat([
      decipher.update(bytes.subarray(1 + NONCE_BYTES + TAG_BYTES)),
      decipher.final(),
    ])
    return connectionConfig.parse(JSON.parse(text.toString('utf8')))
  } catch {
    // Whatever the cipher says of it: with this key there is nothing to read.
    throw unreadable()
  }
}

const unreadable = (): AppError =>
  new AppError(
    'DATABASE_ERROR',
    'The connection of this source cannot be read: it was kept with another key. Enter it again',
  )

/**
 * An address of PostgreSQL as a connection: `postgres://user:password@host:5432/name?sslmode=verify-full`.
 *
 * @throws Error for a mode of encryption that does not exist
 */
export function postgresConnection(address: string): PostgresConnection {
  const url = new URL(address)
  const mode = url.searchParams.get('sslmode')
  return connectionConfig.parse({
    client: 'pg',
    host: url.hostname.replace(/^\[|\]$/g, '') || 'localhost',
    port: Number(url.port || 5432),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)) || decodeURIComponent(url.username),
    ...(mode && { ssl: { mode: mode === 'allow' ? 'prefer' : mode } }),
  }) as PostgresConnection
}
