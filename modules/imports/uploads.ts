import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { and, desc, eq, lt } from 'drizzle-orm'
import { nowIso, nowMs } from '../../src/clock.ts'
import { AppError, badRequest } from '../../src/core/errors.ts'
import { randomText } from '../../src/core/ids.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { explainStorage } from '../../src/storage-full.ts'
import { MAX_STARTED } from './input.ts'
import { defineImportsTables } from './tables.ts'

/** Uploads are deleted after this time. */
const KEPT_MS = 24 * 3_600_000
/**
 * Limit of waiting uploads per person, all of which one import may take; the oldest are deleted. Their total size is
 * limited to that of the largest allowed file, so that nobody can fill the disk.
 */
const MAX_WAITING = MAX_STARTED
const MAX_NAME = 255
const ID_LENGTH = 20
/** Checked before querying: PostgreSQL fails on some texts, such as a null character. */
const UPLOAD_ID = /^[a-z0-9]{20}$/

export interface Upload {
  uploadId: string
  fileName: string
  /** Bytes. */
  size: number
}

export type Uploads = ReturnType<typeof createUploads>

/** Uploaded files in `DATA_DIR/uploads`. */
export function createUploads({ config, meta, log }: Pick<Kernel, 'config' | 'meta' | 'log'>) {
  const { uploads } = meta.tables(defineImportsTables)
  const folder = join(config.dataDir, 'uploads')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const pathOf = (uploadId: string) => join(folder, uploadId)
  /** Files that are being written or deleted here: a claim does not keep out the process that has it. */
  const busy = new Set<string>()
  /** Upload ids by the job that will read them; such files are not deleted. */
  const held = new Map<string, string>()
  const isHeld = (uploadId: string) => [...held.values()].includes(uploadId)
  const { claims } = meta.cluster
  const claimOf = (uploadId: string) => `upload ${uploadId}`

  /** Runs `work` with a file of its own. Returns null, without running it, if a job or a sender on any server needs the file. */
  async function unlessHeld<T>(uploadId: string, work: () => Promise<T>): Promise<T | null> {
    if (isHeld(uploadId) || busy.has(uploadId)) return null
    busy.add(uploadId)
    try {
      return (await claims.take(claimOf(uploadId))) ? await work() : null
    } finally {
      busy.delete(uploadId)
      if (!isHeld(uploadId)) await claims.release(claimOf(uploadId))
    }
  }

  /**
   * Stores a file while it arrives.
   * @throws PAYLOAD_TOO_LARGE above `IMPORT_MAX_BYTES`, STORAGE_FULL; nothing is stored then
   */
  async function receive(userId: string, name: string, body: AsyncIterable<Uint8Array>): Promise<Upload> {
    const uploadId = randomText(ID_LENGTH)
    const path = pathOf(uploadId)
    const fileName = cleanName(name)
    busy.add(uploadId)
    try {
      await claims.take(claimOf(uploadId))
      const size = await writeLimited(path, body, config.importMaxBytes)
      const createdAt = nowIso()
      await meta.db.insert(uploads).values({ id: uploadId, userId, fileName, size, createdAt })
      await makeRoom(userId)
      return { uploadId, fileName, size }
    } catch (error) {
      await rm(path, { force: true })
      throw explainStorage(error)
    } finally {
      busy.delete(uploadId)
      await claims.release(claimOf(uploadId))
    }
  }

  /** The user's own upload. @throws NOT_FOUND, also for other people's */
  async function find(userId: string, uploadId: string): Promise<Upload & { path: string }> {
    const isIt = and(eq(uploads.id, uploadId), eq(uploads.userId, userId))
    const [row] = UPLOAD_ID.test(uploadId) ? await meta.db.select().from(uploads).where(isIt) : []
    if (!row) throw new AppError('NOT_FOUND', m.imports_error_upload_gone())
    return { uploadId, fileName: row.fileName, size: row.size, path: pathOf(uploadId) }
  }

  /**
   * The user's own complete upload and its path.
   * @throws NOT_FOUND, also for other people's; BAD_REQUEST for one that has not arrived completely
   */
  async function get(userId: string, uploadId: string): Promise<Upload & { path: string }> {
    const upload = await find(userId, uploadId)
    if (sizeOf(upload.path) !== upload.size) throw badRequest(m.imports_error_upload_incomplete())
    return upload
  }

  /**
   * Begins an upload that arrives in parts.
   * @param size bytes of the whole file
   * @throws PAYLOAD_TOO_LARGE above `IMPORT_MAX_BYTES`; BAD_REQUEST for an empty file
   */
  async function begin(userId: string, name: string, size: number): Promise<Upload> {
    if (size > config.importMaxBytes) throw fileTooLarge(config.importMaxBytes)
    if (size === 0) throw badRequest(m.imports_error_empty_file())
    const upload: Upload = { uploadId: randomText(ID_LENGTH), fileName: cleanName(name), size }
    const { uploadId: id, fileName } = upload
    busy.add(id)
    try {
      await (await open(pathOf(id), 'wx', 0o600)).close()
      await meta.db.insert(uploads).values({ id, userId, fileName, size, createdAt: nowIso() })
      await makeRoom(userId)
      return upload
    } catch (error) {
      await rm(pathOf(id), { force: true })
      throw explainStorage(error)
    } finally {
      busy.delete(id)
    }
  }

  /** The bytes that have arrived of the user's own upload. @throws NOT_FOUND */
  async function received(userId: string, uploadId: string): Promise<Upload & { received: number }> {
    const { path, ...upload } = await find(userId, uploadId)
    return { ...upload, received: sizeOf(path) }
  }

  /**
   * Appends a part to an upload. What has arrived stays when the connection is lost meanwhile.
   * @param offset the bytes that arrived before, so that a repeated part is not appended twice
   * @throws NOT_FOUND; CONFLICT for another offset, and while another part arrives; BAD_REQUEST for more bytes than the
   *   file has; STORAGE_FULL, which removes the upload
   */
  async function append(
    userId: string,
    uploadId: string,
    { offset, body }: { offset: number; body: AsyncIterable<Uint8Array> },
  ): Promise<Upload & { received: number }> {
    const { path, ...upload } = await find(userId, uploadId)
    const appended = await unlessHeld(uploadId, () => appendNow({ path, ...upload }, offset, body))
    if (appended === null) throw new AppError('CONFLICT', m.imports_error_upload_busy())
    return appended
  }

  async function appendNow(
    { path, ...upload }: Upload & { path: string },
    offset: number,
    body: AsyncIterable<Uint8Array>,
  ): Promise<Upload & { received: number }> {
    try {
      if (sizeOf(path) !== offset) throw new AppError('CONFLICT', m.imports_error_upload_offset())
      const file = await open(path, 'a', 0o600)
      try {
        let size = offset
        for await (const chunk of body) {
          size += chunk.byteLength
          if (size > upload.size) throw badRequest(m.imports_error_upload_too_long())
          await file.appendFile(chunk)
        }
      } finally {
        await file.close()
      }
      return { ...upload, received: sizeOf(path) }
    } catch (error) {
      const reason = explainStorage(error)
      // What has arrived would keep others from writing; the person starts again when there is room.
      if (reason instanceof AppError && reason.code === 'STORAGE_FULL') {
        // Before its row, whose removal needs room as well.
        await rm(path, { force: true })
        await remove(upload.uploadId)
      }
      throw reason
    }
  }

  const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

  /** False for an upload that has expired, or whose file is gone. */
  async function isThere(userId: string, uploadId: string): Promise<boolean> {
    const isIt = and(eq(uploads.id, uploadId), eq(uploads.userId, userId))
    const [row] = await meta.db.select({ id: uploads.id }).from(uploads).where(isIt)
    return row !== undefined && existsSync(pathOf(uploadId))
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
      if (at > 0 && isTooMuch) await unlessHeld(id, () => remove(id))
    }
  }

  /** Deletes expired uploads, and partial files of a stopped server. */
  async function clean(): Promise<void> {
    const limit = new Date(nowMs() - KEPT_MS)
    const old = await meta.db
      .select({ id: uploads.id })
      .from(uploads)
      .where(lt(uploads.createdAt, limit.toISOString()))
    for (const { id } of old) await unlessHeld(id, () => remove(id))
    const known = new Set((await meta.db.select({ id: uploads.id }).from(uploads)).map(({ id }) => id))
    for (const name of readdirSync(folder)) {
      if (known.has(name)) continue
      await unlessHeld(name, async () => {
        // Stored by another server since the rows were read.
        const [row] = await meta.db.select({ id: uploads.id }).from(uploads).where(eq(uploads.id, name))
        if (row) return
        const size = statSync(pathOf(name), { throwIfNoEntry: false })?.size
        log.info('removing an unfinished upload', { name, size })
        await rm(pathOf(name), { force: true })
      })
    }
  }

  return {
    receive,
    begin,
    received,
    append,
    get,
    isThere,
    clean,
    /** Protects a file from deletion until `release`. */
    async hold(jobId: string, uploadId: string): Promise<void> {
      held.set(jobId, uploadId)
      await claims.take(claimOf(uploadId))
    },
    async release(jobId: string): Promise<void> {
      const uploadId = held.get(jobId)
      held.delete(jobId)
      if (uploadId !== undefined && !isHeld(uploadId)) await claims.release(claimOf(uploadId))
    },
    /** Deletes an imported file unless another job needs it. */
    async discard(uploadId: string): Promise<void> {
      await unlessHeld(uploadId, () => remove(uploadId))
    },
  }
}

async function writeLimited(
  path: string,
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<number> {
  // Bun's own writer reports a full disk late, or as an unhandled rejection.
  const file = await open(path, 'wx', 0o600)
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.byteLength
      if (size > maxBytes) throw fileTooLarge(maxBytes)
      // Awaited, so that the sender slows down to the disk and memory stays flat.
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
  return new AppError('PAYLOAD_TOO_LARGE', m.imports_error_file_too_large({ megabytes }))
}

/** The last part of a path, without control characters. */
function cleanName(name: string): string {
  const last = basename(name.replaceAll('\\', '/')).replace(/\p{Cc}/gu, '')
  return last.slice(0, MAX_NAME).toWellFormed().trim() || 'upload.csv'
}
