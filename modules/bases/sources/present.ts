import type { ConnectionConfig } from '../../../src/db/connection.ts'
import { wireTime } from '../../../src/wire.ts'
import type { SourceRow } from '../store.ts'

/** A source as REST clients know it (wire §5). Of its connection they learn the kind alone. */
export const presentSource = (row: SourceRow) => ({
  id: row.id,
  base_id: row.baseId,
  alias: row.alias,
  meta: null,
  is_meta: row.isOwn,
  type: row.client,
  // Tables that a connected database gets later are called as it calls them.
  inflection_column: row.isOwn ? 'camelize' : 'none',
  inflection_table: row.isOwn ? 'camelize' : 'none',
  created_at: wireTime(row.createdAt),
  updated_at: wireTime(row.updatedAt),
  enabled: row.isEnabled,
  order: row.order,
  description: null,
  erd_uuid: null,
  deleted: false,
  is_schema_readonly: row.isSchemaReadonly,
  is_data_readonly: row.isDataReadonly,
  fk_integration_id: null,
  is_local: row.isOwn,
  is_encrypted: row.config !== null,
  integration_title: null,
  upgraderQueries: [],
  ...(!row.isOwn && { config: { client: row.client } }),
})

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
