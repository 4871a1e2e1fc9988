import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createBase } from '../support/factories.ts'
import { importFrom, recordsOf, settled } from './support.ts'

/** A second Sheaf, which answers as NocoDB does. */
let source: TestApp
let sourceOwner: TestUser
let sourceBaseId: string
let app: TestApp
let owner: TestUser

beforeAll(async () => {
  source = await createTestApp()
  sourceOwner = await source.signUp('ann@example.com')
  app = await createTestApp({ config: { allowLocalHttp: true } })
  owner = await app.signUp('ann@example.com')
  const base = await createBase(source, sourceOwner, 'Shop')
  sourceBaseId = base.id
  const trpc = source.trpc(sourceOwner.token)
  const choices = { choices: [{ title: 'open', color: '#ff0000' }, { title: 'paid' }] }
  const customers = await trpc.schema.createTable.mutate({
    baseId: base.id,
    title: 'Customers',
    fields: [
      { title: 'Name', type: 'SingleLineText' },
      { title: 'Age', type: 'Number' },
    ],
  })
  const orders = await trpc.schema.createTable.mutate({
    baseId: base.id,
    title: 'Orders',
    fields: [
      { title: 'Ref', type: 'SingleLineText' },
      { title: 'Price', type: 'Currency', options: { code: 'EUR' } },
      { title: 'Done', type: 'Checkbox' },
      { title: 'State', type: 'SingleSelect', options: choices },
      { title: 'Who', type: 'User', options: { multiple: true } },
      { title: 'Files', type: 'Attachment' },
    ],
  })
  const add = (tableId: string, field: Parameters<typeof trpc.schema.createField.mutate>[0]['field']) =>
    trpc.schema.createField.mutate({ tableId, field })
  const idOf = (table: typeof orders, title: string) =>
    table.fields.find((field) => field.title === title)!.id
  const many = await add(orders.table.id, {
    title: 'Buyers',
    type: 'Links',
    options: { kind: 'mm', relatedTableId: customers.table.id },
  })
  const one = await add(orders.table.id, {
    title: 'Payer',
    type: 'LinkToAnotherRecord',
    options: { kind: 'bt', relatedTableId: customers.table.id },
  })
  await add(orders.table.id, {
    title: 'Names',
    type: 'Lookup',
    options: { relationFieldId: many.id, targetFieldId: idOf(customers, 'Name') },
  })
  await add(orders.table.id, {
    title: 'Ages',
    type: 'Rollup',
    options: { relationFieldId: many.id, targetFieldId: idOf(customers, 'Age'), function: 'max' },
  })
  await add(orders.table.id, { title: 'Double', type: 'Formula', options: { formula: '{Price} * 2' } })
  const insert = async (table: typeof orders, rows: Record<string, unknown>[]) => {
    const values = rows.map((row) => ({
      values: Object.fromEntries(
        Object.entries(row).map(([title, value]) => [idOf(table, title), value]),
      ) as Record<string, string>,
    }))
    const operations = [{ kind: 'insert' as const, tableId: table.table.id, rows: values }]
    return (await trpc.records.write.mutate({ change: { baseId: base.id, operations } })).inserted
  }
  const people = await insert(customers, [
    { Name: 'Ann', Age: 30 },
    { Name: 'Bo', Age: 40 },
  ])
  const sold = await insert(
    orders,
    Array.from({ length: 120 }, (_, index) => ({
      Ref: `R${index}`,
      Price: index / 2,
      Done: index % 2 === 0,
      State: index % 3 === 0 ? 'paid' : 'open',
      Who: sourceOwner.id,
    })),
  )
  await trpc.records.write.mutate({
    change: {
      baseId: base.id,
      operations: [
        { kind: 'link', tableId: orders.table.id, fieldId: many.id, id: sold[0]!, targets: people },
        { kind: 'link', tableId: orders.table.id, fieldId: one.id, id: sold[1]!, targets: [people[1]!] },
      ],
    },
  })
  await trpc.comments.create.mutate({ tableId: orders.table.id, recordId: sold[2]!, text: 'Hello' })
  const view = await trpc.views.create.mutate({ tableId: orders.table.id, title: 'Open', kind: 'grid' })
  const filter = {
    join: 'and' as const,
    children: [{ fieldId: idOf(orders, 'State'), operator: 'eq', value: 'open' }],
  }
  const sorts = [{ fieldId: idOf(orders, 'Price'), direction: 'desc' as const }]
  await trpc.views.update.mutate({ viewId: view.id, patch: { filter, sorts } })
  await trpc.views.create.mutate({ tableId: orders.table.id, title: 'Board', kind: 'kanban' })
})
afterAll(async () => {
  await app.stop()
  await source.stop()
})

