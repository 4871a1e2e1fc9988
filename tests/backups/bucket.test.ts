import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { startBucket } from '../support/bucket.ts'
import { BACKUP_TIMEOUT_MS, backupIn, enter, fill, openPlace, type Place } from './support.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

let bucket: ReturnType<typeof startBucket>
let place: Place
beforeAll(() => {
  bucket = startBucket()
  place = openPlace({
    S3_ENDPOINT: bucket.url,
    S3_ACCESS_KEY_ID: 'key',
    S3_SECRET_ACCESS_KEY: 'secret',
    BACKUP_PASSPHRASE: 'a long passphrase of mine',
  })
})
afterAll(async () => {
  await place.remove()
  await bucket.stop()
})

const TARGET = 's3://backups/team/sheaf'

test('a bucket takes backups although its server fails again and again, names what it refuses, and is pruned', async () => {
  const server = await place.start()
  const { rest, path } = await fill(server.url, 5_000)
  bucket.refuse('AccessDenied')
  const refused = await place.sheaf(['backup', '--to', TARGET])
  expect([refused.code, refused.errors]).toEqual([
    1,
    expect.stringMatching(/the bucket backups \(team\/sheaf\) cannot be used/),
  ])
  bucket.refuse('')
  bucket.failEach(5)
  const id = backupIn(await place.sheaf(['backup', '--to', TARGET]))
  expect(bucket.objects.has(`/backups/team/sheaf/manifests/${id}`)).toBe(true)
  await rest.patch(path, { Id: 1, Name: 'Changed' })
  const sizeOfPacks = () =>
    [...bucket.objects].reduce((sum, [key, bytes]) => (key.includes('/packs/') ? sum + bytes.length : sum), 0)
  const before = sizeOfPacks()
  const later = await place.sheaf(['backup', '--to', TARGET, '--keep-last', '1', '--test'])
  expect([later.code, later.errors]).toEqual([0, ''])
  expect(later.output).toContain('Removed 1 old backup:')
  expect(sizeOfPacks()).toBeLessThan(1.5 * before)
  bucket.failEach(0)
  await server.end('SIGTERM')

  const restored = await place.sheaf(['restore', '--from', TARGET, '--to', place.path('other')])
  expect([restored.code, restored.errors]).toEqual([0, ''])
  const there = await place.start(place.path('other'))
  const { rest: restThere } = await enter(there.url)
  expect((await restThere.get(`${path}/1`)).body.Name).toBe('Changed')
  expect((await restThere.get(`${path}/count`)).body.count).toBe(5_000)
})
