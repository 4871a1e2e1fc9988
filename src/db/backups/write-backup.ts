import { Database, SQLiteError } from 'bun:sqlite'
import { existsSync, readdirSync } from 'node:fs'
import { open, readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { nowMs } from '../../clock.ts'
import { VERSION } from '../../version.ts'
import {
  type AttachedFile,
  type BucketRow,
  bucketOpener,
  inBuckets,
  storeBucketFiles,
} from './bucket-files.ts'
import { type ChunkWriter, openChunkWriter } from './chunk-writer.ts'
import { DamagedObject } from './codec.ts'
import {
  type BackupBase,
  type BackupFile,
  type BackupKind,
  type BackupSummary,
  FORMAT,
  type Manifest,
  type PostgresSchema,
} from './manifest.ts'
import { type KnownTables, storePostgres } from './postgres/snapshot.ts'
import { createBackupId, LaterBackup, type Repository } from './repository.ts'
import { openSnapshot, type SqliteSnapshot } from './sqlite-snapshot.ts'
import type { BackupSource } from './target.ts'

/** A multiple of every page size of SQLite. Small, because an edit changes a few pages all over a file. */
const CHUNK_BYTES = 256 * 1024
/** Attempts to begin the snapshots of all files without a change of definitions in between. */
const MAX_ATTEMPTS = 5

export interface BackupOptions {
  kind: BackupKind
  /** Whether to include `secrets`; they decrypt the connections to other databases. */
  withSecrets: boolean
  /** Whether to copy the attached files of buckets. */
  withBucketFiles: boolean
  signal?: AbortSignal
  /** Called with the bytes read so far and in all. */
  onProgress?: (done: number, total: number) => void | Promise<void>
}

/**
 * Backs up an installation while its servers run: the metadata and all bases as of one moment, then attached files.
 * Only contents that the store does not have are added to it, and the manifest last.
 *
 * Must run in a process without connections to these files; see `sqlite-snapshot.ts`.
 *
 * @throws Error that names what cannot be read or stored; nothing but unused chunks is left of the backup then
 */
export async function writeBackup(
  config: BackupSource,
  repository: Repository,
  { kind, withSecrets, withBucketFiles, signal, onProgress }: BackupOptions,
): Promise<BackupSummary> {
  return repository.exclusively(async (requireLock) => {
    const startedAt = performance.now()
    const previous = await latestManifest(repository)
    let [done, total] = [0, 0]
    const writer = await openChunkWriter(repository, {
      ...(signal && { signal }),
      requireLock,
      async onBytes(bytes) {
        done += bytes
        await onProgress?.(done, Math.max(total, done))
      },
    })
    const at = new Date(nowMs())
    const known = new Map(previous?.files.map((file) => [file.path, file]))
    const databases = await storeDatabases(config, writer, previous, known)
    const attachments = await listFiles(config.dataDir, 'attachments')
    const secrets = withSecrets ? await listFiles(config.dataDir, 'secrets') : []
    const inBucket = inBuckets(databases.attachments, config.s3Bucket !== null)
    const files = [...databases.files]
    total =
      done +
      [...attachments, ...secrets, ...(withBucketFiles ? inBucket : [])].reduce(
        (sum, { size }) => sum + size,
        0,
      )
    for (const file of [...attachments, ...secrets]) {
      const stored = await storeFile(config.dataDir, file, known.get(file.path), writer)
      if (stored) files.push(stored)
    }
    let filesElsewhere = inBucket.length
    if (withBucketFiles && inBucket.length > 0) {
      const open = bucketOpener(config, databases.buckets, config.dataDir)
      const { stored, missing } = await storeBucketFiles(inBucket, open, writer, known)
      // One by one: `push(...stored)` would put hundreds of thousands of arguments on the stack.
      for (const file of stored) files.push(file)
      filesElsewhere = missing
    }
    await writer.settle()
    const summary: BackupSummary = {
      id: createBackupId(at),
      at: at.toISOString(),
      version: VERSION,
      kind,
      size: files.reduce((sum, { size }) => sum + size, 0),
      added: writer.added,
      durationMs: Math.round(performance.now() - startedAt),
      bases: databases.bases,
      hasSecrets: withSecrets,
      filesElsewhere,
    }
    const { postgres } = databases
    const manifest: Manifest = { format: FORMAT, summary, files, ...(postgres && { postgres }) }
    signal?.throwIfAborted()
    await requireLock()
    await repository.putManifest(manifest)
    return summary
  })
}

/** Bytes of the attached files in the data folder that the next backup has to store, as the previous one does not have them. */
export async function sizeOfNewFiles(dataDir: string, repository: Repository): Promise<number> {
  const previous = await latestManifest(repository)
  const known = new Map(previous?.files.map((file) => [file.path, file]))
  return (await listFiles(dataDir, 'attachments'))
    .filter((file) => !isUnchanged(file, known.get(file.path)))
    .reduce((sum, { size }) => sum + size, 0)
}

/** The files of the previous backup by their paths. */
type KnownFiles = ReadonlyMap<string, BackupFile>

/** The databases of an installation in a backup. */
interface StoredDatabases {
  files: BackupFile[]
  /** Of an installation in PostgreSQL. */
  postgres?: PostgresSchema[]
  bases: BackupBase[]
  attachments: AttachedFile[]
  buckets: BucketRow[]
}

async function storeDatabases(
  { dataDir, databaseUrl }: BackupSource,
  writer: ChunkWriter,
  previous: Manifest | null,
  known: KnownFiles,
): Promise<StoredDatabases> {
  if (databaseUrl === null) {
    const snapshots = openSnapshots(dataDir)
    const metadata = metadataOf(snapshots)
    const facts = {
      bases: basesIn(metadata),
      attachments: attachmentsIn(metadata),
      buckets: hasColumn(metadata, 'file_buckets', 'settings')
        ? metadata.query<BucketRow, []>('select id, settings from file_buckets').all()
        : [],
    }
    return { files: await storeSnapshots(snapshots, writer, known), ...facts }
  }
  const {
    also: snapshots,
    files,
    schemas,
    ...facts
  } = await storePostgres(databaseUrl, writer, knownTables(previous), {
    also: (inFiles) => openBaseSnapshots(dataDir, new Set(inFiles)),
    discard: closeAll,
  })
  return {
    ...facts,
    postgres: schemas,
    files: [...files, ...(await storeSnapshots(snapshots, writer, known))],
  }
}

/** The tables of the previous backup with their files. */
function knownTables(previous: Manifest | null): KnownTables {
  const files = new Map(previous?.files.map((file) => [file.path, file]))
  const tables = new Map(
    previous?.postgres?.flatMap(({ baseId, tables: own }) =>
      own.map((table) => [JSON.stringify([baseId, table.name]), table] as const),
    ),
  )
  return {
    find(baseId, name) {
      const table = tables.get(JSON.stringify([baseId, name]))
      const file = table && files.get(table.path)
      return table && file ? { table, file } : null
    },
  }
}

/** The manifest of the latest backup that can be read; null without one. After a rollback, there are those of a later version. */
async function latestManifest({ ids, manifest }: Repository): Promise<Manifest | null> {
  for (const id of (await ids()).toReversed()) {
    try {
      return await manifest(id)
    } catch (error) {
      if (!(error instanceof DamagedObject || error instanceof LaterBackup)) throw error
    }
  }
  return null
}

interface NamedSnapshot {
  /** Relative to the data folder. */
  path: string
  /** Closing it twice has no effect. */
  snapshot: SqliteSnapshot
}

function closeAll(snapshots: readonly NamedSnapshot[]): void {
  for (const { snapshot } of snapshots) snapshot.close()
}

/** Stores snapshots and closes them. */
async function storeSnapshots(
  snapshots: NamedSnapshot[],
  writer: ChunkWriter,
  known: KnownFiles,
): Promise<BackupFile[]> {
  const files: BackupFile[] = []
  try {
    // The metadata last: its snapshot is needed the longest, and it is the smallest.
    for (const one of snapshots.toReversed()) {
      files.push(await storeSnapshot(one, writer, known.get(one.path)).catch(naming(one.path)))
      one.snapshot.close()
    }
    return files
  } finally {
    closeAll(snapshots)
  }
}

/** Snapshots of bases in files. @param only their ids; absent: all */
function openBaseSnapshots(dataDir: string, only?: ReadonlySet<string>): NamedSnapshot[] {
  const opened: NamedSnapshot[] = []
  try {
    for (const name of baseFiles(dataDir))
      if (only === undefined || only.has(name.slice(0, -'.db'.length)))
        opened.push({ path: `bases/${name}`, snapshot: openNamed(dataDir, `bases/${name}`) })
    return opened
  } catch (error) {
    closeAll(opened)
    throw error
  }
}

/**
 * Snapshots of the metadata and then of all bases. Definitions do not change in between, so columns and tables are
 * where the metadata say; and no base is older than the metadata, whose positions in the logs of bases therefore exist.
 *
 * @throws Error for an installation that was never started
 */
function openSnapshots(dataDir: string): NamedSnapshot[] {
  for (let attempt = 1; ; attempt++) {
    const opened: NamedSnapshot[] = []
    try {
      if (!existsSync(join(dataDir, 'sheaf.db'))) throw new Error(`There is no data in ${dataDir} (DATA_DIR)`)
      const metadata = openNamed(dataDir, 'sheaf.db')
      opened.push({ path: 'sheaf.db', snapshot: metadata })
      const before = definitionsIn(metadata.database)
      opened.push(...openBaseSnapshots(dataDir))
      if (currentDefinitions(dataDir) === before || attempt === MAX_ATTEMPTS) return opened
      closeAll(opened)
    } catch (error) {
      closeAll(opened)
      throw error
    }
  }
}

/** The connection to the metadata, which is the first of all. */
function metadataOf([first]: NamedSnapshot[]): Database {
  if (!first) throw new Error('There are no metadata')
  return first.snapshot.database
}

function openNamed(dataDir: string, path: string): SqliteSnapshot {
  try {
    return closable(openSnapshot(join(dataDir, path)))
  } catch (error) {
    return naming(path)(error)
  }
}

/** Adds the name of a database to its errors. Those of the store have names already. */
const naming =
  (path: string) =>
  (error: unknown): never => {
    if (!(error instanceof SQLiteError)) throw error
    throw new Error(`${path} cannot be backed up: ${error.message}`, { cause: error })
  }

function closable(snapshot: SqliteSnapshot): SqliteSnapshot {
  let isClosed = false
  return {
    ...snapshot,
    close() {
      if (!isClosed) snapshot.close()
      isClosed = true
    },
  }
}

/** The names of the files of bases. */
export const baseFiles = (dataDir: string): string[] =>
  existsSync(join(dataDir, 'bases'))
    ? readdirSync(join(dataDir, 'bases')).filter((name) => /^p[a-z0-9]{14}\.db$/.test(name))
    : []

/** Identifies the definitions of tables; versions of tables grow with every change of theirs. */
function definitionsIn(metadata: Database): string {
  const version = hasColumn(metadata, 'tables', 'version') ? 'version' : '0'
  const tables = metadata.query(`select id, ${version} from tables order by id`).values()
  const bases = metadata.query('select id from bases order by id').values()
  return JSON.stringify([tables, bases])
}

/** Metadata of older versions, which are backed up before their upgrade, lack columns. */
const hasColumn = (metadata: Database, table: string, column: string): boolean =>
  metadata.query('select 1 from pragma_table_info(?) where name = ?').get(table, column) !== null

/** As `definitionsIn`, at this moment. SQLite itself knows which locks of the process it has to keep. */
function currentDefinitions(dataDir: string): string {
  const metadata = new Database(join(dataDir, 'sheaf.db'), { readonly: true, strict: true })
  try {
    return definitionsIn(metadata)
  } finally {
    metadata.close(true)
  }
}

/** The bases that the metadata list, except those in the trash. */
function basesIn(metadata: Database): BackupBase[] {
  const condition = hasColumn(metadata, 'bases', 'deleted_at') ? 'where deleted_at is null' : ''
  return metadata.query<BackupBase, []>(`select id, title from bases ${condition} order by title`).all()
}

function attachmentsIn(metadata: Database): AttachedFile[] {
  if (!hasColumn(metadata, 'attachment_files', 'path')) return []
  const storeId = hasColumn(metadata, 'attachment_files', 'store_id') ? 'store_id' : 'null'
  return metadata
    .query<AttachedFile, []>(`select path, ${storeId} as storeId, size from attachment_files order by path`)
    .all()
}

/** Stores a database, or refers to its chunks in the previous backup if it has not changed. */
async function storeSnapshot(
  { path, snapshot }: NamedSnapshot,
  writer: ChunkWriter,
  known: BackupFile | undefined,
): Promise<BackupFile> {
  const { state } = snapshot
  if (known && state !== null && known.state === state && writer.hasAll(known.chunks)) return known
  const contents = writer.begin()
  for (let offset = 0; offset < snapshot.size; offset += CHUNK_BYTES) {
    const bytes = writer.buffer(Math.min(CHUNK_BYTES, snapshot.size - offset))
    snapshot.read(offset, bytes)
    await contents.add(bytes)
  }
  // While the last chunks are compressed.
  const tables = countRows(snapshot.database)
  return { path, ...(state !== null && { state }), ...(await contents.end()), tables }
}

/** The number of rows of each table, which a restore test compares. Virtual tables and their shadows are derived. */
export function countRows(database: Database): Record<string, number> {
  const names = database
    .query<{ name: string }, []>(
      `select name from pragma_table_list where type = 'table' and schema = 'main'`,
    )
    .all()
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('sqlite_'))
  return Object.fromEntries(
    names.map((name) => {
      const row = database.query<{ n: number }, []>(`select count(*) as n from ${quoteName(name)}`).get()
      return [name, row?.n ?? 0]
    }),
  )
}

