import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_DUMP } from '../support/kept-folder.ts'
import { createDatabase, createMetadataDatabase, type TestDatabase } from '../support/servers.ts'
import {
  BACKUP_TIMEOUT_MS,
  backupIn,
  enter,
  extractKept,
  fill,
  type Kill,
  openPlace,
  type Place,
} from './support.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

const ROWS = 1_000
/** More kills of each kind, at random moments. */
const MORE = Number(process.env.BACKUP_KILL_ROUNDS ?? 0)

let place: Place
let database: TestDatabase
let path: string
beforeAll(async () => {
  database = await createMetadataDatabase()
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

/** Moments in the first seconds of a command. */
const random = (): Kill[] => Array.from({ length: MORE }, () => ({ afterMs: Math.random() * 2_000 }))

const restoreFolders = () => readdirSync(place.dataDir).filter((name) => name.startsWith('restore-'))

test(
  'a kill of a backup of PostgreSQL leaves earlier ones complete, and the next one succeeds at once',
  async () => {
    const first = backupIn(await place.sheaf(['backup', '--to', place.backups]))
    const kills: Kill[] = [
      { since: () => existsSync(place.path('target-0')), afterMs: 30 },
      // In its restore test.
      { since: 'Backup: ', afterMs: 60 },
      ...random(),
    ]
    let killed = 0
    for (const [round, kill] of kills.entries()) {
      const backup = ['backup', '--to', place.path(`target-${round}`)]
      const { wasKilled } = await place.sheaf([...backup, '--test'], {}, kill)
      if (wasKilled) killed++
      // The last one also removes what restore tests that were killed have left.
      const made = await place.sheaf([...backup, ...(round === kills.length - 1 ? ['--test'] : [])])
      expect([made.code, made.errors]).toEqual([0, ''])
    }
    expect(killed).toBeGreaterThan(0)
    expect(await schemasLike('^sheaf_restore_')).toBe(0)
    expect(restoreFolders()).toEqual([])
    const checked = await place.sheaf(['backup', '--verify', first, '--to', place.backups])
    expect([checked.code, checked.errors]).toEqual([0, ''])
  },
  TIMEOUT_MS,
)

test(
  'a kill of a restore to PostgreSQL leaves the present data or the restored ones, with their files',
  async () => {
    backupIn(await place.sheaf(['backup', '--to', place.backups, '--with-secrets']))
    const args = ['restore', '--from', place.backups, '--replace']
    let server = await place.start()
    let { rest } = await enter(server.url)
    await rest.post(path, { Name: 'After the backup' })
    const kills: Kill[] = [
      { since: () => restoreFolders().length > 0, afterMs: 100 },
      // In its transaction, with the files that follow it.
      {
        since: () =>
          restoreFolders().some((name) => existsSync(join(place.dataDir, name, 'restored.json'))) ||
          existsSync(join(place.dataDir, 'replacement.json')),
        afterMs: 15,
      },
      ...random(),
    ]
    for (const kill of kills) {
      await server.end('SIGTERM')
      await place.sheaf(args, {}, kill)
      server = await place.start()
      ;({ rest } = await enter(server.url))
      const { count } = (await rest.get(`${path}/count`)).body
      expect([ROWS, ROWS + 1]).toContain(count)
      if (count === ROWS) await rest.post(path, { Name: 'After the backup' })
      // A restore that was killed is decided by the start of the server.
      expect(existsSync(place.path('data', 'replacement.json'))).toBe(false)
    }
    await server.end('SIGTERM')
    const last = await place.sheaf(args)
    expect([last.code, last.errors]).toEqual([0, ''])
    expect(await schemasLike('^sheaf_restore_')).toBe(0)
    expect(restoreFolders()).toEqual([])
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

/** Moments in each step of an upgrade, and in its rollback: shares of the time that the first one takes, whose output comes at its end. */
const UPGRADES: { upgrade: Kill; rollback: number | null }[] = [
  { upgrade: { since: 'migrations of the metadata are pending', afterMs: 40 }, rollback: null },
  { upgrade: { since: 'Backed up', afterMs: 60 }, rollback: 0.7 },
  { upgrade: { since: 'Rehearsed on a copy', afterMs: 20 }, rollback: 0.92 },
]

test(
  'a kill of an upgrade in PostgreSQL, or of its rollback, leaves the data before or after it, and both can be repeated',
  async () => {
    let rollbackMs = 0
    for (const [round, { upgrade, rollback }] of UPGRADES.entries()) {
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
        await place.sheaf(['upgrade'], env, upgrade)
        const after = await stateOf(own.url)
        // The earlier version reads these very tables.
        if (after.migrations === before.migrations) expect(after).toEqual(before)
        const upgraded = await place.sheaf(['upgrade'], env)
        expect([upgraded.code, upgraded.errors]).toEqual([0, ''])
        expect(await schemasLike('^sheaf_restore_', own.url)).toBe(0)
        const last = await stateOf(own.url)
        expect(last.migrations).toBeGreaterThan(before.migrations)

        const startedAt = performance.now()
        const kill = rollback === null ? undefined : { afterMs: rollbackMs * rollback }
        const back = await place.sheaf(['rollback', '--yes'], env, kill)
        rollbackMs ||= performance.now() - startedAt
        if (back.wasKilled) {
          expect([before, last]).toContainEqual(await stateOf(own.url))
          const again = await place.sheaf(['rollback', '--yes'], env)
          if (again.code !== 0) expect(again.errors).toContain('There is no upgrade')
        } else expect([back.code, back.errors]).toEqual([0, ''])
        expect(await stateOf(own.url)).toEqual(before)
        expect(await schemasLike('^sheaf_restore_', own.url)).toBe(0)
        expect(await schemasLike('^sheaf_replaced_', own.url)).toBeGreaterThan(0)
        expect(readdirSync(dataDir).filter((name) => /^(restore-|replacement|upgrade)/.test(name))).toEqual(
          [],
        )
        if (round === UPGRADES.length - 1) {
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
