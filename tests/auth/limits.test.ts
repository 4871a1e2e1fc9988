import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MAX_FAILURES_PER_ACCOUNT } from '../../modules/auth/throttle.ts'
import { type RunningServer, startServer } from '../../src/app.ts'
import { nowMs } from '../../src/clock.ts'
import { readConfig } from '../../src/config.ts'
import { defineLimitsTable } from '../../src/db/limits-table.ts'
import { openMeta } from '../../src/db/meta.ts'
import { createEvents } from '../../src/events.ts'
import { createLimits, LONGEST_WINDOW_MS } from '../../src/limits.ts'
import { createLog } from '../../src/log.ts'
import { META_DATABASES, PASSWORD } from '../support/app.ts'
import { createRestClient } from '../support/client.ts'
import { createMetadataDatabase, type TestDatabase } from '../support/servers.ts'
import { until } from '../support/until.ts'

const SIGN_UPS = 3

for (const engine of META_DATABASES) {
  describe(`the counts of rate limits of a restarted server on ${engine}`, () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-limits-'))
    let database: TestDatabase | null = null
    let server: RunningServer
    const start = async () => {
      server = await startServer(
        readConfig({
          PORT: '0',
          HOST: '127.0.0.1',
          DATA_DIR: dataDir,
          LOG_LEVEL: 'silent',
          DATABASE_URL: database?.url,
          SIGN_UPS_PER_HOUR: String(SIGN_UPS),
        }),
      )
    }
    const restart = async () => {
      await server.stop()
      await start()
    }
    beforeAll(async () => {
      if (engine === 'postgres') database = await createMetadataDatabase()
      await start()
    })
    afterAll(async () => {
      await server.stop()
      await database?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    })

    const send = async (path: string, email: string, password: string) => {
      const answer = await createRestClient(server.url).post(`/api/v1/auth/user/${path}`, { email, password })
      return { status: answer.status, retryAfter: Number(answer.headers.get('retry-after')) }
    }

    test('still refuse an account after failed sign-ins, but not another', async () => {
      expect((await send('signup', 'ann@example.com', PASSWORD)).status).toBe(200)
      expect((await send('signup', 'ben@example.com', PASSWORD)).status).toBe(200)
      for (let count = 0; count < MAX_FAILURES_PER_ACCOUNT; count++)
        expect((await send('signin', 'ann@example.com', 'wrong password')).status).toBe(400)
      await restart()
      const { status, retryAfter } = await send('signin', 'ann@example.com', PASSWORD)
      expect(status).toBe(429)
      expect(retryAfter).toBeGreaterThan(0)
      expect((await send('signin', 'ben@example.com', PASSWORD)).status).toBe(200)
    })

    test('include the accounts of the last hour', async () => {
      expect((await send('signup', 'cleo@example.com', PASSWORD)).status).toBe(200)
      await restart()
      expect((await send('signup', 'dan@example.com', PASSWORD)).status).toBe(429)
    })

    test('name no address, and are removed after an hour', async () => {
      const counts = server.kernel.limits.of('test', 10)
      const now = nowMs()
      for (const at of [now - LONGEST_WINDOW_MS - 1000, now, now]) counts.add('ann@example.com 10.0.0.1', at)
      await restart()
      const { meta } = server.kernel
      const rows = await meta.db.select().from(meta.tables(defineLimitsTable))
      expect(rows.filter(({ limit }) => limit === 'test')).toMatchObject([{ at: now, count: 2 }])
      expect(JSON.stringify(rows)).not.toMatch(/example|10\.0\.0\.1|127\.0\.0\.1/)
    })
  })
}

describe('the counts of rate limits', () => {
  test('do not keep a server from starting whose disk is full', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sheaf-limits-'))
    const config = readConfig({ PORT: '0', HOST: '127.0.0.1', DATA_DIR: folder, LOG_LEVEL: 'silent' })
    await (await startServer(config)).stop()
    const file = new Database(join(folder, 'sheaf.db'))
    file.run(`insert into limit_counts values ('sign-ups', 'old', 1, 1)`)
    file.run(
      `create trigger full_disk before delete on limit_counts begin select raise(abort, 'disk is full'); end`,
    )
    file.close()
    const server = await startServer(config)
    expect((await fetch(`${server.url}/api/v1/health`)).status).toBe(200)
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-limits-'))
  const secrets = { connections: new Uint8Array(32) }
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

  test('are stored in batches in a flood, and only while they count', async () => {
    let transactions = 0
    const report = ({ sql }: { sql: string }) => {
      if (/^insert into .limit_counts/.test(sql)) transactions++
    }
    const meta = await openMeta({ dataDir, databaseUrl: null }, undefined, {
      slow: { thresholdMs: 0, report },
    })
    const open = () => {
      const limits = createLimits({ meta, secrets, events: createEvents(() => {}), log: createLog('error') })
      return { limits, counts: limits.of('flood', 100) }
    }
    const { limits, counts } = open()
    await limits.start()
    for (let sender = 0; sender < 2_000; sender++) {
      counts.add(`${sender}`, nowMs())
      const at = nowMs()
      counts.add(`succeeds ${sender}`, at)
      counts.remove(`succeeds ${sender}`, at)
    }
    await until(() => transactions > 0, 'The batch')
    expect(transactions).toBe(1)
    const stored = await meta.db.select().from(meta.tables(defineLimitsTable))
    expect(stored.length).toBe(2_000)
    await limits.close()

    const again = open()
    await again.limits.start()
    expect(again.counts.since('7', 0)).toEqual(counts.since('7', 0))
    expect(again.counts.since('7', 0).length).toBe(1)
    expect(again.counts.since('succeeds 7', 0)).toEqual([])
    await again.limits.close()
    await meta.close()
  })

  test('reach a server whose connection to the others was interrupted', async () => {
    const database = await createMetadataDatabase()
    await using sql = new Bun.SQL(database.url, { max: 1 })
    let reads = 0
    const report = ({ sql }: { sql: string }) => {
      if (/^select .* from .limit_counts/.test(sql)) reads++
    }
    const open = async () => {
      const meta = await openMeta({ dataDir, databaseUrl: database.url }, undefined, {
        slow: { thresholdMs: 0, report },
      })
      const events = createEvents(() => {}, meta.cluster)
      const limits = createLimits({ meta, secrets, events, log: createLog('error') })
      const counts = limits.of('answers', 10_000)
      await limits.start()
      return { meta, limits, counts }
    }
    const here = await open()
    const [listener] = await sql.unsafe(`select pid from pg_locks where locktype = 'advisory' and granted
      and classid = 7433202 and database = (select oid from pg_database where datname = current_database())`)
    const there = await open()
    await until(() => reads === 4, 'The second read of each')
    let missed = 0
    here.meta.cluster.onMissed(() => missed++)
    const cut = sql`select pg_terminate_backend(${listener.pid})`.execute()
    // It listens again after a moment, in which it hears nothing.
    for (let wait = 0; missed === 0 || wait < 20; wait++) {
      there.counts.add('form', nowMs())
      await Bun.sleep(2)
    }
    await cut
    const all = there.counts.since('form', 0)
    await until(() => Bun.deepEquals(here.counts.since('form', 0), all), 'All counts')
    for (const { limits, meta } of [here, there]) {
      await limits.close()
      await meta.close()
    }
    await database.drop()
  })
})
