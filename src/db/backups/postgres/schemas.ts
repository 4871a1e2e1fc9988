import { existsSync, readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { drizzle } from 'drizzle-orm/pg-proxy'
import type { Sql, TransactionSql } from 'postgres'
import { nowIso } from '../../../clock.ts'
import { randomText } from '../../../core/ids.ts'
import { quotePostgres as quote } from '../../../dialects/postgres-tables.ts'
import { bound, quoteText } from '../../../dialects/standard-sql.ts'
import { typedAsSqlite } from '../../columns.ts'
import { type PostgresConnection, postgresConnection } from '../../connection.ts'
import { migratePostgres, pendingMigrations } from '../../migrate.ts'
import { BASE_SCHEMA_STEPS, schemaOfBase, upgradeBaseSchema } from '../../postgres/base-schema.ts'
import { countServers } from '../../postgres/cluster.ts'
import { installationTables, type PostgresClient, setIdentity } from '../../postgres/definitions.ts'
import { connectPostgres } from '../../postgres/driver.ts'
import type { BucketRow } from '../bucket-files.ts'
import { DamagedObject } from '../codec.ts'
import type { Manifest, PostgresSchema, PostgresTable } from '../manifest.ts'
import type { Repository } from '../repository.ts'
import { type RestoredMetadata, type RestoreOptions, readChunks, requireSpace } from '../restore-backup.ts'

/*
 * Restored schemas lie beside the present ones as `sheaf_restore_<token>_<number>`, the metadata as number 0, until they
 * are used or dropped. Processes that use them share an advisory lock of their token.
 */

const RESTORED = 'sheaf_restore_'
/** What a restore has replaced: `sheaf_replaced_<token>` has the metadata, and `…_p…` the bases. */
const REPLACED = 'sheaf_replaced_'
/** Days for which they are kept. */
export const REPLACED_DAYS = 30
/** Start of the comment on the schema of replaced metadata; the time follows. Without it, nothing is dropped. */
const REPLACED_AT = 'Replaced by a restore at '
/** Key of the advisory lock of the process that drops them. */
const DROP_LOCK = 7_433_205
/** The latest restore, in the schema of the metadata. */
const MARK = 'sheaf_restored'

/** A schema of metadata is not moved to a worker of a Citus cluster. Without Citus, the setting has no effect. */
export const KEEP_ON_COORDINATOR = 'set local citus.enable_schema_based_sharding to off'

/** Restored schemas, whose token is locked until they are released. */
export interface RestoredSchemas {
  readonly token: string
  /** The schema of restored metadata. */
  readonly metadata: string
  /** The schema of a restored base. @throws Error if it is not among them */
  base(baseId: string): string
  /** The buckets in the restored metadata. */
  buckets(): Promise<BucketRow[]>
  /** Collects statistics, without which the first queries of new tables may be slow. */
  analyze(): Promise<void>
  /** Drops those that are not used, and unlocks the token. */
  release(): Promise<void>
  /** Unlocks the token: another process has reserved them, too. */
  leave(): Promise<void>
}

/** A schema of an installation by its base; null for the metadata. */
export type SchemaRef = Pick<PostgresSchema, 'baseId'>

/** A client of the database of `DATABASE_URL` for backups. */
export const connectForBackups = (connection: PostgresConnection, searchPath: string | null = null): Sql =>
  connectPostgres(connection, { searchPath, statementTimeoutMs: 0 })

/** Start of the names of the schemas that get what a restore replaces. */
export const replacedName = (token: string): string => `${REPLACED}${token}`

/** A token for schemas to restore. */
export const createToken = (): string => randomText(8)

const schemaName = (token: string, index: number): string => `${RESTORED}${token}_${index}`
const lockOf = (token: string): string => `hashtextextended('${RESTORED}${token}', 0)`

/**
 * Reserves schemas for the metadata and bases of a backup: other processes do not drop them until they are released.
 *
 * @param baseIds null: all bases
 */
export async function reserveSchemas(
  databaseUrl: string,
  { postgres = [] }: { postgres?: readonly SchemaRef[] | undefined },
  token: string,
  baseIds: readonly string[] | null = null,
): Promise<RestoredSchemas> {
  const names = new Map(
    postgres.flatMap(({ baseId }, index) =>
      baseId === null || baseIds === null || baseIds.includes(baseId)
        ? [[baseId, schemaName(token, index)] as const]
        : [],
    ),
  )
  const nameOf = (baseId: string | null): string => {
    const name = names.get(baseId)
    if (name === undefined) throw new Error(`The backup has no base ${baseId?.slice(0, 40)}`)
    return name
  }
  const client = connectForBackups(postgresConnection(databaseUrl))
  const leave = () => client.end({ timeout: 5 })
  try {
    await client.unsafe(`select pg_advisory_lock_shared(${lockOf(token)})`)
    await removeLeftSchemas(client, token)
  } catch (error) {
    await leave()
    throw error
  }
  const metadata = nameOf(null)
  return {
    token,
    metadata,
    base: nameOf,
    leave,
    async release() {
      try {
        for (const name of names.values()) await client.unsafe(`drop schema if exists ${quote(name)} cascade`)
      } finally {
        await leave()
      }
    },
    async analyze() {
      for (const schema of names.values())
        for (const table of await tablesIn(client, schema, null))
          await client.unsafe(`analyze ${quote(schema)}.${quote(table)}`)
    },
    async buckets() {
      if ((await tablesIn(client, metadata, ['file_buckets'])).length === 0) return []
      return [
        ...(await client.unsafe<BucketRow[]>(`select id, settings from ${quote(metadata)}.file_buckets`)),
      ]
    },
  }
}

/**
 * Restores the metadata and bases of a backup into schemas of their own, and checks the number of rows of each table.
 *
 * @param baseIds null: all bases
 * @throws DamagedObject that names the table; Error for metadata of a later version, and for a disk with too little space
 *   (see `requireRoom`); the driver's errors. Nothing is left of them then
 */
export async function restoreSchemas(
  databaseUrl: string,
  repository: Repository,
  manifest: Manifest,
  {
    token,
    baseIds = null,
    signal,
    onBytes = () => {},
  }: {
    token: string
    baseIds?: readonly string[] | null
    onBytes?: (bytes: number) => void
  } & Pick<RestoreOptions, 'signal'>,
): Promise<RestoredSchemas> {
  const reserved = await reserveSchemas(databaseUrl, manifest, token, baseIds)
  const client = connectForBackups(postgresConnection(databaseUrl))
  const schemas = (manifest.postgres ?? []).filter(
    ({ baseId }) => baseId === null || baseIds === null || baseIds.includes(baseId),
  )
  try {
    await requireRoom(client, diskSizeOf(schemas))
    for (const schema of schemas) {
      const { baseId } = schema
      const name = baseId === null ? reserved.metadata : reserved.base(baseId)
      await restoreSchema(client, repository, manifest, schema, name, (bytes) => {
        signal?.throwIfAborted()
        onBytes(bytes)
      })
    }
    await pendingIn(client, reserved.metadata, 'The metadata of the backup')
    return reserved
  } catch (error) {
    await reserved.release()
    throw error
  } finally {
    await client.end({ timeout: 5 })
  }
}

/**
 * Checks that the disk of the database has room for restored tables with their indexes. Only that of a PostgreSQL on this
 * machine can be known, by a role that may read its settings; and not those of the workers of Citus.
 *
 * @throws Error that names the disk
 */
export async function requireRoom(client: Sql, bytes: number): Promise<void> {
  const folder = await findFolderOfDatabase(client)
  if (folder !== null) requireSpace(folder, bytes)
}

/** Bytes that the tables of schemas take in a database, with their indexes. */
export const diskSizeOf = (schemas: readonly PostgresSchema[]): number =>
  schemas.reduce((sum, { tables }) => sum + tables.reduce((size, table) => size + table.diskSize, 0), 0)

/** The folder of a database whose server runs on this machine; null if it does not, or it cannot be known. */
async function findFolderOfDatabase(client: Sql): Promise<string | null> {
  const [found] = await client<{ pid: number; folder: string | null }[]>`
    select pg_backend_pid() as pid, coalesce(nullif(pg_tablespace_location(dattablespace), ''),
      (select setting from pg_settings where name = 'data_directory')) as folder
    from pg_database where datname = current_database()
      and not exists (select from pg_extension where extname = 'citus')`
  if (!found || found.folder === null) return null
  // A server behind a forwarded port, e.g. in a container, has process numbers of its own.
  const process = `/proc/${found.pid}/comm`
  const isHere = existsSync(process) && readFileSync(process, 'utf8').startsWith('postgres')
  return isHere && existsSync(found.folder) ? found.folder : null
}

/**
 * Opens restored metadata to be read as data.
 *
 * @throws Error if they are not of this version, whose definitions their rows would not fit
 */
export async function openRestoredSchema(databaseUrl: string, schema: string): Promise<RestoredMetadata> {
  const client = connectForBackups(postgresConnection(databaseUrl), quote(schema))
  const close = () => client.end({ timeout: 5 })
  try {
    if ((await pendingIn(client, schema, 'The metadata of the backup')).length > 0)
      throw new Error('The metadata of the backup are of an earlier version')
    const builder = drizzle(async (sql, params, method) => {
      const query = client.unsafe(sql, bound(params) as never[])
      return { rows: [...(method === 'all' ? await query.values() : await query)] }
    })
    return { reader: typedAsSqlite(builder), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function restoreSchema(
  client: Sql,
  repository: Repository,
  { files }: Manifest,
  { baseId, tables, complete }: PostgresSchema,
  name: string,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const chunksOf = new Map(files.map(({ path, chunks }) => [path, chunks]))
  await client.begin(async (tx) => {
    if (baseId === null) await tx.unsafe(KEEP_ON_COORDINATOR)
    await tx.unsafe(`create schema ${quote(name)}`)
    await tx.unsafe(`set local search_path = ${quote(name)}`)
    for (const table of tables) {
      await tx.unsafe(table.create)
      await restoreRows(tx, repository, table, chunksOf.get(table.path) ?? [], onBytes)
      await setIdentity(tx, table.name, table.identity)
    }
    for (const statement of complete) await tx.unsafe(statement)
  })
}

async function restoreRows(
  tx: TransactionSql,
  repository: Repository,
  { name, columns, rows }: PostgresTable,
  chunks: readonly string[],
  onBytes: (bytes: number) => void,
): Promise<void> {
  async function* contents() {
    for await (const bytes of readChunks(repository, chunks)) {
      onBytes(bytes.length)
      yield bytes
    }
  }
  try {
    const stream = await tx
      .unsafe(`copy ${quote(name)} (${columns.map(quote).join(', ')}) from stdin`)
      .writable()
    await pipeline(Readable.from(contents()), stream)
  } catch (error) {
    if (!(error instanceof DamagedObject)) throw error
    throw new DamagedObject(`The table ${name} cannot be restored: ${error.message}`, { cause: error })
  }
  const found = await countIn(tx, quote(name))
  if (found !== rows)
    throw new DamagedObject(`The table ${name} has ${found} rows, but ${rows} were backed up`)
}

async function countIn(client: PostgresClient, table: string): Promise<number> {
  const [row] = await client.unsafe<{ rows: string }[]>(`select count(*)::text as rows from ${table}`)
  return Number(row?.rows ?? 0)
}

/** The migrations that the metadata in a schema lack. @throws Error for those of a later version */
export async function pendingIn(client: PostgresClient, schema: string, where: string): Promise<string[]> {
  const valuesOf = async (table: string, column: string): Promise<string[]> => {
    const full = `${quote(schema)}.${quote(table)}`
    const [found] = await client.unsafe<{ isThere: boolean }[]>(
      'select to_regclass($1) is not null as "isThere"',
      [full],
    )
    if (found?.isThere !== true) return []
    const rows = await client.unsafe<{ value: string }[]>(`select ${quote(column)} as value from ${full}`)
    return rows.map(({ value }) => value)
  }
  const applied = new Set(await valuesOf('migrations', 'name'))
  return pendingMigrations('postgres', { applied, releases: await valuesOf('releases', 'version') }, where)
}

/**
 * Takes all upgrade steps of this version in schemas, and checks that the tables of bases still have their rows.
 *
 * @param nameOf the schema of a base; null: that of the metadata, or the role's own
 * @returns the number of migrations, and of bases that were upgraded
 * @throws Error that names the schema and the step's problem
 */
export async function upgradeSchemas(
  databaseUrl: string,
  schemas: readonly PostgresSchema[],
  nameOf: (baseId: string | null) => string | null,
): Promise<{ migrations: number; bases: number }> {
  const connection = postgresConnection(databaseUrl)
  const metadata = nameOf(null)
  const client = connectForBackups(connection, metadata === null ? null : quote(metadata))
  try {
    const [own] = await client<{ schema: string }[]>`select current_schema()::text as schema`
    const migrations = (await pendingIn(client, own?.schema ?? 'public', 'The metadata')).length
    await migratePostgres(client).catch(naming('The metadata'))
    let bases = 0
    for (const { baseId, tables } of schemas) {
      const name = baseId === null ? null : nameOf(baseId)
      if (name === null) continue
      const [version] = await client.unsafe<{ steps: number }[]>(
        `select steps from ${quote(name)}.sheaf_version`,
      )
      await upgradeBaseSchema(connection, name).catch(naming(`The base ${baseId}`))
      if ((version?.steps ?? 0) < BASE_SCHEMA_STEPS.length) bases++
      for (const { name: table, rows } of tables) {
        if ((await countIn(client, `${quote(name)}.${quote(table)}`)) !== rows)
          throw new Error(`The base ${baseId} cannot be upgraded: the table “${table}” would lose rows`)
      }
    }
    return { migrations, bases }
  } finally {
    await client.end({ timeout: 5 })
  }
}

const naming =
  (what: string) =>
  (error: unknown): never => {
    throw new Error(`${what} cannot be upgraded: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }

/**
 * Makes restored schemas the installation, in one transaction. Its former tables and schemas are kept under other names.
 *
 * @param lockTimeoutMs time to wait for other programs that read a table, such as a backup; 0: without limit
 * @returns the start of the names of what was replaced; null if there was nothing
 * @throws Error if a server runs
 */
export async function installRestored(
  databaseUrl: string,
  { token, metadata, base }: RestoredSchemas,
  schemas: readonly SchemaRef[],
  lockTimeoutMs = 0,
): Promise<string | null> {
  const client = connectForBackups(postgresConnection(databaseUrl))
  const replaced = replacedName(token)
  try {
    return await client.begin(async (tx) => {
      await tx.unsafe(`set local lock_timeout = ${lockTimeoutMs}`)
      await refuseServers(tx)
      const own = await ownSchema(tx)
      const former = await tx<{ name: string }[]>`select nspname::text as name from pg_namespace
        where nspname ~ '^nc_p[a-z0-9]{14}$'`
      const tables = await tablesIn(tx, own, installationTables())
      await tx.unsafe(KEEP_ON_COORDINATOR)
      await tx.unsafe(`create schema ${quote(replaced)}`)
      const comment = quoteText(`${REPLACED_AT}${nowIso()}`)
      await tx.unsafe(`comment on schema ${quote(replaced)} is ${comment}`)
      // The server installs its triggers anew where the function is missing.
      await tx.unsafe(`drop function if exists ${quote(own)}.sheaf_row_changed() cascade`)
      for (const name of tables)
        await tx.unsafe(`alter table ${quote(own)}.${quote(name)} set schema ${quote(replaced)}`)
      for (const { name } of former)
        await tx.unsafe(`alter schema ${quote(name)} rename to ${quote(`${replaced}_${name.slice(3)}`)}`)
      for (const name of await tablesIn(tx, metadata, null))
        await tx.unsafe(`alter table ${quote(metadata)}.${quote(name)} set schema ${quote(own)}`)
      await tx.unsafe(`drop schema ${quote(metadata)}`)
      for (const { baseId } of schemas)
        if (baseId !== null)
          await tx.unsafe(`alter schema ${quote(base(baseId))} rename to ${quote(schemaOfBase(baseId))}`)
      await tx.unsafe(`create table ${quote(own)}.${MARK} (token text not null)`)
      await tx.unsafe(`insert into ${quote(own)}.${MARK} values ($1)`, [token])
      if (tables.length > 0 || former.length > 0) return replaced
      await tx.unsafe(`drop schema ${quote(replaced)}`)
      return null
    })
  } finally {
    await client.end({ timeout: 5 })
  }
}

/**
 * Drops the schemas that restores have replaced long ago. Those without the comment of the restore stay.
 *
 * @param before the time of the restore must be earlier
 * @returns the start of the names of what was dropped
 */
export async function dropReplaced(databaseUrl: string, before: Date): Promise<string[]> {
  const client = connectForBackups(postgresConnection(databaseUrl))
  const dropped: string[] = []
  try {
    const [lock] = await client<{ got: boolean }[]>`select pg_try_advisory_lock(${DROP_LOCK}) as got`
    if (!lock?.got) return []
    const found = await client<{ name: string; comment: string | null }[]>`
      select nspname::text as name, obj_description(oid, 'pg_namespace') as comment from pg_namespace
      where nspname ~ '^sheaf_replaced_[a-z0-9]{8}$'`
    for (const { name, comment } of found) {
      const at = comment?.startsWith(REPLACED_AT) ? Date.parse(comment.slice(REPLACED_AT.length)) : Number.NaN
      if (!(at < before.getTime())) continue
      const bases = await client<{ name: string }[]>`select nspname::text as name from pg_namespace
        where nspname ~ ${`^${name}_p[a-z0-9]{14}$`}`
      // The one with the comment last: what an interruption leaves is dropped the next time.
      for (const schema of [...bases.map((base) => base.name), name])
        await client.unsafe(`drop schema if exists ${quote(schema)} cascade`)
      dropped.push(name)
    }
    return dropped
  } finally {
    await client.end({ timeout: 5 })
  }
}

/** True if the installation is the one of a restore. */
export async function isInUse(databaseUrl: string, token: string): Promise<boolean> {
  const client = connectForBackups(postgresConnection(databaseUrl))
  try {
    const own = await ownSchema(client)
    if ((await tablesIn(client, own, [MARK])).length === 0) return false
    const found = await client.unsafe(`select 1 from ${quote(own)}.${MARK} where token = $1`, [token])
    return found.length > 0
  } finally {
    await client.end({ timeout: 5 })
  }
}

/** True if a database holds accounts or bases. */
export async function holdsInstallation(client: PostgresClient): Promise<boolean> {
  const own = await ownSchema(client)
  const bases = await client.unsafe("select 1 from pg_namespace where nspname ~ '^nc_p[a-z0-9]{14}$' limit 1")
  if (bases.length > 0) return true
  if ((await tablesIn(client, own, ['users'])).length === 0) return false
  return (await client.unsafe(`select 1 from ${quote(own)}.users limit 1`)).length > 0
}

/** @throws Error while servers run */
export async function refuseServers(client: PostgresClient): Promise<void> {
  const servers = await countServers(client)
  if (servers > 0)
    throw new Error(`Stop all servers on the database of DATABASE_URL first (${servers} running)`)
}

/** The number of servers on a database. */
export async function serversOn(databaseUrl: string): Promise<number> {
  const client = connectForBackups(postgresConnection(databaseUrl))
  try {
    return await countServers(client)
  } finally {
    await client.end({ timeout: 5 })
  }
}

/** Drops restored schemas whose tokens are not locked any more: those of restores that have failed, or were killed. */
export async function dropLeftSchemas(databaseUrl: string): Promise<void> {
  const client = connectForBackups(postgresConnection(databaseUrl))
  try {
    await removeLeftSchemas(client, null)
  } finally {
    await client.end({ timeout: 5 })
  }
}

/** The first schema of the role's search path. */
export async function ownSchema(client: PostgresClient): Promise<string> {
  const [row] = await client.unsafe<{ schema: string | null }[]>('select current_schema()::text as schema')
  return row?.schema ?? 'public'
}

async function tablesIn(
  client: PostgresClient,
  schema: string,
  only: readonly string[] | null,
): Promise<string[]> {
  const found = await client.unsafe<{ name: string }[]>(
    `select tablename::text as name from pg_tables where schemaname = $1
      and ($2::text is null or tablename::text in (select json_array_elements_text($2::json)))`,
    [schema, only === null ? null : JSON.stringify(only)],
  )
  return found.map(({ name }) => name)
}

/** Drops schemas of processes that were killed: nobody holds the lock of their token. */
async function removeLeftSchemas(client: Sql, own: string | null): Promise<void> {
  const found = await client<{ name: string }[]>`select nspname::text as name from pg_namespace
    where nspname ~ '^sheaf_restore_[a-z0-9]{8}_[0-9]+$'`
  const tokens = Map.groupBy(found, ({ name }) => name.slice(RESTORED.length, RESTORED.length + 8))
  for (const [token, names] of tokens) {
    if (token === own) continue
    const [lock] = await client.unsafe<{ got: boolean }[]>(
      `select pg_try_advisory_lock(${lockOf(token)}) as got`,
    )
    if (!lock?.got) continue
    for (const { name } of names) await client.unsafe(`drop schema if exists ${quote(name)} cascade`)
    await client.unsafe(`select pg_advisory_unlock(${lockOf(token)})`)
  }
}
