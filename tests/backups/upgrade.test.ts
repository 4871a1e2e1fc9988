import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Kept } from '../support/kept-folder.ts'
import { mountSmallVolume } from '../support/small-volume.ts'
import { BACKUP_TIMEOUT_MS, extractKept, openPlace, type Place, readKept } from './support.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

let place: Place
let kept: Kept
beforeEach(async () => {
  place = openPlace()
  kept = await extractKept('0.2.0-sqlite.tar.gz', place.dataDir)
})
afterEach(() => place.remove())

function migrations(dataDir = place.dataDir): number {
  const file = new Database(join(dataDir, 'sheaf.db'), { readonly: true })
  const row = file.query<{ n: number }, []>('select count(*) as n from migrations').get()
  file.close()
  return row?.n ?? 0
}

const tablesOf = () => readKept(place, place.dataDir, kept)

describe('sheaf upgrade', () => {
  test('rehearses, backs up and upgrades data of an older version, which sheaf rollback restores', async () => {
    const before = migrations()
    const none = await place.sheaf(['rollback', '--yes'])
    expect([none.code, none.errors]).toEqual([1, expect.stringContaining('no upgrade')])
    const env = { BACKUP_TARGET: place.backups }
    const upgraded = await place.sheaf(['upgrade'], env)
    expect([upgraded.code, upgraded.errors]).toEqual([0, ''])
    expect(upgraded.output).toContain('Rehearsed on a copy')
    expect(migrations()).toBeGreaterThan(before)
    expect((await place.sheaf(['upgrade'])).output).toContain('already')
    expect(await tablesOf()).toMatchObject(kept.tables)
    // The retention keeps what the rollback needs.
    for (let count = 0; count < 2; count++) {
      const made = await place.sheaf(['backup', '--keep-last', '1'], env)
      expect([made.code, made.errors]).toEqual([0, ''])
    }
    const asked = await place.sheaf(['rollback'])
    expect([asked.code, asked.output]).toEqual([1, expect.stringContaining('--yes')])
    const restored = await place.sheaf(['rollback', '--yes'], env)
    expect([restored.code, restored.errors]).toEqual([0, ''])
    expect(migrations()).toBe(before)
    // The restored data can be upgraded again.
    expect(await tablesOf()).toMatchObject(kept.tables)
  })

  test('changes nothing if a base cannot be upgraded, and names it', async () => {
    const [name = ''] = readdirSync(join(place.dataDir, 'bases')).filter((file) => file.endsWith('.db'))
    truncateSync(join(place.dataDir, 'bases', name), 20_000)
    const before = migrations()
    const failed = await place.sheaf(['upgrade'])
    expect([failed.code, failed.errors]).toEqual([1, expect.stringContaining(name)])
    expect(migrations()).toBe(before)
    expect(readdirSync(place.dataDir).filter((file) => /^restore-|upgrade\.json/.test(file))).toEqual([])
  })
})

describe('on a disk that is full', () => {
  const volume = mountSmallVolume(160)
  afterAll(() => {
    if (!('reason' in volume)) volume.remove()
  })
  const path = 'reason' in volume ? '' : volume.path
  const dataDir = join(path, 'data')
  const filler = join(path, 'filler')
  const env = { DATA_DIR: dataDir }
  beforeEach(async () => {
    if (path !== '') await extractKept('0.2.0-sqlite.tar.gz', dataDir)
  })
  afterEach(() => {
    for (const name of [dataDir, filler, join(path, 'backups')])
      rmSync(name, { recursive: true, force: true })
  })

  /** Leaves so many bytes. */
  function fillDisk(bytesLeft: number): void {
    const { bavail, bsize } = statfsSync(path)
    writeFileSync(filler, new Uint8Array(Math.max(0, bavail * bsize - bytesLeft)))
  }

  test.skipIf('reason' in volume)(
    'an upgrade counts the attached files that its backup copies, and changes nothing',
    async () => {
      mkdirSync(join(dataDir, 'attachments'), { recursive: true })
      const photo = join(dataDir, 'attachments', 'photo.raw')
      writeFileSync(photo, '')
      truncateSync(photo, 300 * 1024 ** 2)
      const before = migrations(dataDir)
      for (const target of [[], ['--to', join(path, 'backups')]]) {
        const failed = await place.sheaf(['upgrade', ...target], env)
        expect([failed.code, failed.errors]).toEqual([
          1,
          expect.stringMatching(/^The disk of .* has \d+ MB free, but 3\d\d MB are needed\n$/),
        ])
      }
      expect(migrations(dataDir)).toBe(before)
      // A place on another disk has room for them, and then has them.
      const upgraded = await place.sheaf(['upgrade', '--to', place.backups], env)
      expect([upgraded.code, upgraded.errors]).toEqual([0, ''])
      const back = await place.sheaf(['rollback', '--yes'], env)
      expect([back.code, back.errors]).toEqual([1, expect.stringContaining('MB are needed')])
      expect(migrations(dataDir)).toBeGreaterThan(before)
      rmSync(join(path, 'data', 'attachments'), { recursive: true })
    },
  )

  test.skipIf('reason' in volume)('an upgrade without any room says so, and changes nothing', async () => {
    const before = migrations(dataDir)
    fillDisk(0)
    const failed = await place.sheaf(['upgrade'], env)
    expect([failed.code, failed.errors]).toEqual([
      1,
      expect.stringContaining('sheaf.lock cannot be locked: database or disk is full'),
    ])
    rmSync(filler)
    expect(migrations(dataDir)).toBe(before)
    expect(readdirSync(dataDir).filter((file) => /^restore-|upgrade\.json/.test(file))).toEqual([])
  })

  test.skipIf('reason' in volume)(
    'the last step of an upgrade says how to go on, and a rollback changes nothing; both succeed with room',
    async () => {
      const before = migrations(dataDir)
      expect(await place.sheaf(['upgrade'], env)).toMatchObject({ code: 0, errors: '' })
      const record = join(dataDir, 'upgrade.json')
      const begun = { ...JSON.parse(readFileSync(record, 'utf8')), isDone: false }
      const upgradedTo = migrations(dataDir)
      fillDisk(8 * 1024 ** 2)
      const refused = await place.sheaf(['rollback', '--yes'], env)
      expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining('MB are needed')])
      expect(migrations(dataDir)).toBe(upgradedTo)
      expect(readdirSync(dataDir).filter((file) => /^(restore|replace)/.test(file))).toEqual([])
      rmSync(filler)
      expect(await place.sheaf(['rollback', '--yes'], env)).toMatchObject({ code: 0, errors: '' })
      expect(migrations(dataDir)).toBe(before)

      // As a kill right after the first step leaves it.
      writeFileSync(record, JSON.stringify({ ...begun, pending: begun.pending + 1 }))
      fillDisk(64 * 1024)
      const failed = await place.sheaf(['upgrade'], env)
      expect([failed.code, failed.errors]).toEqual([
        1,
        expect.stringMatching(/full.*nothing is lost: run “sheaf upgrade” again/),
      ])
      rmSync(filler)
      const upgraded = await place.sheaf(['upgrade'], env)
      expect([upgraded.code, upgraded.errors]).toEqual([0, ''])
      expect(migrations(dataDir)).toBe(upgradedTo)
      expect(await readKept(place, dataDir, kept)).toMatchObject(kept.tables)
    },
  )
})
