import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { RecordId } from '../../src/core/model.ts'
import { createMember } from '../support/factories.ts'
import { createLink, linkedIds } from './links-support.ts'
import { type Bench, createBench, refusalOf, type TestTable } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

const items = (count: number) =>
  bench.table(
    { Title: 'SingleLineText', Qty: 'Number', Secret: 'Password' },
    Array.from({ length: count }, (_, at) => ({
      Title: `Item ${at + 1}`,
      Qty: at + 100,
      Secret: 'hidden pass',
    })),
  )
const remove = ({ id: tableId }: TestTable, ids: RecordId[], trpc = bench.trpc) =>
  trpc.records.write.mutate({
    change: { baseId: bench.baseId, operations: [{ kind: 'delete', tableId, ids }] },
  })
const trash = async (table: TestTable, search?: string) =>
  (await bench.trpc.records.trash.query({ tableId: table.id, search })).records
const trashedIds = async (table: TestTable, search?: string) =>
  (await trash(table, search)).map(({ recordId }) => recordId)
const memberOf = async (role: 'viewer' | 'editor' | 'creator') => {
  const member = await createMember(bench.app, bench.baseId, role)
  return { ...member, trpc: bench.app.trpc(member.token) }
}

describe('the trash of records', () => {
  test('lists what was deleted, when and by whom, newest first, and finds it by its values', async () => {
    const table = await items(5)
    const editor = await memberOf('editor')
    await remove(table, [2])
    await remove(table, [4, 5], editor.trpc)
    const listed = await trash(table)
    expect(listed.map(({ recordId, title, deletedBy }) => [recordId, title, deletedBy])).toEqual([
      [4, 'Item 4', editor.id],
      [5, 'Item 5', editor.id],
      [2, 'Item 2', bench.owner.id],
    ])
    expect(listed[0]?.values).toMatchObject({
      [table.field('Title').id]: 'Item 4',
      [table.field('Qty').id]: 103,
    })
    // Of a password nobody learns more than that there is one.
    expect(JSON.stringify(listed)).not.toContain('$')
    expect(await trashedIds(table, 'ITEM 2')).toEqual([2])
    expect(await trashedIds(table, '104')).toEqual([5])
    expect(await trashedIds(table, '100%')).toEqual([])
    expect(await trashedIds(table, '$argon2')).toEqual([])
    expect(await bench.trpc.records.trashCounts.query({ baseId: bench.baseId })).toContainEqual({
      tableId: table.id,
      count: 3,
    })
  })

  test('is read page by page', async () => {
    const table = await items(7)
    await remove(table, [1, 2, 3])
    await remove(table, [4, 5, 6, 7])
    const seen: RecordId[] = []
    let cursor: { changeId: number; recordId: RecordId } | undefined
    do {
      const page = await bench.trpc.records.trash.query({ tableId: table.id, limit: 2, cursor })
      seen.push(...page.records.map(({ recordId }) => recordId))
      cursor = page.next ?? undefined
    } while (cursor)
    expect(seen).toEqual([4, 5, 6, 7, 1, 2, 3])
  })

  test('counts the records of a deletion that are still there, not the links that went with them', async () => {
    const [own, related] = [await items(3), await items(3)]
    const link = await createLink(bench, own, related, 'mm')
    await link.write('link', 1, [1, 2, 3])
    const counts = async () => (await trash(own)).map(({ deletedWith }) => deletedWith)
    await remove(own, [1])
    expect(await counts()).toEqual([1])
    await remove(own, [2, 3])
    expect(await counts()).toEqual([2, 2, 1])
    await bench.trpc.records.restoreTrashed.mutate({ tableId: own.id, recordIds: [2] })
    expect(await counts()).toEqual([1, 1])
  })

  test('gives records back with their values and links of every kind', async () => {
    const [own, related] = [await items(3), await items(4)]
    for (const kind of ['mm', 'hm', 'oo', 'bt'] as const) {
      const link = await createLink(bench, own, related, kind)
      await link.write('link', 2, [3])
      await link.write('link', 1, [1])
      await remove(own, [1, 2])
      expect(await linkedIds(bench, link.own, 2).catch(() => [])).toEqual([])
      await bench.trpc.records.restoreTrashed.mutate({ tableId: own.id, recordIds: [2] })
      expect([kind, await linkedIds(bench, link.own, 2)]).toEqual([kind, [3]])
      expect(await trashedIds(own)).toEqual([1])
      await bench.trpc.records.restoreTrashed.mutate({ tableId: own.id, recordIds: [1] })
      expect([kind, await linkedIds(bench, link.own, 1)]).toEqual([kind, [1]])
    }
    expect(await own.list('?fields=Title,Qty')).toEqual(
      [1, 2, 3].map((n) => ({ Title: `Item ${n}`, Qty: n + 99 })),
    )
  })

  test('is undone and redone as any other change, and does not confuse the undo of the deletion', async () => {
    const table = await items(3)
    const { baseId } = bench
    await remove(table, [1, 2])
    const answer = await bench.trpc.records.restoreTrashed.mutate({ tableId: table.id, recordIds: [1] })
    expect(answer).toMatchObject({ restored: 1 })
    expect(await table.titles()).toEqual(['Item 1', 'Item 3'])
    expect(await bench.trpc.records.undo.mutate({ baseId })).toMatchObject({ kind: 'records.restore' })
    expect(await table.titles()).toEqual(['Item 3'])
    expect(await trashedIds(table)).toEqual([1, 2])
    await bench.trpc.records.redo.mutate({ baseId })
    expect(await table.titles()).toEqual(['Item 1', 'Item 3'])
    await bench.trpc.records.undo.mutate({ baseId, entryId: answer.changeId })
    const [{ changeId } = { changeId: 0 }] = (await trash(table)).slice(-1)
    await bench.trpc.records.restoreTrashed.mutate({ tableId: table.id, changeId })
    expect((await table.titles()).length).toBeGreaterThan(1)
  })

  test('gives back a deletion of thousands at once, and forgets it at once', async () => {
    const count = 2_500
    const table = await items(0)
    const rows = Array.from({ length: count }, (_, at) => ({
      values: table.values({ Title: `Row ${at}`, Qty: at }),
    }))
    await bench.trpc.records.write.mutate({
      change: { baseId: bench.baseId, operations: [{ kind: 'insert', tableId: table.id, rows }] },
    })
    const editor = await memberOf('editor')
    const selection = { tableId: table.id }
    await editor.trpc.records.deleteMatching.mutate({ selection })
    expect(await table.total()).toBe(0)
    const [first] = await trash(table)
    expect(first).toMatchObject({ deletedWith: count, deletedBy: editor.id })
    const changeId = first?.changeId ?? 0
    // By someone else than who deleted them: the deletion stands, and its records are there.
    expect(await bench.trpc.records.restoreTrashed.mutate({ tableId: table.id, changeId })).toMatchObject({
      restored: count,
    })
    expect(await table.total()).toBe(count)
    expect(await trash(table)).toEqual([])
    expect(await bench.trpc.records.undo.mutate({ baseId: bench.baseId })).toMatchObject({ records: count })
    expect(await table.total()).toBe(0)
    await bench.trpc.records.redo.mutate({ baseId: bench.baseId })
    expect(await table.total()).toBe(count)
    await bench.trpc.records.deleteMatching.mutate({ selection })
    expect(await bench.trpc.records.purgeTrashed.mutate({ tableId: table.id, all: true })).toEqual({
      deleted: count,
    })
    expect(await trash(table)).toEqual([])
  })

  test('takes a time that grows with its records where the database has statistics of before them', async () => {
    const count = 8_000
    const { baseId } = bench
    await remove(await items(3), [1])
    const table = await items(0)
    const rows = Array.from({ length: count }, (_, at) => ({ values: table.values({ Title: `Row ${at}` }) }))
    await bench.trpc.records.write.mutate({
      change: { baseId, operations: [{ kind: 'insert', tableId: table.id, rows }] },
    })
    const engine = await bench.app.kernel.sources.engine(baseId)
    await engine.writeScript([{ sql: 'analyze', params: [] }])
    const editor = await memberOf('editor')
    await editor.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } })
    const [first] = await trash(table)
    const changeId = first?.changeId ?? 0
    expect(await bench.trpc.records.restoreTrashed.mutate({ tableId: table.id, changeId })).toMatchObject({
      restored: count,
    })
    expect(await bench.trpc.records.undo.mutate({ baseId })).toMatchObject({ records: count })
    expect(await bench.trpc.records.purgeTrashed.mutate({ tableId: table.id, all: true })).toEqual({
      deleted: count,
    })
    expect(await trash(table)).toEqual([])
  })

  test('forgets all values of what is deleted forever, in the log as well', async () => {
    const table = await items(3)
    await bench.rest.patch(table.path, { Id: 2, Title: 'Rewritten' })
    await remove(table, [1, 2])
    const { baseId } = bench
    expect(await bench.trpc.records.purgeTrashed.mutate({ tableId: table.id, recordIds: [2, 3] })).toEqual({
      deleted: 1,
    })
    const engine = await bench.app.kernel.sources.engine(baseId)
    const lines = await engine.all<{ before: string; after: string }>(
      engine.dialect.render(sql`select before, after from sheaf_change_records where table_id = ${table.id}`),
    )
    expect(JSON.stringify(lines)).not.toContain('Rewritten')
    expect(await table.titles()).toEqual(['Item 3'])
    expect(await trashedIds(table)).toEqual([1])
    const { actions } = await bench.trpc.records.actions.query({ baseId, tableId: table.id })
    expect(actions[0]).toMatchObject({ kind: 'records.purge', state: 'final', records: 1 })
    expect(
      await refusalOf(bench.trpc.records.undo.mutate({ baseId, entryId: actions[0]?.id })),
    ).toMatchObject({ code: 'CONFLICT' })
    // The deletion is still there to be undone, with what it has left.
    expect(await bench.trpc.records.undo.mutate({ baseId })).toMatchObject({ kind: 'records.delete' })
    expect(await table.titles()).toEqual(['Item 1', 'Item 3'])
  })

  test('refuses those without the right, and what is not in it', async () => {
    const table = await items(3)
    await remove(table, [1])
    const viewer = await memberOf('viewer')
    const editor = await memberOf('editor')
    const creator = await memberOf('creator')
    const one = { tableId: table.id, recordIds: [1] }
    for (const work of [
      () => viewer.trpc.records.trash.query({ tableId: table.id }),
      () => viewer.trpc.records.trashCounts.query({ baseId: bench.baseId }),
      () => viewer.trpc.records.restoreTrashed.mutate(one),
      () => viewer.trpc.records.purgeTrashed.mutate(one),
      () => editor.trpc.records.purgeTrashed.mutate(one),
    ]) {
      expect(await refusalOf(work())).toMatchObject({ code: 'PERMISSION_DENIED' })
    }
    for (const recordIds of [[2], [99], ['x']]) {
      const { restoreTrashed, purgeTrashed } = bench.trpc.records
      expect(await refusalOf(restoreTrashed.mutate({ tableId: table.id, recordIds }))).toMatchObject({
        code: 'RECORD_NOT_FOUND',
      })
      expect(await refusalOf(purgeTrashed.mutate({ tableId: table.id, recordIds }))).toMatchObject({
        code: 'RECORD_NOT_FOUND',
      })
    }
    await editor.trpc.records.restoreTrashed.mutate(one)
    await remove(table, [1])
    await creator.trpc.records.purgeTrashed.mutate(one)
    expect(await trash(table)).toEqual([])
  })

  test('says what stands in the way of a value that must be unique, and restores nothing', async () => {
    const table = await bench.table({ Title: { type: 'SingleLineText', unique: true } }, [
      { Title: 'a' },
      { Title: 'b' },
    ])
    await remove(table, [1, 2])
    await bench.rest.post(table.path, { Title: 'a' })
    const work = bench.trpc.records.restoreTrashed.mutate({ tableId: table.id, recordIds: [1, 2] })
    expect(await refusalOf(work)).toMatchObject({ code: 'DATABASE_ERROR' })
    expect(await table.titles()).toEqual(['a'])
    expect(await trashedIds(table)).toEqual([1, 2])
  })

  test('keeps a record that was restored and deleted again out of the restoration of the others', async () => {
    const table = await items(3)
    await remove(table, [1, 2, 3])
    await bench.trpc.records.restoreTrashed.mutate({ tableId: table.id, recordIds: [1] })
    await bench.rest.patch(table.path, { Id: 1, Title: 'Edited' })
    await remove(table, [1])
    const asked = { tableId: table.id, recordIds: [2, 3] }
    expect(await bench.trpc.records.restoreTrashed.mutate(asked)).toMatchObject({ restored: 2 })
    expect(await table.titles()).toEqual(['Item 2', 'Item 3'])
    expect((await trash(table)).map(({ recordId, title }) => [recordId, title])).toEqual([[1, 'Edited']])
  })
})

