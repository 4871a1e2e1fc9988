import { Database } from 'bun:sqlite'
import { statfsSync } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { upgradeBaseFile } from '../base-file.ts'
import type { MetaReader } from '../meta.ts'
import { migrateSqlite, pendingMigrationsOf } from '../migrate.ts'
import { problemOf } from '../sqlite-index-build.ts'
import type { BucketRow } from './bucket-files.ts'
import { DamagedObject } from './codec.ts'
import type { BackupFile, Manifest } from './manifest.ts'
import type { Repository } from './repository.ts'
import { countRows } from './write-backup.ts'

/** Chunks that are read ahead of the one that is being written. */
const READ_AHEAD = 6
/** Space that stays free on the disk. */
const SPARE_BYTES = 64 * 1024 ** 2

export interface RestoreOptions {
  signal?: AbortSignal
  /** Called with the bytes written so far and in all. */
  onProgress?: (done: number, total: number) => void
}

/**
 * Writes the files of a backup into a folder that does not exist yet, and checks their contents.
 *
 * @throws Error if the disk has too little space; DamagedObject that names the file and the chunk
 */
export async function restoreFiles(
  repository: Repository,
  files: readonly BackupFile[],
  folder: string,
  { signal, onProgress }: RestoreOptions = {},
): Promise<void> {
  const total = files.reduce((sum, { size }) => sum + size, 0)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  requireSpace(folder, total)
  let done = 0
  for (const file of files) {
    const path = join(folder, file.path)
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await restoreFile(repository, file, path, (bytes) => {
      signal?.throwIfAborted()
      done += bytes
      onProgress?.(done, total)
    })
  }
}

/** @throws Error if the disk of a folder cannot take so many bytes */
export function requireSpace(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  if (free >= bytes + SPARE_BYTES) return
  const inMegabytes = (size: number) => `${Math.ceil(size / 1024 ** 2).toLocaleString('en')} MB`
  throw new Error(
    `The disk of ${folder} has ${inMegabytes(free)} free, but ${inMegabytes(bytes + SPARE_BYTES)} are needed`,
  )
}

/** Writes one file of a backup. @throws as `restoreFiles` */
export async function restoreFile(
  repository: Repository,
  { path: name, chunks, size }: Pick<BackupFile, 'path' | 'chunks' | 'size'>,
  path: string,
  onBytes: (bytes: number) => void = () => {},
): Promise<void> {
  let written = 0
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const bytes of readChunks(repository, chunks)) {
      await file.write(bytes, 0, bytes.length, written)
      written += bytes.length
      onBytes(bytes.length)
    }
    await file.datasync()
  } catch (error) {
    if (error instanceof DamagedObject)
      throw new DamagedObject(`${name} cannot be restored: ${error.message}`, { cause: error })
    throw error
  } finally {
    await file.close()
  }
  if (written !== size)
    throw new DamagedObject(`${name} cannot be restored: it has ${written} bytes, but ${size} were backed up`)
}

/** The contents of chunks in order. */
export async function* readChunks(
  { getChunk }: Pick<Repository, 'getChunk'>,
  chunks: readonly string[],
): AsyncGenerator<Uint8Array> {
  const ahead: Promise<Uint8Array>[] = []
  const request = (at: number) => {
    const hash = chunks[at]
    if (hash === undefined) return
    const reading = getChunk(hash)
    // Awaited in its turn; an earlier failure must not leave it unhandled.
    reading.catch(() => {})
    ahead.push(reading)
  }
  for (let at = 0; at < READ_AHEAD; at++) request(at)
  for (let at = 0; at < chunks.length; at++) {
    const next = ahead.shift()
    if (!next) return
    yield await next
    request(at + READ_AHEAD)
  }
}

/**
 * Checks restored databases: their structure, the rows of each table against the manifest, and that this version of
 * Sheaf can use the metadata. Changes nothing in them.
 *
 * @throws Error that names the file and the problem
 */
