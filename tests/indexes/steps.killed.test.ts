import { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { checkRestoredFile } from '../../src/db/backups/restore-backup.ts'
import { inspectBases } from '../../src/db/inspect.ts'
import { startServerProcess } from '../imports/server-process.ts'
import { testTable } from '../records/support.ts'
import { PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { until } from '../support/until.ts'
import { fillTable, indexNames } from './support.ts'

const MANY = 200_000

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

/** What SQLite says of a whole file, read by a connection of its own. */
function integrityOf(path: string): string[] {
  const file = new Database(path, { readonly: true })
  try {
    return file.query('pragma integrity_check').values().flat().map(String)
  } finally {
    file.close()
  }
}

test('a server that is killed between the steps of a build leaves a sound file, and the next one goes on with the build', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-index-steps-'))
  cleanups.push(() => rmSync(dataDir, { recursive: true, force: true }))
  const config = readConfig({ PORT: '0', HOST: '127.0.0.1', DATA_DIR: dataDir, LOG_LEVEL: 'silent' })
  const first = await startServer(config)
  const account = { email: 'owner@example.com', password: PASSWORD }
  const { token } = await createTrpcClient(first.url).auth.signUp.mutate(account)
  const api = createTrpcClient(first.url, token)
  const { id: baseId } = await api.bases.create.mutate({ title: 'Large' })
  const fields = [
    { title: 'Name', type: 'SingleLineText' as const },
    { title: 'Num', type: 'Number' as const },
  ]
  const schema = await api.schema.createTable.mutate({ baseId, title: 'Records', fields })
  const { id: tableId, tableName } = schema.table
  const table = testTable(createRestClient(first.url, token), schema)
  await fillTable(first.kernel, table, MANY)
  await first.stop()

  const path = join(dataDir, 'bases', `${baseId}.db`)
  /** Entries of the automatic index, finished or not, by the pages that it has. */
  const pages = () => {
    const file = new Database(path, { readonly: true })
    try {
      const [[found] = []] = file
        .query(
          "select count(*) from dbstat where name = (select name from sqlite_schema where type = 'index' and name like 'sheaf#_auto#_%' escape '#')",
        )
        .values() as number[][]
      return found ?? 0
    } finally {
      file.close()
    }
  }
  const killed = await startServerProcess(dataDir)
  cleanups.push(() => killed.end('SIGKILL'))
  const terms = ['Name', 'Num'].map((title) => ({
    fieldId: table.field(title).id,
    as: 'value' as const,
    direction: 'desc' as const,
  }))
  const { id } = await createTrpcClient(killed.url, token).indexes.create.mutate({ tableId, terms })
  await until(() => pages() > 100, 'Some steps')
  await killed.end('SIGKILL')

  // What a backup of that moment restores.
  const copy = join(dataDir, 'copy.db')
  for (const end of ['', '-wal']) cpSync(path + end, copy + end)
  expect(integrityOf(copy)).toEqual([`wrong # of entries in index ${id}`])
  new Database(copy).close()
  expect(() =>
    checkRestoredFile({ path: 'copy.db', size: 0, chunks: [], tables: {} } as never, copy),
  ).not.toThrow()
  const known = { inFiles: [{ id: baseId, title: 'Large' }] } as never
  expect(inspectBases(config, known, true).map(({ level }) => level)).toEqual(['ok'])

  const left = pages()
  const next = await startServer(config)
  cleanups.push(() => next.stop())
  const rest = createRestClient(next.url, token)
  const write = async (name: string) => {
    expect((await rest.patch(table.path, [{ Id: 7, Name: name, Num: -1 }])).status).toBe(200)
    expect((await rest.post(table.path, [{ Name: 'added', Num: 3 }])).status).toBe(200)
  }
  await write('first')
  expect((await rest.delete(table.path, [{ Id: 8 }])).status).toBe(200)
  // Nothing of it was dropped.
  expect(pages()).toBeGreaterThanOrEqual(left)
  const building = next.services.indexes.maintain(() => true)
  await write('later')
  await building
  expect(await createTrpcClient(next.url, token).indexes.list.query({ tableId })).toMatchObject([
    { id, state: 'ready', error: null },
  ])
  expect(await indexNames(next.kernel, table)).toEqual([id])
  expect(integrityOf(path)).toEqual(['ok'])
  const names = new Database(path, { readonly: true })
  cleanups.push(() => names.close())
  expect(
    names.query("select 1 from sqlite_schema where name like 'sheaf#_unfinished%' escape '#'").values(),
  ).toEqual([])
  const [column] = [table.field('Name').columnName]
  expect(
    names
      .query(
        `select "${column}", count(*) from "${tableName}" indexed by "${id}"
          where "${column}" in ('first', 'later', 'added') group by 1 order by 1`,
      )
      .values(),
  ).toEqual([
    ['added', 2],
    ['later', 1],
  ])
}, 300_000)
