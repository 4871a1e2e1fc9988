import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { ServerProcess } from '../imports/server-process.ts'
import { PASSWORD } from '../support/app.ts'
import { createTrpcClient } from '../support/client.ts'
import { findFreePort } from '../support/free-port.ts'
import { createMetadataDatabase, type TestDatabase } from '../support/servers.ts'
import {
  BACKUP_TIMEOUT_MS,
  endedJob,
  enter,
  extractKept,
  fill,
  openPlace,
  type Place,
  replacementsOf,
  settingsOf,
  untilRestarted,
} from './support.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

const ROWS = 300

describe.each(['files', 'PostgreSQL'])('restoring everything while the server runs, in %s', (home) => {
  let place: Place
  let database: TestDatabase | null = null
  let server: ServerProcess
  let own: Awaited<ReturnType<typeof fill>>
  let backupId: string

  beforeAll(async () => {
    database = home === 'files' ? null : await createMetadataDatabase()
    place = openPlace(database ? { DATABASE_URL: database.url } : {})
    server = await place.start(place.dataDir, { PORT: String(await findFreePort()) })
    own = await fill(server.url, ROWS)
    const { backups } = own.trpc
    // Encrypted, it also has the keys, so that sessions of its time go on.
    await backups.save.mutate({ ...settingsOf(place.backups), passphrase: 'sixteen letters or more' })
    backupId = await backUp()
  })
  afterAll(async () => {
    await place.remove()
    await database?.drop()
  })

  async function backUp(): Promise<string> {
    const { jobId } = await own.trpc.backups.run.mutate()
    const job = await endedJob(own.trpc, jobId)
    expect(job).toMatchObject({ status: 'completed' })
    return (job.result as { backupId: string }).backupId
  }

  const answerTo = async (path: string) => {
    const { status, headers } = await fetch(server.url + path, { redirect: 'manual' })
    return { status, retryAfter: headers.get('retry-after') }
  }

  async function untilAway(): Promise<void> {
    while ((await answerTo('/api/v2/meta/backups')).status !== 503) await Bun.sleep(5)
  }

  /** Sends a request that creates a record, except for its last byte. */
  async function beginWrite() {
    const body = JSON.stringify({ Name: 'Begun before' })
    const { hostname, port } = new URL(server.url)
    const socket = connect({ host: hostname, port: Number(port) })
    socket.write(
      `POST ${own.path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nxc-auth: ${own.token}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
    )
    // It has begun once the server has received it.
    await Bun.sleep(200)
    return {
      async complete(): Promise<string> {
        const answer = new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))))
        socket.write(body.slice(-1))
        const text = await answer
        socket.destroy()
        return text
      },
    }
  }

  const count = async (): Promise<number> => (await own.rest.get(`${own.path}/count`)).body.count
  const restore = (id = backupId, confirm = id) =>
    own.rest.post(`/api/v2/meta/backups/${id}/restore`, { confirm })
  const leftovers = () => readdirSync(place.dataDir).filter((name) => /^restore-|^replacement/.test(name))

  test('is for super admins only, and needs the id of the backup once more', async () => {
    const { token } = await createTrpcClient(server.url).auth.signUp.mutate({
      email: 'b@example.com',
      password: PASSWORD,
    })
    const other = createTrpcClient(server.url, token)
    await expect(other.backups.restoreAll.mutate({ backupId, confirm: backupId })).rejects.toThrow(
      'You do not have permission to perform the action',
    )
    expect(await restore('20200101T000000000Z-aaaaaa')).toMatchObject({ status: 404 })
    expect(await restore(backupId, 'yes')).toMatchObject({
      status: 400,
      body: { msg: 'Confirm the restore with the id of the backup' },
    })
    expect(await own.rest.post(`/api/v2/meta/backups/${backupId}/restore`, {})).toMatchObject({ status: 400 })
    expect((await own.trpc.backups.overview.query()).runningJobId).toBeNull()
  })

  test('replaces everything, answers 503 meanwhile, comes back by itself, and keeps the former data', async () => {
    await own.rest.post(own.path, { Name: 'After the backup' })
    await own.trpc.bases.create.mutate({ title: 'Later' })
    expect(await count()).toBe(ROWS + 1)
    const slow = await beginWrite()
    const before = replacementsOf(place.dataDir)
    const { status, body } = await restore()
    expect(status).toBe(200)
    await untilAway()
    for (const path of ['/api/v2/meta/backups', '/', '/socket.io/?EIO=4&transport=polling'])
      expect(await answerTo(path)).toEqual({ status: 503, retryAfter: '3' })
    expect(await answerTo('/api/v1/ready')).toMatchObject({ status: 503 })
    expect(await answerTo('/api/v1/health')).toMatchObject({ status: 200 })
    await expect(own.trpc.bases.list.query()).rejects.toThrow('The server is being restored from a backup')
    // What has begun is completed first.
    expect(await slow.complete()).toStartWith('HTTP/1.1 200')
    await untilRestarted(server.url, place.dataDir, before)

    expect(await count()).toBe(ROWS)
    expect((await own.trpc.bases.list.query()).map(({ title }) => title)).not.toContain('Later')
    await expect(
      createTrpcClient(server.url).auth.signIn.mutate({ email: 'b@example.com', password: PASSWORD }),
    ).rejects.toThrow()
    // Writes work as ever, and a second start changes nothing.
    expect((await own.rest.post(own.path, { Name: 'Again' })).status).toBe(200)

    const overview = await own.trpc.backups.overview.query()
    expect(overview).toMatchObject({
      runningJobId: null,
      lastError: null,
      restored: { backupId, email: 'a@example.com' },
      keptUntil: expect.any(String),
    })
    const { folder, schemas } = overview.restored ?? {}
    expect(await endedJob(own.trpc, body.jobId)).toMatchObject({
      status: 'completed',
      result: { backupId, folder },
    })
    const log = await own.trpc.activity.log.query({ filter: { group: 'server' }, limit: 10 })
    expect(log.items.filter(({ kind }) => kind === 'server.restore')).toMatchObject([
      { detail: { name: 'a@example.com', target: overview.restored?.backupAt } },
    ])
    expect(folder).toStartWith(join(place.dataDir, 'replaced-'))
    if (database) {
      await using sql = new Bun.SQL(database.url, { max: 1 })
      const [row] = await sql.unsafe(`select count(*)::int as n from ${schemas?.name}.users`)
      expect(row.n).toBe(2)
      const [left] = await sql`select count(*)::int as n from pg_namespace where nspname ~ '^sheaf_restore_'`
      expect(left.n).toBe(0)
    } else {
      const former = new Database(join(folder ?? '', 'sheaf.db'), { readonly: true })
      expect(former.query('select count(*) from users').values()).toEqual([[2]])
      former.close()
    }
    expect(leftovers()).toEqual([])
    expect(existsSync(join(place.dataDir, 'restored.json'))).toBe(false)
  })

  test('is stopped by a signal as ever afterwards, and the next start has the same data', async () => {
    const port = new URL(server.url).port
    expect(await server.end('SIGTERM')).toBe(0)
    server = await place.start(place.dataDir, { PORT: port })
    expect(await count()).toBe(ROWS + 1)
    expect((await own.trpc.backups.overview.query()).restored).toMatchObject({ backupId })
    const log = await own.trpc.activity.log.query({ filter: { group: 'server' }, limit: 10 })
    expect(log.items.filter(({ kind }) => kind === 'server.restore')).toHaveLength(1)
  })

  test('can be cancelled while the backup is restored, which leaves nothing', async () => {
    const { jobId } = (await restore()).body
    await own.trpc.jobs.cancel.mutate({ jobId })
    expect(await endedJob(own.trpc, jobId)).toMatchObject({ status: 'cancelled' })
    expect(await count()).toBe(ROWS + 1)
    expect(leftovers()).toEqual([])
  })

  if (home === 'PostgreSQL') {
    const startSecond = () => {
      cpSync(join(place.dataDir, 'secrets'), place.path('second', 'secrets'), { recursive: true })
      return place.start(place.path('second'))
    }

    test('is refused while other servers use the database, with their number', async () => {
      const second = await startSecond()
      expect(await restore()).toMatchObject({
        status: 400,
        body: {
          msg: expect.stringMatching(/^Other servers use the database of this server: 1\. Stop them first/),
        },
      })
      expect(await second.end('SIGTERM')).toBe(0)
    })

    test('is taken back if another server starts while the backup is restored', async () => {
      const { jobId } = (await restore()).body
      const second = await startSecond()
      const job = await endedJob(own.trpc, jobId)
      expect(job).toMatchObject({ status: 'failed' })
      expect(job.error).toContain('Other servers use the database')
      expect(await count()).toBe(ROWS + 1)
      expect(leftovers()).toEqual([])
      expect(await second.end('SIGTERM')).toBe(0)
    })
  }

  test('that fails leaves the present data, and says why', async () => {
    rmSync(join(place.backups, 'packs'), { recursive: true })
    const { jobId } = (await restore()).body
    const { status, error } = await endedJob(own.trpc, jobId)
    expect(status).toBe('failed')
    expect(error).toMatch(/^Nothing was restored: .*cannot be restored/)
    const { lastError, runningJobId } = await own.trpc.backups.overview.query()
    expect(lastError?.reason).toBe(error ?? '')
    expect(runningJobId).toBeNull()
    expect(await count()).toBe(ROWS + 1)
    expect(leftovers()).toEqual([])
    if (database) {
      await using sql = new Bun.SQL(database.url, { max: 1 })
      const [left] = await sql`select count(*)::int as n from pg_namespace where nspname ~ '^sheaf_restore_'`
      expect(left.n).toBe(0)
    }
  })
})

test.each(['files', 'PostgreSQL'])(
  'the number of backups to keep that comes back with a restore removes none that were there, in %s',
  async (home) => {
    const database = home === 'files' ? null : await createMetadataDatabase()
    const place = openPlace(database ? { DATABASE_URL: database.url } : {})
    try {
      const PORT = String(await findFreePort())
      const server = await place.start(place.dataDir, { PORT })
      const { trpc } = await fill(server.url, 1)
      const save = (last: number) =>
        trpc.backups.save.mutate({
          ...settingsOf(place.backups),
          passphrase: 'sixteen letters or more',
          retention: { last, daily: 0, weekly: 0, monthly: 0 },
        })
      const ids = async () => (await trpc.backups.list.query()).map(({ id }) => id)
      const backUp = async (): Promise<string> => {
        const { jobId } = await trpc.backups.run.mutate()
        expect(await endedJob(trpc, jobId)).toMatchObject({ status: 'completed' })
        return (await ids())[0] ?? ''
      }
      await save(1)
      const first = await backUp()
      await save(9)
      const [second, third] = [await backUp(), await backUp()]
      expect((await trpc.backups.overview.query()).keptUntil).toBeNull()
      await trpc.backups.restoreAll.mutate({ backupId: first, confirm: first })
      await untilRestarted(server.url, place.dataDir, 0)

      const overview = await trpc.backups.overview.query()
      expect(overview.settings?.retention.last).toBe(1)
      expect(Date.parse(overview.keptUntil ?? '') - Date.now()).toBeGreaterThan(29 * 86_400_000)
      const fourth = await backUp()
      expect(await ids()).toEqual([fourth, third, second, first])
      // Those since the restore are removed as ever.
      const fifth = await backUp()
      expect(await ids()).toEqual([fifth, third, second, first])

      expect(await server.end('SIGTERM')).toBe(0)
      const env = { BACKUP_PASSPHRASE: 'sixteen letters or more' }
      const args = ['restore', '--from', place.backups, '--backup', first, '--replace']
      expect(await place.sheaf(args, env)).toMatchObject({ code: 0, errors: '' })
      const again = await place.start(place.dataDir, { PORT })
      expect(again.url).toBe(server.url)
      expect((await trpc.backups.overview.query()).restored).toMatchObject({
        backupId: first,
        email: 'sheaf restore',
      })
      const sixth = await backUp()
      expect(await ids()).toEqual([sixth, fifth, third, second, first])
      await save(1)
      expect((await trpc.backups.overview.query()).keptUntil).toBeNull()
      const last = await backUp()
      expect(await ids()).toEqual([last])
    } finally {
      await place.remove()
      await database?.drop()
    }
  },
)

test('a backup of an earlier version is upgraded before it replaces anything', async () => {
  const place = openPlace()
  try {
    const kept = await extractKept('0.2.0-sqlite.tar.gz', place.path('earlier'))
    const made = await place.sheaf(['backup', '--to', place.backups, '--with-secrets'], {
      DATA_DIR: place.path('earlier'),
    })
    expect(made.errors).toBe('')
    const server = await place.start(place.dataDir, { PORT: String(await findFreePort()) })
    const { trpc } = await fill(server.url, 1)
    await trpc.backups.save.mutate(settingsOf(place.backups))
    const [backup] = await trpc.backups.list.query()
    const id = backup?.id ?? ''
    await trpc.backups.restoreAll.mutate({ backupId: id, confirm: id })
    await untilRestarted(server.url, place.dataDir, 0)
    const { token } = await createTrpcClient(server.url).auth.signIn.mutate(kept)
    const bases = await createTrpcClient(server.url, token).bases.list.query()
    expect(bases.map(({ title }) => title)).toContain(kept.baseTitle)
    // The one who asked for it has no account there.
    await expect(enter(server.url)).rejects.toThrow()
    expect(await createTrpcClient(server.url, token).backups.overview.query()).toMatchObject({
      settings: null,
      restored: { email: 'a@example.com' },
    })
  } finally {
    await place.remove()
  }
})
