import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openChunkWriter } from '../../src/db/backups/chunk-writer.ts'
import { DamagedObject } from '../../src/db/backups/codec.ts'
import { compress, expand, openCompressor } from '../../src/db/backups/compression.ts'
import { createBackupId, openRepository, type Repository } from '../../src/db/backups/repository.ts'
import { KEEP_ALL, prune } from '../../src/db/backups/retention.ts'
import { openBackupStore } from '../../src/db/backups/stores/index.ts'
import { startBucket } from '../support/bucket.ts'

const CHUNK = 256 * 1024
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sheaf-chunks-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const storeAt = (name: string) =>
  openBackupStore({
    url: join(folder, name),
    s3Endpoint: null,
    s3Region: null,
    s3AccessKeyId: null,
    s3SecretAccessKey: null,
  })

/** Bytes that cannot be compressed. */
function noise(size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536))
  return bytes
}

/** Records as a database stores them: a few columns repeat, the rest does not. */
function records(size: number, from = 0): Uint8Array {
  const rows: string[] = []
  for (let at = from, length = 0; length < size; at++) {
    const row = `${at}|2026-11-27T10:00:00.000Z|in progress|person${at % 977}@example.com|${Bun.hash.crc32(`${at}`)}\n`
    rows.push(row)
    length += row.length
  }
  return Buffer.from(rows.join('')).subarray(0, size)
}

async function write(repository: Repository, contents: readonly Uint8Array[]) {
  const writer = await openChunkWriter(repository, {})
  const file = writer.begin()
  for (const bytes of contents) await file.add(bytes)
  const stored = await file.end()
  await writer.settle()
  return { ...stored, added: writer.added }
}

describe.each([
  ['an unencrypted store', null],
  ['an encrypted store', 'a long passphrase of mine'],
])('chunks in %s', (_kind, passphrase) => {
  const open = (name: string) => openRepository(storeAt(name), passphrase, { mayCreate: true })

  test('are damaged if a bit of them is altered, and if they are those of another name', async () => {
    const repository = await open(`altered-${passphrase === null}`)
    const { nameOf, seal, unpack } = repository.codec
    const bytes = records(CHUNK)
    const name = nameOf(bytes)
    const stored = Buffer.concat(seal(name, await openCompressor().compress(bytes, 'fast')))
    expect(Buffer.from(await unpack(name, stored)).equals(bytes)).toBe(true)
    for (let at = 0; at < stored.length; at += Math.ceil(stored.length / 50)) {
      const altered = Buffer.from(stored)
      altered[at] = (altered[at] ?? 0) ^ 4
      await expect(unpack(name, altered)).rejects.toBeInstanceOf(DamagedObject)
    }
    for (const length of [0, 1, 4, 5, stored.length - 1])
      await expect(unpack(name, stored.subarray(0, length))).rejects.toBeInstanceOf(DamagedObject)
    await expect(unpack(nameOf(records(CHUNK, 1)), stored)).rejects.toBeInstanceOf(DamagedObject)
  })

  test('have names under a key of the store: equal contents are stored once, and named differently elsewhere', async () => {
    const [one, two] = [await open(`one-${passphrase === null}`), await open(`two-${passphrase === null}`)]
    const bytes = records(CHUNK)
    const here = await write(one, [bytes, records(CHUNK, 9), bytes])
    expect(here.size).toBe(3 * CHUNK)
    expect(new Set(here.chunks).size).toBe(2)
    const again = await write(await open(`one-${passphrase === null}`), [bytes])
    expect([again.added, again.chunks]).toEqual([0, here.chunks.slice(0, 1)])
    expect((await write(two, [bytes])).chunks).not.toEqual(again.chunks)
    const found = await one.getChunk(here.chunks[1] ?? '')
    expect(Buffer.from(found).equals(records(CHUNK, 9))).toBe(true)
  })

  test('come back as they were, whatever their size and contents, also those larger than a pack', async () => {
    const repository = await open(`sizes-${passphrase === null}`)
    const contents = [1, 4_096, CHUNK, 1024 * 1024, 9 * 1024 * 1024].flatMap((size) => [
      noise(size),
      records(size),
      new Uint8Array(size),
    ])
    const { chunks } = await write(repository, contents)
    for (const [at, bytes] of contents.entries()) {
      const found = await repository.getChunk(chunks[at] ?? '')
      expect(Buffer.compare(found, bytes)).toBe(0)
    }
  })

  test('are not listed once another operation has taken the lock, which is then not renewed', async () => {
    const repository = await open(passphrase === null ? 'lost' : 'lost-sealed')
    const work = repository.exclusively(async (requireLock) => {
      const writer = await openChunkWriter(repository, { requireLock })
      const file = writer.begin()
      await file.add(noise(CHUNK))
      await file.end()
      // As an operation does that finds it expired.
      for (const { name } of await repository.store.list('locks/')) await repository.store.remove(name)
      await writer.settle()
    })
    await expect(work).rejects.toThrow('stood still')
    expect(await repository.store.list('indexes/')).toEqual([])
  })
})

