import { describe, expect, test } from 'bun:test'
import { readConfig } from '../../src/config.ts'
import { openMeta } from '../../src/db/meta.ts'
import { schemaOfBase } from '../../src/db/postgres/base-schema.ts'
import { connectionShares, MIN_CONNECTIONS } from '../../src/db/postgres/connection-budget.ts'
import { createTestApp } from '../support/app.ts'
import { createDatabase } from '../support/servers.ts'
import { until } from '../support/until.ts'

describe('DATABASE_CONNECTIONS', () => {
  test('is divided between the purposes, each with at least one', () => {
    for (const total of [MIN_CONNECTIONS, 6, 7, 10, 20, 31, 100, 1_000]) {
      const shares = Object.values(connectionShares(total))
      expect(Math.min(...shares)).toBeGreaterThanOrEqual(1)
      // One listens to the other servers.
      expect(shares.reduce((sum, share) => sum + share, 1)).toBe(total)
    }
  })

  test('rejects fewer than each purpose needs', () => {
    expect(() => readConfig({ DATABASE_CONNECTIONS: '4' })).toThrow('DATABASE_CONNECTIONS')
  })

  test('rejects more than PostgreSQL allows, before anything is created', async () => {
    const database = await createDatabase('postgres')
    const meta = openMeta({ dataDir: '', databaseUrl: database.url, databaseConnections: 900 })
    await expect(meta).rejects.toThrow(/DATABASE_CONNECTIONS is 900, but PostgreSQL allows \d+/)
    await using sql = new Bun.SQL(database.url, { max: 1 })
    expect(await sql`select to_regclass('migrations') as made`).toEqual([{ made: null }])
    await sql.close()
    await database.drop()
  })

  test('is shown by the metrics: connections in use, work that waits, and the most of each kind', async () => {
    const database = await createDatabase('postgres')
    const config = { databaseUrl: database.url, databaseConnections: 5, metricsToken: 'a-token' }
    const app = await createTestApp({ config })
    await using sql = new Bun.SQL(database.url, { max: 1 })
    try {
      const owner = await app.signUp('owner@example.com')
      const api = app.trpc(owner.token)
      const { id: baseId } = await api.bases.create.mutate({ title: 'A' })
      const { table } = await api.schema.createTable.mutate({ baseId, title: 'A' })
      const metrics = async () => {
        const answer = await fetch(`${app.url}/metrics`, { headers: { authorization: 'Bearer a-token' } })
        return (await answer.text()).split('\n').filter((line) => line.startsWith('sheaf_postgres_'))
      }
      const list = (limit: number) =>
        api.records.list.query({ query: { tableId: table.id, limit, offset: 0 } })
      await list(25)
      // The size of the database is read by a connection as well, and then kept for a minute.
      await metrics()
      let lists: Promise<unknown>[] = []
      await sql.begin(async (transaction) => {
        await transaction`lock table ${sql(`${schemaOfBase(baseId)}.${table.tableName}`)}`
        lists = [list(1), list(2), list(3)]
        await until(async () => {
          const lines = await metrics()
          return (
            lines.includes('sheaf_postgres_connections{kind="read",state="used"} 1') &&
            lines.includes('sheaf_postgres_waiting{kind="read"} 2')
          )
        }, 'The waiting reads')
      })
      await Promise.all(lists)
      const lines = await metrics()
      expect(lines).toContain('sheaf_postgres_connections{kind="read",state="idle"} 1')
      expect(lines.filter((line) => line.startsWith('sheaf_postgres_waiting'))).toEqual(
        ['metadata', 'read', 'scan', 'write'].map((kind) => `sheaf_postgres_waiting{kind="${kind}"} 0`),
      )
      // One listens to the other servers.
      const limits = lines.filter((line) => line.startsWith('sheaf_postgres_connections_limit'))
      expect(limits.map((line) => Number(line.split(' ')[1]))).toEqual([1, 1, 1, 1])
    } finally {
      await app.stop()
      await sql.close()
      await database.drop()
    }
  })

  test('holds under load', async () => {
    const database = await createDatabase('postgres')
    const app = await createTestApp({ config: { databaseUrl: database.url, databaseConnections: 5 } })
    await using sql = new Bun.SQL(database.url, { max: 1 })
    try {
      const owner = await app.signUp('owner@example.com')
      const rest = app.rest(owner.token)
      const api = app.trpc(owner.token)
      const tables = await Promise.all(
        ['A', 'B', 'C'].map(async (title) => {
          const { id: baseId } = await api.bases.create.mutate({ title })
          return (await api.schema.createTable.mutate({ baseId, title })).table.id
        }),
      )
      const countOpen = async (): Promise<number> => {
        const [row] = await sql`select count(*)::integer as open from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()
            and backend_type = 'client backend' and not starts_with(application_name, 'citus')`
        return row.open
      }
      // The connections that created the schemas are closing.
      await until(async () => (await countOpen()) <= 5, 'The number of connections')
      const paths = tables.map((id) => `/api/v2/tables/${id}/records`)
      let most = 0
      let isRunning = true
      const countAll = async () => {
        while (isRunning) most = Math.max(most, await countOpen())
      }
      const counting = countAll()
      const sent = Array.from({ length: 20 }, () =>
        paths.flatMap((path) => [
          rest.post(path, { Title: 'x' }),
          rest.get(`${path}?where=(Title,like,x)`),
          rest.get(path),
        ]),
      ).flat()
      expect(new Set((await Promise.all(sent)).map(({ status }) => status))).toEqual(new Set([200]))
      isRunning = false
      await counting
      expect(most).toBeGreaterThan(0)
      expect(most).toBeLessThanOrEqual(5)
    } finally {
      await app.stop()
      await sql.close()
      await database.drop()
    }
  })
})
