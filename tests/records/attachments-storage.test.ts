import { afterEach, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { defineRecordsTables } from '../../modules/records/tables.ts'
import { ANONYMOUS } from '../../src/core/actor.ts'
import { exportFile } from '../base-files/support.ts'
import { doorOf, ended } from '../imports/support.ts'
import { META_DATABASES } from '../support/app.ts'
import { startBucket } from '../support/bucket.ts'
import { createBase } from '../support/factories.ts'
import { startOutboundRecorder } from '../support/outbound-recorder.ts'
import { benchWith, png, type Uploaded, upload, uploadBelowLimit, uploadOne } from './attachments-support.ts'
import type { Bench } from './support.ts'

const MEGABYTE = 1024 ** 2
const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

async function start(
  config: Parameters<typeof benchWith>[0],
  database?: 'sqlite' | 'postgres',
): Promise<Bench> {
  const bench = await benchWith(config, database)
  stops.push(() => bench.stop())
  return bench
}

/** Files in the data folder that hold, or will hold, what people have uploaded. */
function kept({ app }: Bench): string[] {
  const all = (folder: string) =>
    readdirSync(join(app.config.dataDir, folder), { recursive: true, withFileTypes: true })
  const folders = readdirSync(app.config.dataDir).filter(
    (name) => name === 'attachments' || name === 'incoming',
  )
  return folders
    .flatMap(all)
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

describe('limits of uploads', () => {
  test('refuse a file that is too large in the shape that clients know, and keep nothing of it', async () => {
    const bench = await start({ attachmentMaxBytes: MEGABYTE })
    const large = Buffer.alloc(3 * MEGABYTE, 'x')
    expect(await upload(bench, bench.owner.token, { 'large.txt': large })).toEqual({
      status: 413,
      body: { message: 'File too large', error: 'Payload Too Large', statusCode: 413 },
    })
    expect(kept(bench)).toEqual([])
    expect((await uploadOne(bench, bench.owner.token, 'fits.txt', large.subarray(0, MEGABYTE))).size).toBe(
      MEGABYTE,
    )
  })

  test('allow a file that is larger than an import or a JSON body may be', async () => {
    const limits = { attachmentMaxBytes: 4 * MEGABYTE, importMaxBytes: MEGABYTE, bodyMaxBytes: MEGABYTE }
    const bench = await start(limits)
    const file = Buffer.alloc(3 * MEGABYTE, 'x')
    expect((await uploadOne(bench, bench.owner.token, 'large.txt', file)).size).toBe(3 * MEGABYTE)
  })
})

describe.each([...META_DATABASES])('the limit of files that no record names (%s)', (database) => {
  test('counts those that arrive at the same time', async () => {
    const bench = await start({}, database)
    await uploadBelowLimit(bench, bench.owner.token, 1)
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) => upload(bench, bench.owner.token, { [`${at}.txt`]: 'x' })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 429, 429, 429, 429, 429])
  })
})

describe('a disk that is full', () => {
  test('is said so, and nothing of the file is kept', async () => {
    const bench = await start({})
    const folder = join(bench.app.config.dataDir, 'incoming')
    const mounted = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder])
    if (mounted.exitCode !== 0) return console.log('skipped: only root can mount a small disk')
    try {
      expect(
        await upload(bench, bench.owner.token, { 'large.txt': Buffer.alloc(3 * MEGABYTE, 'x') }),
      ).toEqual({
        status: 507,
        body: { error: 'STORAGE_FULL', message: 'The server’s disk is full. The file was not saved.' },
      })
      expect(kept(bench)).toEqual([])
    } finally {
      Bun.spawnSync(['umount', folder])
    }
  })
})

