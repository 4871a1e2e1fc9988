import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { isNotNull } from 'drizzle-orm'
import { defineSchemaTables } from '../../modules/schema/tables.ts'
import { doorOf, ended } from '../imports/support.ts'
import { type Bench, benchOf, refusalOf, type TestTable } from '../records/support.ts'
import { createTestApp, META_DATABASES } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'

const DAY_MS = 24 * 60 * 60 * 1000

describe.each(META_DATABASES)('what a base keeps, on %s', (database) => {
  let bench: Bench
  beforeAll(async () => {
    const app = await createTestApp({ database, config: { historyDays: 30 } })
    const owner = await app.signUp()
    bench = benchOf(app, owner, (await createBase(app, owner)).id)
  })
  afterAll(() => bench.stop())

  const baseRow = async (baseId = bench.baseId) => {
    const row = (await bench.app.services.bases.all()).find(({ id }) => id === baseId)
    if (!row) throw new Error('The base is gone')
    return row
  }
  const purge = async () => bench.app.services.storage.purge(await baseRow())
  /** Makes everything that has happened so far older. */
  async function age(days: number) {
    const { kernel } = bench.app
    const engine = await kernel.sources.engine(bench.baseId)
    const at = new Date(Date.now() - days * DAY_MS).toISOString()
    await engine.writeScript([{ sql: `update sheaf_changes set at = '${at}'`, params: [] }])
    const tables = kernel.meta.tables(defineSchemaTables)
    await kernel.meta.db
      .update(tables.tables)
      .set({ deletedAt: at })
      .where(isNotNull(tables.tables.deletedAt))
    await kernel.meta.db
      .update(tables.fields)
      .set({ deletedAt: at })
      .where(isNotNull(tables.fields.deletedAt))
  }
  const columnsOf = async (table: TestTable) => {
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const rows = await engine.all<{ name: string }>(engine.dialect.listColumns(table.schema.table.tableName))
    return rows.map(({ name }) => name)
  }
  const count = async (sql: string) => {
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    return Number((await engine.values({ sql, params: [] }))[0]?.[0])
  }

  test('stays as it is while it is younger', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' }, [{ Title: 'a', Num: 1 }])
    await bench.trpc.schema.updateField.mutate({
      fieldId: table.field('Num').id,
      patch: { type: 'SingleLineText' },
    })
    await age(29)
    await purge()
    expect((await baseRow()).historySince).toBeNull()
    expect((await bench.trpc.records.undo.mutate({ baseId: bench.baseId })).kind).toBe('field.update')
  })

  test('goes once it is older: log, deleted records, tables and fields, replaced columns; the rest stays', async () => {
    const table = await bench.table(
      {
        Title: 'SingleLineText',
        Num: 'Number',
        Code: { type: 'SingleLineText', unique: true },
        Gone: 'Number',
      },
      [
        { Title: 'a', Num: 1, Code: 'x', Gone: 5 },
        { Title: 'b', Num: 2, Code: 'y', Gone: 6 },
      ],
    )
    const other = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'o' }])
    const link = await bench.trpc.schema.createField.mutate({
      tableId: table.id,
      field: { title: 'Others', type: 'Links', options: { kind: 'hm', relatedTableId: other.id } },
    })
    const trashed = await bench.table({ Title: 'SingleLineText' }, [{ Title: 't' }])
    const { trpc, baseId } = bench
    const change = (type: 'SingleLineText' | 'LongText' | 'Number', title: string) =>
      trpc.schema.updateField.mutate({ fieldId: table.field(title).id, patch: { type } })
    await change('SingleLineText', 'Num')
    await change('LongText', 'Code')
    await trpc.schema.deleteField.mutate({ fieldId: table.field('Gone').id })
    await trpc.schema.deleteField.mutate({ fieldId: link.id })
    await trpc.schema.deleteTable.mutate({ tableId: trashed.id })
    await bench.rest.delete(table.path, { Id: 2 })
    const before = await columnsOf(table)
    expect(before).toContain(table.field('Gone').columnName)
    const rows = await table.list()
    await age(31)
    // Of now: neither it nor the column that it replaced is old.
    await trpc.schema.updateField.mutate({ fieldId: other.field('Title').id, patch: { type: 'LongText' } })
    const kept = await columnsOf(other)
    await purge()

    const after = await columnsOf(table)
    expect(after.length).toBe(before.length - 3)
    for (const title of ['Num', 'Code', 'Gone']) expect(after).not.toContain(table.field(title).columnName)
    expect(kept.filter((name) => name !== '')).toContain(other.field('Title').columnName)
    expect(await columnsOf(other)).toContain(other.field('Title').columnName)
    expect(await table.list()).toEqual(rows)
    expect(await trpc.schema.tables.query({ baseId, trash: true })).toEqual([])
    expect(await trpc.schema.trashedFields.query({ tableId: table.id })).toEqual([])
    expect(await count('select count(*) from sheaf_changes')).toBe(1)
    expect(
      await count(
        'select count(*) from sheaf_change_records where change_id < (select max(id) from sheaf_changes)',
      ),
    ).toBe(0)

    // What is young can be undone, and then undo says why there is no more.
    expect((await trpc.records.undo.mutate({ baseId })).kind).toBe('field.update')
    expect(
      (await trpc.schema.table.query({ tableId: other.id })).fields.find(({ isDisplay }) => isDisplay)?.type,
    ).toBe('SingleLineText')
    const nothing = await trpc.records.undo.mutate({ baseId })
    expect([nothing.kind, nothing.historySince]).toEqual([null, (await baseRow()).historySince])
    expect(Date.parse(nothing.historySince ?? '')).toBeLessThan(Date.now() - 29 * DAY_MS)

    // And everything goes on: records, fields, ids of the log.
    expect((await bench.rest.post(table.path, { Title: 'c', Num: 'n', Code: 'y' })).status).toBe(200)
    await trpc.schema.createField.mutate({ tableId: table.id, field: { title: 'Gone', type: 'Number' } })
    await trpc.records.undo.mutate({ baseId })
    expect((await trpc.records.undo.mutate({ baseId })).records).toBe(1)
    expect(await table.list()).toEqual(rows)
    await purge()
    expect(await table.list()).toEqual(rows)
  })

  test('goes by the base’s own number of days, 0 being for ever', async () => {
    const { trpc, baseId } = bench
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    await age(400)
    await trpc.trash.setRetention.mutate({ baseId, days: 0 })
    await trpc.storage.setHistoryDays.mutate({ baseId, days: 0 })
    const entries = await count('select count(*) from sheaf_changes')
    await purge()
    expect(await count('select count(*) from sheaf_changes')).toBe(entries)
    await trpc.storage.setHistoryDays.mutate({ baseId, days: 500 })
    await purge()
    expect(await count('select count(*) from sheaf_changes')).toBe(entries)
    await trpc.storage.setHistoryDays.mutate({ baseId, days: null })
    await purge()
    expect(await count('select count(*) from sheaf_changes')).toBe(1)
    expect(await table.titles()).toEqual(['a'])
    for (const days of [-1, 1.5, 40_000])
      expect((await refusalOf(trpc.storage.setHistoryDays.mutate({ baseId, days }))).status).toBe(400)
  })

  test('is shown to owners with its size, of all bases to super admins, and can be given back', async () => {
    const { trpc, baseId, app } = bench
    const table = await bench.table({ Title: 'SingleLineText', Notes: 'LongText' })
    const rows = Array.from({ length: 300 }, () => ({ Title: 'x', Notes: 'y'.repeat(3000) }))
    await bench.rest.post(table.path, rows)
    await trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } })
    await age(31)
    await bench.table()
    const before = await trpc.storage.base.query({ baseId })
    expect(before).toMatchObject({ historyDays: null, defaultDays: 30 })
    expect(before.bytes).toBeGreaterThan(100_000)
    const creator = await createMember(app, baseId, 'creator')
    expect((await refusalOf(app.trpc(creator.token).storage.base.query({ baseId }))).status).toBe(403)
    expect((await refusalOf(app.trpc(creator.token).storage.bases.query())).status).toBe(403)
    expect(await trpc.storage.bases.query()).toContainEqual({
      id: baseId,
      title: (await baseRow()).title,
      bytes: before.bytes,
    })
    const { jobId } = await trpc.storage.reclaim.mutate({ baseId })
    const job = await ended(doorOf(app, bench.owner), jobId)
    expect([job.status, job.error]).toEqual(['completed', null])
    const after = await trpc.storage.base.query({ baseId })
    expect(after.bytes).toBeLessThan(before.bytes / 2)
    expect(job.result).toMatchObject({ after: expect.any(Number) })
    expect((await bench.rest.post(table.path, { Title: 'again' })).status).toBe(200)
  })
})

