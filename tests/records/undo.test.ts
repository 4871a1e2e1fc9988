import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../../src/app.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { createMember } from '../support/factories.ts'
import { EVERY_TYPE, STORED_VALUES } from './every-type.ts'
import { type Bench, benchOf, createBench, dump, readLog, refusalOf, type TestTable } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
const redo = () => bench.trpc.records.redo.mutate({ baseId: bench.baseId })

/** The rows without what says when they were written. */
const rowsOf = async (table: TestTable) =>
  (await table.list()).map(({ UpdatedAt: _, CreatedAt: __, ...row }) => row)

/** A row of awkward values of every type. */
const rowOf = (at: number) =>
  Object.fromEntries(
    Object.entries(STORED_VALUES).map(([title, values]) => [title, values[at % values.length]]),
  )

interface Action {
  name: string
  rows: number
  act(table: TestTable): Promise<unknown>
}

const ACTIONS: Action[] = [
  { name: 'one insert', rows: 2, act: (table) => bench.rest.post(table.path, rowOf(3)) },
  { name: 'several inserts', rows: 2, act: (table) => bench.rest.post(table.path, [rowOf(3), {}, rowOf(4)]) },
  {
    name: 'a bulk insert, which the log keeps as a range',
    rows: 2,
    act: (table) =>
      bench.rest.post(
        table.path,
        Array.from({ length: 250 }, (_, index) => rowOf(index)),
      ),
  },
  {
    name: 'an update of every type',
    rows: 3,
    act: (table) =>
      bench.rest.patch(table.path, [
        { Id: 1, ...rowOf(5) },
        { Id: 3, ...rowOf(2) },
      ]),
  },
  { name: 'one deletion', rows: 12, act: (table) => bench.rest.delete(table.path, { Id: 7 }) },
  {
    name: 'a deletion of all',
    rows: 12,
    act: (table) =>
      bench.rest.delete(
        table.path,
        Array.from({ length: 12 }, (_, index) => ({ Id: index + 1 })),
      ),
  },
  { name: 'a move', rows: 5, act: (table) => bench.rest.post(`${table.path}/5/move?before=2`) },
  { name: 'a move to the end', rows: 5, act: (table) => bench.rest.post(`${table.path}/1/move`) },
  {
    name: 'a deletion of all that match',
    rows: 30,
    act: (table) =>
      bench.trpc.records.deleteMatching.mutate({
        selection: { tableId: table.id, filter: { fieldId: table.field('Id').id, operator: 'gt', value: 4 } },
      }),
  },
  {
    name: 'an update of all that match',
    rows: 30,
    act: (table) =>
      bench.trpc.records.updateMatching.mutate({
        selection: { tableId: table.id, filter: { fieldId: table.field('Id').id, operator: 'gt', value: 4 } },
        values: table.values({ Cb: true, Num: 77, Ss: 'red', Dec: 0.1, Dt: null, Title: '' }),
      }),
  },
  {
    name: 'a bulk update by REST',
    rows: 30,
    act: (table) =>
      bench.rest.send(
        'PATCH',
        `/api/v1/db/data/bulk/noco/${bench.baseId}/${table.id}/all?where=(Cb,checked)`,
        { body: { Cb: false, Notes: 'x' } },
      ),
  },
]

