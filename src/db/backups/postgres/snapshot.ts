import type { Sql, TransactionSql } from 'postgres'
import { quotePostgres as quote } from '../../../dialects/postgres-tables.ts'
import { postgresConnection } from '../../connection.ts'
import { openPostgresStore, UnknownColumnType } from '../../move/postgres-store.ts'
import type { StoredTable } from '../../move/store.ts'
import {
  metadataTables,
  readCompletion,
  readIdentity,
  readTables,
  type TableDefinition,
} from '../../postgres/definitions.ts'
import { connectPostgres } from '../../postgres/driver.ts'
import type { AttachedFile, BucketRow } from '../bucket-files.ts'
import type { ChunkWriter } from '../chunk-writer.ts'
import type { BackupBase, BackupFile, PostgresSchema, PostgresTable } from '../manifest.ts'

/*
 * Reads an installation in PostgreSQL as of one moment while servers write to it. One transaction exports its snapshot
 * and reads the catalog only. Each table is read in a short transaction with that snapshot, so that a change of a table's
 * definition waits for the reading of this table at most, not for the whole backup. Definitions that change meanwhile
 * are noticed, and the backup begins again; its last attempt holds all definitions, as pg_dump does.
 *
 * The workers of a Citus cluster do not know the coordinator's snapshot. A base lies on one worker, which has the same
 * isolation level as the coordinator's transaction: each base is read in a transaction of its own, as of a moment after
 * that of the metadata.
 */

/** Attempts; the last one keeps definitions from changing. */
const MAX_ATTEMPTS = 4
/** Rows are stored in pieces of about this size, which end after the same rows in each backup. */
const TARGET_BYTES = 256 * 1024
const MIN_BYTES = 64 * 1024
const MAX_BYTES = 1024 * 1024

/** Pages of a table that are in memory at once: 16 MB with PostgreSQL's own page size. */
const PAGES_AT_ONCE = 2_048

/** Schemas of bases, as `schemaOfBase` names them. */
const BASE_SCHEMA = /^nc_(p[a-z0-9]{14})$/

/** A table was altered after the snapshot was taken. */
class DefinitionChanged extends Error {}

/** What a backup takes from PostgreSQL. */
export interface PostgresContents {
  schemas: PostgresSchema[]
  files: BackupFile[]
  bases: BackupBase[]
  attachments: AttachedFile[]
  buckets: BucketRow[]
}

/** What the previous backup has stored of the same installation. */
export interface KnownTables {
  find(baseId: string | null, table: string): { table: PostgresTable; file: BackupFile } | null
}

/**
 * Stores all tables of an installation in PostgreSQL as of one moment, or in Citus each base as of one. Tables that have
 * not changed since the previous backup are not transferred.
 *
 * @param also runs at the moment of the snapshot, for the bases in files; its result is discarded by `discard` if the
 *   backup begins again
 * @throws the driver's errors
 */
export async function storePostgres<T>(
  databaseUrl: string,
  writer: ChunkWriter,
  known: KnownTables,
  { also, discard }: { also: (basesInFiles: string[]) => T; discard: (opened: T) => void },
): Promise<PostgresContents & { also: T }> {
  const connection = postgresConnection(databaseUrl)
  const coordinator = connectPostgres(connection, { searchPath: null, statementTimeoutMs: 0 })
  const reader = connectPostgres(connection, { searchPath: null, statementTimeoutMs: 0 })
  try {
    const isCitus = await hasCitus(coordinator)
    for (let attempt = 1; ; attempt++) {
      let opened: { value: T } | null = null
      try {
        return await coordinator.begin('isolation level repeatable read read only', async (tx) => {
          const outline = await readOutline(tx)
          if (attempt === MAX_ATTEMPTS) await lockAll(tx, outline)
          const [exported] = await tx<{ id: string }[]>`select pg_export_snapshot() as id`
          // Another connection would wait for a change of definitions that waits for these locks.
          const read: Read = (work) =>
            attempt === MAX_ATTEMPTS ? work(tx) : inSnapshot(reader, exported?.id ?? '', work)
          const inFiles = await read(basesInFiles)
          opened = { value: also(inFiles) }
          // A base that was moved to a file may have left its former schema.
          const present = outline.filter(({ baseId }) => baseId === null || !inFiles.includes(baseId))
          const readBase: ReadBase =
            isCitus && attempt < MAX_ATTEMPTS
              ? (work) => begin(reader, (own) => work((one) => one(own)))
              : (work) => work(read)
          const contents = await storeTables({ read, readBase, isCitus }, present, writer, known)
          return { ...contents, also: opened.value }
        })
      } catch (error) {
        if (opened !== null) discard((opened as { value: T }).value)
        if (!(error instanceof DefinitionChanged) || attempt === MAX_ATTEMPTS) throw error
      }
    }
  } finally {
    await Promise.all([coordinator.end({ timeout: 5 }), reader.end({ timeout: 5 })])
  }
}

