import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Field } from '../../src/core/model.ts'
import { doorOf, ended } from '../imports/support.ts'
import { uploadOne } from '../records/attachments-support.ts'
import { type Bench, benchOf, createBench, refusalOf, type TestTable, testTable } from '../records/support.ts'
import { connect, createForeign, type ForeignDatabase } from '../sources/support.ts'
import { createBase, createMember } from '../support/factories.ts'
import { tableNames } from '../support/home.ts'

let bench: Bench
let target: Bench
beforeAll(async () => {
  bench = await createBench()
  target = benchOf(bench.app, bench.owner, (await createBase(bench.app, bench.owner)).id)
})
afterAll(() => bench.stop())

const memberOf = async (role: 'viewer' | 'editor' | 'creator', ...baseIds: string[]) => {
  const member = await createMember(bench.app, baseIds[0]!, role)
  for (const baseId of baseIds.slice(1))
    await bench.trpc.bases.invite.mutate({ baseId, emails: [member.email], role })
  return { ...member, trpc: bench.app.trpc(member.token) }
}

/** A table with links, computed fields, files, people, and views. */
async function shop(): Promise<TestTable> {
  const { trpc, baseId } = bench
  const makers = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'Acme' }, { Title: 'Bolt, Inc.' }])
  const { path } = await uploadOne(bench, bench.owner.token, 'plan.txt', `plan ${crypto.randomUUID()}`)
  const items = await bench.table(
    {
      Title: 'SingleLineText',
      Price: { type: 'Decimal', options: { precision: 2 } },
      Notes: 'LongText',
      Sold: 'Checkbox',
      Day: 'Date',
      At: 'DateTime',
      State: {
        type: 'SingleSelect',
        options: { choices: [{ title: 'open' }, { title: 'done' }] },
        defaultValue: 'open',
      },
      Tags: { type: 'MultiSelect', options: { choices: [{ title: 'a' }, { title: 'b c' }] } },
      Data: 'JSON',
      Files: 'Attachment',
      Who: 'User',
      Secret: 'Password',
    },
    [
      {
        Title: '=Lid "x"',
        Price: 2.5,
        Notes: 'one\ntwo, "three"',
        Sold: true,
        Day: '2026-11-01',
        At: '2026-11-01T10:20:30Z',
        State: 'done',
        Tags: 'a,b c',
        Data: { a: [1, null] },
        Files: [{ path, title: 'plan.txt' }],
        Who: bench.owner.email,
        Secret: 'hidden',
      },
      { Title: ' Leg ', Price: 4 },
      { Title: null },
    ],
  )
  const add = (title: string, type: string, options: object) =>
    trpc.schema.createField.mutate({ tableId: items.id, field: { title, type, options } as never })
  const link = await add('Makers', 'Links', { kind: 'mm', relatedTableId: makers.id })
  await add('Names', 'Lookup', { relationFieldId: link.id, targetFieldId: makers.field('Title').id })
  await add('Double', 'Formula', { formula: '{Price} * 2' })
  await add('Four', 'Formula', { formula: '{Double} * 2' })
  await add('Makes', 'Formula', { formula: 'CONCAT({Title}, {Names})' })
  await trpc.records.write.mutate({
    change: {
      baseId,
      operations: [{ kind: 'link', tableId: items.id, fieldId: link.id, id: 1, targets: [1, 2] }],
    },
  })
  const double = (await trpc.schema.table.query({ tableId: items.id })).fields.find(
    ({ title }) => title === 'Double',
  )!
  const view = await trpc.views.create.mutate({ tableId: items.id, title: 'Dear', kind: 'grid' })
  await trpc.views.update.mutate({
    viewId: view.id,
    patch: {
      sorts: [{ fieldId: double.id, direction: 'desc' }],
      filter: { fieldId: items.field('Price').id, operator: 'gt', value: '1' },
    },
  })
  return testTable(bench.rest, await trpc.schema.table.query({ tableId: items.id }))
}