const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`

interface ListedFile {
  /** Relative to the data folder. */
  path: string
  size: number
  modifiedMs: number
}

/** All files of a folder of the data folder. */
async function listFiles(dataDir: string, folder: string): Promise<ListedFile[]> {
  if (!existsSync(join(dataDir, folder))) return []
  const found: ListedFile[] = []
  for (const entry of await readdir(join(dataDir, folder), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = relative(dataDir, join(entry.parentPath, entry.name)).replaceAll('\\', '/')
    const known = await stat(join(dataDir, path)).catch(unlessMissing)
    if (known) found.push({ path, size: known.size, modifiedMs: known.mtimeMs })
  }
  return found
}

/** Attached files never change, and secrets are small. */
const isUnchanged = (file: ListedFile, known: BackupFile | undefined): known is BackupFile =>
  known !== undefined && known.size === file.size && known.modifiedMs === file.modifiedMs

/** Stores a file, or refers to its chunks in the previous backup if it has not changed. Null if it was deleted meanwhile. */
async function storeFile(
  dataDir: string,
  listed: ListedFile,
  known: BackupFile | undefined,
  writer: ChunkWriter,
): Promise<BackupFile | null> {
  const { path, modifiedMs } = listed
  if (isUnchanged(listed, known) && writer.hasAll(known.chunks)) return known
  const file = await open(join(dataDir, path)).catch(unlessMissing)
  if (!file) return null
  try {
    const contents = writer.begin()
    for (let offset = 0; ; ) {
      const { bytesRead, buffer } = await file.read(writer.buffer(CHUNK_BYTES), 0, CHUNK_BYTES, offset)
      if (bytesRead === 0) break
      await contents.add(buffer.subarray(0, bytesRead))
      offset += bytesRead
    }
    return { path, modifiedMs, ...(await contents.end()) }
  } finally {
    await file.close()
  }
}

function unlessMissing(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
  throw error
}
