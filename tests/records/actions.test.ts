import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { actionText } from '../../src/core/actions.ts'
import { createMember } from '../support/factories.ts'
import { type Bench, createBench, refusalOf, type TestTable } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

const next = (
  scope: { tableId?: string; viewId?: string; timeZone?: string } = {},
  direction: 'undo' | 'redo' = 'undo',
) => bench.trpc.records.nextAction.query({ baseId: bench.baseId, direction, ...scope })

/** The label of what undo comes to next in the base. */
const label = async (table?: TestTable) => {
  const action = await next(table ? { tableId: table.id } : {})
  return action && actionText(action)
}

const screenOf = (table: TestTable) => ({ tableId: table.id, viewId: table.schema.views[0]?.id ?? '' })

const rows = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ Title: `Item ${at + 1}`, Qty: at }))

describe('records.nextAction', () => {
  test('names the field, the record and both values of an edited cell', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Qty: 'Number' }, rows(3))
    await bench.rest.patch(table.path, { Id: 3, Qty: 4242 })
    expect(await label(table)).toBe('Qty of Item 3: 2 → 4242')
    await bench.rest.patch(table.path, { Id: 3, Qty: null })
    expect(await label(table)).toBe('Qty of Item 3: 4242 → (empty)')
    await bench.rest.patch(table.path, { Id: 3, Qty: 1, Title: 'Renamed' })
    expect(await label(table)).toBe('Title, Qty of Renamed')
    await bench.rest.patch(table.path, [
      { Id: 1, Qty: 7 },
      { Id: 2, Qty: 8 },
    ])
    expect(await label(table)).toBe(`Change Qty in 2 records of ${table.title}`)
  })

  test('names times in the time zone of whoever reads it, which for API clients is UTC', async () => {
    const table = await bench.table({ At: 'DateTime', Due: 'DateTime' }, [
      { At: '2026-01-05 23:30:00+00:00', Due: '2026-01-05 22:20:00+00:00' },
    ])
    await bench.rest.patch(table.path, { Id: 1, Due: '2026-01-05 22:40:00+00:00' })
    const inTokyo = await next({ tableId: table.id, timeZone: 'Asia/Tokyo' })
    expect(inTokyo && actionText(inTokyo)).toBe(
      'Due of 2026-01-06 08:30: 2026-01-06 07:20 → 2026-01-06 07:40',
    )
    expect(await label(table)).toBe('Due of 2026-01-05 23:30: 2026-01-05 22:20 → 2026-01-05 22:40')
    await bench.rest.delete(table.path, { Id: 1 })
    const deleted = await next({ tableId: table.id, timeZone: 'Asia/Tokyo' })
    expect(deleted && actionText(deleted)).toBe(`Delete record 2026-01-06 08:30 from ${table.title}`)
  })

  test('names records that were made, moved and deleted', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Qty: 'Number' }, rows(4))
    await bench.rest.post(table.path, { Title: 'Fresh' })
    expect(await label(table)).toBe(`New record Fresh in ${table.title}`)
    await bench.rest.post(`${table.path}/5/move?before=1`)
    expect(await label(table)).toBe(`Move record Fresh in ${table.title}`)
    await bench.rest.delete(table.path, { Id: 5 })
    expect(await label(table)).toBe(`Delete record Fresh from ${table.title}`)
    await bench.rest.delete(table.path, [{ Id: 1 }, { Id: 2 }])
    expect(await label(table)).toBe(`Delete 2 records from ${table.title}`)
  })

  test('keeps the names of fields, tables and views that are gone by now', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Qty: 'Number' }, rows(2))
    await bench.trpc.schema.deleteField.mutate({ fieldId: table.field('Qty').id })
    expect(await label(table)).toBe(`Delete field Qty from ${table.title}`)
    const view = await bench.trpc.views.create.mutate({ tableId: table.id, title: 'Open', kind: 'grid' })
    expect(await label(table)).toBe(`Create view Open in ${table.title}`)
    await bench.trpc.views.delete.mutate({ viewId: view.id })
    expect(await label(table)).toBe(`Delete view Open from ${table.title}`)
    await bench.trpc.schema.deleteTable.mutate({ tableId: table.id })
    expect(await label()).toBe(`Delete table ${table.title}`)
    const { actions } = await bench.trpc.records.actions.query({ baseId: bench.baseId, tableId: table.id })
    expect(actions.map(actionText)).toEqual([
      `Delete table ${table.title}`,
      `Delete view Open from ${table.title}`,
      `Create view Open in ${table.title}`,
      `Delete field Qty from ${table.title}`,
      `2 new records in ${table.title}`,
      `Create table ${table.title}`,
    ])
  })

  test('stays within the table on screen, whatever was done elsewhere', async () => {
    const weather = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const big = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'b' }])
    await bench.rest.patch(weather.path, { Id: 1, Title: 'a2' })
    await bench.rest.patch(big.path, { Id: 1, Title: 'b2' })
    expect(await next(screenOf(weather))).toMatchObject({ tableId: weather.id, confirm: null })
    expect(await next()).toMatchObject({ tableId: big.id, confirm: 'elsewhere' })
  })

  test('asks for a confirmation of all but small changes of what is on screen', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Qty: 'Number' }, rows(300))
    const screen = screenOf(table)
    expect(await next(screen)).toMatchObject({ records: 300, confirm: 'many' })
    await bench.rest.patch(table.path, { Id: 1, Qty: 5 })
    expect(await next(screen)).toMatchObject({ records: 1, confirm: null })
    expect(await next({ tableId: table.id, viewId: 'vwother' })).toMatchObject({ confirm: null })
    await bench.trpc.views.update.mutate({ viewId: screen.viewId, patch: { rowHeight: 'tall' } })
    expect(await next(screen)).toMatchObject({ confirm: null })
    expect(await next({ tableId: table.id, viewId: 'vwother' })).toMatchObject({ confirm: 'elsewhere' })
    await bench.trpc.schema.deleteField.mutate({ fieldId: table.field('Qty').id })
    expect(await next(screen)).toMatchObject({ kind: 'field.delete', confirm: 'structure' })
  })
})