async function hasCitus(client: Sql): Promise<boolean> {
  const found = await client`select 1 from pg_extension where extname = 'citus'`
  return found.length > 0
}

interface SchemaOutline {
  baseId: string | null
  schema: string
  tables: TableDefinition[]
  complete: string[]
  stored: StoredTable[] | null
}

/** The definitions of the metadata and of all bases. @throws Error if there is no installation */
async function readOutline(tx: TransactionSql): Promise<SchemaOutline[]> {
  await tx.unsafe('set local idle_in_transaction_session_timeout = 0')
  const [current] = await tx<{ schema: string | null }[]>`select current_schema()::text as schema`
  const own = current?.schema ?? 'public'
  const found = await tx<{ name: string }[]>`select nspname::text as name from pg_namespace
    where nspname ~ '^nc_p[a-z0-9]{14}$' order by nspname`
  const outline: SchemaOutline[] = []
  for (const schema of [own, ...found.map(({ name }) => name)]) {
    const baseId = BASE_SCHEMA.exec(schema)?.[1] ?? null
    const only = baseId === null ? metadataTables() : null
    const tables = await readTables(tx, schema, only)
    if (baseId === null && tables.length === 0)
      throw new Error('There is no data in the database of DATABASE_URL')
    const complete = await readCompletion(
      tx,
      schema,
      tables.map(({ name }) => name),
    )
    outline.push({ baseId, schema, tables, complete, stored: await readStored(tx, schema, only) })
  }
  return outline
}

/** The tables of a schema as other engines can create them; null if they cannot. */
async function readStored(
  tx: TransactionSql,
  schema: string,
  only: readonly string[] | null,
): Promise<StoredTable[] | null> {
  try {
    return await openPostgresStore(tx, schema, schema, undefined, { only }).tables()
  } catch (error) {
    if (error instanceof UnknownColumnType) return null
    throw error
  }
}

/** The bases of the installation whose homes are files. */
async function basesInFiles(tx: TransactionSql): Promise<string[]> {
  const found = await tx<{ baseId: string }[]>`select base_id as "baseId" from sources
    where to_jsonb(sources) ->> 'is_own' = 'true' and to_jsonb(sources) ->> 'client' = 'sqlite3'`
  return found.map(({ baseId }) => baseId)
}

async function lockAll(tx: TransactionSql, outline: readonly SchemaOutline[]): Promise<void> {
  for (const { schema, tables } of outline)
    for (const { name } of tables)
      await tx.unsafe(`lock table ${quote(schema)}.${quote(name)} in access share mode`)
}

/** Reads at the moment of the snapshot, and releases the locks of what it has read. */
type Read = <R>(work: (tx: TransactionSql) => Promise<R>) => Promise<R>

/** Reads the tables of a base, each with a call of `read`. */
type ReadBase = <R>(work: (read: Read) => Promise<R>) => Promise<R>

interface Reading {
  read: Read
  readBase: ReadBase
  isCitus: boolean
}

