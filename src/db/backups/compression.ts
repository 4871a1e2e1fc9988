import { constants, crc32, ZstdCompress, zstdCompressSync } from 'node:zlib'

/*
 * Stored bytes: how the rest is stored, its CRC-32, and the rest. The checksum keeps damaged bytes away from zstd.
 */

const RAW = 0
const ZSTD = 1
const HEADER_BYTES = 5

/**
 * How much processor time a chunk is worth:
 *
 * - `fast` finds long repetitions only, and leaves single bytes as they are: a quarter faster than level 1 of zstd, and
 *   a tenth larger for pages of databases, which repeat themselves. For texts it is a third larger, and little faster.
 * - `normal` is level 1.
 * - `small` is level 3: a fifth smaller in a quarter more time.
 */
export type Effort = 'fast' | 'normal' | 'small'

const LEVELS = { normal: 1, small: 3 } as const

/** https://facebook.github.io/zstd/zstd_manual.html#Chapter5; a target length turns off the coding of single bytes. */
const FAST_PARAMETERS = {
  [constants.ZSTD_c_compressionLevel]: 1,
  [constants.ZSTD_c_minMatch]: 7,
  [constants.ZSTD_c_hashLog]: 13,
  [constants.ZSTD_c_targetLength]: 1,
}
/** Takes the output of several chunks. */
const OUTPUT_BYTES = 1024 * 1024

/** Compresses chunks in threads of the runtime. */
export interface Compressor {
  /** The bytes to store, one after the other; the contents must not change meanwhile. */
  compress(bytes: Uint8Array, effort: Effort): Promise<Uint8Array[]>
}

/** @returns a compressor that keeps its streams: the one-shot functions of the runtime set up one for each chunk */
export function openCompressor(): Compressor {
  const idle: FrameStream[] = []
  return {
    async compress(bytes, effort) {
      if (effort !== 'fast') return compress(bytes, effort)
      const stream = idle.pop() ?? new FrameStream()
      const compressed = await stream.compress(bytes)
      // One that has failed is dropped.
      idle.push(stream)
      return frame(bytes, compressed)
    },
  }
}

/**
 * Compresses each chunk to a frame of zstd. The queues of a stream cost a tenth of the compression, so that its two ends
 * are connected directly.
 */
class FrameStream extends ZstdCompress {
  #parts: Uint8Array[] = []

  constructor() {
    super({ params: FAST_PARAMETERS, flush: constants.ZSTD_e_end, chunkSize: OUTPUT_BYTES })
    // `compress` reports it.
    this.on('error', () => {})
  }

  override push(part: Uint8Array | null): boolean {
    if (part !== null) this.#parts.push(part)
    return true
  }

  compress(bytes: Uint8Array): Promise<Uint8Array[]> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array[]>()
    const onError = (error: Error) => reject(error)
    this.once('error', onError)
    this._transform(bytes, 'buffer' as BufferEncoding, () => {
      this.off('error', onError)
      const parts = this.#parts
      this.#parts = []
      resolve(parts)
    })
    return promise
  }
}

/** As `Compressor.compress`, in this thread. */
export function compressHere(bytes: Uint8Array, effort: Effort): Uint8Array[] {
  const compressed =
    effort === 'fast'
      ? zstdCompressSync(bytes, { params: FAST_PARAMETERS })
      : Bun.zstdCompressSync(source(bytes), { level: LEVELS[effort] })
  return frame(bytes, [compressed])
}

/** Compresses a single object. */
export async function compress(bytes: Uint8Array, effort: Exclude<Effort, 'fast'>): Promise<Uint8Array[]> {
  return frame(bytes, [await Bun.zstdCompress(source(bytes), { level: LEVELS[effort] })])
}

function frame(bytes: Uint8Array, compressed: readonly Uint8Array[]): Uint8Array[] {
  const [how, parts] = sizeOf(compressed) < bytes.length ? [ZSTD, compressed] : [RAW, [bytes]]
  const header = Buffer.alloc(HEADER_BYTES)
  header[0] = how
  header.writeUInt32LE(
    parts.reduce((sum, part) => crc32(part, sum), 0),
    1,
  )
  return [header, ...parts]
}

/** Bytes in all. */
export const sizeOf = (parts: readonly Uint8Array[]): number =>
  parts.reduce((sum, { length }) => sum + length, 0)

/** The contents of stored bytes; null if they are damaged. */
export async function expand(framed: Uint8Array): Promise<Uint8Array | null> {
  if (framed.length < HEADER_BYTES) return null
  const body = framed.subarray(HEADER_BYTES)
  const checksum = new DataView(framed.buffer, framed.byteOffset, HEADER_BYTES).getUint32(1, true)
  if (crc32(body) !== checksum) return null
  if (framed[0] === RAW) return body
  if (framed[0] !== ZSTD) return null
  try {
    return await Bun.zstdDecompress(source(body))
  } catch {
    return null
  }
}

const source = (bytes: Uint8Array) => bytes as Uint8Array<ArrayBuffer>
