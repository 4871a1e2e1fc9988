import { decodeUri } from './decode-uri.ts'

interface DriverConnection {
  client: string
  connection: Record<string, string>
}

/** URL schemes of each database client. */
const CLIENTS: Record<string, string> = {
  pg: 'pg',
  postgres: 'pg',
  postgresql: 'pg',
  mysql: 'mysql2',
  mysql2: 'mysql2',
  mariadb: 'mysql2',
  mssql: 'mssql',
  sqlite3: 'sqlite3',
  snowflake: 'snowflake',
  // Known kinds that no connection supports.
  oracledb: 'oracledb',
  vitess: 'vitess',
  tidb: 'tidb',
}

/** The client for a name, e.g. `mysql2` for `mysql`; undefined if unknown. */
export const clientOf = (name: string): string | undefined =>
  Object.hasOwn(CLIENTS, name) ? CLIENTS[name] : undefined

/** Other names in the query string: `pg://host?u=ann&p=secret&d=crm`, `mysql://…?ssl-mode=REQUIRED`. */
const NAMES: Record<string, string> = { u: 'user', p: 'password', d: 'database', 'ssl-mode': 'sslmode' }

/**
 * Parses a database URL. Other text is a file name.
 * @example parseConnectionUrl('pg://db:5432?u=ann&p=x&d=crm')
 *   // { client: 'pg', connection: { user: 'ann', password: 'x', database: 'crm', host: 'db', port: '5432' } }
 */
export function parseConnectionUrl(text: string): DriverConnection {
  const url = URL.canParse(text) ? new URL(text) : null
  const client = url && CLIENTS[url.protocol.slice(0, -1)]
  if (!client) return { client: 'sqlite3', connection: { filename: text } }
  const connection: Record<string, string> = {}
  for (const [key, value] of url.searchParams) connection[NAMES[key] ?? key] = value
  const parts = {
    user: decodeUri(url.username),
    password: decodeUri(url.password),
    database: decodeUri(url.pathname.slice(1)),
    // An IPv6 address without its brackets.
    host: url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname,
    port: url.port,
  }
  for (const [key, value] of Object.entries(parts)) if (value !== '') connection[key] = value
  return { client, connection }
}