describe('POST /api/v1/db/storage/upload-by-url', () => {
  test('refuses addresses of private networks, and what is none', async () => {
    const bench = await start({})
    const ask = (url: string) => bench.rest.post('/api/v1/db/storage/upload-by-url', [{ url }])
    for (const url of [
      'http://127.0.0.1/x.png',
      'http://169.254.169.254/',
      'http://[::1]/',
      'file:///etc/passwd',
    ]) {
      const { status, body } = await ask(url)
      expect([url, status, body.msg]).toEqual([
        url,
        400,
        expect.stringMatching(/^Failed to create file from URL: /),
      ])
    }
    expect((await bench.rest.post('/api/v1/db/storage/upload-by-url', {})).status).toBe(400)
    expect(
      (await bench.app.rest().post('/api/v1/db/storage/upload-by-url', [{ url: 'https://e.com' }])).status,
    ).toBe(401)
  })

  test('fetches the file, takes its name and finds its type out', async () => {
    const bench = await start({ allowLocalHttp: true, attachmentMaxBytes: 1000 })
    const elsewhere = startOutboundRecorder()
    stops.push(elsewhere.stop)
    elsewhere.answer('/a%20b.png', { headers: { 'content-type': 'image/png' }, body: '<p>no picture</p>' })
    elsewhere.answer('/download', {
      headers: { 'content-disposition': 'attachment; filename="named.txt"' },
      body: 'x',
    })
    elsewhere.answer('/large', { body: 'x'.repeat(2000) })
    elsewhere.answer('/gone', { status: 404 })
    const ask = (path: string, more = {}) =>
      bench.rest.post('/api/v2/storage/upload-by-url', [{ url: `${elsewhere.url}${path}`, ...more }])
    const told = async (path: string, more?: object) => {
      const [{ title, mimetype, size }] = (await ask(path, more)).body as [Uploaded]
      return { title, mimetype, size }
    }
    expect(await told('/a%20b.png')).toEqual({ title: 'a b.png', mimetype: 'text/plain', size: 17 })
    expect(await told('/download')).toMatchObject({ title: 'named.txt' })
    expect(await told('/download', { fileName: 'mine.csv' })).toMatchObject({
      title: 'mine.csv',
      mimetype: 'text/csv',
    })
    expect((await ask('/gone')).body.msg).toContain('answered 404')
    const many = kept(bench).length
    expect((await ask('/large')).status).toBe(413)
    expect(kept(bench)).toHaveLength(many)
  })
})

describe.each([...META_DATABASES])('files that no record names (%s)', (database) => {
  test('go after a day, with their small versions; those that a record once named stay', async () => {
    const bench = await start({}, database)
    const { attachments } = bench.app.services.records
    const table = await bench.table({ Files: 'Attachment' })
    const [used, unused] = [
      await uploadOne(bench, bench.owner.token, 'used.png', png(9, 9)),
      await uploadOne(bench, bench.owner.token, 'unused.png', png(9, 9)),
    ]
    const { body } = await bench.rest.post(table.path, { Files: [used] })
    await bench.rest.patch(table.path, { Id: body.Id, Files: null })
    expect(await attachments.sweep()).toBe(0)
    const now = Date.now
    try {
      Date.now = () => now() + 25 * 3_600_000
      expect(await attachments.sweep()).toBe(1)
    } finally {
      Date.now = now
    }
    const left = kept(bench)
    expect(left.some((path) => path.endsWith(used.path.split('/').at(-1) ?? ''))).toBe(true)
    expect(left.some((path) => path.includes(unused.path.split('/').at(-1) ?? ''))).toBe(false)
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    // A copy of the base may name what the base may.
    const copy = await createBase(bench.app, bench.owner)
    const sharing = () => attachments.sharing(bench.baseId, copy.id)
    await bench.app.kernel.meta.atomically([sharing(), sharing()])
    expect(Object.keys((await attachments.sign(ANONYMOUS, copy.id, [used.path, unused.path])).files)).toEqual(
      [used.path],
    )
    const { Files } = (await bench.rest.get(`${table.path}/${body.Id}`)).body
    expect((await fetch(`${bench.app.url}/${Files[0].signedPath}`)).status).toBe(200)
  })
})

