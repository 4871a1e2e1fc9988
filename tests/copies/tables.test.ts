import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mentionOf } from '../../src/core/mentions.ts'
import { entriesOfTableAfter, entryAt } from '../../src/db/change-log/entries.ts'
import { oldEntries } from '../../src/db/change-log/removal.ts'
import { doorOf, ended } from '../imports/support.ts'
import { uploadOne } from '../records/attachments-support.ts'
import { type Bench, benchOf, createBench, refusalOf, type TestTable, testTable } from '../records/support.ts'
import { createBase, createMember } from '../support/factories.ts'
import { tableNames } from '../support/home.ts'

let bench: Bench
let target: Bench
beforeAll(async () => {
  bench = await createBench()
  target = benchOf(bench.app, bench.owner, (await createBase(bench.app, bench.owner)).id)
})
afterAll(() => bench.stop())

interface Shop {
  makers: TestTable
  items: TestTable
  orders: TestTable
}

const reopen = async ({ id }: { id: string }) =>
  testTable(bench.rest, await bench.trpc.schema.table.query({ tableId: id }))

/** Makers, their items, and the orders of items, with links of each kind and what is computed from them. */
async function shop(): Promise<Shop> {
  const { trpc, baseId } = bench
  const makers = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'Acme' }, { Title: 'Bolt, Inc.' }])
  const items = await bench.table({ Title: 'SingleLineText', Price: 'Number' }, [
    { Title: 'Lid', Price: 2 },
    { Title: 'Leg', Price: 4 },
    { Title: 'Top', Price: 8 },
  ])
  const orders = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'Monday' }, { Title: 'Friday' }])
  const add = (tableId: string, title: string, type: string, options: object) =>
    trpc.schema.createField.mutate({ tableId, field: { title, type, options } as never })
  const link = await add(makers.id, 'Items', 'Links', { kind: 'hm', relatedTableId: items.id })
  const ordered = await add(orders.id, 'Ordered', 'Links', { kind: 'mm', relatedTableId: items.id })
  const partOf = await add(items.id, 'Part of', 'Links', { kind: 'mm', relatedTableId: items.id })
  const price = items.field('Price').id
  await add(makers.id, 'Sum', 'Rollup', { relationFieldId: link.id, targetFieldId: price, function: 'sum' })
  await add(makers.id, 'Double', 'Formula', { formula: '{Sum} * 2' })
  await add(orders.id, 'Prices', 'Lookup', { relationFieldId: ordered.id, targetFieldId: price })
  const operations = (
    [
      [makers.id, link.id, 1, [1, 2]],
      [makers.id, link.id, 2, [3]],
      [orders.id, ordered.id, 1, [1, 3]],
      [orders.id, ordered.id, 2, [3]],
      [items.id, partOf.id, 1, [3]],
    ] as const
  ).map(([tableId, fieldId, id, targets]) => ({
    kind: 'link' as const,
    tableId,
    fieldId,
    id,
    targets: [...targets],
  }))
  await trpc.records.write.mutate({ change: { baseId, operations } })
  return { makers: await reopen(makers), items: await reopen(items), orders: await reopen(orders) }
}

async function toBase(tables: readonly TestTable[], options: object = {}): Promise<TestTable[]> {
  const [first, ...further] = tables
  const started = await bench.trpc.copies.tableToBase.mutate({
    tableId: first!.id,
    furtherTableIds: further.map(({ id }) => id),
    baseId: target.baseId,
    ...options,
  })
  expect(await ended(doorOf(bench.app, bench.owner), started.jobId)).toMatchObject({
    status: 'completed',
    error: null,
  })
  expect(started.tables.map(({ id }) => id)).toEqual(tables.map(({ id }) => id))
  return Promise.all(started.tables.map(({ newId }) => reopen({ id: newId })))
}

/** The cells of a table that people see, by title. */
const cells = async (table: TestTable) => {
  const rows = await table.list()
  return JSON.parse(
    JSON.stringify(rows, (key, value) => (/^(nc_|table_id$|base_id$)/.test(key) ? undefined : value)),
  )
}
const typesOf = ({ schema }: TestTable) =>
  Object.fromEntries(
    schema.fields
      .filter(({ isSystem, isPrimaryKey }) => !isSystem && !isPrimaryKey)
      .map(({ title, type, error }) => [title, error ?? type]),
  )
