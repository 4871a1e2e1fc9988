import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { asCaller } from '../../src/caller.ts'
import { postgresConnection } from '../../src/db/connection.ts'
import { openMysqlEngine } from '../../src/db/mysql/engine.ts'
import { openPostgresDatabase, openPostgresEngine } from '../../src/db/postgres/engine.ts'
import type { Engine } from '../../src/dialects/dialect.ts'
import { createDatabase } from '../support/servers.ts'

interface Server {
  engine: Engine
  /** A statement that takes a minute. */
  sleep: string
  /** How many of them the server is at. */
  sleeping: string
  close(): Promise<void>
}

const SERVERS: Record<string, () => Promise<Server>> = {
  async PostgreSQL() {
    const made = await createDatabase('postgres')
    const database = openPostgresDatabase(postgresConnection(made.url))
    return {
      engine: openPostgresEngine(database, 'public', 'the test'),
      sleep: 'select pg_sleep(60)',
      sleeping: `select count(*)::int as n from pg_stat_activity
        where state = 'active' and query like '%pg_sleep(60)%' and pid <> pg_backend_pid()`,
      async close() {
        await database.close()
        await made.drop()
      },
    }
  },
  async MariaDB() {
    const made = await createDatabase('mariadb')
    const url = new URL(made.url)
    const engine = openMysqlEngine(
      {
        client: 'mysql2',
        host: url.hostname,
        port: Number(url.port),
        user: decodeURIComponent(url.username),
        password: decodeURIComponent(url.password),
        database: url.pathname.slice(1),
      },
      'the test',
    )
    return {
      engine,
      sleep: 'select sleep(60)',
      sleeping: `select count(*) as n from information_schema.processlist
        where info like '%sleep(60)%' and id <> connection_id()`,
      async close() {
        await engine.close()
        await made.drop()
      },
    }
  },
}

describe.each(Object.keys(SERVERS))('a read of a request from %s', (name) => {
  let server: Server
  beforeAll(async () => {
    server = await (SERVERS[name] as () => Promise<Server>)()
  })
  afterAll(() => server.close())

  const read = (signal: AbortSignal | undefined, timeoutMs: number) =>
    asCaller(new Request('http://localhost/', { signal }), timeoutMs, () =>
      server.engine.values({ sql: server.sleep, params: [] }, { scan: true }),
    )

  async function expectNoneSleeping(): Promise<void> {
    const deadline = performance.now() + 10_000
    for (;;) {
      const [row] = await server.engine.all<{ n: number | string }>({ sql: server.sleeping, params: [] })
      if (Number(row?.n) === 0) return
      if (performance.now() > deadline) throw new Error(`${row?.n} statements still run`)
      await Bun.sleep(50)
    }
  }

  test('is ended at the server when the client goes away', async () => {
    const client = new AbortController()
    const answer = read(client.signal, 60_000)
    setTimeout(() => client.abort(), 500)
    await expect(answer).rejects.toMatchObject({ code: 'QUERY_CANCELLED' })
    await expectNoneSleeping()
  })

  test('is ended alone, even where it ends by itself meanwhile', async () => {
    const briefly = server.sleep.replace('60', '0.004')
    for (let n = 0; n < 250; n++) {
      const client = new AbortController()
      const answer = asCaller(new Request('http://localhost/', { signal: client.signal }), 60_000, () =>
        server.engine.values({ sql: briefly, params: [] }, { scan: true }),
      )
      setTimeout(() => client.abort(), 2 + (n % 5))
      await answer.catch((error) => expect(error).toMatchObject({ code: 'QUERY_CANCELLED' }))
      // The next statement of the same connection.
      const next = await server.engine.values({ sql: briefly, params: [] }, { scan: true })
      expect(next).toHaveLength(1)
    }
  })

  test('is ended after the time that a request may take', async () => {
    await expect(read(undefined, 500)).rejects.toMatchObject({ code: 'QUERY_TIMEOUT', status: 503 })
    await expectNoneSleeping()
    expect(await server.engine.values({ sql: 'select 1', params: [] }, { scan: true })).toHaveLength(1)
  })
})
