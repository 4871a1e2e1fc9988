import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { defineBasesTables } from '../../modules/bases/tables.ts'
import { openMeta } from '../../src/db/meta.ts'
import { startSilentProxy } from '../support/database-proxy.ts'
import { createDatabase } from '../support/servers.ts'
import { until } from '../support/until.ts'

const MEMBERS = `select pid from pg_locks where locktype = 'advisory' and classid = 7433202 and objsubid = 2 and granted
  and database = (select oid from pg_database where datname = current_database())`

test('a change waits until a server that was cut off without noticing uses its caches no more', async () => {
  const database = await createDatabase('postgres')
  await using sql = new Bun.SQL(database.url, { max: 1 })
  await using proxy = await startSilentProxy(database.url)
  const first = await openMeta({ dataDir: '', databaseUrl: proxy.url })
  const [member] = await sql.unsafe(MEMBERS)
  const second = await openMeta({ dataDir: '', databaseUrl: database.url })
  const { bases } = second.tables(defineBasesTables)
  const change = () => second.db.update(bases).set({ title: 'Changed' }).where(eq(bases.id, 'none'))
  /** True if a change was confirmed, instead of waiting for the end of a lease. On a busy machine, not every one is. */
  const isConfirmed = async () => {
    const startedAt = performance.now()
    await change()
    return performance.now() - startedAt < 2_000
  }
  await until(isConfirmed)

  proxy.silence()
  let isBack = false
  // Its caches are empty as soon as it is connected again.
  first.cluster.onMissed(() => {
    isBack = true
  })
  await sql`select pg_terminate_backend(${member.pid})`
  await until(async () => !(await sql.unsafe(MEMBERS)).some(({ pid }: { pid: number }) => pid === member.pid))
  await change()
  expect(first.cluster.isCurrent() && !isBack).toBe(false)

  // A server that is back, under another number, keeps nobody waiting.
  await until(() => isBack && first.cluster.isCurrent())
  await until(isConfirmed)
  await Promise.all([first.close(), second.close(), sql.close()])
  await database.drop()
})
