import { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOpenFiles } from '../../src/db/open-files.ts'
import { createBaseFile, openSqliteEngine } from '../../src/db/sqlite-engine.ts'
import { sqlite } from '../../src/dialects/sqlite.ts'
import { createUnfinished } from '../../src/dialects/sqlite-unfinished-index.ts'
import { createWorkerPool } from '../../src/pool.ts'
import { until } from '../support/until.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

test('opening a file drops what builds of deleted tables have left, and no other build', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sheaf-abandoned-'))
  cleanups.push(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'base.db')
  createBaseFile(path)
  const file = new Database(path)
  const created = ['gone', 'kept'].flatMap((table) => [
    `create table ${table} (id integer primary key, num integer)`,
    ...createUnfinished({
      name: `sheaf_auto_${table}`,
      table,
      terms: ['num'],
      key: 'id',
      columns: [['num', 'integer']],
    }),
  ])
  for (const sql of [...created, 'drop table gone']) file.run(sql)
  file.close()

  const pool = createWorkerPool(2)
  cleanups.push(() => pool.close())
  const engine = openSqliteEngine({ path, name: 'base.db' }, pool, createOpenFiles(10))
  cleanups.push(() => engine.close())
  const names = async () =>
    (
      await engine.values({
        sql: "select name from sqlite_schema where name like '%sheaf#_auto#_%' escape '#' order by name",
        params: [],
      })
    ).flat()
  await until(async () => !(await names()).some((name) => String(name).endsWith('gone')), 'The drop')
  expect(await names()).toEqual([
    'sheaf_auto_kept',
    'sheaf_unfinished_sheaf_auto_kept',
    ...['deleting', 'inserted', 'updated', 'updating'].map(
      (event) => `sheaf_unfinished_sheaf_auto_kept_${event}`,
    ),
  ])
  expect(await engine.all(sqlite.listIndexes('kept'))).toMatchObject([
    { name: 'sheaf_auto_kept', isUnfinished: 1 },
  ])

  // A small table gets its index at once, in place of what is left.
  await engine.buildIndex({ name: 'sheaf_auto_kept', table: 'kept', terms: ['num'] })
  expect(await engine.all(sqlite.listIndexes('kept'))).toMatchObject([
    { name: 'sheaf_auto_kept', isUnfinished: 0 },
  ])
  expect(await names()).toEqual(['sheaf_auto_kept'])
})

test('a failure to drop them is reported, and the next opening drops them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sheaf-abandoned-'))
  cleanups.push(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'base.db')
  createBaseFile(path)
  const file = new Database(path)
  cleanups.push(() => file.close())
  const left = { name: 'sheaf_auto_gone', table: 'gone', terms: ['num'], key: 'id' }
  const created = createUnfinished({ ...left, columns: [['num', 'integer']] })
  for (const sql of [
    'create table gone (id integer primary key, num integer)',
    ...created,
    'drop table gone',
  ])
    file.run(sql)
  file.run('begin immediate')

  const pool = createWorkerPool(2)
  cleanups.push(() => pool.close())
  const failed = Promise.withResolvers<object>()
  const open = (notDropped?: (error: unknown, given: object) => void) =>
    openSqliteEngine({ path, name: 'base.db' }, pool, createOpenFiles(10), undefined, { notDropped })
  const list = {
    sql: "select name from sqlite_schema where name like '%sheaf#_auto#_gone%' escape '#'",
    params: [],
  }
  const engine = open((_, given) => failed.resolve(given))
  expect(await engine.values(list)).not.toEqual([])
  expect(await failed.promise).toEqual({ file: 'base.db', indexes: ['sheaf_auto_gone'] })
  file.run('rollback')
  await engine.close()

  const again = open()
  cleanups.push(() => again.close())
  await until(async () => (await again.values(list)).length === 0, 'The drop')
})
