import { compressHere, type Effort, openCompressor, sizeOf } from './compression.ts'
import type { Repository } from './repository.ts'

/** Chunks that are compressed or stored at the same time, in threads of the runtime. */
const MAX_IN_FLIGHT = 6
/** Chunks that shrink less are mostly single bytes, which the fast compression leaves as they are. */
const MIN_FAST_RATIO = 4
/** Some milliseconds of reading. */
const PAUSE_BYTES = 32 * 1024 ** 2

/** Contents in the store: the names of their chunks, in order. */
export interface StoredContents {
  size: number
  chunks: string[]
}

/** Stores contents as chunks that the store does not have yet. */
export interface ChunkWriter {
  /** Begins new contents. */
  begin(): {
    /** Takes over the bytes: the caller must not change them. */
    add(bytes: Uint8Array): Promise<void>
    /** @throws the first error */
    end(): Promise<StoredContents>
  }
  /** A buffer for `add`, which takes it back: new memory for each chunk would cost more than to read it. */
  buffer(size: number): Uint8Array
  /** True if the store has all of these chunks. */
  hasAll(chunks: readonly string[]): boolean
  /** Resolves once everything is stored. @throws the first error */
  settle(): Promise<void>
  /** Compressed bytes that were added to the store. */
  readonly added: number
}

export async function openChunkWriter(
  { codec, packs, store: { isRemote } }: Pick<Repository, 'codec' | 'packs' | 'store'>,
  {
    signal,
    onBytes,
    requireLock,
  }: {
    signal?: AbortSignal
    onBytes?: (bytes: number) => Promise<void>
    requireLock?: () => Promise<void>
  },
): Promise<ChunkWriter> {
  const known = await packs.known()
  const writer = packs.openWriter(requireLock)
  const running = new Set<Promise<void>>()
  const free: ArrayBuffer[] = []
  const lent = new WeakSet<ArrayBufferLike>()
  const compressor = openCompressor()
  let added = 0
  let unpaused = 0
  /** How many times smaller the latest chunk has become. */
  let ratio = 0
  let failure: { error: unknown } | null = null

  const release = ({ buffer }: Uint8Array): void => {
    if (lent.has(buffer)) free.push(buffer as ArrayBuffer)
  }

  async function store(
    name: string,
    bytes: Uint8Array,
    compress: typeof compressor.compress | typeof compressHere,
  ): Promise<void> {
    try {
      const packed = await compress(bytes, effort())
      ratio = bytes.length / sizeOf(packed)
      const sealed = codec.seal(name, packed)
      added += sizeOf(sealed)
      await writer.add(name, sealed)
    } catch (error) {
      failure ??= { error }
    } finally {
      release(bytes)
    }
  }

  function effort(): Effort {
    if (isRemote) return 'small'
    return ratio < MIN_FAST_RATIO ? 'normal' : 'fast'
  }

  /** Lets timers and signals in, which reading and naming known chunks never do. */
  async function pause(length: number): Promise<void> {
    unpaused += length
    if (unpaused < PAUSE_BYTES) return
    unpaused = 0
    await Bun.sleep(0)
  }

  const refuse = () => {
    signal?.throwIfAborted()
    if (failure) throw failure.error
  }

  return {
    begin() {
      const chunks: string[] = []
      let size = 0
      return {
        async add(bytes) {
          refuse()
          const { length } = bytes
          size += length
          const name = codec.nameOf(bytes)
          chunks.push(name)
          if (known.has(name)) release(bytes)
          else {
            known.add(name)
            if (running.size < MAX_IN_FLIGHT) {
              const task = store(name, bytes, compressor.compress).finally(() => running.delete(task))
              running.add(task)
            } else {
              // Helps instead of waiting, and then looks which of the others have ended.
              await store(name, bytes, compressHere)
              await new Promise((resolve) => setImmediate(resolve))
            }
          }
          await pause(length)
          await onBytes?.(length)
        },
        async end() {
          await Promise.all(running)
          refuse()
          return { size, chunks }
        },
      }
    },
    buffer(size) {
      const at = free.findIndex(({ byteLength }) => byteLength >= size)
      const [buffer = new ArrayBuffer(size)] = at < 0 ? [] : free.splice(at, 1)
      lent.add(buffer)
      return new Uint8Array(buffer, 0, size)
    },
    hasAll: (chunks) => chunks.every((hash) => known.has(hash)),
    async settle() {
      await Promise.all(running)
      refuse()
      await writer.finish()
    },
    get added() {
      return added
    },
  }
}
