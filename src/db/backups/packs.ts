import { z } from 'zod'
import { randomText } from '../../core/ids.ts'
import { type Codec, DamagedObject } from './codec.ts'
import { sizeOf } from './compression.ts'
import type { BackupStore } from './stores/index.ts'

/*
 * Chunks are stored in packs of some megabytes: a disk or a bucket takes one large object in the time of a few small
 * ones. An index lists the chunks of packs in their order. A pack without an index is what a killed backup has left.
 */

/** The size of a pack. A chunk that is larger has one of its own. */
const PACK_BYTES = 8 * 1024 ** 2
/** Packs on their way to the store at the same time, each in memory. */
const MAX_UPLOADS = 2
/** An index is stored after so many packs, so that a killed backup has not stored them in vain. */
const PACKS_PER_INDEX = 32
/** Indexes are merged from this number on: every backup reads all. */
const MAX_INDEXES = 24
/** Chunks of a merged index, which is one object in memory. */
const MAX_INDEXED = 200_000

const INDEXES = 'indexes/'
const packName = (id: string): string => `packs/${id.slice(0, 2)}/${id}`

const Pack = z.strictObject({
  id: z.string().regex(/^[a-z0-9]{20}$/),
  /** Names of the chunks and their stored bytes, in order. */
  chunks: z.array(z.tuple([z.string().regex(/^[0-9a-f]{32}$/), z.int().min(0)])),
})
type Pack = z.output<typeof Pack>
const Index = z.strictObject({ packs: z.array(Pack) })

interface Location {
  pack: string
  offset: number
  length: number
}

/** Stores new chunks. */
export interface PackWriter {
  /** Adds a sealed chunk, which is copied; waits while too many packs are on their way. @throws the first error of the store */
  add(hash: string, sealed: readonly Uint8Array[]): Promise<void>
  /** Resolves once everything is stored and listed. @throws as `add` */
  finish(): Promise<void>
}

/** The chunks of a store. */
export interface Packs {
  /** The names of all chunks. An index that is damaged is set aside: its chunks are stored again. */
  known(): Promise<Set<string>>
  /** @param requireLock is called before packs are listed: another operation may have removed them */
  openWriter(requireLock?: () => Promise<void>): PackWriter
  /** The stored bytes of a chunk; null if it is missing. */
  get(hash: string): Promise<Uint8Array | null>
  /** Forgets chunks: the next backup that has their contents stores them again, for all backups. */
  forget(hashes: readonly string[]): Promise<void>
  /**
   * Removes the chunks that are not used.
   *
   * @param requireLock called before each removal: another operation may use the chunks once it has taken over
   * @returns the freed bytes
   * @throws DamagedObject for a damaged index, whose chunks are unknown: nothing is removed then
   */
  prune(isUsed: (hash: string) => boolean, requireLock: () => Promise<void>): Promise<number>
}