describe('operations on one store at the same time', () => {
  test('that begin in the same moment run one after the other', async () => {
    const repository = await openRepository(storeAt('together'), null, { mayCreate: true })
    let running = 0
    const run = () =>
      repository.exclusively(async () => {
        running++
        await Bun.sleep(20)
        return running--
      })
    expect(await Promise.all([run(), run()])).toEqual([1, 1])
  })

  test('remove nothing any more once another one has taken over', async () => {
    const repository = await openRepository(storeAt('overtaken'), null, { mayCreate: true })
    const { store } = repository
    await write(repository, [noise(CHUNK)])
    const [packs, indexes] = [await store.list('packs/'), await store.list('indexes/')]
    expect([packs.length, indexes.length]).toEqual([1, 1])
    const pruned = repository.exclusively((requireLock) =>
      repository.packs.prune(() => {
        // While it stood still.
        for (const name of readdirSync(`${store.folder}/locks`)) unlinkSync(`${store.folder}/locks/${name}`)
        return false
      }, requireLock),
    )
    await expect(pruned).rejects.toThrow('stood still')
    expect(await store.list('packs/')).toEqual(packs)
    expect(await store.list('indexes/')).toEqual(indexes)
  })

  test('leave what others are writing', async () => {
    const repository = await openRepository(storeAt('drafts'), null, { mayCreate: true })
    const folder = `${repository.store.folder}/drafts`
    for (const name of ['fresh', 'left']) writeFileSync(`${folder}/${name}`, 'half')
    const longAgo = new Date(Date.now() - 3_600_000)
    utimesSync(`${folder}/left`, longAgo, longAgo)
    await prune(repository, KEEP_ALL)
    expect(readdirSync(folder)).toEqual(['fresh'])
  })
})

test('a pack stays that a bucket does not answer as a whole, and its chunks are read once more', async () => {
  const bucket = startBucket()
  try {
    const store = openBackupStore({
      url: 's3://backups',
      s3Endpoint: bucket.url,
      s3Region: null,
      s3AccessKeyId: 'key',
      s3SecretAccessKey: 'secret',
    })
    const repository = await openRepository(store, null, { mayCreate: true })
    const contents = [noise(CHUNK), noise(CHUNK), noise(CHUNK)]
    const [first = ''] = (await write(repository, contents)).chunks
    const prune = () =>
      repository.exclusively((requireLock) => repository.packs.prune((hash) => hash === first, requireLock))
    const read = async () => Buffer.compare(await repository.getChunk(first), contents[0] ?? noise(0))
    bucket.cutRanges(2)
    expect(await prune()).toBe(0)
    expect(await read()).toBe(0)
    bucket.cutRanges(1)
    expect(await prune()).toBeGreaterThan(CHUNK)
    bucket.cutRanges(1)
    expect(await read()).toBe(0)
  } finally {
    await bucket.stop()
  }
})

test('backups of a clock that was ahead are older than all others', async () => {
  const repository = await openRepository(storeAt('ahead'), null, { mayCreate: true })
  const hours = [-2, -1, 24 * 365]
  const [first = '', second = '', ahead = ''] = hours.map((each) =>
    createBackupId(new Date(Date.now() + each * 3_600_000)),
  )
  for (const id of [first, second, ahead]) {
    const facts = { size: 0, added: 0, durationMs: 0, bases: [], hasSecrets: false, filesElsewhere: 0 }
    const at = new Date().toISOString()
    const summary = { id, at, version: '0.2.0', kind: 'manual' as const, ...facts }
    await repository.putManifest({ format: 1, summary, files: [] })
  }
  expect(await repository.ids()).toEqual([ahead, first, second])
  await prune(repository, { ...KEEP_ALL, last: 2 })
  expect(await repository.ids()).toEqual([first, second])
})

describe('the compression of chunks', () => {
  test('has each chunk of many at once in its own frame', async () => {
    const compressor = openCompressor()
    const contents = Array.from({ length: 40 }, (_, at) =>
      at % 3 === 0 ? noise(CHUNK) : records(CHUNK - at, at),
    )
    for (let round = 0; round < 2; round++) {
      const packed = await Promise.all(contents.map((bytes) => compressor.compress(bytes, 'fast')))
      for (const [at, parts] of packed.entries()) {
        const bytes = await expand(Buffer.concat(parts))
        expect(bytes && Buffer.compare(bytes, contents[at] ?? new Uint8Array())).toBe(0)
      }
    }
  })

  test('spends more time where the fast way saves little, and for a bucket', async () => {
    // Texts, of which the fast way leaves a third more.
    const texts = Buffer.concat(['ARCHITECTURE.md', 'CHANGELOG.md'].map((name) => readFileSync(name)))
    const [chunk, other] = [texts.subarray(0, CHUNK), texts.subarray(1, CHUNK)]
    const sizeOf = (parts: readonly Uint8Array[]): number => Buffer.concat(parts).length
    const fast = sizeOf(await openCompressor().compress(chunk, 'fast'))
    const [normal, small] = [sizeOf(await compress(chunk, 'normal')), sizeOf(await compress(chunk, 'small'))]
    expect([small < normal, normal < fast, chunk.length / fast < 4]).toEqual([true, true, true])

    const quick = await openRepository(storeAt('quick'), null, { mayCreate: true })
    const writer = await openChunkWriter(quick, {})
    const file = writer.begin()
    const addedBy = async (bytes: Uint8Array): Promise<number> => {
      const before = writer.added
      await file.add(bytes)
      await file.end()
      return writer.added - before
    }
    expect(await addedBy(chunk)).toBe(normal)
    await addedBy(new Uint8Array(CHUNK))
    expect(await addedBy(other)).toBeGreaterThan(normal)
    expect(await addedBy(texts.subarray(2, CHUNK))).toBeLessThan(fast)
    await writer.settle()

    const repository = await openRepository({ ...storeAt('remote'), isRemote: true }, null, {
      mayCreate: true,
    })
    expect((await write(repository, [chunk])).added).toBe(small)
  })
})
