import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasLogReached } from '../../src/db/sqlite-log.ts'
import { createTestApp } from '../support/app.ts'
import { until } from '../support/until.ts'

const MB = 1024 ** 2

describe('the size of a write-ahead log', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sheaf-log-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('counts from where the log last started over, whatever the length of its file', () => {
    const path = join(folder, 'log.db')
    const file = new Database(path, { create: true })
    const log = `${path}-wal`
    file.run('pragma journal_mode = wal')
    file.run('pragma wal_autocheckpoint = 0')
    file.run('create table t (n integer primary key, text text)')
    const write = (rows: number) => {
      for (let row = 0; row < rows; row++) file.run('insert into t (text) values (?)', ['x'.repeat(3_000)])
    }
    expect(hasLogReached(`${log}-missing`, MB)).toBe(false)
    expect(hasLogReached(log, MB)).toBe(false)
    write(600)
    expect(statSync(log).size).toBeGreaterThan(2 * MB)
    expect(hasLogReached(log, MB)).toBe(true)
    file.run('pragma wal_checkpoint(passive)')
    write(10)
    expect(statSync(log).size).toBeGreaterThan(2 * MB)
    expect(hasLogReached(log, MB)).toBe(false)
    write(300)
    expect(hasLogReached(log, MB)).toBe(true)
    file.close()
  })
})

describe('the write-ahead log of a base', () => {
  test('is checkpointed while records are written, and keeps its file', async () => {
    const app = await createTestApp({ database: 'sqlite' })
    try {
      const owner = await app.signUp()
      const trpc = app.trpc(owner.token)
      const base = await trpc.bases.create.mutate({ title: 'Log' })
      const { table } = await trpc.schema.createTable.mutate({
        baseId: base.id,
        title: 'Notes',
        fields: [{ title: 'Note', type: 'LongText' }],
      })
      const rest = app.rest(owner.token)
      const log = join(app.config.dataDir, 'bases', `${base.id}.db-wal`)
      const note = 'x'.repeat(10_000)
      const isLong = () => hasLogReached(log, 8 * MB)
      /** Writes until the log is long, or has started over. */
      const writeUntil = (wanted: 'long' | 'short') =>
        until(async () => {
          if (isLong() === (wanted === 'long')) return true
          const rows = Array.from({ length: 10 }, () => ({ Note: note }))
          expect((await rest.post(`/api/v2/tables/${table.id}/records`, rows)).status).toBe(200)
          return false
        }, `The log is ${wanted}`)
      await writeUntil('long')
      // A worker checkpoints it, and the next write starts it over.
      await writeUntil('short')
      expect(statSync(log).size).toBeGreaterThan(8 * MB)
      await writeUntil('long')
      await writeUntil('short')
    } finally {
      await app.stop()
    }
  })
})