async function copy(table: TestTable, options: object = {}): Promise<TestTable> {
  const { jobId, tableId } = await bench.trpc.copies.tableToBase.mutate({
    tableId: table.id,
    baseId: target.baseId,
    ...options,
  })
  const job = await ended(doorOf(bench.app, bench.owner), jobId)
  expect(job).toMatchObject({ status: 'completed', error: null })
  return testTable(bench.rest, await bench.trpc.schema.table.query({ tableId }))
}

/** What the API shows of records, without what belongs to the copy. */
const shown = async (table: TestTable, titles: readonly string[]) =>
  (await table.list()).map((row) =>
    Object.fromEntries(
      titles.map((title) => {
        const value = row[title] ?? null
        const files = Array.isArray(value)
          ? value.map(({ path, size, title: name }) => ({ path, size, name }))
          : value
        return [title, title === 'Files' ? files : value]
      }),
    ),
  )
const typesOf = ({ schema }: TestTable) =>
  Object.fromEntries(
    schema.fields
      .filter(({ isSystem, isPrimaryKey }) => !isSystem && !isPrimaryKey)
      .map((field: Field) => [field.title, field.type]),
  )

describe('copying a table to another base', () => {
  test('is for viewers of the table who may create tables in the base; wrong requests change nothing', async () => {
    const table = await bench.table()
    const other = (await createBase(bench.app, bench.owner)).id
    const copyAs = (member: { trpc: Bench['trpc'] }, options: object = {}) =>
      member.trpc.copies.tableToBase.mutate({ tableId: table.id, baseId: other, ...options })
    const stranger = await memberOf('creator', other)
    expect(await refusalOf(copyAs(stranger))).toMatchObject({ status: 403 })
    const editor = await memberOf('editor', bench.baseId, other)
    expect(await refusalOf(copyAs(editor))).toMatchObject({ status: 403 })
    const reader = await memberOf('viewer', bench.baseId)
    expect(await refusalOf(copyAs(reader))).toMatchObject({ status: 403 })
    await bench.trpc.bases.invite.mutate({ baseId: other, emails: [reader.email], role: 'creator' })
    expect(await refusalOf(copyAs(reader, { isMove: true }))).toMatchObject({ status: 403 })
    expect((await copyAs(reader)).jobId).toBeString()
    const { trpc } = bench
    for (const [options, status] of [
      [{ baseId: 'p00000000000000' }, 404],
      [{ isMove: true, baseId: bench.baseId }, 400],
      [{ title: 'a.b' }, 400],
    ] as const) {
      const request = { tableId: table.id, baseId: other, ...options }
      expect(await refusalOf(trpc.copies.tableToBase.mutate(request))).toMatchObject({ status })
    }
    expect(await trpc.schema.tables.query({ baseId: bench.baseId })).toContainEqual(
      expect.objectContaining({ id: table.id }),
    )
  })

  test('copies every kind of value, formulas of its own fields, and views; links become names', async () => {
    const table = await shop()
    const { fields } = await bench.trpc.copies.previewToBase.query({ tableId: table.id })
    expect(Object.fromEntries(fields.map(({ title, effect }) => [title, effect]))).toMatchObject({
      Title: 'same',
      Files: 'same',
      Double: 'same',
      Four: 'same',
      Makers: 'values',
      Names: 'values',
      Makes: 'values',
      Secret: 'left',
    })
    const made = await copy(table)
    expect(made.title).toBe(table.title)
    expect(typesOf(made)).toEqual({
      Title: 'SingleLineText',
      Price: 'Decimal',
      Notes: 'LongText',
      Sold: 'Checkbox',
      Day: 'Date',
      At: 'DateTime',
      State: 'SingleSelect',
      Tags: 'MultiSelect',
      Data: 'JSON',
      Files: 'Attachment',
      Who: 'User',
      Makers: 'LongText',
      Names: 'LongText',
      Double: 'Formula',
      Four: 'Formula',
      Makes: expect.stringMatching(/Text$/),
    })
    const same = [
      'Title',
      'Price',
      'Notes',
      'Sold',
      'Day',
      'At',
      'State',
      'Tags',
      'Data',
      'Files',
      'Double',
      'Four',
    ]
    expect(await shown(made, same)).toEqual(await shown(table, same))
    const [first] = await made.list()
    expect(first).toMatchObject({ Makers: 'Acme, "Bolt, Inc."', Who: [{ email: bench.owner.email }] })
    // The formula reads the copy.
    await bench.rest.patch(made.path, { Id: 2, Price: 10 })
    expect((await made.list())[1]).toMatchObject({ Double: 20, Four: 40 })
    expect((await table.list())[1]).toMatchObject({ Double: 8 })
    const view = made.schema.views.find(({ title }) => title === 'Dear')!
    expect(view).toMatchObject({
      sorts: [{ fieldId: made.field('Double').id, direction: 'desc' }],
      filter: expect.objectContaining({}),
    })
    expect((await made.list(`?viewId=${view.id}`)).map(({ Title }) => Title)).toEqual([' Leg ', '=Lid "x"'])
    expect(made.schema.views.filter(({ isDefault }) => isDefault)).toHaveLength(1)
    expect((await tableNames(bench.app, target.baseId)).filter((name) => name.includes('import'))).toEqual([])
  })

  test('takes a free name, and leaves out records and views on request', async () => {
    const table = await shop()
    await bench.trpc.schema.createTable.mutate({ baseId: target.baseId, title: table.title, fields: [] })
    const made = await copy(table, { withData: false, withViews: false })
    expect(made.title).toBe(`${table.title}_1`)
    expect(await made.total()).toBe(0)
    expect(made.schema.views.map(({ isDefault }) => isDefault)).toEqual([true])
    expect((await bench.rest.post(made.path, { Title: 'new', Price: 3 })).status).toBe(200)
    expect((await made.list())[0]).toMatchObject({ State: 'open', Double: 6 })
    const request = { tableId: table.id, baseId: target.baseId, title: table.title }
    expect(await refusalOf(bench.trpc.copies.tableToBase.mutate(request))).toMatchObject({ status: 422 })
  })

  test('leaves nothing behind when it is cancelled', async () => {
    const table = await bench.table(
      { Title: 'SingleLineText' },
      Array.from({ length: 3_000 }, (_, at) => ({ Title: `row ${at}` })),
    )
    const before = await tableNames(bench.app, target.baseId)
    const { jobId } = await bench.trpc.copies.tableToBase.mutate({ tableId: table.id, baseId: target.baseId })
    await bench.trpc.jobs.cancel.mutate({ jobId })
    const job = await ended(doorOf(bench.app, bench.owner), jobId)
    expect(job.status).toBe('cancelled')
    expect(await tableNames(bench.app, target.baseId)).toEqual(before)
  })
})

