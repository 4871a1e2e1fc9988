import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Claims } from '../../../src/cluster.ts'
import { AppError } from '../../../src/core/errors.ts'
import { randomText } from '../../../src/core/ids.ts'
import { m } from '../../../src/messages.gen.ts'
import { HEAD_BYTES } from './file-type.ts'

/** A received file in the temporary folder. */
export interface ReceivedFile {
  path: string
  /** Bytes. */
  size: number
  /** Its first bytes. */
  head: Uint8Array
}

export type Incoming = ReturnType<typeof createIncoming>

/** Files of versions whose names did not tell the process; one of these may still be receiving some. */
const NAMELESS_KEPT_MS = 24 * 3_600_000

/**
 * Receives files in a folder on the store’s disk, so that they can be moved to the store. Several servers may share it:
 * a file's name begins with the number of the process that receives it.
 */
export function createIncoming(folder: string, claims: Claims) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const own = randomText(12)
  const claimOf = (process: string) => `incoming ${process}`

  const place = (): string => join(folder, `${own}-${randomText(24)}`)

  return {
    place,

    /** Deletes a received file. */
    discard: ({ path }: Pick<ReceivedFile, 'path'>): Promise<void> => rm(path, { force: true }),

    /** A complete file that was written to a place of this folder, on disk. */
    async describe(path: string): Promise<ReceivedFile> {
      const file = await open(path, 'r+')
      try {
        await file.sync()
        const { size } = await file.stat()
        const { buffer, bytesRead } = await file.read(new Uint8Array(HEAD_BYTES), 0, HEAD_BYTES, 0)
        return { path, size, head: buffer.subarray(0, bytesRead) }
      } finally {
        await file.close()
      }
    },

    /** Deletes partial files of processes that have ended. Called at start and later. */
    clean: async (): Promise<void> => {
      await claims.take(claimOf(own))
      for (const name of readdirSync(folder)) {
        const path = join(folder, name)
        const [, process = null] = /^([a-z0-9]{12})-/.exec(name) ?? []
        if (process === own) continue
        if (process === null) {
          const modified = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
          if (modified < Date.now() - NAMELESS_KEPT_MS) await rm(path, { force: true, recursive: true })
        } else if (await claims.take(claimOf(process))) {
          await rm(path, { force: true, recursive: true })
          await claims.release(claimOf(process))
        }
      }
    },

    /**
     * Streams a file to disk with backpressure.
     *
     * @throws PAYLOAD_TOO_LARGE above `maxBytes`, STORAGE_FULL; the file is deleted then, and if the sender aborts
     */
    async receive(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<ReceivedFile> {
      const path = place()
      // Bun’s file writer does not report a full disk.
      const file = await open(path, 'wx', 0o600)
      let size = 0
      let head: Uint8Array = new Uint8Array()
      try {
        for await (const chunk of body) {
          size += chunk.byteLength
          if (size > maxBytes) throw new AppError('PAYLOAD_TOO_LARGE', m.wire_error_file_too_large())
          if (head.length < HEAD_BYTES)
            head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)])
          await file.appendFile(chunk)
        }
        // A saved record may refer to the file at once, so it must be on disk.
        await file.sync()
        await file.close()
        return { path, size, head }
      } catch (error) {
        await file.close()
        await rm(path, { force: true })
        throw explainDisk(error)
      }
    },
  }
}

/** Turns a full disk into an AppError; returns other errors unchanged. */
export function explainDisk(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error
  return new AppError('STORAGE_FULL', m.records_error_disk_full())
}
