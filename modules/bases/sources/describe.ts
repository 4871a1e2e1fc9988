import type { ConnectionConfig } from '../../../src/db/connection.ts'
import type { SourceRow } from '../store.ts'

/** What the web app shows of a connection: nothing that lets anyone in. */
export interface ShownConnection {
  host: string
  port: number | null
  database: string
  user: string
  schema: string | null
  sslMode: string
  hasPassword: boolean
  /** Which of the certificates and keys are kept. */
  hasCa: boolean
  hasCert: boolean
  hasKey: boolean
}

/** A source as the web app knows it. */
export const describeSource = (row: SourceRow, config: ConnectionConfig | null) => ({
  id: row.id,
  baseId: row.baseId,
  alias: row.alias,
  client: row.client,
  isOwn: row.isOwn,
  isEnabled: row.isEnabled,
  isSchemaReadonly: row.isSchemaReadonly,
  isDataReadonly: row.isDataReadonly,
  order: row.order,
  createdAt: row.createdAt,
  connection: config && shown(config),
})

function shown(config: ConnectionConfig): ShownConnection {
  if ('file' in config) {
    const database = config.file.split(/[\\/]/).at(-1) ?? ''
    return { host: '', port: null, database, user: '', schema: null, ...NO_SSL, hasPassword: false }
  }
  const { host, port, database, user, password, ssl } = config
  return {
    host,
    port,
    database,
    user,
    hasPassword: password !== '',
    schema: ('schema' in config ? config.schema : undefined) ?? null,
    sslMode: ssl?.mode ?? 'disable',
    hasCa: !!ssl?.ca,
    hasCert: !!ssl?.cert,
    hasKey: !!ssl?.key,
  }
}

const NO_SSL = { sslMode: 'disable', hasCa: false, hasCert: false, hasKey: false }
