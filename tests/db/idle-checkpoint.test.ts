import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { hasLogReached } from '../../src/db/sqlite-log.ts'
import { createTestApp } from '../support/app.ts'
import { until } from '../support/until.ts'

const MB = 1024 ** 2

test('the log of a few large writes is checkpointed soon after the last one, and begins anew', async () => {
  const app = await createTestApp({ config: { databaseUrl: null } })
  try {
    const { token } = await app.signUp('owner@example.com')
    const rest = app.rest(token)
    const api = app.trpc(token)
    const { id: baseId } = await api.bases.create.mutate({ title: 'B' })
    const { table } = await api.schema.createTable.mutate({
      baseId,
      title: 'Orders',
      fields: [{ title: 'Title', type: 'LongText' }],
    })
    const path = `/api/v2/tables/${table.id}/records`
    const log = join(app.kernel.config.dataDir, 'bases', `${baseId}.db-wal`)
    const rows = Array.from({ length: 10_000 }, (_, at) => ({ Title: `${at} `.repeat(100) }))
    for (let count = 0; count < 3; count++) expect((await rest.post(path, rows)).status).toBe(200)
    expect(hasLogReached(log, 8 * MB)).toBe(true)
    // A log that is whole in the file begins anew with the next write.
    await until(async () => {
      await Bun.sleep(1_500)
      await rest.post(path, { Title: 'small' })
      return !hasLogReached(log, 8 * MB)
    }, 'The log has begun anew')
    const { body } = await rest.get(`${path}/count`)
    expect(body.count).toBeGreaterThan(30_000)
  } finally {
    await app.stop()
  }
})
