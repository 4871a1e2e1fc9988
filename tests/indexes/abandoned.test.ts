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