async function storeTables(
  { read, readBase, isCitus }: Reading,
  outline: readonly SchemaOutline[],
  writer: ChunkWriter,
  known: KnownTables,
): Promise<PostgresContents> {
  const schemas: PostgresSchema[] = []
  const files: BackupFile[] = []
  for (const { baseId, schema, tables, complete, stored: portable } of outline) {
    const storeAll = async (readOne: Read): Promise<PostgresTable[]> => {
      const stored: PostgresTable[] = []
      for (const [index, definition] of tables.entries()) {
        const path = `postgres/${baseId ?? 'metadata'}/${index}`
        const before = known.find(baseId, definition.name)
        const { table, file } = await readOne((own) =>
          storeTable(own, { schema, path, isCitus }, definition, writer, before),
        )
        stored.push(table)
        files.push(file)
      }
      return stored
    }
    const stored = await (baseId === null ? storeAll(read) : readBase(storeAll))
    schemas.push({ baseId, tables: stored, complete, stored: portable })
  }
  return {
    schemas,
    files,
    bases: await read(basesIn),
    attachments: await read(attachmentsIn),
    buckets: await read((tx) => bucketsIn(tx, outline)),
  }
}

const begin = <T>(client: Sql, work: (tx: TransactionSql) => Promise<T>): Promise<T> =>
  client.begin('isolation level repeatable read read only', work) as Promise<T>

const inSnapshot = <T>(client: Sql, snapshot: string, work: (tx: TransactionSql) => Promise<T>): Promise<T> =>
  begin(client, async (tx) => {
    await tx.unsafe(`set transaction snapshot '${snapshot.replaceAll("'", "''")}'`)
    return work(tx)
  })

interface TablePlace {
  schema: string
  /** Of its rows in the backup. */
  path: string
  isCitus: boolean
}

async function storeTable(
  tx: TransactionSql,
  { schema, path, isCitus }: TablePlace,
  definition: TableDefinition,
  writer: ChunkWriter,
  known: { table: PostgresTable; file: BackupFile } | null,
): Promise<{ table: PostgresTable; file: BackupFile }> {
  const { name, columns, create } = definition
  const full = `${quote(schema)}.${quote(name)}`
  await lock(tx, full)
  const [current] = await readTables(tx, schema, [name])
  if (current?.version !== definition.version) throw new DefinitionChanged(`${full} has changed`)
  const worker = isCitus ? await workerOf(tx, full) : null
  const { rows, state } = await stateOf(tx, full, definition, worker)
  const table: PostgresTable = {
    name,
    path,
    columns,
    rows,
    diskSize: await diskSizeOf(tx, full, worker !== null),
    state,
    create,
    identity: await readIdentity(tx, schema, definition),
  }
  if (known && known.table.state === state && writer.hasAll(known.file.chunks))
    return { table, file: { ...known.file, path } }
  return { table, file: { path, ...(await storeRows(rowsOf(tx, full, columns, worker !== null), writer)) } }
}

/**
 * The rows of a table in their physical order, as COPY writes them. Large tables are read in ranges of pages: the
 * driver's stream does not come to its end after it has made the server wait.
 */
async function* rowsOf(
  tx: TransactionSql,
  full: string,
  columns: readonly string[],
  isSpread: boolean,
): AsyncGenerator<Uint8Array> {
  const sizeOf = isSpread ? 'citus_relation_size' : 'pg_relation_size'
  const [known] = await tx.unsafe<{ pages: number; hasRanges: boolean }[]>(
    `select (${sizeOf}($1::regclass) / current_setting('block_size')::bigint)::int as pages,
      current_setting('server_version_num')::int >= 140000 as "hasRanges"`,
    [full],
  )
  const list = columns.map(quote).join(', ')
  // A scan that joins another one would begin in the middle.
  await tx.unsafe('set local synchronize_seqscans = off')
  if (!known?.hasRanges || known.pages <= PAGES_AT_ONCE)
    return yield* await copied(tx, `copy ${full} (${list}) to stdout`)
  for (let page = 0; page < known.pages; page += PAGES_AT_ONCE) {
    const range = `ctid >= '(${page},0)' and ctid < '(${page + PAGES_AT_ONCE},0)'`
    yield* await copied(tx, `copy (select ${list} from ${full} where ${range}) to stdout`)
  }
}

async function copied(tx: TransactionSql, statement: string): Promise<Uint8Array[]> {
  const stream = await tx.unsafe(statement).readable()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const rows: Uint8Array[] = []
  stream.on('data', (row: Uint8Array) => rows.push(row))
  stream.on('end', () => {
    // The driver pauses its socket while rows wait here, and would leave it so if the last of them came at once.
    stream._read(0)
    resolve()
  })
  stream.on('error', reject)
  await promise
  return rows
}