const tablesIn = async (baseId: string) =>
  (await bench.trpc.schema.tables.query({ baseId })).map(({ id }) => id)

describe('copying several tables to another base', () => {
  test('is refused for tables of several bases, too many, a name for all, and without rights', async () => {
    const { makers, items } = await shop()
    const other = await benchOf(bench.app, bench.owner, (await createBase(bench.app, bench.owner)).id).table()
    const { trpc } = bench
    const request = { tableId: makers.id, furtherTableIds: [items.id], baseId: target.baseId }
    const wrongs: [object, number][] = [
      [{ furtherTableIds: [other.id] }, 400],
      [{ furtherTableIds: ['m00000000000000'] }, 404],
      [{ furtherTableIds: Array.from({ length: 101 }, (_, at) => `m${String(at).padStart(14, '0')}`) }, 400],
      [{ title: 'Both' }, 400],
    ]
    for (const [wrong, status] of wrongs)
      expect(await refusalOf(trpc.copies.tableToBase.mutate({ ...request, ...wrong }))).toMatchObject({
        status,
      })
    const viewer = await createMember(bench.app, bench.baseId, 'viewer')
    const { copies } = bench.app.trpc(viewer.token)
    expect(await refusalOf(copies.tableToBase.mutate(request))).toMatchObject({ status: 403 })
    await trpc.bases.invite.mutate({ baseId: target.baseId, emails: [viewer.email], role: 'creator' })
    expect(await refusalOf(copies.tableToBase.mutate({ ...request, isMove: true }))).toMatchObject({
      status: 403,
    })
    expect((await tablesIn(bench.baseId)).filter((id) => id === makers.id || id === items.id)).toHaveLength(2)
  })

  test('previews what becomes names, what else is linked, and what tables that stay lose', async () => {
    const { makers, items, orders } = await shop()
    const preview = await bench.trpc.copies.previewToBase.query({
      tableId: makers.id,
      furtherTableIds: [items.id],
      isMove: true,
    })
    expect(
      Object.fromEntries(
        preview.fields.map(({ title, tableTitle, effect }) => [`${tableTitle}.${title}`, effect]),
      ),
    ).toMatchObject({
      [`${makers.title}.Items`]: 'same',
      [`${makers.title}.Sum`]: 'same',
      [`${makers.title}.Double`]: 'same',
      [`${items.title}.Part of`]: 'same',
      [`${items.title}.${orders.title}`]: 'values',
    })
    expect(preview.linked).toEqual([{ id: orders.id, title: orders.title }])
    // The history of a link that becomes names stays; what is computed has none.
    const unlogged = preview.fields.filter(({ losesHistory }) => losesHistory)
    expect(unlogged.map(({ title, tableTitle }) => [tableTitle, title])).toEqual([
      [items.title, orders.title],
    ])
    expect(preview.lost).toContainEqual({ title: 'Ordered', tableTitle: orders.title, effect: 'deleted' })
    expect(preview.lost).toContainEqual({ title: 'Prices', tableTitle: orders.title, effect: 'broken' })
    const alone = await bench.trpc.copies.previewToBase.query({ tableId: makers.id })
    expect(alone).toMatchObject({ lost: [], linked: [{ id: items.id }] })
  })

  test('keeps links of each kind, and what is computed from them, between the copies', async () => {
    const { makers, items, orders } = await shop()
    const before = await Promise.all([makers, items, orders].map(cells))
    const copies = await toBase([makers, items, orders])
    expect(copies.map(typesOf)).toEqual([makers, items, orders].map(typesOf))
    expect(await Promise.all(copies.map(cells))).toEqual(before)
    const [copiedMakers, copiedItems] = copies as [TestTable, TestTable]
    // The copies read each other, and the originals do not see it.
    await bench.rest.patch(copiedItems.path, { Id: 1, Price: 100 })
    expect((await copiedMakers.list())[0]).toMatchObject({ Sum: 104, Double: 208 })
    expect((await makers.list())[0]).toMatchObject({ Sum: 6, Double: 12 })
    const itemsField = copiedMakers.field('Items')
    await bench.trpc.records.write.mutate({
      change: {
        baseId: target.baseId,
        operations: [{ kind: 'link', tableId: copiedMakers.id, fieldId: itemsField.id, id: 2, targets: [1] }],
      },
    })
    expect(await copiedMakers.list()).toMatchObject([{ Sum: 4 }, { Sum: 108 }])
    expect(await cells(makers)).toEqual(before[0])
    expect((await tableNames(bench.app, target.baseId)).filter((name) => name.includes('import'))).toEqual([])
  })

  test('copies the fields alone on request', async () => {
    const { makers, items } = await shop()
    const [copiedMakers, copiedItems] = (await toBase([makers, items], { withData: false })) as [
      TestTable,
      TestTable,
    ]
    expect([await copiedMakers.total(), await copiedItems.total()]).toEqual([0, 0])
    const { body } = await bench.rest.post(copiedItems.path, { Title: 'New', Price: 3 })
    expect(body.Id).toBe(1)
    expect(copiedMakers.field('Items').error).toBeNull()
  })
})

