import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { postgresConnection } from '../../src/db/connection.ts'
import {
  createBaseSchema,
  dropBaseSchema,
  hasSchema,
  schemaOfBase,
  upgradeBaseSchema,
} from '../../src/db/postgres/base-schema.ts'
import { createTestApp, META_DATABASES } from '../support/app.ts'
import { createBase } from '../support/factories.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'

let made: TestDatabase
beforeAll(async () => {
  made = await createDatabase('postgres')
})
afterAll(() => made.drop())

const connection = () => postgresConnection(made.url)
const ask = async (text: string) => {
  await using sql = new Bun.SQL(made.url, { max: 1 })
  return (await sql.unsafe(text)) as Record<string, unknown>[]
}

describe('upgradeBaseSchema', () => {
  test('makes the change log once, however many open the base at the same time', async () => {
    const schema = schemaOfBase('p00000000000001')
    await Promise.all(Array.from({ length: 6 }, () => createBaseSchema(connection(), schema)))
    await ask(`insert into ${schema}.sheaf_changes (at, kind, records) values ('now', 'test', 0)`)
    expect(await upgradeBaseSchema(connection(), schema)).toBe(true)
    expect(await ask(`select kind from ${schema}.sheaf_changes`)).toEqual([{ kind: 'test' }])
    expect(await ask(`select count(*)::int as n from ${schema}.sheaf_version`)).toEqual([{ n: 1 }])
  })

  test('refuses a schema of a later version, and takes a step whole or not at all', async () => {
    const [later, broken] = ['p00000000000002', 'p00000000000003'].map(schemaOfBase) as [string, string]
    await ask(`create schema ${later}; create table ${later}.sheaf_version (steps integer);
      insert into ${later}.sheaf_version values (999)`)
    await expect(upgradeBaseSchema(connection(), later)).rejects.toThrow('later version')
    // The last object of the step is in its way.
    await ask(`create schema ${broken}; create table ${broken}.sheaf_changes_ranges (x integer)`)
    await expect(upgradeBaseSchema(connection(), broken)).rejects.toThrow('already exists')
    const tables = await ask(
      `select tablename from pg_tables where schemaname in ('${later}', '${broken}') order by 1`,
    )
    expect(tables.map(({ tablename }) => tablename)).toEqual(['sheaf_changes_ranges', 'sheaf_version'])
  })

  test('makes no schema where there is none', async () => {
    const schema = schemaOfBase('p00000000000009')
    expect(await upgradeBaseSchema(connection(), schema)).toBe(false)
    expect(await hasSchema(connection(), schema)).toBe(false)
  })

  test('drops a schema of ours, and no other', async () => {
    const schema = schemaOfBase('p00000000000001')
    expect(await hasSchema(connection(), schema)).toBe(true)
    await dropBaseSchema(connection(), schema)
    expect(await hasSchema(connection(), schema)).toBe(false)
    await expect(dropBaseSchema(connection(), 'public')).rejects.toThrow('not the schema of a base')
  })
})

describe.each(META_DATABASES)('the home of a base of a server on %s', (database) => {
  test('is made with the base, apart from all others, and removed for good', async () => {
    const app = await createTestApp({ database })
    try {
      const owner = await app.signUp()
      const { sources } = app.kernel
      const bases = [await createBase(app, owner), await createBase(app, owner)]
      const trpc = app.trpc(owner.token)
      expect(await Promise.all(bases.map(({ id }) => sources.exists(id)))).toEqual([true, true])
      // Tables of one name, called as one of the metadata's own.
      const tables = await Promise.all(
        bases.map(({ id }) => trpc.schema.createTable.mutate({ baseId: id, title: 'users' })),
      )
      const add = (index: number, count: number) =>
        app.rest(owner.token).post(
          `/api/v2/tables/${tables[index]!.table.id}/records`,
          Array.from({ length: count }, (_, at) => ({ Title: `${index} ${at}` })),
        )
      await Promise.all([add(0, 2), add(1, 5), add(0, 1), add(1, 1)])
      const count = (index: number) =>
        trpc.records.count.query({ selection: { tableId: tables[index]!.table.id } })
      expect(await Promise.all([count(0), count(1), count(0)])).toEqual([
        { count: 3 },
        { count: 6 },
        { count: 3 },
      ])
      await sources.remove(bases[0]!.id)
      expect(await Promise.all(bases.map(({ id }) => sources.exists(id)))).toEqual([false, true])
      expect(await count(1)).toEqual({ count: 6 })
    } finally {
      await app.stop()
    }
  })
})