/** @throws DefinitionChanged if the table was dropped */
async function lock(tx: TransactionSql, full: string): Promise<void> {
  try {
    await tx.unsafe(`lock table ${full} in access share mode`)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '42P01') throw new DefinitionChanged(full)
    throw error
  }
}

/**
 * Identifies the rows of a table without transferring them. Every change gives a row the number of its transaction,
 * which is higher than all earlier ones: of two states with as many rows, the later has a higher sum.
 */
async function stateOf(
  tx: TransactionSql,
  full: string,
  { version }: TableDefinition,
  worker: string | null,
): Promise<{ rows: number; state: string }> {
  const [row] = await tx.unsafe<{ rows: string; sum: string | null }[]>(
    `select count(*)::text as rows, sum(xmin::text::bigint)::text as sum from ${full}`,
  )
  const state = [version, row?.rows ?? 0, row?.sum ?? 0, ...(worker === null ? [] : [worker])]
  return { rows: Number(row?.rows ?? 0), state: state.join(' ') }
}

async function diskSizeOf(tx: TransactionSql, full: string, isSpread: boolean): Promise<number> {
  const sizeOf = isSpread ? 'citus_total_relation_size' : 'pg_total_relation_size'
  const [row] = await tx.unsafe<{ bytes: string }[]>(`select ${sizeOf}($1::regclass)::text as bytes`, [full])
  return Number(row?.bytes ?? 0)
}

/**
 * The worker that has a table in a Citus cluster; null for the coordinator. Each has transaction numbers of its own.
 */
async function workerOf(tx: TransactionSql, full: string): Promise<string | null> {
  const [row] = await tx.unsafe<{ worker: string | null }[]>(
    `select string_agg(placement.groupid::text, ' ' order by placement.groupid) as worker
      from pg_dist_shard shard join pg_dist_placement placement using (shardid)
      where shard.logicalrelid = $1::regclass`,
    [full],
  )
  return row?.worker ?? null
}

/** Stores rows in pieces whose ends depend on the rows alone, so that a change leaves most pieces as they were. */
async function storeRows(
  stream: AsyncIterable<Uint8Array>,
  writer: ChunkWriter,
): Promise<Pick<BackupFile, 'size' | 'chunks'>> {
  const contents = writer.begin()
  let rows: Uint8Array[] = []
  let size = 0
  const flush = async () => {
    const piece = Buffer.concat(rows, size)
    ;[rows, size] = [[], 0]
    for (let at = 0; at < piece.length; at += MAX_BYTES)
      await contents.add(piece.subarray(at, at + MAX_BYTES))
  }
  for await (const row of stream) {
    rows.push(row)
    size += row.length
    if (size >= MAX_BYTES || (size >= MIN_BYTES && endsPiece(row))) await flush()
  }
  if (size > 0) await flush()
  return await contents.end()
}

/** True for a share of all rows that grows with their length. */
const endsPiece = (row: Uint8Array): boolean =>
  Bun.hash.crc32(row) / 2 ** 32 < row.length / (TARGET_BYTES - MIN_BYTES)

async function basesIn(tx: TransactionSql): Promise<BackupBase[]> {
  // Metadata of older versions, which are backed up before their upgrade, lack columns.
  const found = await tx<BackupBase[]>`select id, title from bases
    where to_jsonb(bases) ->> 'deleted_at' is null order by title`
  return found.map(({ id, title }) => ({ id, title }))
}

async function attachmentsIn(tx: TransactionSql): Promise<AttachedFile[]> {
  const found = await tx<{ path: string; storeId: string | null; size: string }[]>`
    select path, to_jsonb(attachment_files) ->> 'store_id' as "storeId", size::text as size
    from attachment_files order by path`
  return found.map(({ path, storeId, size }) => ({ path, storeId, size: Number(size) }))
}

async function bucketsIn(tx: TransactionSql, outline: readonly SchemaOutline[]): Promise<BucketRow[]> {
  if (!outline[0]?.tables.some(({ name }) => name === 'file_buckets')) return []
  return [...(await tx<BucketRow[]>`select id, settings from file_buckets`)]
}