describe('moving several tables to another base', () => {
  test('moves all of them with their links; links to tables that stay become names', async () => {
    const { makers, items, orders } = await shop()
    const before = await cells(makers)
    const [movedMakers, movedItems] = (await toBase([makers, items], { isMove: true })) as [
      TestTable,
      TestTable,
    ]
    expect(await cells(movedMakers)).toEqual(before)
    expect(typesOf(movedItems)).toMatchObject({ 'Part of': 'Links', [orders.title]: 'LongText' })
    expect((await movedItems.list()).map((row) => row[orders.title])).toEqual([
      'Monday',
      null,
      'Monday, Friday',
    ])
    const left = await tablesIn(bench.baseId)
    expect([makers, items, orders].map(({ id }) => left.includes(id))).toEqual([false, false, true])
    expect(typesOf(await reopen(orders))).not.toHaveProperty('Ordered')
    // Both originals come back with the links between them, and to the table that stayed.
    for (const { id } of [makers, items])
      await bench.trpc.trash.restore.mutate({ baseId: bench.baseId, items: [{ kind: 'table', tableId: id }] })
    expect(await cells(await reopen(makers))).toEqual(before)
    expect((await (await reopen(orders)).list()).map(({ Prices }) => Prices)).toEqual([[2, 8], [8]])
  })

  test('keeps times, authors, passwords, files and the numbers of records', async () => {
    const { path } = await uploadOne(bench, bench.owner.token, 'plan.txt', 'the plan')
    const table = await bench.table(
      {
        Title: 'SingleLineText',
        Secret: 'Password',
        Files: 'Attachment',
        Made: 'CreatedTime',
        By: 'CreatedBy',
      },
      [{ Title: 'a', Secret: 'hidden', Files: [{ path, title: 'plan.txt' }] }, { Title: 'b' }],
    )
    await bench.rest.delete(table.path, [{ Id: 2 }])
    const [before] = await cells(table)
    const [moved] = (await toBase([table], { isMove: true })) as [TestTable]
    const [after] = await cells(moved)
    expect({ ...after, Files: after.Files[0].path }).toEqual({ ...before, Files: before.Files[0].path })
    expect(typesOf(moved)).toMatchObject({ Made: 'CreatedTime', By: 'CreatedBy', Secret: 'Password' })
    expect((await bench.rest.post(moved.path, { Title: 'c' })).body.Id).toBe(3)
  })

  test('takes the history and the trash of records along', async () => {
    const { makers, items } = await shop()
    await bench.rest.patch(makers.path, { Id: 1, Title: 'Acme Ltd.' })
    await bench.rest.delete(makers.path, [{ Id: 2 }])
    const before = await historyOf(makers, 1)
    expect(before.length).toBeGreaterThan(2)
    await target.table({ Title: 'SingleLineText' }, [{ Title: 'of this base' }])
    const [movedMakers, movedItems] = (await toBase([makers, items], { isMove: true })) as [
      TestTable,
      TestTable,
    ]
    expect(await historyOf(movedMakers, 1)).toEqual(before)
    const listed = await bench.trpc.trash.list.query({ baseId: target.baseId, tableId: movedMakers.id })
    const trashed = listed.items.filter(({ ref }) => ref.kind === 'record')
    expect(trashed).toMatchObject([{ ref: { tableId: movedMakers.id, recordId: 2 }, title: 'Bolt, Inc.' }])
    await bench.trpc.trash.restore.mutate({ baseId: target.baseId, items: trashed.map(({ ref }) => ref) })
    expect(await movedMakers.list()).toMatchObject([{ Title: 'Acme Ltd.' }, { Title: 'Bolt, Inc.', Sum: 8 }])
    const [copy] = (await toBase([movedItems], { baseId: bench.baseId })) as [TestTable]
    expect(await historyOf(copy, 1)).toEqual([])
  })

  test('takes public links, watches and mentions along', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const { trpc } = bench
    const guest = await createMember(bench.app, bench.baseId, 'editor')
    await trpc.bases.invite.mutate({ baseId: target.baseId, emails: [guest.email], role: 'editor' })
    const asGuest = bench.app.trpc(guest.token)
    const elsewhere = await target.table({ Title: 'SingleLineText' }, [{ Title: 'x' }])
    const there = { tableId: elsewhere.id, recordId: 1 }
    await asGuest.notifications.watch.mutate({ target: there, isOn: true })
    await bench.rest.patch(table.path, { Id: 1, Title: 'b' })
    const view = table.schema.views[0]!
    const { id: shareId } = await trpc.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} })
    await asGuest.notifications.watch.mutate({ target: { tableId: table.id, recordId: 1 }, isOn: true })
    const text = `Look ${mentionOf(guest.id)}`
    const comment = await trpc.comments.create.mutate({ tableId: table.id, recordId: 1, text })
    const [moved] = (await toBase([table], { isMove: true })) as [TestTable]
    const shared = await trpc.shares.get.query({ kind: 'view', targetId: moved.schema.views[0]!.id })
    expect(shared?.id).toBe(shareId)
    expect(await asGuest.notifications.watched.query()).toContainEqual({
      tableId: moved.id,
      kind: 'record',
      targetId: '1',
    })
    const { comments } = await trpc.comments.list.query({ tableId: moved.id, recordId: 1 })
    expect(comments.map(({ id }) => id)).toEqual([comment.id])
    // The mention leads to the moved table, and what happened before the move is no news there.
    await bench.app.services.records.feed.settled(target.baseId)
    const { notifications } = await asGuest.notifications.list.query({ unreadOnly: false })
    expect(notifications.filter((each) => each.table?.id === moved.id)).toMatchObject([
      { kind: 'mention', base: { id: target.baseId }, record: { id: 1 } },
    ])
    // The original that waits in the trash has its comments as well.
    const items = [{ kind: 'table' as const, tableId: table.id }]
    await trpc.trash.restore.mutate({ baseId: bench.baseId, items })
    expect((await trpc.comments.list.query({ tableId: table.id, recordId: 1 })).comments).toHaveLength(1)
  })

  test('brings every acknowledged change along, or moves nothing', async () => {
    const table = await bench.table(
      { Title: 'SingleLineText' },
      Array.from({ length: 3_000 }, (_, at) => ({ Title: `record ${at}` })),
    )
    const { jobId, tableId } = await bench.trpc.copies.tableToBase.mutate({
      tableId: table.id,
      baseId: target.baseId,
      isMove: true,
    })
    let last = ''
    for (let at = 0; ; at++) {
      const { status } = await bench.rest.patch(table.path, { Id: 1, Title: `change ${at}` })
      if (status !== 200) break
      last = `change ${at}`
      const { status: state } = await bench.trpc.jobs.get.query({ jobId })
      if (state !== 'waiting' && state !== 'active') break
      // The last tries are not disturbed.
      if (at > 15) break
    }
    const { status } = await ended(doorOf(bench.app, bench.owner), jobId)
    const found = await reopen({ id: status === 'completed' ? tableId : table.id })
    expect((await found.list('?limit=1'))[0]).toMatchObject({ Title: last })
    expect(await found.total()).toBe(3_000)
  })

  test('ends when tables move in both directions at the same time', async () => {
    const there = await target.table({ Title: 'SingleLineText' }, [{ Title: 'there' }])
    const here = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'here' }])
    const started = await Promise.all(
      [
        { tableId: here.id, baseId: target.baseId },
        { tableId: there.id, baseId: bench.baseId },
      ].map((each) => bench.trpc.copies.tableToBase.mutate({ ...each, isMove: true })),
    )
    for (const { jobId } of started)
      expect(await ended(doorOf(bench.app, bench.owner), jobId)).toMatchObject({ status: 'completed' })
    const titles = await Promise.all(
      started.map(async ({ tableId }) => (await reopen({ id: tableId })).titles()),
    )
    expect(titles).toEqual([['here'], ['there']])
  })

  test('leaves a restore of the base to a time before the move as it was', async () => {
    const moved = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    await bench.rest.patch(moved.path, { Id: 1, Title: 'b' })
    const kept = await target.table({ Title: 'SingleLineText' }, [{ Title: 'one' }])
    await Bun.sleep(5)
    const at = new Date().toISOString()
    await Bun.sleep(5)
    await bench.rest.patch(kept.path, { Id: 1, Title: 'two' })
    await toBase([moved], { isMove: true })
    // The entries that came with the table are older than this time, and newer in the log.
    const engine = await bench.app.kernel.sources.engine(target.baseId)
    const [entry] = await entriesOfTableAfter(engine, kept.id, await entryAt(engine, at), '%')
    expect(entry).toMatchObject({ kind: 'records.update' })
    expect((await oldEntries(engine, at))?.lastId ?? 0).toBeLessThan(entry!.id)
  })

  test('cannot be undone in one base alone', async () => {
    const { makers, items } = await shop()
    const nextOf = async (baseId: string) =>
      (await bench.trpc.records.nextAction.query({ baseId, direction: 'undo' }))?.id
    const before = await Promise.all([bench.baseId, target.baseId].map(nextOf))
    await toBase([makers, items], { isMove: true })
    expect(await Promise.all([bench.baseId, target.baseId].map(nextOf))).toEqual(before)
  })

  test('is taken back by one undo if it was a copy', async () => {
    const { makers, items } = await shop()
    const copies = await toBase([makers, items])
    const { baseId } = target
    const next = await bench.trpc.records.nextAction.query({ baseId, direction: 'undo' })
    await bench.trpc.records.undo.mutate({ baseId, entryId: next!.id })
    const left = await tablesIn(baseId)
    expect(copies.filter(({ id }) => left.includes(id))).toEqual([])
  })
})

