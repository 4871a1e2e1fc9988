import { afterAll, afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startBucket } from '../support/bucket.ts'
import { mountSmallVolume } from '../support/small-volume.ts'
import { BACKUP_TIMEOUT_MS, backupIn, enter, fill, openPlace, type Place } from './support.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

let place: Place
beforeEach(() => {
  place = openPlace()
})
afterEach(() => place.remove())

/** The installation is as it was filled, and nothing of a restore is left in it. */
async function expectIntact(path: string): Promise<void> {
  expect(readdirSync(place.dataDir).filter((name) => /^(restore-|replaced-)/.test(name))).toEqual([])
  const server = await place.start()
  const { rest } = await enter(server.url)
  expect((await rest.get(`${path}/count`)).body.count).toBe(500)
  await server.end('SIGTERM')
}

async function filled(): Promise<string> {
  const server = await place.start()
  const { path } = await fill(server.url, 500)
  await server.end('SIGTERM')
  return path
}

describe('a place of backups that fails', () => {
  test('by a bucket that no longer answers leaves earlier backups and the data, and is named', async () => {
    const path = await filled()
    const bucket = startBucket()
    try {
      const env = { S3_ENDPOINT: bucket.url, S3_ACCESS_KEY_ID: 'key', S3_SECRET_ACCESS_KEY: 'secret' }
      const id = backupIn(await place.sheaf(['backup', '--to', 's3://backups'], env))
      // Requests are answered until the work has begun.
      for (const [args, last] of [
        [['backup', '--to', 's3://backups'], 'indexes/'],
        [['restore', '--from', 's3://backups', '--replace'], 'packs/'],
      ] as const) {
        bucket.loseAt(last)
        const failed = await place.sheaf([...args], env)
        bucket.loseAt(null)
        expect([failed.code, failed.errors]).toEqual([
          1,
          expect.stringContaining('the bucket backups cannot be used'),
        ])
      }
      const { output } = await place.sheaf(['backup', '--list', '--to', 's3://backups'], env)
      expect(output.trim().split('\n')).toEqual([expect.stringContaining(id)])
      expect((await place.sheaf(['backup', '--verify', id, '--to', 's3://backups'], env)).code).toBe(0)
      await expectIntact(path)
    } finally {
      await bucket.stop()
    }
  })

  test('by a folder that is gone or a file changes nothing, and is named', async () => {
    const path = await filled()
    backupIn(await place.sheaf(['backup', '--to', place.backups]))
    renameSync(place.backups, `${place.backups}-away`)
    const gone = await place.sheaf(['restore', '--from', place.backups, '--replace'])
    expect([gone.code, gone.errors]).toEqual([
      1,
      expect.stringContaining('There are no backups in the folder'),
    ])
    writeFileSync(place.backups, '')
    for (const args of [
      ['backup', '--to', place.backups],
      ['restore', '--from', place.backups, '--replace'],
    ]) {
      const failed = await place.sheaf(args)
      expect([failed.code, failed.errors]).toEqual([1, expect.stringContaining(place.backups)])
    }
    rmSync(place.backups)
    // A folder that vanishes during the work.
    renameSync(`${place.backups}-away`, place.backups)
    rmSync(join(place.backups, 'packs'), { recursive: true })
    const failed = await place.sheaf(['restore', '--from', place.backups, '--replace'])
    expect([failed.code, failed.errors]).toEqual([1, expect.stringContaining('cannot be restored')])
    await expectIntact(path)
  })

  const volume = mountSmallVolume(4)
  afterAll(() => {
    if (!('reason' in volume)) volume.remove()
  })
  test.skipIf('reason' in volume)(
    'by a part of the data that cannot be moved keeps the restored copy, which the next start completes',
    async () => {
      const path = await filled()
      backupIn(await place.sheaf(['backup', '--to', place.backups, '--with-secrets']))
      const bases = join(place.dataDir, 'bases')
      Bun.spawnSync(['mount', '--bind', bases, bases])
      const failed = await place.sheaf(['restore', '--from', place.backups, '--replace'])
      Bun.spawnSync(['umount', bases])
      expect([failed.code, failed.errors]).toEqual([1, expect.stringContaining('EBUSY')])
      const server = await place.start()
      const { rest } = await enter(server.url)
      expect((await rest.get(`${path}/count`)).body.count).toBe(500)
      await server.end('SIGTERM')
      expect(readdirSync(place.dataDir).filter((name) => name.startsWith('restore-'))).toEqual([])
    },
  )

  test.skipIf('reason' in volume)(
    'by a full disk of the restored data changes nothing, and says how much is missing',
    async () => {
      if ('reason' in volume) return
      await filled()
      backupIn(await place.sheaf(['backup', '--to', place.backups]))
      const target = join(volume.path, 'data')
      mkdirSync(target)
      const failed = await place.sheaf(['restore', '--from', place.backups, '--to', target])
      expect([failed.code, failed.errors]).toEqual([
        1,
        expect.stringMatching(/has \d+ MB free, but \d+ MB are needed/),
      ])
      expect(readdirSync(target).filter((name) => !name.startsWith('sheaf.lock'))).toEqual([])
    },
  )
})
