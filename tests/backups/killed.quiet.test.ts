import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { backupIn, enter, fill, openPlace, type Place } from './support.ts'

/** Set it to 40 for the whole series. */
const ROUNDS = Number(process.env.BACKUP_KILL_ROUNDS ?? 10)
const ROWS = 20_000

let place: Place
let path: string
beforeAll(async () => {
  place = openPlace()
  const server = await place.start()
  path = (await fill(server.url, ROWS)).path
  await server.end('SIGTERM')
})
afterAll(() => place.remove())

/** Moments of a command that takes so long, in milliseconds from its start. */
const delays = (seed: number, longestMs: number): number[] =>
  Array.from({ length: ROUNDS }, (_, round) => 20 + ((seed + round * 7_919) % Math.ceil(longestMs)))

/** How long a command takes, and what it answers. */
async function timed(args: string[]): Promise<{ ms: number; result: Awaited<ReturnType<Place['sheaf']>> }> {
  const startedAt = performance.now()
  const result = await place.sheaf(args)
  return { ms: performance.now() - startedAt, result }
}

async function countIn(dataDir: string): Promise<number> {
  const server = await place.start(dataDir)
  const { rest } = await enter(server.url)
  const { count } = (await rest.get(`${path}/count`)).body
  await server.end('SIGTERM')
  return count
}

describe('a kill at any moment', () => {
  test('of a backup leaves earlier ones complete, and the next one succeeds at once', async () => {
    const { ms, result } = await timed(['backup', '--to', place.backups])
    const first = backupIn(result)
    let killed = 0
    for (const delay of delays(11, ms)) {
      // Each encrypts anew, so that there is something to store.
      const target = place.path(`target-${delay}`)
      const { wasKilled } = await place.sheaf(['backup', '--to', target, '--keep-last', '1'], {}, delay)
      if (wasKilled) killed++
      const made = await place.sheaf(['backup', '--to', target, '--keep-last', '1'])
      expect([made.code, made.errors]).toEqual([0, ''])
      const checked = await place.sheaf(['backup', '--verify', backupIn(made), '--to', target])
      expect([checked.code, checked.errors]).toEqual([0, ''])
    }
    expect(killed).toBeGreaterThan(0)
    const checked = await place.sheaf(['backup', '--verify', first, '--to', place.backups])
    expect([checked.code, checked.errors]).toEqual([0, ''])
  }, 300_000)

  test('of a restore leaves the present data or the restored ones', async () => {
    backupIn(await place.sheaf(['backup', '--to', place.backups, '--with-secrets']))
    const server = await place.start()
    const { rest } = await enter(server.url)
    await rest.post(path, { Name: 'After the backup' })
    await server.end('SIGTERM')
    const { ms } = await timed(['restore', '--from', place.backups, '--to', place.path('elsewhere')])
    for (const delay of delays(23, ms)) {
      await place.sheaf(['restore', '--from', place.backups, '--replace'], {}, delay)
      expect([ROWS, ROWS + 1]).toContain(await countIn(place.dataDir))
    }
    const last = await place.sheaf(['restore', '--from', place.backups, '--replace'])
    expect([last.code, last.errors]).toEqual([0, ''])
    expect(await countIn(place.dataDir)).toBe(ROWS)
    expect(readdirSync(place.dataDir).filter((name) => name.startsWith('restore-'))).toEqual([])
    expect(existsSync(place.path('data', 'replacement.json'))).toBe(false)
  }, 300_000)
})