describe('undo and redo', () => {
  for (const { name, rows, act } of ACTIONS) {
    test(`of ${name}: back, forth, and back again`, async () => {
      const table = await bench.table(
        EVERY_TYPE,
        Array.from({ length: rows }, (_, index) => rowOf(index)),
      )
      const before = await rowsOf(table)
      await act(table)
      const after = await rowsOf(table)
      expect(after).not.toEqual(before)
      for (let round = 0; round < 3; round++) {
        expect(await undo()).toMatchObject({ skipped: 0 })
        expect(await rowsOf(table)).toEqual(before)
        expect(await table.total()).toBe(before.length)
        expect(await redo()).toMatchObject({ skipped: 0 })
        expect(await rowsOf(table)).toEqual(after)
        expect(await table.total()).toBe(after.length)
      }
    })
  }

  test('take back the latest first, and do again what was taken back last', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: '0' }])
    for (const title of ['1', '2', '3']) await bench.rest.patch(table.path, { Id: 1, Title: title })
    const title = async () => (await table.titles())[0]
    await undo()
    expect(await title()).toBe('2')
    await undo()
    expect(await title()).toBe('1')
    await redo()
    expect(await title()).toBe('2')
    await undo()
    await undo()
    expect(await title()).toBe('0')
    for (const expected of ['1', '2', '3']) {
      await redo()
      expect(await title()).toBe(expected)
    }
    expect(await redo()).toMatchObject({ applied: null, kind: null, records: 0 })
  })

  test('a new action ends what could be done again', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: '0' }])
    await bench.rest.patch(table.path, { Id: 1, Title: '1' })
    await undo()
    await bench.rest.patch(table.path, { Id: 1, Title: '2' })
    expect(await redo()).toMatchObject({ applied: null })
    expect(await table.titles()).toEqual(['2'])
    // One that changed nothing is no action.
    await undo()
    await bench.rest.patch(table.path, { Id: 1, Title: '0' })
    expect(await redo()).toMatchObject({ kind: 'records.update' })
    expect(await table.titles()).toEqual(['2'])
  })

  test("is for one's own actions, and keeps what others have changed since", async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' }, [
      { Title: 'a', Num: 1 },
      { Title: 'b', Num: 2 },
    ])
    const editor = await createMember(bench.app, bench.baseId, 'editor')
    const theirs = bench.app.rest(editor.token)
    await bench.rest.patch(table.path, [
      { Id: 1, Title: 'mine', Num: 10 },
      { Id: 2, Title: 'mine too' },
    ])
    await theirs.patch(table.path, { Id: 1, Num: 99 })
    expect(await undo()).toMatchObject({ kind: 'records.update', skipped: 1 })
    expect(await rowsOf(table)).toMatchObject([
      { Title: 'a', Num: 99 },
      { Title: 'b', Num: 2 },
    ])
    expect(await redo()).toMatchObject({ skipped: 0 })
    expect(await rowsOf(table)).toMatchObject([
      { Title: 'mine', Num: 99 },
      { Title: 'mine too', Num: 2 },
    ])
    await undo()
    const { applied } = await bench.app.trpc(editor.token).records.undo.mutate({ baseId: bench.baseId })
    expect(applied?.records).toHaveLength(1)
    expect((await rowsOf(table))[0]).toMatchObject({ Num: 10 })
    await theirs.delete(table.path, { Id: 2 })
    expect(await redo()).toMatchObject({ kind: 'records.update' })
    expect((await rowsOf(table)).map((row) => row.Id)).toEqual([1])
  })

  test('two that come at the same time take back two actions', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: '0' }])
    for (const title of ['1', '2', '3', '4']) await bench.rest.patch(table.path, { Id: 1, Title: title })
    await Promise.all([undo(), undo(), undo()])
    expect(await table.titles()).toEqual(['1'])
    await Promise.all([redo(), redo()])
    expect(await table.titles()).toEqual(['3'])
  })

  test('of a field, a table and a view go through the modules that own them', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const field = await bench.trpc.schema.createField.mutate({
      tableId: table.id,
      field: { type: 'Number', title: 'Late' },
    })
    await bench.rest.patch(table.path, { Id: 1, Late: 5 })
    await bench.trpc.schema.deleteField.mutate({ fieldId: field.id })
    expect((await table.list())[0]).not.toHaveProperty('Late')
    expect(await undo()).toMatchObject({ kind: 'field.delete' })
    expect((await table.list())[0]).toMatchObject({ Late: 5 })
    await undo()
    expect((await table.list())[0]).toMatchObject({ Late: null })
    await undo()
    expect((await table.list())[0]).not.toHaveProperty('Late')
    await redo()
    await redo()
    expect((await table.list())[0]).toMatchObject({ Late: 5 })
  })

  test('bring back a deleted record with the values of a field that is in the trash', async () => {
    for (const remove of [
      (table: TestTable) => bench.rest.delete(table.path, [{ Id: 1 }, { Id: 2 }]),
      (table: TestTable) => bench.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } }),
    ]) {
      const table = await bench.table({ Title: 'SingleLineText', Gone: 'Number', Done: 'Checkbox' }, [
        { Title: 'a', Gone: 5, Done: true },
        { Title: 'b', Gone: 6 },
      ])
      await bench.trpc.schema.deleteField.mutate({ fieldId: table.field('Gone').id })
      await remove(table)
      expect(await table.total()).toBe(0)
      await undo()
      await bench.trpc.schema.restoreField.mutate({ fieldId: table.field('Gone').id })
      expect(await rowsOf(table)).toMatchObject([
        { Title: 'a', Gone: 5, Done: 1 },
        { Title: 'b', Gone: 6, Done: 0 },
      ])
    }
  })

  test('leave out values that their field would refuse by now', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Ss: EVERY_TYPE.Ss }, [
      { Title: 'x', Ss: 'red' },
      { Title: 'y', Ss: 'blue' },
    ])
    const editor = await createMember(bench.app, bench.baseId, 'editor')
    const theirs = bench.app.trpc(editor.token)
    await bench.app.rest(editor.token).patch(table.path, [
      { Id: 1, Ss: null },
      { Id: 2, Ss: null },
    ])
    const field = table.field('Ss')
    const choices = (field.options.choices as { title: string }[]).filter(({ title }) => title !== 'red')
    await bench.trpc.schema.updateField.mutate({ fieldId: field.id, patch: { options: { choices } } })
    expect(await theirs.records.undo.mutate({ baseId: bench.baseId })).toMatchObject({ skipped: 1 })
    expect(await rowsOf(table)).toMatchObject([{ Ss: null }, { Ss: 'blue' }])
  })

  test('of thousands of deleted records', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Cb: 'Checkbox' })
    await bench.rest.post(
      table.path,
      Array.from({ length: 3000 }, (_, index) => ({ Title: `${index}`, Cb: index % 2 })),
    )
    const page = () => table.list('?limit=1000&offset=1500')
    const before = await page()
    for (const remove of [
      () =>
        bench.rest.delete(
          table.path,
          Array.from({ length: 3000 }, (_, index) => ({ Id: index + 1 })),
        ),
      () => bench.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } }),
    ]) {
      await remove()
      expect(await table.total()).toBe(0)
      expect(await undo()).toMatchObject({ records: 3000 })
      expect(await table.total()).toBe(3000)
      expect(await page()).toEqual(before)
      expect(await redo()).toMatchObject({ records: 3000 })
      expect(await table.total()).toBe(0)
      await undo()
      expect(await page()).toEqual(before)
    }
  })

  test('of an update of thousands, where some were changed since', async () => {
    const table = await bench.table({
      Title: 'SingleLineText',
      Num: 'Number',
      Cb: 'Checkbox',
      before: 'Decimal',
    })
    await bench.rest.post(
      table.path,
      Array.from({ length: 2500 }, (_, index) => ({
        Title: `${index}`,
        Num: index % 3 ? index : null,
        Cb: index % 2,
        before: index / 7,
      })),
    )
    const editor = await createMember(bench.app, bench.baseId, 'editor')
    const page = async () =>
      (await table.list('?limit=1000&offset=0')).map(({ Title, Num, Cb, before }) => [Title, Num, Cb, before])
    const original = await page()
    const values = table.values({ Title: 'same', Num: 7, Cb: true, before: null })
    await bench.trpc.records.updateMatching.mutate({ selection: { tableId: table.id }, values })
    const updated = await page()
    await bench.app.rest(editor.token).patch(table.path, [
      { Id: 1, Title: 'theirs' },
      { Id: 2, Num: 8, Cb: false },
    ])
    expect(await undo()).toMatchObject({ skipped: 3, records: 2500 })
    const [first, second, ...rest] = await page()
    expect(first).toEqual(['theirs', ...original[0]!.slice(1)])
    expect(second).toEqual(['1', 8, 0, original[1]![3]])
    expect(rest).toEqual(original.slice(2))
    expect(await redo()).toMatchObject({ skipped: 0 })
    expect((await page()).slice(2)).toEqual(updated.slice(2))
    expect((await page())[0]).toEqual(['theirs', 7, 1, null])
    await undo()
    expect((await page()).slice(2)).toEqual(original.slice(2))
    const { entries } = await bench.trpc.records.history.query({ tableId: table.id, recordId: 99 })
    expect(entries.map(({ kind }) => kind)).toEqual([
      'undo',
      'redo',
      'undo',
      'records.update',
      'records.insert',
    ])
    expect(entries[0]?.changes).toContainEqual({
      fieldId: table.field('Cb').id,
      before: true,
      after: false,
    })
  })

  test('say so where what comes back would break a rule, and change nothing', async () => {
    const table = await bench.table({ Title: { type: 'SingleLineText', unique: true } }, [{ Title: 'a' }])
    await bench.rest.delete(table.path, { Id: 1 })
    const editor = await createMember(bench.app, bench.baseId, 'editor')
    await bench.app.rest(editor.token).post(table.path, { Title: 'a' })
    const before = dump(bench)
    expect(await refusalOf(undo())).toMatchObject({ code: 'DATABASE_ERROR', status: 400 })
    expect(dump(bench)).toEqual(before)
    await bench.app.rest(editor.token).delete(table.path, { Id: 2 })
    await undo()
    expect(await table.titles()).toEqual(['a'])
  })

  test('are refused to viewers, and for bases that are not there', async () => {
    const viewer = await createMember(bench.app, bench.baseId, 'viewer')
    const trpc = bench.app.trpc(viewer.token)
    expect(await refusalOf(trpc.records.undo.mutate({ baseId: bench.baseId }))).toMatchObject({
      code: 'PERMISSION_DENIED',
    })
    expect(await refusalOf(trpc.records.redo.mutate({ baseId: bench.baseId }))).toMatchObject({
      code: 'PERMISSION_DENIED',
    })
    for (const baseId of ['pnope', 'p00000000000000', '../../etc']) {
      expect(await refusalOf(bench.trpc.records.undo.mutate({ baseId }))).toMatchObject({
        code: 'BASE_NOT_FOUND',
        status: 404,
      })
      expect(await refusalOf(bench.trpc.records.redo.mutate({ baseId }))).toMatchObject({
        code: 'BASE_NOT_FOUND',
      })
      expect(await refusalOf(bench.trpc.records.people.query({ baseId }))).toMatchObject({
        code: 'BASE_NOT_FOUND',
      })
      expect(bench.app.kernel.sources.exists(baseId)).toBe(false)
    }
  })

  test('survive a restart', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-undo-'))
    const config = { ...bench.app.config, dataDir }
    let server = await startServer(config)
    try {
      const password = 'correct horse battery'
      const { token } = await createTrpcClient(server.url).auth.signUp.mutate({
        email: 'a@example.com',
        password,
      })
      const connect = () => ({
        ...bench.app,
        url: server.url,
        trpc: (t?: string) => createTrpcClient(server.url, t),
        rest: (t?: string) => createRestClient(server.url, t),
      })
      const base = await createTrpcClient(server.url, token).bases.create.mutate({ title: 'Kept' })
      const owner = { id: '', email: 'a@example.com', token }
      const table = await benchOf(connect(), owner, base.id).table({ Title: 'SingleLineText' }, [
        { Title: '0' },
      ])
      const patch = (title: string) =>
        createRestClient(server.url, token).patch(table.path, { Id: 1, Title: title })
      await patch('1')
      await patch('2')
      await createTrpcClient(server.url, token).records.undo.mutate({ baseId: base.id })
      await server.stop()
      server = await startServer(config)
      const trpc = createTrpcClient(server.url, token)
      const title = async () => (await createRestClient(server.url, token).get(`${table.path}/1`)).body.Title
      expect(await title()).toBe('1')
      await trpc.records.redo.mutate({ baseId: base.id })
      expect(await title()).toBe('2')
      await trpc.records.undo.mutate({ baseId: base.id })
      await trpc.records.undo.mutate({ baseId: base.id })
      expect(await title()).toBe('0')
    } finally {
      await server.stop()
      rmSync(dataDir, { recursive: true, force: true })
    }
  })
})

