import { mkdirSync, readdirSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
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

/** Receives files in a folder on the store’s disk, so that they can be moved to the store. */
export function createIncoming(folder: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // One process serves a data folder: existing files are left over from an earlier one.
  const left = readdirSync(folder).map((name) => join(folder, name))

  const place = (): string => join(folder, randomText(24))

  return {
    place,

    /** Deletes a received file. */
    discard: ({ path }: ReceivedFile): Promise<void> => rm(path, { force: true }),

    /** Deletes partial files of an earlier process. */
    clean: async (): Promise<void> => {
      for (const path of left.splice(0)) await rm(path, { force: true, recursive: true })
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
          if (size > maxBytes) throw new AppError('PAYLOAD_TOO_LARGE', 'File too large')
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