describe('an S3-compatible store', () => {
  test('keeps the bytes in the bucket and serves them through the server alone', async () => {
    const bucket = startBucket()
    stops.push(bucket.stop)
    const bench = await start({
      s3Bucket: 'files',
      s3Endpoint: bucket.url,
      s3Region: 'eu-1',
      s3AccessKeyId: 'key',
      s3SecretAccessKey: 'secret',
    })
    const table = await bench.table({ Files: 'Attachment' })
    const picture = await uploadOne(bench, bench.owner.token, 'p.png', png(400, 200))
    expect(kept(bench)).toEqual([])
    expect([...bucket.objects.keys()]).toEqual([`/files/${picture.path.replace('download/', '')}`])
    expect(new Set(bucket.keys)).toEqual(new Set(['key']))
    const { body } = await bench.rest.post(table.path, { Files: [picture] })
    const [item] = (await bench.rest.get(`${table.path}/${body.Id}`)).body.Files
    const answer = await fetch(`${bench.app.url}/${item.signedPath}`, { redirect: 'manual' })
    expect([answer.status, Buffer.compare(await answer.bytes(), png(400, 200))]).toEqual([200, 0])
    const part = await fetch(`${bench.app.url}/${item.signedPath}`, { headers: { range: 'bytes=1-3' } })
    expect([part.status, await part.text()]).toEqual([206, 'PNG'])
    bucket.cutRanges(1)
    const exported = exportFile(bench, bench.baseId)
    await expect(exported).rejects.toThrow('Only a part of the attached file “p.png” could be read')
    const small = await fetch(`${bench.app.url}/${item.thumbnails.small.signedPath}`)
    expect(await new Bun.Image(await small.bytes()).metadata()).toMatchObject({ width: 256, format: 'webp' })
    expect(bucket.objects.size).toBe(2)
    bucket.objects.clear()
    expect((await fetch(`${bench.app.url}/${item.signedPath}`)).status).toBe(404)
  })

  test('is asked again to remove a file that it has refused to remove', async () => {
    const bucket = startBucket()
    stops.push(bucket.stop)
    const bench = await start({
      s3Bucket: 'files',
      s3Endpoint: bucket.url,
      s3Region: 'eu-1',
      s3AccessKeyId: 'key',
      s3SecretAccessKey: 'secret',
    })
    const table = await bench.table({ Files: 'Attachment' })
    const unused = await uploadOne(bench, bench.owner.token, 'unused.txt', 'x')
    const sweepTomorrow = async () => {
      const now = Date.now
      Date.now = () => now() + 25 * 3_600_000
      try {
        return await bench.app.services.records.attachments.sweep()
      } finally {
        Date.now = now
      }
    }
    bucket.refuse('AccessDenied')
    expect([await sweepTomorrow(), bucket.objects.size]).toEqual([0, 1])
    expect((await bench.rest.post(table.path, { Files: [unused] })).status).toBe(400)
    bucket.refuse('')
    expect([await sweepTomorrow(), bucket.objects.size]).toEqual([1, 0])
    expect(await sweepTomorrow()).toBe(0)
  })
})

describe('an export', () => {
  test('leaves its reader room for uploads and further exports, whatever its size', async () => {
    const bench = await start({})
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const run = async () => {
      const viewId = table.schema.views[0]?.id ?? ''
      const { jobId } = await bench.trpc.records.export.mutate({ tableId: table.id, viewId, format: 'csv' })
      return (await ended(doorOf(bench.app, bench.owner), jobId)).result
    }
    await run()
    const { meta } = bench.app.kernel
    await meta.db.update(meta.tables(defineRecordsTables).attachmentFiles).set({ size: 6 * 1024 ** 3 })
    expect((await uploadOne(bench, bench.owner.token, 'a.txt', 'x')).title).toBe('a.txt')
    expect(await run()).toMatchObject({ type: 'csv' })
  })
})
