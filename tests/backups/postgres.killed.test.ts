import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_DUMP } from '../support/kept-folder.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'
import { BACKUP_TIMEOUT_MS, backupIn, enter, extractKept, fill, openPlace, type Place } from './support.ts'

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

async function schemasLike(pattern: string, url = database.url): Promise<number> {
  await using sql = new Bun.SQL(url, { max: 1 })
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

/** The version of the metadata, and the rows of all tables of all bases. */
async function stateOf(url: string): Promise<{ migrations: number; rows: Record<string, unknown> }> {
  await using sql = new Bun.SQL(url, { max: 1 })
  const [row] = await sql`select count(*)::int as n from public.migrations`
  const tables = await sql`select schemaname as schema, tablename as name from pg_tables
    where schemaname ~ '^nc_p[a-z0-9]{14}$' order by 1, 2`
  const rows: Record<string, unknown> = {}
  for (const { schema, name } of tables) {
    const found = await sql.unsafe(`select t::text as text from "${schema}"."${name}" as t order by 1`)
    rows[`${schema}.${name}`] = found.map(({ text }: { text: string }) => text)
  }
  return { migrations: row.n, rows }
}

/** Moments in the steps of an upgrade, and of its rollback, whose output comes at its end. */
const KILLS = [
  { command: 'upgrade', since: 'migrations of the metadata are pending', afterMs: 40 },
  { command: 'upgrade', since: 'Backed up', afterMs: 60 },
  { command: 'upgrade', since: 'Rehearsed on a copy', afterMs: 20 },
  ...[0.7, 0.92].map((share) => ({ command: 'rollback', share })),
]

test(
  'a kill of an upgrade in PostgreSQL, or of its rollback, leaves the data before or after it, and both can be repeated',
  async () => {
    let rollbackMs = 0
    for (const [round, kill] of KILLS.entries()) {
      const own = await createDatabase('postgres')
      const dataDir = place.path(`upgraded-${round}`)
      const env = { DATABASE_URL: own.url, DATA_DIR: dataDir }
      try {
        await extractKept('0.2.0-postgres.tar.gz', dataDir)
        {
          await using sql = new Bun.SQL(own.url, { max: 1 })
          // Citus cannot restore into schemas that it spreads; elsewhere the setting has no effect.
          await sql.unsafe('set citus.enable_schema_based_sharding to off')
          await sql.unsafe(readFileSync(join(dataDir, DATABASE_DUMP), 'utf8'))
        }
        const before = await stateOf(own.url)
        if ('since' in kill) await place.sheaf(['upgrade'], env, kill)
        const after = await stateOf(own.url)
        // The earlier version reads these very tables.
        if (after.migrations === before.migrations) expect(after).toEqual(before)
        const upgraded = await place.sheaf(['upgrade'], env)
        expect([upgraded.code, upgraded.errors]).toEqual([0, ''])
        expect(await schemasLike('^sheaf_restore_', own.url)).toBe(0)
        const last = await stateOf(own.url)
        expect(last.migrations).toBeGreaterThan(before.migrations)

        const startedAt = performance.now()
        if ('share' in kill) {
          const { wasKilled } = await place.sheaf(['rollback', '--yes'], env, {
            afterMs: rollbackMs * kill.share,
          })
          expect([before, last]).toContainEqual(await stateOf(own.url))
          if (wasKilled) {
            const again = await place.sheaf(['rollback', '--yes'], env)
            if (again.code !== 0) expect(again.errors).toContain('There is no upgrade')
          }
        } else {
          const back = await place.sheaf(['rollback', '--yes'], env)
          expect([back.code, back.errors]).toEqual([0, ''])
          rollbackMs = performance.now() - startedAt
        }
        expect(await stateOf(own.url)).toEqual(before)
        expect(await schemasLike('^sheaf_restore_', own.url)).toBe(0)
        expect(await schemasLike('^sheaf_replaced_', own.url)).toBeGreaterThan(0)
        expect(readdirSync(dataDir).filter((name) => /^(restore-|replacement|upgrade)/.test(name))).toEqual(
          [],
        )
        if (round === KILLS.length - 1) {
          const server = await place.start(dataDir, { DATABASE_URL: own.url })
          await server.end('SIGTERM')
          expect((await stateOf(own.url)).migrations).toBe(last.migrations)
        }
      } finally {
        await own.drop()
      }
    }
  },
  TIMEOUT_MS,
)
