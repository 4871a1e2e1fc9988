import { mkdirSync, readdirSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../src/core/errors.ts'
import { randomText } from '../../../src/core/ids.ts'
import { HEAD_BYTES } from './file-type.ts'

/** A file that has arrived and has no place yet. */
export interface Arrived {
  path: string
  /** Bytes. */
  size: number
  /** Its first bytes. */
  head: Uint8Array
}

export type Incoming = ReturnType<typeof createIncoming>

/** Files that are arriving, on the disk of the store so that they can be moved there whole. */
export function createIncoming(folder: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // One process serves a data folder: what lies here now, a stopped one has left half written.
  const left = readdirSync(folder).map((name) => join(folder, name))

  const place = (): string => join(folder, randomText(24))

  return {
    place,

    /** Removes what was received and not kept. */
    discard: ({ path }: Arrived): Promise<void> => rm(path, { force: true }),

    /** Removes what an earlier process was receiving when it ended. */
    clean: async (): Promise<void> => {
      for (const path of left.splice(0)) await rm(path, { force: true, recursive: true })
    },

    /**
     * Writes a file as it arrives, waiting for the disk, so that memory stays as it is.
     * @throws PAYLOAD_TOO_LARGE above `maxBytes`, STORAGE_FULL; nothing is kept then, nor where the sender stops
     */
    async receive(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Arrived> {
      const path = place()
      // Bun's own writer says nothing of a disk that is full.
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
        // A record that names it will be on the disk when it is answered: so must the file be.
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

/** A full disk in words; whatever else has failed as it is. */
export function explainDisk(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error
  return new AppError('STORAGE_FULL', 'The server’s disk is full. The file was not saved.')
}
