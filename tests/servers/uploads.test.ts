import { expect, test } from 'bun:test'
import { startServer } from '../../src/app.ts'
import { benchWith, upload, uploadBelowLimit } from '../records/attachments-support.ts'
import type { TestApp } from '../support/app.ts'

test('two servers do not both accept the last file that a person may upload', async () => {
  const bench = await benchWith({}, 'postgres')
  const other = await startServer(bench.app.config)
  const { token } = bench.owner
  await uploadBelowLimit(bench, token, 1)
  await using sql = new Bun.SQL(bench.app.config.databaseUrl ?? '', { max: 1 })
  // Files are counted, but not registered, until this transaction ends.
  const { uploads } = await sql.begin(async (held) => {
    await held`lock table attachment_files in share row exclusive mode`
    const there = { app: { url: other.url } as TestApp }
    const uploads = [bench, there].map((server) => upload(server, token, { 'last.txt': 'xx' }))
    await Bun.sleep(1_500)
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
  // The turn of a server whose process is suspended.
  await sql`select pg_advisory_lock(hashtextextended(${`sheaf claim uploads of ${id}`}, 0))`
  const startedAt = performance.now()
  expect((await upload(bench, token, { 'first.txt': 'xx' })).status).toBe(200)
  expect(performance.now() - startedAt).toBeGreaterThan(1_000)
  await sql`select pg_advisory_unlock_all()`
  const againAt = performance.now()
  expect((await upload(bench, token, { 'second.txt': 'xx' })).status).toBe(200)
  expect(performance.now() - againAt).toBeLessThan(1_000)
  await bench.stop()
})