export function openPacks(store: BackupStore, codec: Codec): Packs {
  let locations: Promise<Map<string, Location>> | null = null

  const readIndex = async (name: string): Promise<Pack[]> => {
    const stored = await store.get(name)
    if (stored === null) return []
    const text = new TextDecoder().decode(await codec.decode(name, stored))
    const read = Index.safeParse(parse(name, text))
    if (!read.success) throw new DamagedObject(`${name} is damaged`)
    return read.data.packs
  }

  async function writeIndex(packs: readonly Pack[]): Promise<void> {
    if (packs.length === 0) return
    const name = `${INDEXES}${randomText(20)}`
    const bytes = new TextEncoder().encode(JSON.stringify({ packs }))
    await store.put(name, await codec.encode(name, bytes))
  }

  const listIndexes = async (): Promise<string[]> => (await store.list(INDEXES)).map(({ name }) => name)

  /** @param onDamaged what becomes of a damaged index */
  async function locate(onDamaged: (name: string, error: DamagedObject) => Promise<void>) {
    const found = new Map<string, Location>()
    for (const name of await listIndexes()) {
      const packs = await readIndex(name).catch(async (error) => {
        if (!(error instanceof DamagedObject)) throw error
        await onDamaged(name, error)
        return []
      })
      for (const { id, chunks } of packs) {
        let offset = 0
        for (const [hash, length] of chunks) {
          found.set(hash, { pack: id, offset, length })
          offset += length
        }
      }
    }
    return found
  }

  function openWriter(requireLock: () => Promise<void> = async () => {}): PackWriter {
    let pack = new Uint8Array(PACK_BYTES)
    let chunks: Pack['chunks'] = []
    let size = 0
    let stored: Pack[] = []
    const uploads = new Set<Promise<void>>()
    /** Buffers of stored packs: to fill new memory takes longer. */
    const free: Uint8Array<ArrayBuffer>[] = []
    let failure: { error: unknown } | null = null

    function upload(): void {
      if (chunks.length === 0) return
      const [full, listed, length] = [pack, { id: randomText(20), chunks }, size]
      ;[pack, chunks, size] = [free.pop() ?? new Uint8Array(PACK_BYTES), [], 0]
      const task = store
        .put(packName(listed.id), full.subarray(0, length))
        .then(() => {
          stored.push(listed)
          if (full.length === PACK_BYTES) free.push(full)
        })
        .catch((error) => {
          failure ??= { error }
        })
        .finally(() => uploads.delete(task))
      uploads.add(task)
    }

    async function index(): Promise<void> {
      const listed = stored
      stored = []
      await requireLock()
      await writeIndex(listed)
      locations = null
    }

    const refuse = () => {
      if (failure) throw failure.error
    }

    return {
      async add(hash, sealed) {
        refuse()
        const length = sizeOf(sealed)
        if (size + length > pack.length) {
          upload()
          if (length > pack.length) pack = new Uint8Array(length)
        }
        chunks.push([hash, length])
        for (const part of sealed) {
          pack.set(part, size)
          size += part.length
        }
        while (uploads.size > MAX_UPLOADS) await Promise.race(uploads)
        if (stored.length >= PACKS_PER_INDEX) await index()
      },
      async finish() {
        upload()
        await Promise.all(uploads)
        refuse()
        await index()
      },
    }
  }

  return {
    async known() {
      locations = locate((name) => setAside(store, name))
      return new Set((await locations).keys())
    },
    openWriter,
    async get(hash) {
      locations ??= locate(async () => {})
      const at = (await locations).get(hash)
      return at ? read(at) : null
    },
    async forget(hashes) {
      const gone = new Set(hashes)
      for (const name of await listIndexes()) {
        const packs = await readIndex(name)
        // A chunk keeps its place, as those behind it are found by the bytes before them.
        const kept = packs.map(({ id, chunks }) => ({
          id,
          chunks: chunks.map(([hash, length]): Pack['chunks'][number] => [
            gone.has(hash) ? GONE : hash,
            length,
          ]),
        }))
        if (packs.some(({ chunks }) => chunks.some(([hash]) => gone.has(hash))))
          await store.put(
            name,
            await codec.encode(name, new TextEncoder().encode(JSON.stringify({ packs: kept }))),
          )
      }
      locations = null
    },
    async prune(isUsed, requireLock) {
      const remove = async (name: string) => {
        await requireLock()
        await store.remove(name)
      }
      const names = await listIndexes()
      const indexes = new Map<string, Pack[]>()
      for (const name of names) indexes.set(name, await readIndex(name))
      const sizes = new Map((await store.list('packs/')).map(({ name, size }) => [name, size]))
      const before = [...sizes.values()].reduce((sum, size) => sum + size, 0)
      const packs = [...indexes.values()].flat()
      const isKept = ({ chunks }: Pack): boolean => {
        const used = chunks.filter(([hash]) => isUsed(hash))
        return 2 * bytesOf(used) >= bytesOf(chunks)
      }
      const kept = packs.filter(isKept)
      const dropped = packs.filter((pack) => !isKept(pack))
      if (dropped.length > 0 || names.length > MAX_INDEXES) {
        const writer = openWriter(requireLock)
        for (const pack of dropped) if (!(await rewrite(pack, writer, isUsed))) kept.push(pack)
        await writer.finish()
        await requireLock()
        for (const listed of inParts(kept)) await writeIndex(listed)
        // The new indexes have all that is used; until the old ones are gone, both list it.
        for (const name of names) await remove(name)
      }
      locations = null
      const listed = new Set([...(await locate(async () => {})).values()].map(({ pack }) => packName(pack)))
      for (const name of sizes.keys()) if (!listed.has(name)) await remove(name)
      const after = (await store.list('packs/')).reduce((sum, { size }) => sum + size, 0)
      return Math.max(0, before - after)
    },
  }

  /** The stored bytes of a chunk; null if its pack is missing. An answer of another length is asked for once more. */
  async function read({ pack, offset, length }: Location): Promise<Uint8Array | null> {
    const bytes = await store.getRange(packName(pack), offset, length)
    return bytes && bytes.length !== length ? store.getRange(packName(pack), offset, length) : bytes
  }

  /**
   * Copies the used chunks of a pack that is mostly unused.
   *
   * @returns false if it is cut off, or was not answered as a whole: then it has to stay as it is
   */
  async function rewrite(
    { id, chunks }: Pack,
    writer: PackWriter,
    isUsed: (hash: string) => boolean,
  ): Promise<boolean> {
    const copied: { hash: string; bytes: Uint8Array }[] = []
    let offset = 0
    for (const [hash, length] of chunks) {
      const bytes = isUsed(hash) ? await read({ pack: id, offset, length }) : null
      if (bytes && bytes.length !== length) return false
      if (bytes) copied.push({ hash, bytes })
      offset += length
    }
    for (const { hash, bytes } of copied) await writer.add(hash, [bytes])
    return true
  }
}

/** Name of a chunk that failed a check. */
const GONE = '0'.repeat(32)

const bytesOf = (chunks: Pack['chunks']): number => chunks.reduce((sum, [, length]) => sum + length, 0)

/** Packs in parts that fit into an index. */
function inParts(packs: readonly Pack[]): Pack[][] {
  const parts: Pack[][] = []
  let count = MAX_INDEXED
  for (const pack of packs) {
    if (count + pack.chunks.length > MAX_INDEXED) {
      parts.push([])
      count = 0
    }
    parts.at(-1)?.push(pack)
    count += pack.chunks.length
  }
  return parts
}

async function setAside(store: BackupStore, name: string): Promise<void> {
  const stored = await store.get(name)
  if (stored !== null) await store.put(`damaged/${name.slice(INDEXES.length)}`, stored)
  await store.remove(name)
}

function parse(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new DamagedObject(`${name} is damaged`, { cause: error })
  }
}
