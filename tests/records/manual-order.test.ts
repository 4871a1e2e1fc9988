import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { actionText } from '../../src/core/actions.ts'
import type { AppliedChange, Operation } from '../../src/core/changes.ts'
import { positionKey } from '../../src/core/changes.ts'
import { doorOf, ended, formatOf, upload } from '../imports/support.ts'
import { byLink, refusalOf } from '../shares/world.ts'
import { connect, createForeign } from '../sources/support.ts'
import { createTestApp, META_DATABASES } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'
import { type Bench, benchOf, createBench } from './support.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const CHOICES = ['Todo', 'Done'].map((title) => ({ title }))

describe.each(META_DATABASES)('the manual order of a view, home in %s', (database) => {
  let bench: Bench
  beforeAll(async () => {
    const app = await createTestApp({ database, config: { historyDays: 30 } })
    const owner = await app.signUp()
    bench = benchOf(app, owner, (await createBase(app, owner)).id)
  })
  afterAll(() => bench.stop())

  /** A table of records `a` to `f` in two stacks, with a board of it. */
  async function open(count = 6) {
    const { trpc } = bench
    const table = await bench.table(
      { Title: 'SingleLineText', Status: { type: 'SingleSelect', options: { choices: CHOICES } } },
      Array.from({ length: count }, (_, index) => ({
        Title: String.fromCharCode(97 + index),
        Status: index % 2 === 0 ? 'Todo' : 'Done',
      })),
    )
    const status = table.field('Status').id
    const board = await trpc.views.create.mutate({
      tableId: table.id,
      title: 'Board',
      kind: 'kanban',
      options: { stackFieldId: status },
    })
    return { table, status, board }
  }
  type Opened = Awaited<ReturnType<typeof open>>

  const page = async (
    { table }: Pick<Opened, 'table'>,
    viewId: string | undefined,
    query: object = {},
    door: Pick<Bench['trpc'], 'records'> = bench.trpc,
  ) =>
    door.records.list.query({
      query: {
        tableId: table.id,
        fieldIds: [table.field('Title').id],
        limit: 100,
        offset: 0,
        orderViewId: viewId,
        ...query,
      },
    })
  const titles = async (...args: Parameters<typeof page>) =>
    (await page(...args)).rows.map(([title]) => title).join('')
  const write = (operations: Operation[], door: Bench['trpc'] = bench.trpc) =>
    door.records.write.mutate({ change: { baseId: bench.baseId, operations } as never })
  const move = (tableId: string, viewId: string, ids: number[], before: number | null): Operation => ({
    kind: 'move',
    tableId,
    viewId,
    ids,
    before,
  })
  const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
  const redo = () => bench.trpc.records.redo.mutate({ baseId: bench.baseId })

  test('is its own: neither the table nor another view shows it', async () => {
    const opened = await open()
    const { table, board } = opened
    const gallery = await bench.trpc.views.create.mutate({ tableId: table.id, title: 'G', kind: 'gallery' })
    expect(await titles(opened, board.id)).toBe('abcdef')
    await write([move(table.id, board.id, [6], 2)])
    await write([move(table.id, board.id, [1, 3], null)])
    expect(await titles(opened, board.id)).toBe('fbdeac')
    expect(await titles(opened, gallery.id)).toBe('abcdef')
    expect(await titles(opened, undefined)).toBe('abcdef')
    expect((await table.titles(`?viewId=${board.id}`)).join('')).toBe('abcdef')
    await write([move(table.id, gallery.id, [2], 1)])
    expect([await titles(opened, gallery.id), await titles(opened, board.id)]).toEqual(['bacdef', 'fbdeac'])
  })

  test('is read page by page, filtered, and as positions; a sort or grouping wins over it', async () => {
    const opened = await open()
    const { table, board, status } = opened
    await write([move(table.id, board.id, [5], 1), move(table.id, board.id, [2], 6)])
    expect(await titles(opened, board.id)).toBe('eacdbf')
    const parts = []
    for (const offset of [0, 2, 4, 6]) parts.push(await titles(opened, board.id, { limit: 2, offset }))
    expect(parts).toEqual(['ea', 'cd', 'bf', ''])
    const group = [{ fieldId: status, value: 'Done' }]
    expect(await titles(opened, board.id, { group })).toBe('dbf')
    expect(await titles(opened, board.id, { group, limit: 1, offset: 1 })).toBe('b')
    const sorts = [{ fieldId: table.field('Title').id, direction: 'asc' }]
    expect(await titles(opened, board.id, { sorts })).toBe('abcdef')
    expect(await titles(opened, board.id, { groups: [{ fieldId: status, direction: 'asc' }] })).toMatch(
      /^ace.*f$/,
    )
    const query = { tableId: table.id, orderViewId: board.id, limit: 1, offset: 0 }
    const { places } = await bench.trpc.records.positions.query({ query, recordIds: [5, 2, 1] })
    expect(places.toSorted((a, b) => a.offset - b.offset).map(({ recordId }) => recordId)).toEqual([5, 1, 2])
    // Of records that the query does not mean there is no place, and of the others the place among those alone.
    const inDone = { query: { ...query, group } }
    const done = await bench.trpc.records.positions.query({ ...inDone, recordIds: [6, 5, 2, 4] })
    const byPlace = done.places.toSorted((a, b) => a.offset - b.offset)
    expect(byPlace.map(({ recordId, offset }) => [recordId, offset])).toEqual([
      [4, 0],
      [2, 1],
      [6, 2],
    ])
    for (const [recordId, offset] of [
      [6, 2],
      [5, null],
    ] as const)
      expect(await bench.trpc.records.position.query({ ...inDone, recordId })).toEqual({ offset })
    const read = await page(opened, board.id)
    expect(read.fieldIds).toEqual([table.field('Title').id, positionKey(board.id)])
    expect(read.rows.map(([, place]) => place === null)).toEqual([false, true, true, true, false, true])
  })

  test('stays right however often records go to the same spot, also of the table', async () => {
    const opened = await open()
    const { table, board } = opened
    const other = await bench.trpc.views.create.mutate({ tableId: table.id, title: 'Other', kind: 'kanban' })
    await write([move(table.id, other.id, [6], 3)])
    let expected = 'abcdef'
    let own = 'abcdef'
    const put = (list: string, moved: string, before: string) => {
      const rest = list.replace(moved, '')
      const at = rest.indexOf(before)
      return rest.slice(0, at) + moved + rest.slice(at)
    }
    for (let step = 0; step < 130; step++) {
      const moved = step % 2 === 0 ? 5 : 6
      const letter = step % 2 === 0 ? 'e' : 'f'
      await write([move(table.id, board.id, [moved], 2)])
      expected = put(expected, letter, 'b')
      if (step % 3 === 0) {
        await write([{ kind: 'move', tableId: table.id, ids: [4], before: step % 2 === 0 ? 2 : 3 }])
        own = put(own, 'd', step % 2 === 0 ? 'b' : 'c')
      }
      if (step % 13 !== 0) continue
      expect(await titles(opened, undefined)).toBe(own)
      const withD = await titles(opened, board.id)
      expect(withD.replace('d', '')).toBe(expected.replace('d', ''))
    }
    expect((await titles(opened, other.id)).replace('d', '')).toBe('abfce')
  })

  test('takes new records at the end, and between cards where they are put', async () => {
    const opened = await open(3)
    const { table, board } = opened
    await write([move(table.id, board.id, [1], null)])
    await write([move(table.id, board.id, [2], null)])
    const insert = (title: string, before: number | null): Extract<Operation, { kind: 'insert' }> => ({
      kind: 'insert',
      tableId: table.id,
      before,
      rows: [{ values: { [table.field('Title').id]: title } }],
    })
    await write([insert('x', null)])
    expect(await titles(opened, board.id)).toBe('cabx')
    await write([move(table.id, board.id, [3], null)])
    expect(await titles(opened, board.id)).toBe('abxc')
    expect(await titles(opened, undefined)).toBe('abcx')
    // Ahead of a card, though the table has that one elsewhere.
    await write([{ ...insert('y', 2), viewId: board.id }])
    await write([{ ...insert('z', 3), viewId: board.id }])
    expect([await titles(opened, board.id), await titles(opened, undefined)]).toEqual(['aybxzc', 'aybzcx'])
    await undo()
    await undo()
    await redo()
    expect(await titles(opened, board.id)).toBe('aybxc')
  })

  test('goes with the stack of a card as one change, which undo takes back and redo does again', async () => {
    const opened = await open()
    const { table, board, status } = opened
    const told: AppliedChange[] = []
    bench.app.kernel.events.on('records.changed', (change) => told.push(change))
    const rows = [{ id: 1, values: { [status]: 'Done' } }]
    await write([{ kind: 'update', tableId: table.id, rows }, move(table.id, board.id, [1], 4)])
    const key = positionKey(board.id)
    expect(told.at(-1)?.records).toEqual([
      expect.objectContaining({
        recordId: 1,
        before: expect.objectContaining({ [status]: 'Todo', [key]: null }),
        after: expect.objectContaining({ [status]: 'Done', [key]: 3.5 }),
      }),
    ])
    const done = { group: [{ fieldId: status, value: 'Done' }] }
    expect(await titles(opened, board.id, done)).toBe('badf')
    await undo()
    expect([await titles(opened, board.id), await titles(opened, board.id, done)]).toEqual(['abcdef', 'bdf'])
    await redo()
    expect(await titles(opened, board.id, done)).toBe('badf')
    await undo()
    const scope = { tableId: table.id, viewId: board.id }
    await write([move(table.id, board.id, [3], 1)])
    const next = (viewId: string) =>
      bench.trpc.records.nextAction.query({ baseId: bench.baseId, direction: 'undo', ...scope, viewId })
    const action = await next(board.id)
    expect([action && actionText(action), action?.confirm]).toEqual(['Move record c in view Board', null])
    // On another view nobody would see it.
    expect((await next(table.schema.views[0]?.id ?? ''))?.confirm).toBe('elsewhere')
    await write([move(table.id, board.id, [4, 5], 1)])
    expect(actionText((await next(board.id))!)).toBe('Move 2 records in view Board')
    await undo()
    await undo()
    expect(await titles(opened, board.id)).toBe('abcdef')
    await redo()
    expect(await titles(opened, board.id)).toBe('cabdef')
    // Someone has moved it since: that stays.
    await write(
      [move(table.id, board.id, [3], 6)],
      bench.app.trpc((await createMember(bench.app, bench.baseId, 'editor')).token),
    )
    expect((await undo()).skipped).toBe(1)
    expect(await titles(opened, board.id)).toBe('abdecf')
  })

  test('refuses people, views and records that it does not go with, and changes nothing', async () => {
    const opened = await open()
    const { table, board } = opened
    const { trpc, app, baseId } = bench
    const grid = table.schema.views[0]?.id ?? ''
    const elsewhere = await open()
    const viewer = app.trpc((await createMember(app, baseId, 'viewer')).token)
    const editor = app.trpc((await createMember(app, baseId, 'editor')).token)
    const refused = (operation: Operation, door = trpc) => refusalOf(write([operation], door))
    expect(await refused(move(table.id, board.id, [1], 3), viewer)).toBe('403 PERMISSION_DENIED')
    expect(await refused(move(table.id, grid, [1], 3))).toBe('400 BAD_REQUEST')
    expect(await refused(move(table.id, elsewhere.board.id, [1], 3))).toBe('404 VIEW_NOT_FOUND')
    expect(await refused(move(table.id, "vw'; drop", [1], 3))).toBe('404 VIEW_NOT_FOUND')
    expect(await refused(move(table.id, board.id, [99], 3))).toBe('404 RECORD_NOT_FOUND')
    expect(await refused(move(table.id, board.id, [1], 99))).toBe('404 RECORD_NOT_FOUND')
    expect(await refusalOf(page(opened, grid))).toBe('400 BAD_REQUEST')
    expect(await refusalOf(page(opened, elsewhere.board.id))).toBe('404 VIEW_NOT_FOUND')
    await trpc.views.update.mutate({ viewId: board.id, patch: { lock: 'locked' } })
    expect(await refused(move(table.id, board.id, [1], 3))).toBe('403 PERMISSION_DENIED')
    await trpc.views.update.mutate({ viewId: board.id, patch: { lock: 'personal' } })
    expect(await refused(move(table.id, board.id, [1], 3), editor)).toBe('403 PERMISSION_DENIED')
    await trpc.views.update.mutate({ viewId: board.id, patch: { lock: 'collaborative' } })
    expect(await titles(opened, board.id)).toBe('abcdef')
    await trpc.views.update.mutate({ viewId: board.id, patch: { lock: 'locked' } })
    const fresh = { kind: 'insert' as const, tableId: table.id, before: 1, rows: [{ values: {} }] }
    expect(await refused({ ...fresh, viewId: grid })).toBe('400 BAD_REQUEST')
    await write([{ ...fresh, viewId: board.id }])
    await undo()
    await trpc.views.update.mutate({ viewId: board.id, patch: { lock: 'collaborative' } })
    await write([move(table.id, board.id, [1], 3)], editor)
    expect(await titles(opened, board.id)).toBe('bacdef')
  })

  test('goes along with copies of the view, the table and the base, and is theirs from then on', async () => {
    const opened = await open()
    const { table, board } = opened
    const { trpc, app, owner, baseId } = bench
    await write([move(table.id, board.id, [6], 1)])
    const copyOf = { tableId: table.id, copyOf: board.id }
    const copy = await trpc.views.create.mutate({ ...copyOf, title: 'Copy', kind: 'kanban' })
    await write([move(table.id, board.id, [5], 1)])
    expect([await titles(opened, copy.id), await titles(opened, board.id)]).toEqual(['fabcde', 'feabcd'])

    const started = await trpc.copies.table.mutate({ tableId: table.id })
    const { result } = await ended(doorOf(app, owner), started.jobId)
    const tableId = (result as { id: string }).id
    const schema = await trpc.schema.table.query({ tableId })
    const twin = {
      table: {
        ...table,
        id: tableId,
        field: (title: string) => schema.fields.find((field) => field.title === title)!,
      },
    }
    const theirs = schema.views.find(({ title }) => title === 'Board')?.id
    expect(await titles(twin, theirs)).toBe('feabcd')
    await write([move(tableId, theirs ?? '', [1], 6)])
    expect([await titles(twin, theirs), await titles(opened, board.id)]).toEqual(['afebcd', 'feabcd'])

    for (const [options, order] of [
      [{}, 'feabcd'],
      [{ withData: false }, ''],
    ] as const) {
      const base = await trpc.copies.base.mutate({ baseId, options })
      expect((await ended(doorOf(app, owner), base.jobId)).status).toBe('completed')
      const copies = await trpc.schema.tables.query({ baseId: base.baseId })
      const id = copies.find(({ title }) => title === table.title)?.id ?? ''
      const copied = await trpc.schema.table.query({ tableId: id })
      const field = (title: string) => copied.fields.find((one) => one.title === title)!
      const view = copied.views.find(({ title }) => title === 'Board')?.id
      expect(await titles({ table: { ...table, id, field } }, view)).toBe(order)
      const engine = await app.kernel.sources.engine(base.baseId)
      const places = await engine.values({ sql: 'select distinct table_id from sheaf_places', params: [] })
      const ids = new Set(copies.map((one) => one.id))
      expect(places.flat().filter((one) => !ids.has(String(one)))).toEqual([])
    }
  })

  test('comes back with a deleted view or record, and is forgotten with the log', async () => {
    const opened = await open()
    const { table, board } = opened
    const { trpc, app, baseId } = bench
    const engine = await app.kernel.sources.engine(baseId)
    const lines = async () =>
      Number(
        (
          await engine.values({
            sql: `select count(*) from sheaf_places where table_id = '${table.id}'`,
            params: [],
          })
        )[0]?.[0],
      )
    const purge = async () => {
      const base = (await app.services.bases.all()).find(({ id }) => id === baseId)
      if (base) await app.services.storage.purge(base)
    }
    await write([move(table.id, board.id, [6, 5], 1)])
    expect(await titles(opened, board.id)).toBe('feabcd')
    await trpc.views.delete.mutate({ viewId: board.id })
    await undo()
    expect(await titles(opened, board.id)).toBe('feabcd')
    await write([{ kind: 'delete', tableId: table.id, ids: [5] }])
    expect(await titles(opened, board.id)).toBe('fabcd')
    await undo()
    expect(await titles(opened, board.id)).toBe('feabcd')
    await write([{ kind: 'delete', tableId: table.id, ids: [5] }])
    await purge()
    expect(await lines()).toBe(2)
    const at = new Date(Date.now() - 40 * DAY_MS).toISOString()
    await engine.writeScript([{ sql: `update sheaf_changes set at = '${at}'`, params: [] }])
    // The newest line of the log stays; the deletion is not it.
    await write([
      { kind: 'update', tableId: table.id, rows: [{ id: 1, values: { [opened.status]: 'Done' } }] },
    ])
    await purge()
    expect([await lines(), await titles(opened, board.id)]).toEqual([1, 'fabcd'])
    await trpc.views.delete.mutate({ viewId: board.id })
    await engine.writeScript([{ sql: `update sheaf_changes set at = '${at}'`, params: [] }])
    await write([
      { kind: 'update', tableId: table.id, rows: [{ id: 2, values: { [opened.status]: 'Todo' } }] },
    ])
    await purge()
    expect(await lines()).toBe(0)
  })

  test('is what a public link to the view shows, and no other order', async () => {
    const opened = await open()
    const { table, board } = opened
    const other = await bench.trpc.views.create.mutate({ tableId: table.id, title: 'Other', kind: 'kanban' })
    await write([move(table.id, board.id, [6], 1)])
    const share = await bench.trpc.shares.save.mutate({ kind: 'view', targetId: board.id, patch: {} })
    const visitor = bench.app.trpc(byLink('view', share.id))
    expect(await titles(opened, board.id, {}, visitor)).toBe('fabcde')
    expect(await refusalOf(page(opened, other.id, {}, visitor))).toBe('404 VIEW_NOT_FOUND')
    expect(await refusalOf(write([move(table.id, board.id, [1], 3)], visitor))).toMatch(/^40[13] /)
  })

  test('has imported records at its end', async () => {
    const opened = await open()
    const { table, board } = opened
    await write([move(table.id, board.id, [1, 2, 3], null)])
    const [door, file] = [doorOf(bench.app, bench.owner), 'Title\nx\ny\nz\n']
    const { jobId } = await bench.trpc.imports.start.mutate({
      baseId: bench.baseId,
      tableId: table.id,
      format: formatOf(file),
      width: 1,
      uploadId: await upload(door, file),
      columns: [{ index: 0, fieldId: table.field('Title').id }],
    })
    await ended(door, jobId)
    expect(await titles(opened, board.id)).toBe('defabcxyz')
  })
})

