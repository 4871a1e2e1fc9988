import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TrashRef } from '../../src/core/trash.ts'
import { type Bench, benchOf, refusalOf, type TestTable } from '../records/support.ts'
import { createTestApp, META_DATABASES } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'

describe.each(META_DATABASES)('deleting forever, on %s', (database) => {
  let bench: Bench
  beforeAll(async () => {
    const app = await createTestApp({ database })
    const owner = await app.signUp()
    bench = benchOf(app, owner, (await createBase(app, owner)).id)
  })
  afterAll(() => bench.stop())

  const purge = (item: TrashRef) => bench.trpc.trash.purge.mutate({ baseId: bench.baseId, items: [item] })
  const trash = () => `/api/v2/meta/bases/${bench.baseId}/trash`
  const columnsOf = async (table: TestTable) => {
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const rows = await engine.all<{ name: string }>(engine.dialect.listColumns(table.schema.table.tableName))
    return rows.map(({ name }) => name)
  }
  const latest = async () =>
    (await bench.trpc.records.actions.query({ baseId: bench.baseId, limit: 1 })).actions[0]

  test('is for creators, and for what is in the trash; wrong bodies are refused', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' })
    const fieldId = table.field('Num').id
    expect(await refusalOf(purge({ kind: 'field', fieldId }))).toMatchObject({
      code: 'FIELD_NOT_FOUND',
    })
    expect(await refusalOf(purge({ kind: 'table', tableId: table.id }))).toMatchObject({
      code: 'TABLE_NOT_FOUND',
    })
    await bench.trpc.schema.deleteField.mutate({ fieldId })
    const editor = await createMember(bench.app, bench.baseId, 'editor')
    expect((await bench.app.rest(editor.token).delete(trash(), { fieldId })).status).toBe(403)
    expect((await bench.app.rest().delete(trash(), { fieldId })).status).toBe(401)
    for (const body of [{}, { fieldId, tableId: table.id }, { changeId: 'x' }])
      expect((await bench.rest.delete(trash(), body)).status).toBe(400)
    expect((await bench.rest.get(trash())).body.fields).toMatchObject([{ id: fieldId, title: 'Num' }])
  })

  test('a field goes with its column, and its deletion can no longer be undone; the others stay', async () => {
    const table = await bench.table(
      {
        Title: 'SingleLineText',
        Num: 'Number',
        Code: { type: 'SingleLineText', unique: true },
        More: 'Number',
      },
      [{ Title: 'a', Num: 1, Code: 'x', More: 2 }],
    )
    const [num, code, more] = ['Num', 'Code', 'More'].map((title) => table.field(title))
    for (const field of [num, code, more]) await bench.trpc.schema.deleteField.mutate({ fieldId: field!.id })
    expect((await bench.rest.delete(trash(), { fieldId: num!.id })).body).toEqual({ deleted: 1 })
    await purge({ kind: 'field', fieldId: code!.id })
    const columns = await columnsOf(table)
    expect([num, code, more].map((field) => columns.includes(field!.columnName))).toEqual([
      false,
      false,
      true,
    ])
    expect(await refusalOf(bench.trpc.schema.restoreField.mutate({ fieldId: num!.id }))).toMatchObject({
      code: 'FIELD_NOT_FOUND',
    })
    const { actions } = await bench.trpc.records.actions.query({ baseId: bench.baseId, limit: 3 })
    expect(actions.map(({ state }) => state)).toEqual(['done', 'final', 'final'])
    await bench.trpc.schema.restoreField.mutate({ fieldId: more!.id })
    expect((await bench.rest.get(`${table.path}/1`)).body).toMatchObject({ Title: 'a', More: 2 })
  })

  test('a link goes from both tables, with its pairs', async () => {
    const [one, two] = [await bench.table(), await bench.table()]
    const link = await bench.trpc.schema.createField.mutate({
      tableId: one.id,
      field: {
        title: 'Twos',
        type: 'LinkToAnotherRecord',
        options: { kind: 'mm', relatedTableId: two.id },
      },
    })
    await bench.trpc.schema.deleteField.mutate({ fieldId: link.id })
    await purge({ kind: 'field', fieldId: link.id })
    expect((await bench.rest.get(trash())).body.fields.map(({ id }: { id: string }) => id)).not.toContain(
      link.id,
    )
    const { fields } = await bench.trpc.schema.table.query({ tableId: two.id })
    expect(fields.some(({ type }) => type === 'LinkToAnotherRecord')).toBe(false)
    expect((await bench.rest.post(one.path, { Title: 'x' })).status).toBe(200)
  })

  test('a table goes with its records and their history', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'secret words' }])
    await bench.rest.patch(table.path, { Id: 1, Title: 'other words' })
    await bench.trpc.schema.deleteTable.mutate({ tableId: table.id })
    expect((await bench.rest.delete(trash(), { tableId: table.id })).status).toBe(200)
    expect(await columnsOf(table).catch(() => [])).toEqual([])
    expect(await refusalOf(bench.trpc.schema.restoreTable.mutate({ tableId: table.id }))).toMatchObject({
      code: 'TABLE_NOT_FOUND',
    })
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const logged = await engine.values({ sql: 'select before, after from sheaf_change_records', params: [] })
    expect(JSON.stringify(logged)).not.toContain('secret')
    expect((await latest())?.state).toBe('final')
  })

  test('the log of a large table goes a part at a time, and not in one statement', async () => {
    const table = await bench.table()
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const count = 50_000
    const rows = Array.from({ length: count / 2 }, (_, at) => ({
      values: { [table.field('Title').id]: `${at}` },
    }))
    for (let part = 0; part < 2; part++) {
      const operations = [{ kind: 'insert' as const, tableId: table.id, rows }]
      await bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations } })
    }
    await bench.trpc.records.updateMatching.mutate({
      selection: { tableId: table.id },
      values: { [table.field('Title').id]: 'same' },
    })
    await bench.trpc.schema.deleteTable.mutate({ tableId: table.id })
    const removed: number[] = []
    const { writeScript } = engine
    engine.writeScript = async (statements, options) => {
      const results = await writeScript(statements, options)
      removed.push(...results.map(({ changes }) => changes))
      return results
    }
    try {
      await purge({ kind: 'table', tableId: table.id })
    } finally {
      engine.writeScript = writeScript
    }
    expect(Math.max(...removed)).toBeLessThanOrEqual(20_000)
    expect(removed.reduce((sum, changes) => sum + changes, 0)).toBeGreaterThanOrEqual(count)
    const [left] = await engine.values({
      sql: `select count(*) from sheaf_change_records where table_id = '${table.id}'`,
      params: [],
    })
    expect(Number(left?.[0])).toBe(0)
  })

  test('a view is restored by nothing any more', async () => {
    const table = await bench.table()
    const view = await bench.trpc.views.create.mutate({ tableId: table.id, title: 'Mine', kind: 'grid' })
    await bench.trpc.views.delete.mutate({ viewId: view.id })
    const [listed] = (await bench.rest.get(trash())).body.views
    expect(listed.title).toBe('Mine')
    expect((await bench.rest.delete(trash(), { changeId: listed.changeId })).status).toBe(200)
    expect((await bench.rest.delete(trash(), { changeId: listed.changeId })).status).toBe(404)
    expect((await bench.rest.get(trash())).body.views).toEqual([])
    const undo = bench.trpc.records.undo.mutate({ baseId: bench.baseId, entryId: listed.changeId })
    expect((await refusalOf(undo)).status).toBe(409)
  })

  test('a base goes over REST as well', async () => {
    const { id } = await createBase(bench.app, bench.owner)
    expect((await bench.rest.delete(`/api/v2/meta/trash/bases/${id}`)).status).toBe(404)
    await bench.trpc.bases.delete.mutate({ baseId: id })
    expect((await bench.rest.delete(`/api/v2/meta/trash/bases/${id}`)).status).toBe(200)
    expect((await bench.trpc.bases.list.query({ trash: true })).map((base) => base.id)).not.toContain(id)
  })
})
