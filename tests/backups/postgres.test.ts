import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_DUMP } from '../support/kept-folder.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'
import {
  BACKUP_TIMEOUT_MS,
  backupIn,
  enter,
  extractKept,
  fill,
  openPlace,
  type Place,
  readKept,
} from './support.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

let place: Place
let databases: TestDatabase[]
beforeEach(async () => {
  databases = [await createDatabase('postgres')]
  place = openPlace({ DATABASE_URL: databases[0]?.url ?? '' })
})
afterEach(async () => {
  await place.remove()
  for (const database of databases) await database.drop()
})

/** The variables of another empty place. */
async function anotherPlace(name: string): Promise<{ DATABASE_URL: string; DATA_DIR: string }> {
  const database = await createDatabase('postgres')
  databases.push(database)
  return { DATABASE_URL: database.url, DATA_DIR: place.path(name) }
}

async function schemasOf(url = databases[0]?.url ?? ''): Promise<string[]> {
  await using sql = new Bun.SQL(url, { max: 1 })
  const rows = await sql`select nspname as name from pg_namespace where nspname ~ '^(nc|sheaf)_' order by 1`
  return rows.map(({ name }: { name: string }) => name)
}

const packBytes = (): number =>
  readdirSync(join(place.backups, 'packs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + readFileSync(join(entry.parentPath, entry.name)).length, 0)

describe('sheaf backup of an installation in PostgreSQL', () => {
  test('restores one moment of a running server into another database, with the same cells', async () => {
    const server = await place.start()
    const { rest, path, trpc, baseId } = await fill(server.url, 3_000)
    let isWriting = true
    const writing = (async () => {
      // The pauses leave some time to the backup, which has the lowest priority.
      for (let at = 3_000; isWriting; at++, await Bun.sleep(5))
        await rest.post(path, { Name: `Order ${at}`, Qty: at })
    })()
    // A field that is created meanwhile is in the backup with its values, or not at all.
    const altering = (async () => {
      for (let at = 0; isWriting; at++, await Bun.sleep(200))
        await trpc.schema.createField.mutate({
          tableId: path.split('/')[4] ?? '',
          field: { title: `Extra ${at}`, type: 'SingleLineText' },
        })
    })()
    const made = await place.sheaf(['backup', '--to', place.backups, '--with-secrets', '--test'])
    isWriting = false
    await Promise.all([writing, altering])
    expect([made.code, made.errors]).toEqual([0, ''])
    expect(made.output).toContain('Restored it into a temporary folder and checked it')
    expect((await schemasOf()).filter((name) => name.startsWith('sheaf_'))).toEqual([])
    await server.end('SIGTERM')

    const other = await anotherPlace('other')
    const restored = await place.sheaf(['restore', '--from', place.backups], other)
    expect([restored.code, restored.errors]).toEqual([0, ''])
    expect(restored.output).not.toContain('The former')
    const there = await place.start(other.DATA_DIR, other)
    const entered = await enter(there.url)
    const { count } = (await entered.rest.get(`${path}/count`)).body
    expect(count).toBeGreaterThanOrEqual(3_000)
    const page = (await entered.rest.get(`${path}?limit=1&sort=-Id`)).body
    // Every record up to the last one is there, as they were written one after the other.
    expect(page.list[0]).toMatchObject({ Id: count, Qty: count - 1 })
    // Numbers of records go on.
    expect((await entered.rest.post(path, { Name: 'Next' })).body.Id).toBeGreaterThan(count)
    await entered.trpc.records.undo.mutate({ baseId })
    await there.end('SIGTERM')
  })

  test('transfers only what has changed', async () => {
    const server = await place.start()
    // Rows are stored in pieces of at most 1 MB. Of 12 MB of texts that cannot be compressed, the change concerns two.
    const text = () => randomBytes(450).toString('base64')
    const { rest, path } = await fill(server.url, 20_000, { nameOf: text })
    backupIn(await place.sheaf(['backup', '--to', place.backups]))
    const first = packBytes()
    await rest.patch(path, { Id: 7, Name: 'Changed' })
    const second = backupIn(await place.sheaf(['backup', '--to', place.backups]))
    expect(packBytes() - first).toBeLessThan(first / 4)
    const checked = await place.sheaf(['backup', '--verify', second, '--to', place.backups])
    expect([checked.code, checked.errors]).toEqual([0, ''])
    await server.end('SIGTERM')
    const other = await anotherPlace('other')
    expect((await place.sheaf(['restore', '--from', place.backups], other)).errors).toBe('')
    const there = await place.start(other.DATA_DIR, {
      ...other,
      JWT_SECRET: 'a secret of more than 16',
      CONNECTION_SECRET: 'another secret of 16',
    })
    const entered = await enter(there.url)
    expect((await entered.rest.get(`${path}/7`)).body).toMatchObject({ Name: 'Changed', Qty: 6 })
    expect((await entered.rest.get(`${path}/count`)).body.count).toBe(20_000)
    await there.end('SIGTERM')
  })

  test('includes bases that are in files', async () => {
    const server = await place.start()
    const { path, baseId } = await fill(server.url, 100)
    await server.end('SIGTERM')
    for (const more of [[], ['--remove-source']]) {
      const moved = await place.sheaf(['move', '--to', 'sqlite', '--base', baseId, ...more])
      expect([moved.code, moved.errors]).toEqual([0, ''])
    }
    const made = await place.sheaf(['backup', '--to', place.backups, '--with-secrets', '--test'])
    expect([made.code, made.errors]).toEqual([0, ''])
    const other = await anotherPlace('other')
    const restored = await place.sheaf(['restore', '--from', place.backups], other)
    expect([restored.code, restored.errors]).toEqual([0, ''])
    expect(readdirSync(join(other.DATA_DIR, 'bases'))).toEqual([`${baseId}.db`])
    const there = await place.start(other.DATA_DIR, other)
    expect((await (await enter(there.url)).rest.get(`${path}/count`)).body.count).toBe(100)
    await there.end('SIGTERM')
  })

  test('leaves out the former schema of a base that has moved to a file, and restores it into either kind', async () => {
    const server = await place.start()
    const { path, baseId } = await fill(server.url, 100)
    await server.end('SIGTERM')
    const moved = await place.sheaf(['move', '--to', 'sqlite', '--base', baseId])
    expect([moved.code, moved.errors]).toEqual([0, ''])
    const again = await place.start()
    await (await enter(again.url)).rest.post(path, { Name: 'After the move' })
    await again.end('SIGTERM')
    backupIn(await place.sheaf(['backup', '--to', place.backups, '--with-secrets']))
    const other = await anotherPlace('other')
    const inFiles = { DATABASE_URL: '', DATA_DIR: place.path('files') }
    for (const env of [other, inFiles]) {
      const restored = await place.sheaf(['restore', '--from', place.backups], env)
      expect([restored.code, restored.errors]).toEqual([0, ''])
      const there = await place.start(env.DATA_DIR, env)
      expect((await (await enter(there.url)).rest.get(`${path}/count`)).body.count).toBe(101)
      await there.end('SIGTERM')
    }
    expect(await schemasOf(other.DATABASE_URL)).not.toContain(`nc_${baseId}`)
  })

  test('names a table that cannot be restored, and leaves nothing', async () => {
    const server = await place.start()
    await fill(server.url, 100)
    const id = backupIn(await place.sheaf(['backup', '--to', place.backups]))
    for (const entry of readdirSync(join(place.backups, 'packs'), { recursive: true, withFileTypes: true }))
      if (entry.isFile()) rmSync(join(entry.parentPath, entry.name))
    const other = await anotherPlace('other')
    const failed = await place.sheaf(['restore', '--from', place.backups], other)
    expect([failed.code, failed.errors]).toEqual([
      1,
      expect.stringMatching(/The table \w+ cannot be restored/),
    ])
    expect(await schemasOf(other.DATABASE_URL)).toEqual([])
    const checked = await place.sheaf(['backup', '--verify', id, '--to', place.backups])
    expect([checked.code, checked.output]).toEqual([
      1,
      expect.stringMatching(/^FAIL {2}The table users of the metadata: 1 of 1 chunks are missing/m),
    ])
    expect(readdirSync(other.DATA_DIR).filter((name) => !name.startsWith('sheaf.lock'))).toEqual([])
    await server.end('SIGTERM')
  })
})

describe('sheaf restore to PostgreSQL', () => {
  test('refuses a running server and data that are there, and changes nothing', async () => {
    const server = await place.start()
    const { path } = await fill(server.url, 10)
    backupIn(await place.sheaf(['backup', '--to', place.backups]))
    const before = await schemasOf()
    const other = { DATA_DIR: place.path('third') }
    const running = await place.sheaf(['restore', '--from', place.backups, '--replace'], other)
    expect([running.code, running.errors]).toEqual([1, expect.stringContaining('Stop all servers')])
    await server.end('SIGTERM')
    const full = await place.sheaf(['restore', '--from', place.backups], other)
    expect([full.code, full.errors]).toEqual([1, expect.stringContaining('has data already')])
    expect(await schemasOf()).toEqual(before)
    const again = await place.start()
    expect((await (await enter(again.url)).rest.get(`${path}/count`)).body.count).toBe(10)
    await again.end('SIGTERM')
  })

  test('--replace keeps the former tables in schemas, and the former files in a folder', async () => {
    const server = await place.start()
    const { rest, path, baseId } = await fill(server.url, 10)
    backupIn(await place.sheaf(['backup', '--to', place.backups, '--with-secrets']))
    await rest.patch(path, { Id: 1, Name: 'Later' })
    await server.end('SIGTERM')
    const restored = await place.sheaf(['restore', '--from', place.backups, '--replace'])
    expect([restored.code, restored.errors]).toEqual([0, ''])
    expect(restored.output).toContain('The former tables are in the schemas sheaf_replaced_')
    const again = await place.start()
    const entered = await enter(again.url)
    expect((await entered.rest.get(`${path}/1`)).body.Name).toBe('Order 0')
    // Other servers hear of changes by triggers, which the restored tables have as well.
    await using sql = new Bun.SQL(databases[0]?.url ?? '', { max: 1 })
    const [triggers] =
      await sql`select count(*)::int as n from pg_trigger t join pg_class c on c.oid = t.tgrelid
      join pg_namespace s on s.oid = c.relnamespace where tgname = 'sheaf_row_changed' and s.nspname = 'public'`
    expect(triggers.n).toBeGreaterThan(0)
    const replaced =
      (await schemasOf()).find((name) => name.endsWith(`_${baseId}`) && name.startsWith('sheaf_replaced_')) ??
      ''
    const [table] =
      await sql`select tablename as name from pg_tables where schemaname = ${replaced} and tablename not like 'sheaf%'`
    const [later] = await sql.unsafe(`select * from "${replaced}"."${table.name}" order by 1 limit 1`)
    expect(Object.values(later)).toContain('Later')
    await again.end('SIGTERM')
  })
})

describe('sheaf upgrade of an installation in PostgreSQL', () => {
  test('rehearses, backs up and upgrades data of an older version, which sheaf rollback restores', async () => {
    const kept = await extractKept('0.2.0-postgres.tar.gz', place.dataDir)
    await using sql = new Bun.SQL(databases[0]?.url ?? '', { max: 1 })
    // Citus cannot restore into schemas that it spreads; elsewhere the setting has no effect.
    await sql.unsafe('set citus.enable_schema_based_sharding to off')
    await sql.unsafe(readFileSync(join(place.dataDir, DATABASE_DUMP), 'utf8'))
    const migrations = async () => (await sql`select count(*)::int as n from public.migrations`)[0].n
    const before = await migrations()

    const upgraded = await place.sheaf(['upgrade'])
    expect([upgraded.code, upgraded.errors]).toEqual([0, ''])
    expect(upgraded.output).toContain('Rehearsed on a copy')
    const after = await migrations()
    expect(after).toBeGreaterThan(before)
    expect((await place.sheaf(['upgrade'])).output).toContain('already')
    const restored = await place.sheaf(['rollback', '--yes'])
    expect([restored.code, restored.errors]).toEqual([0, ''])
    expect(await migrations()).toBe(before)
    expect(existsSync(join(place.dataDir, 'upgrade.json'))).toBe(false)

    // The restored data can be upgraded again.
    expect(await readKept(place, place.dataDir, kept)).toMatchObject(kept.tables)
    expect(await migrations()).toBe(after)
  })
})
