import { wireTime } from '../../../src/wire/lists.ts'
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
