import { AppError } from '../../core/errors.ts'
import { quotePostgres } from '../../dialects/postgres-tables.ts'
import { m } from '../../messages.gen.ts'
import { VERSION } from '../../version.ts'
import { createChangeLog, indexHistoryAndTrash, POSTGRES_LOG_COLUMNS } from '../change-log/tables.ts'
import type { PostgresConnection } from '../connection.ts'
import { writtenLater } from '../written-later.ts'
import { connectPostgres } from './driver.ts'

/** The manual order of views, as `base-file.ts` has it. */
const MANUAL_ORDER = [
  `create table sheaf_places (
    view_id text collate "C" not null,
    record_id bigint not null,
    table_id text collate "C" not null,
    place double precision not null,
    primary key (view_id, record_id)
  )`,
  'create index sheaf_places_order on sheaf_places (view_id, place, record_id)',
  'create index sheaf_places_table on sheaf_places (table_id, place)',
]

/**
 * Upgrade steps of base schemas, oldest first. Append only: released steps never change, because existing schemas have
 * taken them. A test compares released steps with their hashes.
 */
export const BASE_SCHEMA_STEPS: readonly (readonly string[])[] = [
  createChangeLog(POSTGRES_LOG_COLUMNS),
  // The version of Sheaf that took the last step.
  ['alter table sheaf_version add column release text'],
  indexHistoryAndTrash('    '),
  MANUAL_ORDER,
]

/** The schema of a base in the server's own database. */
export const schemaOfBase = (baseId: string): string => `nc_${baseId}`

/** Creates the schema of a new base, with an empty log. */
export async function createBaseSchema(connection: PostgresConnection, schema: string): Promise<void> {
  await openBaseSchema(connection, schema, true)
}

/**
 * Upgrades a base's schema to this version; false if there is no such schema.
 *
 * @throws DATABASE_ERROR for a schema that a later version has upgraded, naming that version
 */
export const upgradeBaseSchema = (connection: PostgresConnection, schema: string): Promise<boolean> =>
  openBaseSchema(connection, schema, false)

export const missingBaseSchema = (schema: string): AppError =>
  new AppError('BASE_DATA_MISSING', m.base_error_schema_missing({ schema }))

/** One transaction, so that of two processes that open a base at once, one waits for the other. */
async function openBaseSchema(
  connection: PostgresConnection,
  schema: string,
  mayCreate: boolean,
): Promise<boolean> {
  const client = connectPostgres(connection, { searchPath: quotePostgres(schema), statementTimeoutMs: 0 })
  try {
    return await client.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtextextended(${`sheaf ${schema}`}, 0))`
      const [found] = await tx`select 1 from pg_namespace where nspname = ${schema}`
      if (!found && !mayCreate) return false
      if (!found) await tx.unsafe(`create schema if not exists ${quotePostgres(schema)}`)
      await tx.unsafe('create table if not exists sheaf_version (steps integer not null)')
      const [row] = await tx<{ steps: number }[]>`select steps from sheaf_version`
      const taken = row?.steps ?? 0
      const steps = BASE_SCHEMA_STEPS.length
      if (taken > steps) {
        const [writer] = await tx<{ release?: string }[]>`select * from sheaf_version`
        throw new AppError('DATABASE_ERROR', writtenLater(`Schema ${schema}`, writer?.release ?? null))
      }
      if (taken === steps) return true
      for (const statement of BASE_SCHEMA_STEPS.slice(taken).flat()) await tx.unsafe(statement)
      await (row
        ? tx`update sheaf_version set steps = ${steps}, release = ${VERSION}`
        : tx`insert into sheaf_version (steps, release) values (${steps}, ${VERSION})`)
      return true
    })
  } finally {
    await client.end({ timeout: 5 })
  }
}

/** True if the schema exists. */
export async function hasSchema(connection: PostgresConnection, schema: string): Promise<boolean> {
  const client = connectPostgres(connection, { searchPath: 'pg_catalog', statementTimeoutMs: 0 })
  try {
    return (await client`select 1 from pg_namespace where nspname = ${schema}`).length > 0
  } finally {
    await client.end({ timeout: 5 })
  }
}

/**
 * Reclaims unused space of a base's tables.
 * @param whole rewrites the tables; otherwise the space is only reusable for new records
 */
export async function vacuumSchema(
  connection: PostgresConnection,
  schema: string,
  whole: boolean,
): Promise<void> {
  const client = connectPostgres(connection, { searchPath: quotePostgres(schema), statementTimeoutMs: 0 })
  try {
    const tables = await client<{ name: string }[]>`select c.relname as name from pg_class c
      join pg_namespace n on n.oid = c.relnamespace where n.nspname = ${schema} and c.relkind = 'r'`
    for (const { name } of tables) await client.unsafe(`vacuum ${whole ? 'full' : ''} ${quotePostgres(name)}`)
  } finally {
    await client.end({ timeout: 5 })
  }
}

/**
 * Permanently removes a base's schema with its contents.
 *
 * @throws Error for a name that is not a base's schema
 */
export async function dropBaseSchema(connection: PostgresConnection, schema: string): Promise<void> {
  if (!/^nc_p[a-z0-9]{14}$/.test(schema)) throw new Error(`"${schema}" is not the schema of a base`)
  const client = connectPostgres(connection, { searchPath: 'pg_catalog', statementTimeoutMs: 0 })
  try {
    await client.unsafe(`drop schema if exists ${quotePostgres(schema)} cascade`)
  } finally {
    await client.end({ timeout: 5 })
  }
}
