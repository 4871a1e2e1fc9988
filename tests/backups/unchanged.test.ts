import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { statSync } from 'node:fs'
import { readConfig } from '../../src/config.ts'
import { openConfigured } from '../../src/db/backups/target.ts'
import { writeBackup } from '../../src/db/backups/write-backup.ts'
import { BACKUP_TIMEOUT_MS, enter, fill, openPlace, type Place } from './support.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

let place: Place
beforeEach(() => {
  place = openPlace()
})
afterEach(() => place.remove())

/** Files that were written within the resolution of their times are read again. */
const grow = () => Bun.sleep(2_100)

/** Makes a backup. @returns the bytes that it has read */
async function readBytes(): Promise<number> {
  const config = readConfig({ DATA_DIR: place.dataDir })
  const repository = await openConfigured(config, { url: place.backups, passphrase: null }, true)
  let read = 0
  await writeBackup(config, repository, {
    kind: 'manual',
    withSecrets: true,
    withBucketFiles: false,
    onProgress: (done) => {
      read = done
    },
  })
  return read
}

describe('a backup of files that have not changed since the previous one', () => {
  test('does not read them, also while their server runs, and reads each that was edited', async () => {
    const server = await place.start()
    const { rest, path, baseId } = await fill(server.url, 1_000)
    await grow()
    const first = await readBytes()
    const sizeOfMetadata = statSync(place.path('data', 'sheaf.db')).size
    expect(first).toBeGreaterThan(sizeOfMetadata)
    expect(await readBytes()).toBeLessThan(first - statSync(place.path('data', 'bases', `${baseId}.db`)).size)
    await rest.patch(path, { Id: 7, Name: 'In the log' })
    expect(await readBytes()).toBeGreaterThan(0)
    await server.end('SIGTERM')
    await grow()
    expect(await readBytes()).toBeGreaterThan(0)
    expect(await readBytes()).toBe(0)

    const restored = await place.sheaf(['restore', '--from', place.backups, '--to', place.path('other')])
    expect([restored.code, restored.errors]).toEqual([0, ''])
    const there = await place.start(place.path('other'))
    const entered = await enter(there.url)
    expect((await entered.rest.get(`${path}/7`)).body.Name).toBe('In the log')
    await there.end('SIGTERM')
  })
})
