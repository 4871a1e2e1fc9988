import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SECRET_MASK } from '../../src/core/plugins/index.ts'
import { benchWith, png, type Uploaded, uploadOne } from '../records/attachments-support.ts'
import { type Bench, refusalOf, type TestTable } from '../records/support.ts'
import { startBucket } from '../support/bucket.ts'

let bench: Bench
let table: TestTable
let first: ReturnType<typeof startBucket>
let second: ReturnType<typeof startBucket>

beforeAll(async () => {
  first = startBucket()
  second = startBucket()
  bench = await benchWith({})
  table = await bench.table({ Files: 'Attachment' })
})
afterAll(async () => {
  await bench.stop()
  await Promise.all([first.stop(), second.stop()])
})

const plugins = () => bench.trpc.plugins
const s3 = (more = {}) => ({
  bucket: 'files',
  region: 'eu-1',
  endpoint: first.url,
  access_key: 'key',
  access_secret: 'hush-secret',
  ...more,
})
const minio = () => ({
  endPoint: '127.0.0.1',
  port: Number(new URL(second.url).port),
  bucket: 'files',
  access_key: 'other',
  access_secret: 'other-secret',
})

/** Uploads a picture into a new record and gives its links. */
async function attach(name: string): Promise<{ file: Uploaded; read: () => Promise<Response[]> }> {
  const file = await uploadOne(bench, bench.owner.token, name, png(300, 30))
  const { body } = await bench.rest.post(table.path, { Files: [file] })
  return {
    file,
    async read() {
      const [item] = (await bench.rest.get(`${table.path}/${body.Id}`)).body.Files
      const paths = [item.signedPath, item.thumbnails.small.signedPath]
      return Promise.all(paths.map((path) => fetch(`${bench.app.url}/${path}`)))
    },
  }
}

const statuses = async (read: () => Promise<Response[]>) => (await read()).map(({ status }) => status)

describe('trpc.plugins.save of a file store', () => {
  test('names inputs that are wrong', async () => {
    const call = plugins().save.mutate({ id: 'aws-s3', config: s3({ endpoint: 'ftp://x', bucket: 'a/b' }) })
    const error = await call.catch((caught) => caught)
    expect(error.data.details.problems.map(({ key }: { key: string }) => key)).toEqual(['bucket', 'endpoint'])
  })

  test('refuses a bucket that cannot be used, with the answer of its server', async () => {
    first.refuse('AccessDenied')
    const { status, message } = await refusalOf(plugins().save.mutate({ id: 'aws-s3', config: s3() }))
    first.refuse('')
    expect(status).toBe(400)
    expect(message).toContain('AccessDenied')
    const away = s3({ endpoint: 'http://127.0.0.1:9' })
    expect((await refusalOf(plugins().save.mutate({ id: 'aws-s3', config: away }))).status).toBe(400)
    expect((await plugins().list.query()).every(({ isActive }) => !isActive)).toBe(true)
  })

  test('stores new files in the bucket, and keeps all older ones readable', async () => {
    const inFolder = await attach('folder.png')
    expect(await statuses(inFolder.read)).toEqual([200, 200])
    const saved = await plugins().save.mutate({ id: 'aws-s3', config: s3() })
    expect(saved.config).toMatchObject({ access_secret: SECRET_MASK })
    expect(JSON.stringify(await plugins().list.query())).not.toContain('hush-secret')
    // What the check wrote is gone.
    expect(first.objects.size).toBe(0)

    const inFirst = await attach('first.png')
    expect([...first.objects.keys()]).toEqual([`/files/${inFirst.file.path.replace('download/', '')}`])
    expect(await statuses(inFolder.read)).toEqual([200, 200])

    await plugins().save.mutate({ id: 'minio', config: minio() })
    const states = await plugins().list.query()
    expect(states.filter(({ isActive }) => isActive).map(({ id }) => id)).toEqual(['minio'])
    const inSecond = await attach('second.png')
    expect([...second.objects.keys()]).toEqual([`/files/${inSecond.file.path.replace('download/', '')}`])
    expect([new Set(first.keys), new Set(second.keys)]).toEqual([new Set(['key']), new Set(['other'])])

    await plugins().deactivate.mutate({ id: 'minio', keepConfig: false })
    const again = await attach('again.png')
    for (const { read } of [inFolder, inFirst, inSecond, again])
      expect(await statuses(read)).toEqual([200, 200])
    const stored = await plugins().storedFiles.query()
    expect(stored[0]).toMatchObject({ bucket: null, isCurrent: true, files: 2 })
    expect(stored.slice(1).map(({ bucket, files }) => [bucket, files])).toEqual([
      ['files', 1],
      ['files', 1],
    ])
  })

  test('applies new keys of a bucket to the files that are already in it', async () => {
    await plugins().save.mutate({ id: 'aws-s3', config: s3() })
    const { read } = await attach('rotated.png')
    await plugins().save.mutate({ id: 'aws-s3', config: s3({ access_key: 'rotated', access_secret: 'new' }) })
    first.keys.length = 0
    await read()
    expect(new Set(first.keys)).toEqual(new Set(['rotated']))
  })

  test('asks for the secret again when the server changes', async () => {
    await plugins().save.mutate({ id: 'aws-s3', config: s3() })
    const elsewhere = s3({ endpoint: second.url, access_secret: SECRET_MASK })
    const { message } = await refusalOf(plugins().save.mutate({ id: 'aws-s3', config: elsewhere }))
    expect(message).toContain('Secret key has to be entered again')
    const kept = s3({ access_secret: '' })
    expect((await plugins().save.mutate({ id: 'aws-s3', config: kept })).isActive).toBe(true)
  })

  test('deletes unused files from the store they are in', async () => {
    await plugins().save.mutate({ id: 'aws-s3', config: s3() })
    const before = first.objects.size
    await uploadOne(bench, bench.owner.token, 'unused.txt', 'x')
    expect(first.objects.size).toBe(before + 1)
    await plugins().deactivate.mutate({ id: 'aws-s3', keepConfig: false })
    const now = Date.now
    try {
      Date.now = () => now() + 25 * 3_600_000
      expect(await bench.app.services.records.attachments.sweep()).toBe(1)
    } finally {
      Date.now = now
    }
    expect(first.objects.size).toBe(before)
  })
})

