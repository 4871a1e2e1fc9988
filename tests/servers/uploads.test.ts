import { expect, test } from 'bun:test'
import { startServer } from '../../src/app.ts'
import { benchWith, upload, uploadBelowLimit } from '../records/attachments-support.ts'
import type { TestApp } from '../support/app.ts'
import { until } from '../support/until.ts'

const claimOf = (userId: string) => `sheaf claim uploads of ${userId}`

/** Connections of the server whose turn it is to count uploads of a person. */
const holders = async (sql: Bun.SQL, userId: string): Promise<number[]> => {
  const found = await sql`select pid from pg_locks where locktype = 'advisory' and objsubid = 1 and granted
    and (classid::bigint << 32) | objid::bigint = hashtextextended(${claimOf(userId)}, 0)`
  return found.map(({ pid }: { pid: number }) => pid)
}

/** Number of uploads that are counted, and wait to be registered. */
const waiting = async (sql: Bun.SQL): Promise<number> =>
  (
    await sql`select pid from pg_locks join pg_stat_activity using (pid)
      where relation = 'attachment_files'::regclass and not granted and query like '%insert into "attachment_files"%'`
  ).length

/** True if a server has asked for its turn while another one has it. */
const isTurnRefused = async (sql: Bun.SQL, userId: string): Promise<boolean> => {
  const asked =
    await sql`select pid from pg_stat_activity where datname = current_database() and state = 'idle'
    and query like ${`%pg_try_advisory_lock%${claimOf(userId)}%`}`
  const turns = await holders(sql, userId)
  return turns.length === 1 && asked.some(({ pid }: { pid: number }) => !turns.includes(pid))
}

test('two servers do not both accept the last file that a person may upload', async () => {
  const bench = await benchWith({}, 'postgres')
  const other = await startServer(bench.app.config)
  const { token, id } = bench.owner
  await uploadBelowLimit(bench, token, 1)
  await using sql = new Bun.SQL(bench.app.config.databaseUrl ?? '', { max: 1 })
  await using looks = new Bun.SQL(bench.app.config.databaseUrl ?? '', { max: 1 })
  // Files are counted, but not registered, until this transaction ends.
  const { uploads } = await sql.begin(async (held) => {
    await held`lock table attachment_files in share row exclusive mode`
    const there = { app: { url: other.url } as TestApp }
    const uploads = [bench, there].map((server) => upload(server, token, { 'last.txt': 'xx' }))
    await until(
      async () =>
        (await waiting(looks)) === 2 || ((await waiting(looks)) === 1 && (await isTurnRefused(looks, id))),
    )
    return { uploads }
  })
  const statuses = (await Promise.all(uploads)).map(({ status }) => status)
  expect(statuses.toSorted()).toEqual([200, 429])
  await other.stop()
  await bench.stop()
})

test('a server that stands still in its turn to count does not keep others from accepting files', async () => {
  const bench = await benchWith({}, 'postgres')
  const { token, id } = bench.owner
  await using sql = new Bun.SQL(bench.app.config.databaseUrl ?? '', { max: 1 })
  await using looks = new Bun.SQL(bench.app.config.databaseUrl ?? '', { max: 1 })
  // The turn of a server whose process is suspended.
  await sql`select pg_advisory_lock(hashtextextended(${claimOf(id)}, 0))`
  const startedAt = performance.now()
  expect((await upload(bench, token, { 'first.txt': 'xx' })).status).toBe(200)
  expect(performance.now() - startedAt).toBeGreaterThan(1_000)
  await sql`select pg_advisory_unlock_all()`
  // Once the other goes on, uploads are counted in turn again.
  const { second } = await sql.begin(async (held) => {
    await held`lock table attachment_files in share row exclusive mode`
    const second = upload(bench, token, { 'second.txt': 'xx' })
    await until(async () => (await waiting(looks)) === 1)
    expect(await holders(looks, id)).toHaveLength(1)
    return { second }
  })
  expect((await second).status).toBe(200)
  expect(await holders(looks, id)).toEqual([])
  await bench.stop()
})