/** Starts a copy for a viewer of the table who is removed while another job of the target runs. */
async function copyOfRemoved(source: Bench, tableId: string, options: object = {}) {
  const { app, owner } = bench
  const { access } = app.services.auth
  const member = await createMember(app, source.baseId, 'viewer')
  await access.setMembership(target.baseId, member.id, 'creator')
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const name = `occupies the target of a copy of ${tableId}`
  app.kernel.jobs.register(name, { run: () => released, recover: async () => null })
  await app.kernel.jobs.start(name, { userId: owner.id, baseId: target.baseId, input: {} })
  const input = { tableId, baseId: target.baseId, ...options }
  const { jobId } = await app.trpc(member.token).copies.tableToBase.mutate(input)
  await access.setMembership(source.baseId, member.id, null)
  release()
  return ended(doorOf(app, member), jobId)
}

test('a copy is not for somebody who is removed from the base of the table while it waits', async () => {
  // Without computed fields, whose values are read with the rights of the person.
  const source = benchOf(bench.app, bench.owner, (await createBase(bench.app, bench.owner)).id)
  const table = await source.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
  const before = await tableNames(bench.app, target.baseId)
  const outcome = await copyOfRemoved(source, table.id)
  expect(outcome).toMatchObject({ status: 'failed', result: null })
  expect(outcome.error).toContain('permission to access')
  expect(await tableNames(bench.app, target.baseId)).toEqual(before)
})