const account = () => ({
  source: 'nocodb' as const,
  credentials: { address: `${source.url}/`, email: 'ann@example.com', password: 'correct horse battery' },
})

/** The line on what no import from NocoDB brings. */
const NOT_IMPORTED = { kind: 'note', tableTitle: null, reason: expect.stringContaining('webhooks') }

describe('an import from NocoDB', () => {
  test('rejects a wrong token, and an address that is no NocoDB', async () => {
    const { baseImports } = app.trpc(owner.token)
    const wrong = { source: 'nocodb' as const, credentials: { address: source.url, token: 'wrong' } }
    await expect(baseImports.inspect.mutate({ from: wrong })).rejects.toThrow('does not accept the token')
    const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('<html>') })
    const page = { source: 'nocodb' as const, credentials: { address: other.url.origin, token: 'x' } }
    await expect(baseImports.inspect.mutate({ from: page })).rejects.toThrow('not JSON')
    await other.stop(true)
  })

  test('brings tables, links, lookups, rollups, formulas, comments and views with their filters', async () => {
    const { baseImports, comments } = app.trpc(owner.token)
    const found = await baseImports.inspect.mutate({ from: account() })
    expect(found.map(({ id }) => id)).toContain(sourceBaseId)
    const started = await baseImports.begin.mutate(
      importFrom(account(), sourceBaseId, { keepCredentials: true }),
    )
    const done = await settled(app, owner, started.id)
    expect(await baseImports.report.query({ importId: done.id })).toMatchObject([NOT_IMPORTED])
    expect(done).toMatchObject({ status: 'completed', error: null, counts: { comments: 1, verified: 360 } })
    const { rows, schema, table } = await recordsOf(app, owner, done.baseId!, 'Orders')
    expect(rows.length).toBe(120)
    expect(rows[0]).toMatchObject({
      Ref: 'R0',
      Price: 0,
      Done: true,
      State: 'paid',
      Who: owner.id,
      Ages: 40,
      Double: 0,
    })
    expect(JSON.parse(String(rows[0]!.Names))).toEqual(['Ann', 'Bo'])
    expect(rows[1]!.Payer).toContain('"Bo"')
    const [comment] = (await comments.list.query({ tableId: table.id, recordId: Number(rows[2]!.$id) }))
      .comments
    expect(comment).toMatchObject({ text: 'Hello', createdBy: owner.id })
    const state = schema.fields.find(({ title }) => title === 'State')!
    const open = schema.views.find(({ title }) => title === 'Open')
    expect(open?.filter).toMatchObject({ children: [{ fieldId: state.id, operator: 'eq', value: 'open' }] })
    expect(open?.sorts).toMatchObject([{ direction: 'desc' }])
    expect(schema.views.find(({ title }) => title === 'Board')?.options).toMatchObject({
      stackFieldId: state.id,
    })
  })

  test('lists the members of the base there before the first run, if that is asked for', async () => {
    await source.signUp('stranger@example.com')
    const begin = { ...importFrom(account(), sourceBaseId), matchFirst: true }
    const { id, status } = await app.trpc(owner.token).baseImports.begin.mutate(begin)
    const { people } = await app.trpc(owner.token).baseImports.people.query({ importId: id })
    expect(status).toBe('paused')
    expect(people).toMatchObject([{ sourceId: sourceOwner.id, email: 'ann@example.com', memberId: owner.id }])
    await app.trpc(owner.token).baseImports.cancel.mutate({ importId: id, removes: true })
  })

  test('gives views the settings that have changed there since, unless they were changed here', async () => {
    const { baseImports, views } = app.trpc(owner.token)
    const there = source.trpc(sourceOwner.token)
    const { id } = await baseImports.begin.mutate(
      importFrom(account(), sourceBaseId, { keepCredentials: true }),
    )
    const { baseId } = await settled(app, owner, id)
    const original = await recordsOf(source, sourceOwner, sourceBaseId, 'Orders')
    const viewIn = ({ schema }: typeof original, title: string) =>
      schema.views.find((view) => view.title === title)!
    const fieldIn = ({ schema }: typeof original, title: string) =>
      schema.fields.find((field) => field.title === title)!.id
    const shownIn = (from: typeof original, title: string) =>
      viewIn(from, title)
        .fields.toSorted((a, b) => a.order - b.order)
        .flatMap(({ fieldId, show }) => (show ? [from.schema.fields.find((one) => one.id === fieldId)!] : []))
        .flatMap(({ title: name, isSystem }) => (isSystem ? [] : [name]))

    // Here: another sort of one view, which stays, and a field of our own, which is no change of a setting.
    const before = await recordsOf(app, owner, baseId!, 'Orders')
    const sorts = [{ fieldId: fieldIn(before, 'Ref'), direction: 'asc' as const }]
    await views.update.mutate({ viewId: viewIn(before, 'Board').id, patch: { sorts } })
    await app
      .trpc(owner.token)
      .schema.createField.mutate({ tableId: before.table.id, field: { title: 'Own', type: 'Number' } })

    const open = viewIn(original, 'Open')
    const filter = {
      join: 'and' as const,
      children: [{ fieldId: fieldIn(original, 'State'), operator: 'eq', value: 'paid' }],
    }
    await there.views.update.mutate({ viewId: open.id, patch: { filter, sorts: [] } })
    const hidden = open.fields.find(({ fieldId }) => fieldId === fieldIn(original, 'Done'))!
    await there.views.arrange.mutate({ viewId: open.id, fields: [{ ...hidden, show: false }] })
    const byPrice = [{ fieldId: fieldIn(original, 'Price'), direction: 'asc' as const }]
    await there.views.update.mutate({ viewId: viewIn(original, 'Board').id, patch: { sorts: byPrice } })

    await baseImports.again.mutate({ importId: id })
    expect(await settled(app, owner, id)).toMatchObject({ status: 'completed', run: 2 })
    const after = await recordsOf(app, owner, baseId!, 'Orders')
    expect(viewIn(after, 'Open')).toMatchObject({
      filter: { children: [{ fieldId: fieldIn(after, 'State'), value: 'paid' }] },
      sorts: [],
    })
    expect(shownIn(before, 'Open')).toContain('Done')
    expect(shownIn(after, 'Open')).not.toContain('Done')
    expect(shownIn(after, 'Open')).toContain('Own')
    expect(viewIn(after, 'Board').sorts).toMatchObject(sorts)
    const report = await baseImports.report.query({ importId: id })
    expect(report).toMatchObject([
      NOT_IMPORTED,
      { kind: 'changed', tableTitle: 'Orders', viewTitle: 'Board' },
    ])

    // Nothing has changed there since: neither a line nor a change.
    await views.update.mutate({ viewId: viewIn(after, 'Open').id, patch: { filter: null } })
    await baseImports.again.mutate({ importId: id })
    expect(await settled(app, owner, id)).toMatchObject({ status: 'completed', run: 3 })
    expect(viewIn(await recordsOf(app, owner, baseId!, 'Orders'), 'Open').filter).toBeNull()
    expect(await baseImports.report.query({ importId: id })).toMatchObject([NOT_IMPORTED])
  })

  test('follows comments that were edited and deleted there, unless somebody has edited or answered them here', async () => {
    const { baseImports, comments } = app.trpc(owner.token)
    const there = source.trpc(sourceOwner.token)
    const orders = await recordsOf(source, sourceOwner, sourceBaseId, 'Orders')
    const recordId = Number(orders.rows[5]!.$id)
    const written: Record<string, string> = {}
    for (const text of ['Typo', 'Gone', 'Edited', 'Answered']) {
      written[text] = (await there.comments.create.mutate({ tableId: orders.table.id, recordId, text })).id
    }
    const reply = { tableId: orders.table.id, recordId, text: 'Reply there', parentId: written.Typo! }
    await there.comments.create.mutate(reply)
    const { id } = await baseImports.begin.mutate(
      importFrom(account(), sourceBaseId, { keepCredentials: true }),
    )
    const { baseId } = await settled(app, owner, id)
    const { table, rows } = await recordsOf(app, owner, baseId!, 'Orders')
    const here = { tableId: table.id, recordId: Number(rows[5]!.$id) }
    const listed = async () => (await comments.list.query(here)).comments
    const idOf = async (text: string) => (await listed()).find((one) => one.text === text)!.id
    const parentOf = async (text: string) => (await listed()).find((one) => one.text === text)?.parentId
    expect(await parentOf('Reply there')).toBe(await idOf('Typo'))
    await comments.update.mutate({ commentId: await idOf('Edited'), text: 'Edited here' })
    await comments.create.mutate({ ...here, text: 'A reply', parentId: await idOf('Answered') })
    await there.comments.update.mutate({ commentId: written.Typo!, text: 'Corrected' })
    for (const text of ['Gone', 'Edited', 'Answered']) {
      await there.comments.remove.mutate({ commentId: written[text]! })
    }

    // What is missing is only removed on request.
    await baseImports.again.mutate({ importId: id })
    await settled(app, owner, id)
    const texts = async () => (await listed()).map(({ text }) => text).toSorted()
    expect(await texts()).toEqual(['A reply', 'Answered', 'Corrected', 'Edited here', 'Gone', 'Reply there'])

    await there.comments.create.mutate({ tableId: orders.table.id, recordId, text: 'New' })
    await baseImports.again.mutate({ importId: id, removeMissing: true })
    expect(await settled(app, owner, id)).toMatchObject({ status: 'completed', run: 3 })
    expect(await texts()).toEqual(['A reply', 'Answered', 'Corrected', 'Edited here', 'New', 'Reply there'])

    // A record without any comments left.
    await there.comments.remove.mutate({ commentId: written.Typo! })
    const all = await there.comments.list.query({ tableId: orders.table.id, recordId })
    for (const one of all.comments) await there.comments.remove.mutate({ commentId: one.id })
    await baseImports.again.mutate({ importId: id, removeMissing: true })
    expect(await settled(app, owner, id)).toMatchObject({ status: 'completed', run: 4 })
    expect(await texts()).toEqual(['A reply', 'Answered', 'Edited here'])
  })

  test('gives the first grid the order of the fields there, although links are created after others', async () => {
    const { baseImports } = app.trpc(owner.token)
    const there = source.trpc(sourceOwner.token)
    const { id: baseId } = await createBase(source, sourceOwner, 'Ordered')
    const fields = [{ title: 'Name', type: 'SingleLineText' as const }]
    const people = await there.schema.createTable.mutate({ baseId, title: 'People', fields })
    const { table } = await there.schema.createTable.mutate({ baseId, title: 'Jobs', fields })
    const link = { kind: 'bt' as const, relatedTableId: people.table.id }
    for (const field of [
      { title: 'Boss', type: 'LinkToAnotherRecord' as const, options: link },
      { title: 'Status', type: 'SingleLineText' as const },
    ])
      await there.schema.createField.mutate({ tableId: table.id, field })
    const schema = await there.schema.table.query({ tableId: table.id })
    const [grid] = schema.views
    const ordered = ['Name', 'Status', 'Boss'].map((title, at) => {
      const { id: fieldId } = schema.fields.find((field) => field.title === title)!
      return { fieldId, order: at + 1, show: true }
    })
    await there.views.arrange.mutate({ viewId: grid!.id, fields: ordered })
    const { id } = await baseImports.begin.mutate(importFrom(account(), baseId))
    const done = await settled(app, owner, id)
    const here = (await recordsOf(app, owner, done.baseId!, 'Jobs')).schema
    const titles = here.views[0]!.fields.toSorted((a, b) => a.order - b.order).flatMap(
      ({ fieldId }) => here.fields.find((field) => field.id === fieldId)?.title ?? [],
    )
    expect(titles.filter((title) => ['Name', 'Status', 'Boss'].includes(title))).toEqual([
      'Name',
      'Status',
      'Boss',
    ])
  })
})