async function historyOf({ id: tableId, schema }: TestTable, recordId: number) {
  const { entries } = await bench.trpc.records.history.query({ tableId, recordId })
  const titles = new Map(schema.fields.map(({ id, title }) => [id, title]))
  return entries.map(({ at, actorId, isNew, changes }) => ({
    at,
    actorId,
    isNew,
    changes: changes.map(({ fieldId, before, after }) => [titles.get(fieldId), before, after]),
  }))
}

describe('over REST', () => {
  test('several tables are previewed and copied together', async () => {
    const { makers, items, orders } = await shop()
    const address = `/api/v2/meta/tables/${makers.id}/copy`
    const { body: preview } = await bench.rest.get(`${address}?tables=${items.id},${orders.id}&move=true`)
    expect(preview).toMatchObject({ linked: [], lost: [] })
    const wanted = { baseId: target.baseId, tables: [items.id, orders.id] }
    expect((await bench.rest.post(address, { ...wanted, tables: 'all' })).status).toBe(400)
    const { status, body } = await bench.rest.post(address, wanted)
    expect(status).toBe(200)
    expect(body.tables.map(({ from_id }: { from_id: string }) => from_id)).toEqual([
      makers.id,
      items.id,
      orders.id,
    ])
    expect(await ended(doorOf(bench.app, bench.owner), body.id)).toMatchObject({ status: 'completed' })
    expect(await (await reopen({ id: body.tables[1].table_id })).titles()).toEqual(['Lid', 'Leg', 'Top'])
  })
})
