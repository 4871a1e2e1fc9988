import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chownSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { startBucket } from '../support/bucket.ts'
import { startCommitProxy } from '../support/database-proxy.ts'
import { type RestartablePostgres, startRestartablePostgres } from '../support/postgres.ts'
import { mountSmallVolume } from '../support/small-volume.ts'
import { BACKUP_TIMEOUT_MS, backupIn, enter, fill, openPlace, type Place } from './support.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

const ROWS = 2_000

let postgres: RestartablePostgres
let place: Place
let path: string
let first: string
beforeAll(async () => {
  postgres = await startRestartablePostgres()
  place = openPlace({ DATABASE_URL: postgres.url })
  const server = await place.start()
  path = (await fill(server.url, ROWS)).path
  await server.end('SIGTERM')
  first = backupIn(await place.sheaf(['backup', '--to', place.backups, '--with-secrets']))
})
afterAll(async () => {
  await place.remove()
  await postgres.remove()
})

/** Runs statements in the database, or in another one of the server. */
async function run(statement: string, url = postgres.url): Promise<Record<string, unknown>[]> {
  await using sql = new Bun.SQL(url, { max: 1 })
  return [...(await sql.unsafe(statement))]
}

const schemasLike = async (start: string): Promise<number> =>
  Number(
    (await run(`select count(*)::int as n from pg_namespace where starts_with(nspname, '${start}')`))[0]?.n,
  )

/** Waits until a statement waits for a lock. */
async function waitingForLock(): Promise<void> {
  while ((await run(`select 1 from pg_stat_activity where wait_event_type = 'Lock'`)).length === 0)
    await Bun.sleep(10)
}

async function expectIntact(): Promise<void> {
  expect(readdirSync(place.dataDir).filter((name) => name.startsWith('restore-'))).toEqual([])
  const server = await place.start()
  const { rest } = await enter(server.url)
  expect((await rest.get(`${path}/count`)).body.count).toBe(ROWS)
  await server.end('SIGTERM')
}

async function expectOnlyFirst(target: string, id: string, env: Record<string, string> = {}): Promise<void> {
  const { output } = await place.sheaf(['backup', '--list', '--to', target], env)
  expect(output.trim().split('\n')).toEqual([expect.stringContaining(id)])
  const checked = await place.sheaf(['backup', '--verify', id, '--to', target], env)
  expect([checked.code, checked.errors]).toEqual([0, ''])
}

describe('a backup of an installation in PostgreSQL', () => {
  test('that a restart of the database interrupts leaves earlier ones complete, and can be repeated', async () => {
    // The backup waits for this lock in the middle of its work.
    const blocker = new Bun.SQL(postgres.url, { max: 1 })
    await blocker.unsafe('begin; lock table users in access exclusive mode')
    const running = place.sheaf(['backup', '--to', place.backups])
    await waitingForLock()
    await postgres.stop()
    const failed = await running
    expect(failed.code).toBe(1)
    expect(failed.errors).toMatch(/connection|terminat|shutting down|closed/i)
    await blocker.close().catch(() => {})
    await postgres.start()
    await expectOnlyFirst(place.backups, first)
    const again = await place.sheaf(['backup', '--to', place.backups, '--keep-last', '1', '--test'])
    expect([again.code, again.errors]).toEqual([0, ''])
    first = backupIn(again)
  })

  test('into a bucket that no longer answers leaves earlier ones complete, and names the bucket', async () => {
    const bucket = startBucket()
    try {
      const env = { S3_ENDPOINT: bucket.url, S3_ACCESS_KEY_ID: 'key', S3_SECRET_ACCESS_KEY: 'secret' }
      const id = backupIn(await place.sheaf(['backup', '--to', 's3://backups'], env))
      await run(`update bases set description = 'Changed'`)
      bucket.loseAt('/packs/')
      const failed = await place.sheaf(['backup', '--to', 's3://backups'], env)
      bucket.loseAt(null)
      expect([failed.code, failed.errors]).toEqual([
        1,
        expect.stringContaining('the bucket backups cannot be used'),
      ])
      await expectOnlyFirst('s3://backups', id, env)
    } finally {
      await bucket.stop()
    }
  })

  const volume = mountSmallVolume(1)
  afterAll(() => {
    if (!('reason' in volume)) volume.remove()
  })
  test.skipIf('reason' in volume)('onto a full disk leaves earlier ones complete, and says so', async () => {
    if ('reason' in volume) return
    const target = join(volume.path, 'backups')
    const id = backupIn(await place.sheaf(['backup', '--to', target]))
    // Text that cannot be compressed to the size of the disk.
    await run(
      `update bases set description = (select string_agg(md5(random()::text), '') from generate_series(1, 60000))`,
    )
    const failed = await place.sheaf(['backup', '--to', target])
    expect([failed.code, failed.errors]).toEqual([1, expect.stringMatching(/ENOSPC|no space/i)])
    await expectOnlyFirst(target, id)
  })
})

