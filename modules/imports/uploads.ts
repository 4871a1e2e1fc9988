import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { and, desc, eq, lt } from 'drizzle-orm'
import { AppError } from '../../src/core/errors.ts'
import { randomText } from '../../src/core/ids.ts'
import type { Kernel } from '../../src/kernel.ts'
import { explainStorage } from '../../src/storage-full.ts'
import { defineImportsTables } from './tables.ts'

/** A file waits this long for its import. */
const KEPT_MS = 24 * 3_600_000
/**
 * Files that one person may have waiting; the oldest make room. Together they may be as large as the
 * largest single file, so that nobody fills the disk.
 */
const MAX_WAITING = 20
const MAX_NAME = 255
const ID_LENGTH = 20
/** Ids of `ID_LENGTH`. PostgreSQL fails on some other texts, such as a null character, instead of not finding them. */
const UPLOAD_ID = /^[a-z0-9]{20}$/

/** A file that waits for its import. */
export interface Upload {
  uploadId: string
  fileName: string
  /** Bytes. */
  size: number
}

export type Uploads = ReturnType<typeof createUploads>

/** The uploaded files, in `DATA_DIR/uploads`. */
export function createUploads({ config, meta, log }: Pick<Kernel, 'config' | 'meta' | 'log'>) {
  const { uploads } = meta.tables(defineImportsTables)
  const folder = join(config.dataDir, 'uploads')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const pathOf = (uploadId: string) => join(folder, uploadId)
  /** Files that are being written and have no row yet. */
  const arriving = new Set<string>()
  /** Files by the job that will read them: they stay until it has ended. */
  const held = new Map<string, string>()
  const isHeld = (uploadId: string) => [...held.values()].includes(uploadId)

  /**
   * Keeps a file, writing it as it arrives.
   * @throws PAYLOAD_TOO_LARGE above `IMPORT_MAX_BYTES`, STORAGE_FULL; nothing is kept then
   */
  async function receive(userId: string, name: string, body: AsyncIterable<Uint8Array>): Promise<Upload> {
    const uploadId = randomText(ID_LENGTH)
    const path = pathOf(uploadId)
    const fileName = cleanName(name)
    arriving.add(uploadId)
    try {
      const size = await writeLimited(path, body, config.importMaxBytes)
      const createdAt = new Date().toISOString()
      await meta.db.insert(uploads).values({ id: uploadId, userId, fileName, size, createdAt })
      await makeRoom(userId)
      return { uploadId, fileName, size }
    } catch (error) {
      await rm(path, { force: true })
      throw explainStorage(error)
    } finally {
      arriving.delete(uploadId)
    }
  }

  /** Someone's own upload and where it lies. @throws NOT_FOUND for those of others too */
  async function get(userId: string, uploadId: string): Promise<Upload & { path: string }> {
    const isIt = and(eq(uploads.id, uploadId), eq(uploads.userId, userId))
    const [row] = UPLOAD_ID.test(uploadId) ? await meta.db.select().from(uploads).where(isIt) : []
    if (!row) throw new AppError('NOT_FOUND', 'The uploaded file is no longer available. Choose it again.')
    return { uploadId, fileName: row.fileName, size: row.size, path: pathOf(uploadId) }
  }

  async function remove(uploadId: string): Promise<void> {
    await meta.db.delete(uploads).where(eq(uploads.id, uploadId))
    await rm(pathOf(uploadId), { force: true })
  }

  async function makeRoom(userId: string): Promise<void> {
    const own = await meta.db
      .select({ id: uploads.id, size: uploads.size })
      .from(uploads)
      .where(eq(uploads.userId, userId))
      .orderBy(desc(uploads.createdAt))
    let total = 0
    for (const [at, { id, size }] of own.entries()) {
      total += size
      const isTooMuch = at >= MAX_WAITING || total > config.importMaxBytes
      if (at > 0 && isTooMuch && !isHeld(id)) await remove(id)
    }
  }

  /** Removes what nobody came back for, and what a stopped server left half written. */
  async function clean(): Promise<void> {
    const limit = new Date(Date.now() - KEPT_MS)
    const old = await meta.db
      .select({ id: uploads.id })
      .from(uploads)
      .where(lt(uploads.createdAt, limit.toISOString()))
    for (const { id } of old) if (!isHeld(id)) await remove(id)
    const known = new Set((await meta.db.select({ id: uploads.id }).from(uploads)).map(({ id }) => id))
    for (const name of readdirSync(folder)) {
      if (known.has(name) || arriving.has(name)) continue
      log.info('removing an unfinished upload', {
        name,
        size: statSync(pathOf(name), { throwIfNoEntry: false })?.size,
      })
      await rm(pathOf(name), { force: true })
    }
  }

  return {
    receive,
    get,
    clean,
    /** Keeps a file for a job, whatever else arrives, until `letGo`. */
    hold: (jobId: string, uploadId: string): void => void held.set(jobId, uploadId),
    letGo: (jobId: string): void => void held.delete(jobId),
    /** Removes a file whose import is done, unless another job will read it. */
    async discard(uploadId: string): Promise<void> {
      if (!isHeld(uploadId)) await remove(uploadId)
    },
  }
}

async function writeLimited(
  path: string,
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<number> {
  // Not Bun's own writer: it reports a full disk late, or as a rejection of a promise nobody holds.
  const file = await open(path, 'wx', 0o600)
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.byteLength
      if (size > maxBytes) throw fileTooLarge(maxBytes)
      // Waiting for the disk makes the sender wait, so memory use stays flat.
      await file.appendFile(chunk)
    }
  } finally {
    await file.close()
  }
  return size
}

/** @param maxBytes `IMPORT_MAX_BYTES` */
export function fileTooLarge(maxBytes: number): AppError {
  const megabytes = Math.max(1, Math.floor(maxBytes / 1024 ** 2))
  return new AppError('PAYLOAD_TOO_LARGE', `The file is larger than the ${megabytes} MB import limit`)
}

/** The last part of a name, without what no file name holds. */
function cleanName(name: string): string {
  const last = basename(name.replaceAll('\\', '/')).replace(/\p{Cc}/gu, '')
  return last.slice(0, MAX_NAME).toWellFormed().trim() || 'upload.csv'
}
