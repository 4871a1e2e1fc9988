import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import type { Kept } from '../support/kept-folder.ts'
import { BACKUP_TIMEOUT_MS, extractKept, openPlace, type Place, readKept } from './support.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

let place: Place
let kept: Kept
beforeEach(async () => {
  place = openPlace()
  kept = await extractKept('0.2.0-sqlite.tar.gz', place.dataDir)
})
afterEach(() => place.remove())

function migrations(): number {
  const file = new Database(join(place.dataDir, 'sheaf.db'), { readonly: true })
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