describe('the change log', () => {
  test('keeps who did what, with the values before and after, in the transaction of the write', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Cb: 'Checkbox' })
    const title = table.field('Title').id
    const done = table.field('Cb').id
    await bench.rest.post(table.path, { Title: 'a' })
    await bench.rest.patch(table.path, { Id: 1, Title: 'b', Cb: 1 })
    await bench.trpc.records.updateMatching.mutate({
      selection: { tableId: table.id },
      values: { [done]: false },
    })
    await bench.rest.delete(table.path, { Id: 1 })
    const log = readLog(bench, table).filter(({ kind }) => kind.startsWith('records.'))
    expect(log.map(({ kind, records, actor_id }) => [kind, records, actor_id])).toEqual([
      ['records.insert', 1, bench.owner.id],
      ['records.update', 1, bench.owner.id],
      ['records.update', 1, bench.owner.id],
      ['records.delete', 1, bench.owner.id],
    ])
    const [insert, update, all, remove] = log.map(({ changes }) => changes[0]!)
    expect(insert).toMatchObject({ record_id: 1, before: null, after: { [title]: 'a', [done]: false } })
    expect(update).toMatchObject({
      before: { [title]: 'a', [done]: false },
      after: { [title]: 'b', [done]: true },
    })
    expect(all).toMatchObject({ before: { [done]: true }, after: { [done]: false } })
    expect(remove).toMatchObject({ before: { [title]: 'b', [done]: false }, after: null })
  })

  test('tells what happened to a record, newest first, page by page', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' })
    const tableId = table.id
    await bench.rest.post(
      table.path,
      Array.from({ length: 120 }, (_, index) => ({ Num: index })),
    )
    await bench.rest.patch(table.path, { Id: 50, Title: 'a' })
    await bench.rest.patch(table.path, { Id: 51, Title: 'other' })
    await bench.rest.patch(table.path, { Id: 50, Title: 'b', Num: 1 })
    await undo()
    const history = (before?: number) =>
      bench.trpc.records.history.query({ tableId, recordId: 50, ...(before && { before }) })
    const { entries, people } = await history()
    expect(entries.map(({ kind }) => kind)).toEqual([
      'undo',
      'records.update',
      'records.update',
      'records.insert',
    ])
    const [title, num] = [table.field('Title').id, table.field('Num').id]
    expect(entries[1]?.changes).toEqual([
      { fieldId: title, before: 'a', after: 'b' },
      { fieldId: num, before: 49, after: 1 },
    ])
    expect(entries[0]?.changes).toEqual([
      { fieldId: title, before: 'b', after: 'a' },
      { fieldId: num, before: 1, after: 49 },
    ])
    expect(people).toEqual([{ id: bench.owner.id, email: bench.owner.email, displayName: null }])
    const older = await history(entries[1]?.id)
    expect(older.entries.map(({ id }) => id)).toEqual(entries.slice(2).map(({ id }) => id))
    for (let at = 0; at < 60; at++) await bench.rest.patch(table.path, { Id: 50, Num: 1000 + at })
    const first = await history()
    expect(first.entries).toHaveLength(50)
    const second = await history(first.entries.at(-1)?.id)
    expect(second.entries).toHaveLength(14)
  })

  test('is announced with each write: to those who listen for the base', async () => {
    const table = await bench.table({ Title: 'SingleLineText' })
    const seen: { id: number; kind: number; truncated: boolean }[] = []
    const stop = bench.app.kernel.events.on('records.changed', ({ id, records, truncated }) =>
      seen.push({ id, kind: records.length, truncated }),
    )
    await bench.rest.post(table.path, { Title: 'a' })
    await bench.rest.post(table.path, [])
    await bench.rest.patch(table.path, { Id: 1, Title: 'a' })
    await bench.rest.post(
      table.path,
      Array.from({ length: 600 }, () => ({})),
    )
    await bench.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } })
    await undo()
    stop()
    expect(seen.map(({ kind, truncated }) => [kind, truncated])).toEqual([
      [1, false],
      [0, true],
      [0, true],
      [0, true],
    ])
    expect(seen.map(({ id }) => id)).toEqual(seen.map(({ id }) => id).toSorted((a, b) => a - b))
  })
})