describe('/api/v2/tables/{tableId}/trash', () => {
  test('lists, restores and forgets deleted records, and refuses what it cannot read', async () => {
    const table = await items(4)
    await remove(table, [1, 2, 3])
    const path = `/api/v2/tables/${table.id}/trash`
    const first = await bench.rest.get(`${path}?limit=2`)
    expect(first).toMatchObject({
      status: 200,
      body: {
        list: [
          { id: 1, title: 'Item 1', deletedWith: 3, deletedBy: { email: bench.owner.email } },
          { id: 2, record: { Title: 'Item 2', Qty: 101 } },
        ],
      },
    })
    const second = await bench.rest.get(`${path}?limit=2&cursor=${encodeURIComponent(first.body.cursor)}`)
    expect(second.body).toMatchObject({ list: [{ id: 3 }], cursor: null })
    expect((await bench.rest.get(`${path}?search=item%202`)).body.list).toHaveLength(1)
    expect(await bench.rest.post(`${path}/restore`, { recordIds: [2] })).toMatchObject({
      status: 200,
      body: { restored: 1 },
    })
    expect(await table.titles()).toEqual(['Item 2', 'Item 4'])
    expect(await bench.rest.delete(path, { all: true })).toMatchObject({ status: 200, body: { deleted: 2 } })
    for (const [status, work] of [
      [400, bench.rest.get(`${path}?limit=0`)],
      [400, bench.rest.get(`${path}?cursor=x`)],
      [400, bench.rest.post(`${path}/restore`, { recordIds: [] })],
      [400, bench.rest.post(`${path}/restore`, {})],
      [400, bench.rest.delete(path, {})],
      [404, bench.rest.delete(path, { all: true })],
      [404, bench.rest.get('/api/v2/tables/mnope/trash')],
      [403, bench.app.rest((await memberOf('viewer')).token).get(path)],
      [403, bench.app.rest((await memberOf('editor')).token).delete(path, { all: true })],
    ] as const) {
      expect((await work).status).toBe(status)
    }
  })
})