describe('records.undo of a named entry', () => {
  test('undoes that entry, also where another came in between', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Qty: 'Number' }, rows(2))
    await bench.rest.patch(table.path, { Id: 1, Qty: 10 })
    const named = await next({ tableId: table.id })
    await bench.rest.patch(table.path, { Id: 2, Qty: 20 })
    const { baseId } = bench
    await bench.trpc.records.undo.mutate({ baseId, entryId: named?.id })
    expect(await table.list('?fields=Qty')).toEqual([{ Qty: 0 }, { Qty: 20 }])
    // Sent once more, as after a lost answer: nothing else is undone.
    await bench.trpc.records.undo.mutate({ baseId, entryId: named?.id })
    expect(await table.list('?fields=Qty')).toEqual([{ Qty: 0 }, { Qty: 20 }])
    const again = await next({ tableId: table.id }, 'redo')
    expect(again?.id).toBe(named?.id as number)
    await bench.trpc.records.redo.mutate({ baseId, entryId: again?.id })
    expect(await table.list('?fields=Qty')).toEqual([{ Qty: 10 }, { Qty: 20 }])
  })

  test('is refused for unknown entries, for undos, and for what others did below creator', async () => {
    const { baseId } = bench
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    await bench.rest.patch(table.path, { Id: 1, Title: 'b' })
    const mine = await next({ tableId: table.id })
    const editor = bench.app.trpc((await createMember(bench.app, baseId, 'editor')).token)
    expect(await refusalOf(editor.records.undo.mutate({ baseId, entryId: mine?.id }))).toMatchObject({
      code: 'PERMISSION_DENIED',
    })
    const creator = bench.app.trpc((await createMember(bench.app, baseId, 'creator')).token)
    await creator.records.undo.mutate({ baseId, entryId: mine?.id })
    expect(await table.titles()).toEqual(['a'])
    for (const entryId of [999_999, (mine?.id ?? 0) + 1]) {
      expect(await refusalOf(bench.trpc.records.undo.mutate({ baseId, entryId }))).toMatchObject({
        code: 'GENERIC_NOT_FOUND',
      })
    }
    const viewer = bench.app.trpc((await createMember(bench.app, baseId, 'viewer')).token)
    expect(await refusalOf(viewer.records.actions.query({ baseId }))).toMatchObject({
      code: 'PERMISSION_DENIED',
    })
  })
})

describe('records.actions', () => {
  test('lists what was done, by whom and when, newest first and page by page', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const editor = await createMember(bench.app, bench.baseId, 'editor')
    await bench.app.rest(editor.token).patch(table.path, { Id: 1, Title: 'b' })
    await bench.rest.patch(table.path, { Id: 1, Title: 'c' })
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    const request = { baseId: bench.baseId, tableId: table.id, limit: 2 }
    const first = await bench.trpc.records.actions.query(request)
    expect(first.actions.map((action) => [actionText(action), action.state, action.actorId])).toEqual([
      ['Title of b: b → c', 'undone', bench.owner.id],
      ['Title of b: a → b', 'done', editor.id],
    ])
    expect(first.people.map(({ email }) => email).toSorted()).toEqual(
      [bench.owner.email, editor.email].toSorted(),
    )
    const second = await bench.trpc.records.actions.query({ ...request, cursor: first.next ?? undefined })
    expect(second.actions.map(({ kind }) => kind)).toEqual(['records.insert', 'table.create'])
    expect(second.next).toBeNull()
  })
})