/** An instance of NocoDB with a table of a connected database that has two keys. */
function startConnectedTable() {
  const lines = [
    { Order: 1, Line: 'a', Item: 'Pen' },
    { Order: 1, Line: 'b', Item: 'Ink' },
    { Order: 2, Line: 'a', Item: 'Pad' },
  ]
  const columns = [
    { id: 'c1', title: 'Order', uidt: 'Number', pk: true },
    { id: 'c2', title: 'Line', uidt: 'SingleLineText', pk: true },
    { id: 'c3', title: 'Item', uidt: 'SingleLineText', pv: true },
    { id: 'c4', title: 'Day', uidt: 'Date', meta: { date_format: 'YYYY [year] MM' } },
  ]
  const answers: Record<string, unknown> = {
    '/api/v2/meta/bases/b1/tables': { list: [{ id: 't1', title: 'Lines' }] },
    '/api/v2/meta/tables/t1': { id: 't1', title: 'Lines', columns, views: [] },
    '/api/v2/tables/t1/records': { list: lines, pageInfo: { isLastPage: true } },
    '/api/v2/meta/comments/count': [{ row_id: '1___b', count: 1 }],
    '/api/v2/meta/comments': {
      list: [{ id: 'm1', comment: 'Blue', created_by_email: null, created_at: '2024-03-05 08:20:30+00:00' }],
    },
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) => Response.json(answers[new URL(url).pathname] ?? {}),
  })
  return { server, lines }
}