describe('a server whose first files went to a bucket', () => {
  test('creates the folder when the bucket is no longer in use', async () => {
    const fresh = await benchWith({})
    await fresh.trpc.plugins.save.mutate({ id: 'aws-s3', config: s3() })
    await uploadOne(fresh, fresh.owner.token, 'a.txt', 'a')
    expect(existsSync(join(fresh.app.config.dataDir, 'attachments'))).toBe(false)
    await fresh.trpc.plugins.deactivate.mutate({ id: 'aws-s3', keepConfig: false })
    await uploadOne(fresh, fresh.owner.token, 'b.txt', 'b')
    expect(existsSync(join(fresh.app.config.dataDir, 'attachments'))).toBe(true)
    await fresh.stop()
  })
})

describe('a bucket of the environment', () => {
  test('takes precedence, and can be tried but not changed', async () => {
    const fixed = await benchWith({
      s3Bucket: 'fixed',
      s3Endpoint: first.url,
      s3Region: 'eu-1',
      s3AccessKeyId: 'key',
      s3SecretAccessKey: 'hush-secret',
    })
    const list = await fixed.trpc.plugins.list.query()
    expect(list.find(({ id }) => id === 'aws-s3')).toMatchObject({
      isActive: true,
      isFromEnvironment: true,
      config: { bucket: 'fixed', access_key: SECRET_MASK, access_secret: SECRET_MASK },
    })
    expect((await refusalOf(fixed.trpc.plugins.save.mutate({ id: 'minio', config: minio() }))).status).toBe(
      409,
    )
    const { testEnvironment } = fixed.trpc.plugins
    expect((await testEnvironment.mutate({ category: 'storage' })).problem).toBeNull()
    first.refuse('AccessDenied')
    const { problem } = await testEnvironment.mutate({ category: 'storage' })
    first.refuse('')
    expect(problem).toContain('AccessDenied')
    await fixed.stop()
  })

  test('can be tried sixty times an hour', async () => {
    const fixed = await benchWith({
      s3Bucket: 'fixed',
      s3Endpoint: first.url,
      s3AccessKeyId: 'key',
      s3SecretAccessKey: 'x',
    })
    const { testEnvironment } = fixed.trpc.plugins
    for (let tried = 0; tried < 60; tried++) await testEnvironment.mutate({ category: 'storage' })
    expect((await refusalOf(testEnvironment.mutate({ category: 'storage' }))).status).toBe(429)
    await fixed.stop()
  })
})