describe('a restore to PostgreSQL', () => {
  test('whose connection is lost changes nothing, and can be repeated', async () => {
    const args = ['restore', '--from', place.backups, '--replace']
    await using proxy = await startCommitProxy(postgres.url)
    proxy.cutAt('before', { text: /copy .* from stdin/i })
    const failed = await place.sheaf(args, { DATABASE_URL: proxy.url })
    expect([proxy.cuts(), failed.code]).toEqual([1, 1])
    expect(await schemasLike('sheaf_replaced_')).toBe(0)
    await expectIntact()
    const restored = await place.sheaf(args)
    expect([restored.code, restored.errors]).toEqual([0, ''])
    expect(await schemasLike('sheaf_restore_')).toBe(0)
    await expectIntact()
  })

  test('keeps what it has replaced for 30 days, and without the comment of the restore forever', async () => {
    for (let count = await replacedSchemas(); count.length < 3; count = await replacedSchemas())
      expect((await place.sheaf(['restore', '--from', place.backups, '--replace'])).errors).toBe('')
    const [old = '', recent = '', kept = ''] = await replacedSchemas()
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
    await run(`comment on schema ${old} is 'Replaced by a restore at ${daysAgo(31)}'`)
    await run(`comment on schema ${recent} is 'Replaced by a restore at ${daysAgo(29)}'`)
    await run(`comment on schema ${kept} is null`)
    const server = await place.start()
    while ((await schemasLike(old)) > 0) await Bun.sleep(20)
    await server.end('SIGTERM')
    expect(await replacedSchemas()).toEqual([recent, kept])
    expect(await schemasLike(recent)).toBeGreaterThan(1)
    expect(await schemasLike(kept)).toBeGreaterThan(1)
  })

  const volume = mountSmallVolume(60)
  afterAll(() => {
    if (!('reason' in volume)) volume.remove()
  })
  test.skipIf('reason' in volume)(
    'and its restore test refuse a disk of the database with too little space, and name it',
    async () => {
      if ('reason' in volume) return
      const folder = join(volume.path, 'tables')
      mkdirSync(folder)
      const [backend] = await run(
        'select pg_backend_pid() as pid, current_setting($$data_directory$$) as home',
      )
      chownSync(folder, statSync(String(backend?.home)).uid, -1)
      await run(`create tablespace small location '${folder}'`)
      await run('create database small tablespace small')
      const env = {
        DATABASE_URL: Object.assign(new URL(postgres.url), { pathname: '/small' }).href,
        DATA_DIR: place.path('small'),
      }
      const restored = await place.sheaf(['restore', '--from', place.backups], env)
      expect([restored.code, restored.errors]).toEqual([
        1,
        expect.stringMatching(/disk of .*tables has \d+ MB free, but \d+ MB are needed/),
      ])
      expect(
        await run(`select 1 from pg_namespace where nspname ~ '^(sheaf|nc)_'`, env.DATABASE_URL),
      ).toEqual([])
      const server = await place.start(env.DATA_DIR, env)
      await fill(server.url, 10)
      await server.end('SIGTERM')
      const tested = await place.sheaf(['backup', '--to', place.path('tested'), '--test'], env)
      expect([tested.code, tested.errors]).toEqual([
        1,
        expect.stringMatching(/cannot be restored: The disk of .*tables has \d+ MB free/),
      ])
      await run('drop database small')
      await run('drop tablespace small')
    },
  )
})

const replacedSchemas = async (): Promise<string[]> => {
  const found = await run(
    `select nspname as name from pg_namespace where nspname ~ '^sheaf_replaced_[a-z0-9]{8}$' order by oid`,
  )
  return found.map(({ name }) => String(name))
}