test('the file of a base made before gives its room back once it is asked to', async () => {
  const app = await createTestApp({ database: 'sqlite' })
  const owner = await app.signUp()
  const bench = benchOf(app, owner, (await createBase(app, owner)).id)
  const table = await bench.table({ Title: 'SingleLineText', Notes: 'LongText' })
  const path = app.kernel.sources.path(bench.baseId)
  const mode = () => {
    const file = new Database(path, { readonly: true })
    const [row] = file.query('pragma auto_vacuum').values() as number[][]
    file.close()
    return row?.[0]
  }
  expect(mode()).toBe(2)
  const engine = await app.kernel.sources.engine(bench.baseId)
  await engine.exclusively(async () => {
    const file = new Database(path)
    file.run('pragma auto_vacuum = none')
    file.run('vacuum')
    file.close()
  })
  expect(mode()).toBe(0)
  await bench.rest.post(table.path, [{ Title: 'a' }])
  const { jobId } = await bench.trpc.storage.reclaim.mutate({ baseId: bench.baseId })
  expect((await ended(doorOf(app, owner), jobId)).status).toBe('completed')
  expect(mode()).toBe(2)
  expect(await table.titles()).toEqual(['a'])
  const [limit] = await engine.values({ sql: 'pragma journal_size_limit', params: [] })
  expect(limit).toEqual([64 * 1024 * 1024])
  await app.stop()
})
