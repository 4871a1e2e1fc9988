import type { Repository } from './repository.ts'

/** Chunks that are compressed or stored at the same time, in threads of the runtime. */
const MAX_IN_FLIGHT = 8

/** Contents in the store: the names of their chunks, which are checksums, in order. */
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
  { codec, packs }: Pick<Repository, 'codec' | 'packs'>,
  { signal, onBytes }: { signal?: AbortSignal; onBytes?: (bytes: number) => Promise<void> },
): Promise<ChunkWriter> {
  const known = await packs.known()
  const writer = packs.openWriter()
  const running = new Set<Promise<void>>()
  const free: ArrayBuffer[] = []
  const lent = new WeakSet<ArrayBufferLike>()
  let added = 0
  let failure: { error: unknown } | null = null

  async function store(bytes: Uint8Array): Promise<string> {
    try {
      const chunk = await codec.pack(bytes)
      if (known.has(chunk.name)) return chunk.name
      known.add(chunk.name)
      const sealed = codec.seal(chunk)
      added += sealed.length
      await writer.add(chunk.name, sealed)
      return chunk.name
    } catch (error) {
      failure ??= { error }
      return ''
    } finally {
      if (lent.has(bytes.buffer)) free.push(bytes.buffer as ArrayBuffer)
    }
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
          const at = chunks.push('') - 1
          const task = store(bytes).then((hash) => {
            chunks[at] = hash
            running.delete(task)
          })
          running.add(task)
          while (running.size >= MAX_IN_FLIGHT) await Promise.race(running)
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