describe('copying a table of a connected database', () => {
  let shopDatabase: ForeignDatabase
  beforeAll(async () => {
    shopDatabase = await createForeign('postgres', [
      `create table customer (id serial primary key, name varchar(40) not null, since timestamptz);
       create table purchase (id serial primary key, customer_id integer references customer (id), total numeric(8,2));
       insert into customer (name, since) values ('Ann', '2026-01-02T03:04:05Z'), ('Ben, "B"', null);
       insert into purchase (customer_id, total) values (1, 12.5), (2, 7)`,
    ])
    await connect(bench, shopDatabase.sent)
  })
  afterAll(() => shopDatabase.stop())

  test('makes it a table of a base, with its records; it cannot be moved', async () => {
    const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    const find = async (title: string) => {
      const { id: tableId } = tables.find((table) => table.title.toLowerCase() === title)!
      return testTable(bench.rest, await bench.trpc.schema.table.query({ tableId }))
    }
    const purchase = await find('purchase')
    expect(await purchase.total()).toBe(2)
    const move = { tableId: purchase.id, baseId: target.baseId, isMove: true }
    expect(await refusalOf(bench.trpc.copies.tableToBase.mutate(move))).toMatchObject({ status: 400 })
    const rows = await (await copy(purchase)).list()
    expect(rows).toMatchObject([
      { total: 12.5, customer: 'Ann' },
      { total: 7, customer: 'Ben, "B"' },
    ])
    const customers = await copy(await find('customer'), { baseId: bench.baseId, title: 'Our customers' })
    expect(customers.schema.table.baseId).toBe(bench.baseId)
    expect((await bench.rest.post(customers.path, { name: 'Cid' })).status).toBe(200)
    expect((await customers.list()).map(({ name }) => name)).toEqual(['Ann', 'Ben, "B"', 'Cid'])
  })

  test('without its records is not for somebody who is removed while the copy waits either', async () => {
    const source = benchOf(bench.app, bench.owner, (await createBase(bench.app, bench.owner)).id)
    await connect(source, shopDatabase.sent)
    const [table] = await bench.trpc.schema.tables.query({ baseId: source.baseId })
    const outcome = await copyOfRemoved(source, table!.id, { withData: false })
    expect(outcome).toMatchObject({ status: 'failed', result: null })
    expect(outcome.error).toContain('permission to access')
  })
})

describe('over REST', () => {
  test('a copy is previewed and started', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const address = `/api/v2/meta/tables/${table.id}/copy`
    expect((await bench.rest.get(address)).body.fields).toMatchObject([{ title: 'Title', effect: 'same' }])
    expect((await bench.rest.post(address, { baseId: target.baseId, wrong: 1 })).status).toBe(400)
    const { status, body } = await bench.rest.post(address, { baseId: target.baseId, title: 'By REST' })
    expect(status).toBe(200)
    const job = await ended(doorOf(bench.app, bench.owner), body.id)
    expect(job).toMatchObject({
      status: 'completed',
      result: { id: body.table_id, rows: 1, cellsLeftOut: 0 },
    })
  })
})

describe('moving a table to another base', () => {
  test('copies it and moves the original to the trash, from which it can be restored', async () => {
    const table = await shop()
    const before = await table.list()
    const made = await copy(table, { isMove: true })
    expect(await made.total()).toBe(3)
    expect(await refusalOf(bench.trpc.schema.table.query({ tableId: table.id }))).toMatchObject({
      code: 'TABLE_NOT_FOUND',
    })
    const items = [{ kind: 'table' as const, tableId: table.id }]
    await bench.trpc.trash.restore.mutate({ baseId: bench.baseId, items })
    expect(await table.list()).toEqual(before)
  })
})
