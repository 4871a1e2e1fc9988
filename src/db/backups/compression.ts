import { constants, crc32, createZstdCompress, type ZstdCompress } from 'node:zlib'

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
/** Larger chunks are compressed at level 1. */
const MAX_FAST_BYTES = 1024 * 1024
/** More than a chunk, so that a stream has compressed it before its output is read. */
const BUFFERED_BYTES = 4 * MAX_FAST_BYTES

/** Compresses chunks in threads of the runtime. */
export interface Compressor {
  /** The bytes to store, one after the other; the contents must not change meanwhile. */
  compress(bytes: Uint8Array, effort: Effort): Promise<Uint8Array[]>
}

/** @returns a compressor that keeps its buffers, which new ones for each chunk would take longer to fill than to use */
export function openCompressor(): Compressor {
  const idle: ZstdCompress[] = []

  /** Each write is a frame of zstd. The one-shot functions of the runtime set up a stream for each chunk. */
  async function compressFast(bytes: Uint8Array): Promise<Uint8Array[]> {
    const stream = idle.pop() ?? openStream()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    stream.write(bytes, (error) => (error ? reject(error) : resolve()))
    await promise
    const parts: Uint8Array[] = []
    for (let part = stream.read(); part !== null; part = stream.read()) parts.push(part)
    idle.push(stream)
    return parts
  }

  return {
    async compress(bytes, effort) {
      if (effort === 'fast' && bytes.length <= MAX_FAST_BYTES) return frame(bytes, await compressFast(bytes))
      return compress(bytes, effort === 'fast' ? 'normal' : effort)
    },
  }
}

function openStream(): ZstdCompress {
  const stream = createZstdCompress({
    params: FAST_PARAMETERS,
    flush: constants.ZSTD_e_end,
    chunkSize: MAX_FAST_BYTES,
    readableHighWaterMark: BUFFERED_BYTES,
  } as Parameters<typeof createZstdCompress>[0])
  // The write that failed reports it.
  stream.on('error', () => {})
  return stream
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
