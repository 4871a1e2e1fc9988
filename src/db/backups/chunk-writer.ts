import type { Repository } from './repository.ts'

/** Chunks on their way to the store at the same time. */
const MAX_IN_FLIGHT = 6

/** Contents in the store: the names of their chunks, which are checksums, in order. */
export interface StoredContents {
  size: number
  chunks: string[]
}

/** Stores contents as chunks that the store does not have yet. */
export interface ChunkWriter {
  /** Begins new contents. */
  begin(): { add(bytes: Uint8Array): Promise<void>; end(): StoredContents }
  /** True if the store has all of these chunks. */
  hasAll(chunks: readonly string[]): boolean
  /** Resolves once everything is stored. @throws the first error */
  settle(): Promise<void>
  /** Compressed bytes that were added to the store. */
  readonly added: number
}

export async function openChunkWriter(
  { codec, putChunk, storedChunks }: Repository,
  { signal, onBytes }: { signal?: AbortSignal; onBytes?: (bytes: number) => Promise<void> },
): Promise<ChunkWriter> {
  const known = new Set((await storedChunks()).keys())
  const running = new Set<Promise<void>>()
  let added = 0
  let failure: { error: unknown } | null = null

  async function store(hash: string, bytes: Uint8Array): Promise<void> {
    try {
      added += await putChunk(hash, bytes)
    } catch (error) {
      failure ??= { error }
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
        /** Takes over the bytes: the caller must not change them. */
        async add(bytes) {
          refuse()
          const hash = codec.nameOf(bytes)
          chunks.push(hash)
          size += bytes.length
          if (!known.has(hash)) {
            known.add(hash)
            const task = store(hash, bytes).finally(() => running.delete(task))
            running.add(task)
            while (running.size >= MAX_IN_FLIGHT) await Promise.race(running)
          }
          await onBytes?.(bytes.length)
        },
        end: () => ({ size, chunks }),
      }
    },
    hasAll: (chunks) => chunks.every((hash) => known.has(hash)),
    async settle() {
      await Promise.all(running)
      refuse()
    },
    get added() {
      return added
    },
  }
}
