import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore, openStoreFile } from '../../src/db/move/sqlite-store.ts'

const HELD_MS = 300

test('rows are inserted once another process lets go of the lock', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sheaf-store-'))
  const path = join(folder, 'base.db')
  await Bun.write(path, '')
  const file = openStoreFile(path)
  file.run('create table staged (record_id, title text)')
  const other = Bun.spawn([process.execPath, '-e', HOLD, path], { stdout: 'pipe' })
  await other.stdout.getReader().read()
  const store = openSqliteStore(file, path)
  const table = { name: 'staged', key: [], indexes: [], lastId: null, columns: COLUMNS }
  await store.insert(table, [['1', 'one']])
  expect(file.query('select title from staged').values()).toEqual([['one']])
  await other.exited
  file.close()
  rmSync(folder, { recursive: true })
})

const HOLD = `
  const file = new (require('bun:sqlite').Database)(process.argv[1])
  file.run('begin immediate')
  file.run("insert into staged values (0, 'zero')")
  console.log('held')
  setTimeout(() => file.run('rollback'), ${HELD_MS})`

const COLUMNS = (['record_id', 'title'] as const).map((name) => ({
  name,
  kind: 'text' as const,
  isIdentity: false,
  isRequired: false,
  defaultText: null,
}))
