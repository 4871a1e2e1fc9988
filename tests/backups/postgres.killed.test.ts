import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { createDatabase, type TestDatabase } from '../support/servers.ts'
import { BACKUP_TIMEOUT_MS, backupIn, enter, fill, openPlace, type Place } from './support.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

/** Set it to 40 for the whole series. */
const ROUNDS = Math.ceil(Number(process.env.BACKUP_KILL_ROUNDS ?? 6) / 2)
const ROWS = 2_000

let place: Place
let database: TestDatabase
let path: string
beforeAll(async () => {
  database = await createDatabase('postgres')
  place = openPlace({ DATABASE_URL: database.url })
  const server = await place.start()
  path = (await fill(server.url, ROWS)).path
  await server.end('SIGTERM')
})
afterAll(async () => {
  await place.remove()
  await database.drop()
})

/** Backups have the lowest priority: beside other tests on two slow cores they take minutes. */
const TIMEOUT_MS = 900_000

async function schemasLike(pattern: string): Promise<number> {
  await using sql = new Bun.SQL(database.url, { max: 1 })
  const [row] = await sql`select count(*)::int as n from pg_namespace where nspname ~ ${pattern}`
  return row.n
}

test(
  'a kill of a backup of PostgreSQL leaves earlier ones complete, and the next one succeeds at once',
  async () => {
    const first = backupIn(await place.sheaf(['backup', '--to', place.backups]))
    const backup = (round: number, ...more: string[]) => [
      'backup',
      '--to',
      place.path(`target-${round}`),
      ...more,
    ]
    const startedAt = performance.now()
    backupIn(await place.sheaf(backup(-1, '--test')))
    const longestMs = performance.now() - startedAt
    let killed = 0
    for (let round = 0; round < ROUNDS; round++) {
      const { wasKilled } = await place.sheaf(
        backup(round, '--test'),
        {},
        { afterMs: (longestMs * (round + 0.5)) / ROUNDS },
      )
      if (wasKilled) killed++
      // The last one also removes what restore tests that were killed have left.
      const made = await place.sheaf(backup(round, ...(round === ROUNDS - 1 ? ['--test'] : [])))
      expect([made.code, made.errors]).toEqual([0, ''])
    }
    expect(killed).toBeGreaterThan(0)
    expect(await schemasLike('^sheaf_restore_')).toBe(0)
    expect(readdirSync(place.dataDir).filter((name) => name.startsWith('restore-'))).toEqual([])
    const checked = await place.sheaf(['backup', '--verify', first, '--to', place.backups])
    expect([checked.code, checked.errors]).toEqual([0, ''])
  },
  TIMEOUT_MS,
)

test(
  'a kill of a restore to PostgreSQL leaves the present data or the restored ones, with their files',
  async () => {
    backupIn(await place.sheaf(['backup', '--to', place.backups, '--with-secrets']))
    const server = await place.start()
    const { rest } = await enter(server.url)
    await rest.post(path, { Name: 'After the backup' })
    await server.end('SIGTERM')
    const startedAt = performance.now()
    const args = ['restore', '--from', place.backups, '--replace']
    let longestMs = 0
    for (let round = 0; round < ROUNDS; round++) {
      // The first is not killed: the moments of the others are spread over its duration.
      const kill = round === 0 ? undefined : { afterMs: (longestMs * (round - 0.5)) / (ROUNDS - 1) }
      await place.sheaf(args, {}, kill)
      longestMs ||= performance.now() - startedAt
      const again = await place.start()
      const entered = await enter(again.url)
      const { count } = (await entered.rest.get(`${path}/count`)).body
      if (count === ROWS) await entered.rest.post(path, { Name: 'After the backup' })
      expect([ROWS, ROWS + 1]).toContain(count)
      // A restore that was killed is decided by the start of the server.
      expect(existsSync(place.path('data', 'replacement.json'))).toBe(false)
      await again.end('SIGTERM')
    }
    const last = await place.sheaf(args)
    expect([last.code, last.errors]).toEqual([0, ''])
    expect(await schemasLike('^sheaf_restore_')).toBe(0)
    expect(readdirSync(place.dataDir).filter((name) => name.startsWith('restore-'))).toEqual([])
  },
  TIMEOUT_MS,
)
