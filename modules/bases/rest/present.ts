import type { BaseRole } from '../../../src/core/roles.ts'
import { wireTime } from '../../../src/wire/lists.ts'
import type { ListedUser } from '../../auth/index.ts'
import type { BaseRow, PreferenceRow, SourceRow } from '../store.ts'

export const presentBase = (row: BaseRow, sources: SourceRow[]) => ({
  is_meta: true,
  id: row.id,
  title: row.title,
  prefix: '',
  status: null,
  description: row.description,
  meta: row.meta,
  color: colorOf(row),
  uuid: null,
  password: null,
  roles: null,
  deleted: row.deletedAt !== null,
  order: row.order,
  created_at: wireTime(row.createdAt),
  updated_at: wireTime(row.updatedAt),
  default_role: null,
  sources: sources.map(presentSource),
})

/** A new base, whose sources also name their client. */
export const presentNewBase = (base: ReturnType<typeof presentBase>) => ({
  ...base,
  sources: base.sources.map((source) => ({
    ...source,
    config: { client: source.type },
    integration_config: null,
  })),
})

/** The caller's role and flags, which the list adds to each base. */
export const presentOwnView = (role: BaseRole, preference: PreferenceRow | null) => ({
  project_role: role,
  starred: preference?.starred ?? null,
  hidden: preference?.hidden ?? null,
  last_accessed: null,
})

/** An account in the list of members; `roles` is null without a membership. */
export const presentMember = (
  { row, inviteToken, role }: ListedUser & { role: BaseRole | null },
  baseId: string,
) => ({
  id: row.id,
  email: row.email,
  display_name: row.displayName,
  invite_token: inviteToken,
  main_roles: row.roles,
  created_at: wireTime(row.createdAt),
  meta: row.meta,
  base_id: role === null ? null : baseId,
  roles: role,
})

/** Clients send `color` next to `meta`; it is stored there. */
const colorOf = ({ meta }: BaseRow): string | null => (typeof meta.color === 'string' ? meta.color : null)

/** A source (wire §5). Of its connection only the client is shown. */
export const presentSource = (row: SourceRow) => ({
  id: row.id,
  base_id: row.baseId,
  alias: row.alias,
  meta: null,
  is_meta: row.isOwn,
  type: row.client,
  // New tables of a connected database keep their names.
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
