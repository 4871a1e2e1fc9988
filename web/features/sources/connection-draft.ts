import { parseConnectionUrl } from '../../../src/core/connection-url.ts'
import { findSslMode, type SslMode } from '../../../src/core/ssl-mode.ts'
import type { Inputs, Outputs } from '../../trpc.ts'

/** Database clients that a base can connect to, as the REST API calls them. */
export type SourceClient = 'pg' | 'mysql2' | 'sqlite3'

/** A data source of a base. */
export type Source = Outputs['sources']['list'][number]

/** State of the connection form. Certificates: null keeps the stored one, '' removes it. */
export interface ConnectionDraft {
  client: SourceClient
  host: string
  port: string
  user: string
  password: string
  database: string
  schema: string
  file: string
  sslMode: SslMode
  ca: string | null
  cert: string | null
  key: string | null
}

/** Differences between the databases in the form. */
export const ENGINES: Record<
  SourceClient,
  { label: string; port: string; isServer: boolean; hasSchemas: boolean }
> = {
  pg: { label: 'PostgreSQL', port: '5432', isServer: true, hasSchemas: true },
  mysql2: { label: 'MySQL / MariaDB', port: '3306', isServer: true, hasSchemas: false },
  sqlite3: { label: 'SQLite', port: '', isServer: false, hasSchemas: false },
}

/** Database clients in display order. */
export const CLIENTS = Object.keys(ENGINES) as SourceClient[]

/**
 * The SSL mode of a connection URL. `allow`, which is not offered, becomes `prefer`; what is not understood asks for encryption as well,
 * e.g. `ssl={"rejectUnauthorized":true}`.
 */
function sslModeOf({ sslmode, sslMode, ssl }: Record<string, string>): SslMode {
  const named = sslmode ?? sslMode ?? ssl
  if (named === undefined) return 'disable'
  return named.toLowerCase() === 'allow' ? 'prefer' : (findSslMode(named) ?? 'require')
}

/** An empty form for a kind of database. */
export const emptyDraft = (client: SourceClient): ConnectionDraft => ({
  client,
  host: ENGINES[client].isServer ? 'localhost' : '',
  port: ENGINES[client].port,
  user: '',
  password: '',
  database: '',
  schema: '',
  file: '',
  sslMode: 'disable',
  ca: null,
  cert: null,
  key: null,
})

/** Form of an existing source, without its secrets. */
export function draftOf({ client, connection }: Source): ConnectionDraft {
  const draft = emptyDraft(client)
  if (!connection) return draft
  const { host, port, user, database, schema, sslMode } = connection
  return {
    ...draft,
    host,
    user,
    database,
    schema: schema ?? '',
    port: port === null ? '' : String(port),
    file: ENGINES[client].isServer ? '' : database,
    sslMode: findSslMode(sslMode) ?? 'disable',
  }
}

/** Form filled in from a URL such as `postgres://ann:secret@db:5432/shop`; null if it is not one. */
export function draftFromUrl(text: string): ConnectionDraft | null {
  const { client, connection } = parseConnectionUrl(text.trim())
  const known = CLIENTS.find((one) => one === client)
  if (!known || !ENGINES[known].isServer) return null
  const { host, port, user, password, database, schema } = connection
  const draft = emptyDraft(known)
  return {
    ...draft,
    host: host || draft.host,
    port: port || draft.port,
    user: user ?? '',
    password: password ?? '',
    database: database ?? '',
    schema: schema ?? '',
    sslMode: sslModeOf(connection),
  }
}

/** The request of a form. For an existing source, an empty password keeps the stored one. */
export function connectionInput(
  draft: ConnectionDraft,
  isExisting: boolean,
): Pick<Inputs['sources']['test'], 'client' | 'connection'> {
  const { client, host, port, user, password, database, schema, file, sslMode, ca, cert, key } = draft
  if (!ENGINES[client].isServer) return { client, connection: { filename: file } }
  return {
    client,
    connection: {
      host: host.trim(),
      port: port.trim(),
      user,
      database,
      sslMode,
      // Empty: the default, also where the source had another.
      ...(ENGINES[client].hasSchemas && { schema }),
      ...((password !== '' || !isExisting) && { password }),
      ...(sslMode !== 'disable' && { ssl: { ca, cert, key } }),
    },
  }
}

/** Whether the form has enough to test the connection. */
export const isComplete = ({ client, host, database, file }: ConnectionDraft): boolean =>
  ENGINES[client].isServer ? host.trim() !== '' && database.trim() !== '' : file.trim() !== ''

/** Location of a source in one line: `db.example.com:5432 / shop`. */
export function locationOf({ client, connection }: Source): string {
  if (!connection) return ''
  const { host, port, database, schema } = connection
  if (!ENGINES[client].isServer) return database
  const path = schema && schema !== 'public' ? `${database} · ${schema}` : database
  return `${host}${port === null || String(port) === ENGINES[client].port ? '' : `:${port}`} / ${path}`
}