describe.each(['postgres', 'mariadb'] as const)('tables of a connected %s', (kind) => {
  test('have no manual order: moving is refused clearly, and they are read by their keys', async () => {
    const bench = await createBench()
    const foreign = await createForeign(kind, [
      'create table task (id integer primary key, name varchar(20))',
      "insert into task values (1, 'a'), (2, 'b')",
    ])
    await connect(bench, foreign.sent)
    const [table] = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    const tableId = table?.id ?? ''
    const board = await bench.trpc.views.create.mutate({ tableId, title: 'Board', kind: 'kanban' })
    for (const viewId of [board.id, undefined]) {
      const operations = [{ kind: 'move' as const, tableId, viewId, ids: [2], before: 1 }]
      const refused = bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations } })
      expect(await refusalOf(refused)).toBe('400 BAD_REQUEST')
    }
    const insert = { kind: 'insert' as const, tableId, viewId: board.id, before: 1, rows: [{ values: {} }] }
    const added = bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations: [insert] } })
    expect(await refusalOf(added)).toBe('400 BAD_REQUEST')
    const query = { tableId, orderViewId: board.id, limit: 10, offset: 0 }
    expect((await bench.trpc.records.list.query({ query })).ids).toEqual([1, 2])
    await bench.stop()
    await foreign.stop()
  })
})