describe('an import from NocoDB of a table of a connected database', () => {
  test('brings every record of a table with two keys, and the values of its keys', async () => {
    const { server, lines } = startConnectedTable()
    const { baseImports, comments } = app.trpc(owner.token)
    const from = { source: 'nocodb' as const, credentials: { address: server.url.origin, token: 'x' } }
    const { id } = await baseImports.begin.mutate(importFrom(from, 'b1'))
    const done = await settled(app, owner, id)
    await server.stop(true)
    expect(done).toMatchObject({ status: 'completed', tables: [{ read: 3, added: 3, changed: 0 }] })
    const { rows, table } = await recordsOf(app, owner, done.baseId!, 'Lines')
    expect(rows).toMatchObject(lines)
    const of = (row: Record<string, unknown>) =>
      comments.list.query({ tableId: table.id, recordId: Number(row.$id) })
    expect((await of(rows[1]!)).comments.map(({ text }) => text)).toEqual(['Blue'])
    expect((await of(rows[0]!)).comments).toEqual([])
  })

  test('leaves out a field with settings that do not exist here, and says so', async () => {
    const { server, lines } = startConnectedTable()
    const { baseImports } = app.trpc(owner.token)
    const from = { source: 'nocodb' as const, credentials: { address: server.url.origin, token: 'x' } }
    const { id } = await baseImports.begin.mutate(importFrom(from, 'b1'))
    const done = await settled(app, owner, id)
    await server.stop(true)
    const { rows, schema } = await recordsOf(app, owner, done.baseId!, 'Lines')
    expect(rows).toMatchObject(lines)
    expect(schema.fields.map(({ title }) => title)).not.toContain('Day')
    expect(await baseImports.report.query({ importId: id })).toMatchObject([
      NOT_IMPORTED,
      { kind: 'skipped', tableTitle: 'Lines', fieldTitle: 'Day' },
    ])
  })
})