export function checkRestored({ files }: Pick<Manifest, 'files'>, folder: string): void {
  for (const file of files) {
    if (file.tables !== undefined) checkRestoredFile(file, join(folder, file.path))
  }
}

/** As `checkRestored`, of one database. */
export function checkRestoredFile(
  { path: name, tables = {} }: Pick<BackupFile, 'path' | 'tables'>,
  path: string,
): void {
  // The file is ours alone, so that no log is created beside it.
  const database = openAlone(path)
  try {
    const problem = problemOf(database, 'quick_check')
    if (problem !== null) throw new Error(`${name} is damaged: ${problem}`)
    const rows = countRows(database)
    for (const [table, expected] of Object.entries(tables)) {
      if (rows[table] !== expected)
        throw new Error(
          `${name} has ${rows[table] ?? 'no'} rows in “${table}”, but ${expected} were backed up`,
        )
    }
    if (name === 'sheaf.db') pendingMigrationsOf(database, 'The metadata of the backup')
  } finally {
    database.close(true)
  }
}

/** The metadata in a restored file. */
export interface RestoredMetadata {
  reader: MetaReader
  close(): void | Promise<void>
}

/**
 * Opens the metadata in a restored file to be read as data: nothing is written, and nothing of it is attached.
 *
 * @throws Error if they are not of this version, whose definitions their rows would not fit
 */
export function openRestoredMetadata(path: string): RestoredMetadata {
  const database = openAlone(path)
  try {
    const pending = pendingMigrationsOf(database, 'The metadata of the backup')
    if (pending.length > 0) throw new Error('The metadata of the backup are of an earlier version')
    return { reader: drizzle(database), close: () => database.close(true) }
  } catch (error) {
    database.close(true)
    throw error
  }
}

/** The buckets in restored metadata. */
export function bucketsIn(path: string): BucketRow[] {
  const database = openAlone(path)
  try {
    const isThere = database.query(`select 1 from sqlite_schema where name = 'file_buckets'`).get()
    return isThere === null
      ? []
      : database.query<BucketRow, []>('select id, settings from file_buckets').all()
  } finally {
    database.close(true)
  }
}

function openAlone(path: string): Database {
  const uri = `file:${encodeURI(path).replaceAll('?', '%3f').replaceAll('#', '%23')}?immutable=1`
  return new Database(uri, READ_ONLY_URI)
}

/** SQLITE_OPEN_READONLY | SQLITE_OPEN_URI */
const READ_ONLY_URI = 0x1 | 0x40

/**
 * Takes all upgrade steps of this version in databases, then checks them, and that the tables of bases still have their
 * rows.
 *
 * @returns the number of migrations, and of bases that were upgraded
 * @throws Error that names the file and the step's problem
 */
export function upgradeFiles(
  { files }: Pick<Manifest, 'files'>,
  folder: string,
): { migrations: number; bases: number } {
  let [migrations, bases] = [0, 0]
  for (const { path, tables } of files) {
    if (tables === undefined) continue
    const database = new Database(join(folder, path), { readwrite: true, create: false, strict: true })
    try {
      database.run('pragma foreign_keys = on')
      if (path === 'sheaf.db') {
        migrations = pendingMigrationsOf(database, 'The metadata').length
        migrateSqlite(database)
      } else if (upgradeBaseFile(database) > 0) bases++
      const problem = problemOf(database, 'quick_check')
      if (problem !== null) throw new Error(problem)
      if (path !== 'sheaf.db') {
        const rows = countRows(database)
        const lost = Object.keys(tables).find(
          (name) => name !== 'sheaf_release' && rows[name] !== tables[name],
        )
        if (lost !== undefined) throw new Error(`the table “${lost}” would lose rows`)
      }
    } catch (error) {
      throw new Error(
        `${path} cannot be upgraded: ${error instanceof Error ? error.message : String(error)}`,
        {
          cause: error,
        },
      )
    } finally {
      database.close(true)
    }
  }
  return { migrations, bases }
}

/** Removes a folder with everything in it, also a missing one. */
export const removeFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true })
