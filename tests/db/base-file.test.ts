import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { upgradeBaseFile } from '../../src/db/base-file.ts'

const versionOf = (file: Database) =>
  file.query<{ user_version: number }, []>('pragma user_version').get()?.user_version

describe('upgradeBaseFile', () => {
  test('makes the change log once, and leaves an up-to-date file alone', () => {
    const file = new Database(':memory:')
    upgradeBaseFile(file)
    file.run("insert into sheaf_changes (at, kind, records) values ('now', 'test', 0)")
    const version = versionOf(file)
    upgradeBaseFile(file)
    expect(version).toBeGreaterThan(0)
    expect(versionOf(file)).toBe(version)
    expect(file.query<{ n: number }, []>('select count(*) as n from sheaf_changes').get()?.n).toBe(1)
  })

  test('refuses a file of a later version and leaves it as it is', () => {
    const file = new Database(':memory:')
    file.run('pragma user_version = 9999')
    expect(() => upgradeBaseFile(file)).toThrow('later version')
    expect(file.query("select name from sqlite_master where type = 'table'").all()).toEqual([])
  })

  test('takes a step whole or not at all', () => {
    const file = new Database(':memory:')
    // The last object of the step is in its way.
    file.run('create table sheaf_changes_ranges (x)')
    expect(() => upgradeBaseFile(file)).toThrow()
    expect(versionOf(file)).toBe(0)
    expect(file.query("select name from sqlite_master where name = 'sheaf_changes'").all()).toEqual([])
  })
})
