import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readLinks } from '../../src/core/fields/list-value.ts'
import type { TableAnalysis } from '../../src/core/imports/analysis.ts'
import { type DraftTarget, draftColumns, toStartInput } from '../../src/core/imports/draft.ts'
import { type LinkableDraft, proposeLinks } from '../../src/core/imports/propose-links.ts'
import type { Base, Field } from '../../src/core/model.ts'
import type { TestApp, TestUser } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'
import { type ConnectedDatabase, createConnected, ENGINES, type EngineKind } from './connected-support.ts'
import { analyse, type Door, ended, openImports, reportOf, resultOf, rowsOf, upload } from './support.ts'

let app: TestApp
let owner: TestUser
let base: Base
let door: Door

beforeAll(async () => {
  ;({ app, owner, base, door } = await openImports())
})
afterAll(() => app.stop())

const ORDERS = [
  {
    No: 'o1',
    Note: 'first',
    Lines: [
      { Sku: 'a', Qty: 1 },
      { Sku: 'b', Qty: 2 },
    ],
  },
  { No: 'o2', Note: 'second', Lines: [{ Sku: 'c', Qty: 3 }] },
  { No: 'o3', Note: 'third', Lines: [] },
]

let made = 0

/** A table of orders with these numbers, and one of lines that a link of the orders leads to. */
async function orders(numbers: string[], { linked = false }: { linked?: boolean } = {}) {
  const trpc = app.trpc(owner.token)
  const n = ++made
  const create = (title: string, fields: { title: string; type: 'SingleLineText' | 'Number' }[]) =>
    trpc.schema.createTable.mutate({ baseId: base.id, title: `${title} ${n}`, fields })
  const { table } = await create('Orders', [
    { title: 'No', type: 'SingleLineText' },
    { title: 'Note', type: 'SingleLineText' },
  ])
  const fieldOf = async (tableId: string, title: string): Promise<Field> => {
    const { fields } = await trpc.schema.table.query({ tableId })
    const found = fields.find((field) => field.title === title)
    if (!found) throw new Error(`No field ${title}`)
    return found
  }
  const no = await fieldOf(table.id, 'No')
  if (numbers.length > 0)
    await trpc.records.write.mutate({
      change: {
        baseId: base.id,
        operations: [
          { kind: 'insert', tableId: table.id, rows: numbers.map((each) => ({ values: { [no.id]: each } })) },
        ],
      },
    })
  if (!linked) return { tableId: table.id, title: table.title, fieldOf, linesId: '' }
  const lines = await create('Lines', [
    { title: 'Sku', type: 'SingleLineText' },
    { title: 'Qty', type: 'Number' },
  ])
  await trpc.schema.createField.mutate({
    tableId: table.id,
    field: { title: 'Lines', type: 'Links', options: { kind: 'hm', relatedTableId: lines.table.id } },
  })
  return { tableId: table.id, title: table.title, fieldOf, linesId: lines.table.id }
}

/** An existing table as the dialog knows it. */
async function existing(tableId: string): Promise<Extract<DraftTarget, { kind: 'append' }>> {
  const { table, fields } = await app.trpc(owner.token).schema.table.query({ tableId })
  return { kind: 'append', tableId, title: table.title, fields }
}

/** The tables of a file with their targets, as the dialog starts their imports. */
function inputsOf(uploadId: string, tables: readonly TableAnalysis[], targets: readonly DraftTarget[]) {
  const drafts = targets.map((target, key): LinkableDraft => {
    const { analysis = null, parent = null } = tables[key] ?? {}
    return {
      key,
      isOn: true,
      parent: parent && { key: parent.table, column: parent.column },
      target,
      analysis,
      columns: analysis ? draftColumns(analysis, target) : [],
    }
  })
  return proposeLinks(drafts, () => []).map(({ analysis, columns, target }) =>
    toStartInput({ baseId: base.id, uploadId, analysis: analysis! }, columns, target, (key) => key),
  )
}

type Inputs = ReturnType<typeof inputsOf>
type Input = Inputs[number]

async function begin(file: unknown, targets: DraftTarget[]): Promise<Inputs> {
  const uploadId = await upload(door, JSON.stringify(file), 'orders.json')
  return inputsOf(uploadId, await analyse(door, uploadId), targets)
}

/** Imports tables together. */
async function run(inputs: Inputs) {
  const jobs = await app.trpc(owner.token).imports.startAll.mutate(inputs)
  const ends = await Promise.all(jobs.map(({ jobId }) => ended(door, jobId)))
  expect(ends.map(({ status, error }) => [status, error])).toEqual(ends.map(() => ['completed', null]))
  return {
    tableIds: ends.slice(0, inputs.length).map((job) => resultOf(job).tableId),
    results: ends.slice(0, inputs.length).map(resultOf),
    reports: await Promise.all(jobs.map(({ jobId }) => reportOf(door, jobId))),
  }
}

/** The rows of a table with the names of linked records, sorted by their first field. */
async function named(tableId: string): Promise<Record<string, unknown>[]> {
  const rows = (await rowsOf(door, tableId)).map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([title, value]) => {
        const { count, records } = readLinks(value)
        return [title, count > 0 ? records.map((record) => String(record.title)).toSorted() : value]
      }),
    ),
  )
  return rows.toSorted((x, y) => String(Object.values(x)[0]).localeCompare(String(Object.values(y)[0])))
}

/** The ids of a table's records. */
async function rowIds(tableId: string): Promise<number[]> {
  const engine = await app.kernel.sources.engine(base.id)
  const { table, primaryKey } = await app.services.schema.load(tableId)
  const [id, name] = [primaryKey.columnName, table.tableName].map(engine.dialect.quote)
  const rows = await engine.all<{ id: number }>({ sql: `select ${id} as id from ${name}`, params: [] })
  return rows.map((row) => Number(row.id))
}

const skusOf = async (tableId: string, link = 'Lines') =>
  (await named(tableId)).map(({ No, [link]: lines }) => [No, Array.isArray(lines) ? lines : null])

describe('lists in the records of a JSON file for an existing table', () => {
  test('become a new table that is linked with the new records', async () => {
    const { tableId } = await orders(['o0'])
    const title = `New lines ${made}`
    const { tableIds, reports } = await run(
      await begin(ORDERS, [await existing(tableId), { kind: 'new', title }]),
    )
    expect(reports).toEqual([[], [], []])
    expect(await skusOf(tableId, title)).toEqual([
      ['o0', null],
      ['o1', ['a', 'b']],
      ['o2', ['c']],
      ['o3', null],
    ])
    expect((await named(tableIds[1]!)).map(({ Sku, Qty }) => [Sku, Qty])).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ])
  })

  test('go into the table of a link field, with columns matched by name', async () => {
    const { tableId, linesId } = await orders(['o0'], { linked: true })
    await run(await begin(ORDERS, [await existing(tableId), await existing(linesId)]))
    expect(await skusOf(tableId)).toEqual([
      ['o0', null],
      ['o1', ['a', 'b']],
      ['o2', ['c']],
      ['o3', null],
    ])
    expect((await named(linesId)).map(({ Sku, Qty }) => [Sku, Qty])).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ])
  })

  test('are linked with records that the file finds, whether it changes them or not, and once however often it is read', async () => {
    const { tableId, linesId, fieldOf } = await orders(['o2', 'o1'], { linked: true })
    const update = { mode: 'updateAndAdd' as const, emptyCells: 'keep' as const }
    const targets = async (): Promise<DraftTarget[]> => [
      { ...(await existing(tableId)), update: { ...update, keys: [(await fieldOf(tableId, 'No')).id] } },
      { ...(await existing(linesId)), update: { ...update, keys: [(await fieldOf(linesId, 'Sku')).id] } },
    ]
    for (const [added, unchanged] of [
      [1, 0],
      [0, 3],
    ]) {
      const { results } = await run(await begin(ORDERS, await targets()))
      expect(results[0]?.update).toMatchObject({ added, unchanged })
      expect(await skusOf(tableId)).toEqual([
        ['o1', ['a', 'b']],
        ['o2', ['c']],
        ['o3', null],
      ])
      expect(await named(linesId)).toHaveLength(3)
    }
    // A line that is in another order by now goes there.
    const moved = [{ No: 'o3', Lines: [{ Sku: 'a', Qty: 1 }] }]
    const { results } = await run(await begin(moved, await targets()))
    expect(results[1]?.update).toMatchObject({ added: 0, changed: 1 })
    expect(await skusOf(tableId)).toEqual([
      ['o1', ['b']],
      ['o2', ['c']],
      ['o3', ['a']],
    ])
  })

  test('are counted by a preview, as many as the import then links', async () => {
    const { tableId, linesId, title, fieldOf } = await orders(['o2'], { linked: true })
    const update = { mode: 'updateAndAdd' as const, emptyCells: 'keep' as const }
    const targets: DraftTarget[] = [
      { ...(await existing(tableId)), update: { ...update, keys: [(await fieldOf(tableId, 'No')).id] } },
      { ...(await existing(linesId)), update: { ...update, keys: [(await fieldOf(linesId, 'Sku')).id] } },
    ]
    await run(await begin([{ No: 'o1', Lines: [{ Sku: 'a' }, { Sku: 'c' }] }], targets))
    // “a” stays, “b” is new, “c” moves, and “d” belongs to a new order.
    const inputs = await begin([...ORDERS, { No: 'o4', Lines: [{ Sku: 'd' }] }], targets)
    const links = [{ field: title, related: title, count: 3 }]
    const previews = await run(inputs.map((input) => ({ ...input, preview: true })))
    expect(previews.results.map((result) => result.links ?? [])).toEqual([[], links])
    expect(previews.results[1]?.update).toMatchObject({ isPreview: true, added: 2, changed: 2 })
    expect(await skusOf(tableId)).toEqual([
      ['o1', ['a', 'c']],
      ['o2', null],
    ])
    const { results } = await run(inputs)
    expect(results[1]?.links).toEqual(links)
    expect(await skusOf(tableId)).toEqual([
      ['o1', ['a', 'b']],
      ['o2', ['c']],
      ['o3', null],
      ['o4', ['d']],
    ])
  })

  test('of which all rows are added are counted by a preview as well, those without their record left out', async () => {
    const { tableId, linesId, fieldOf } = await orders(['o1'], { linked: true })
    const update = { mode: 'add' as const, emptyCells: 'keep' as const }
    const keys = [(await fieldOf(tableId, 'No')).id]
    const inputs = await begin(ORDERS, [
      { ...(await existing(tableId)), update: { ...update, keys } },
      await existing(linesId),
    ])
    for (const preview of [true, false]) {
      const { results } = await run(inputs.map((input) => ({ ...input, preview })))
      expect([preview, results[1]?.links?.map(({ count }) => count)]).toEqual([preview, [1]])
      expect(await named(linesId)).toHaveLength(preview ? 0 : 3)
    }
  })

  test('report those whose record was not imported, and keep them without the link', async () => {
    const { tableId, linesId, title, fieldOf } = await orders(['o1'], { linked: true })
    const no = await fieldOf(tableId, 'No')
    const parent = await existing(tableId)
    const update = { mode: 'add' as const, emptyCells: 'keep' as const, keys: [no.id] }
    const { reports } = await run(await begin(ORDERS, [{ ...parent, update }, await existing(linesId)]))
    const reason = `The record in “${title}” that it belongs to was not found`
    expect(reports[1]?.map((line) => line.replaceAll('"', ''))).toEqual([
      `1,Orders ${made},1,${reason}`,
      `2,Orders ${made},1,${reason}`,
    ])
    expect(await skusOf(tableId)).toEqual([
      ['o1', null],
      ['o2', ['c']],
      ['o3', null],
    ])
  })

  test('link lists within lists, and a table with itself', async () => {
    const { tableId } = await orders([])
    const nested = [{ No: 'o1', Lines: [{ Sku: 'a', Parts: [{ Part: 'p1' }, { Part: 'p2' }] }] }]
    const [lines, parts] = [`Nested lines ${made}`, `Parts ${made}`]
    const { tableIds } = await run(
      await begin(nested, [
        await existing(tableId),
        { kind: 'new', title: lines },
        { kind: 'new', title: parts },
      ]),
    )
    expect((await named(tableIds[1]!))[0]).toMatchObject({ Sku: 'a', [parts]: ['p1', 'p2'] })
    const trpc = app.trpc(owner.token)
    await trpc.schema.createField.mutate({
      tableId,
      field: { title: 'Below', type: 'Links', options: { kind: 'hm', relatedTableId: tableId } },
    })
    const tree = [{ No: 't1', Below: [{ No: 't2', Below: [{ No: 't3' }] }, { No: 't4' }] }]
    const self = await existing(tableId)
    await run(await begin(tree, [self, self, self]))
    expect((await skusOf(tableId, 'Below')).slice(1)).toEqual([
      ['t1', ['t2', 't4']],
      ['t2', ['t3']],
      ['t3', null],
      ['t4', null],
    ])
  })

  test('create no records for rows that were not imported', async () => {
    const { tableId, linesId, fieldOf } = await orders(['o1'], { linked: true })
    const no = await fieldOf(tableId, 'No')
    const update = { mode: 'add' as const, emptyCells: 'keep' as const, keys: [no.id] }
    const [own, lines] = (await begin(ORDERS, [
      { ...(await existing(tableId)), update },
      await existing(linesId),
    ])) as [Input, Input]
    const columns = lines.columns.map((column) =>
      column.link ? { ...column, missing: 'create' as const } : column,
    )
    await run([own, { ...lines, columns }])
    expect(await skusOf(tableId)).toEqual([
      ['o1', null],
      ['o2', ['c']],
      ['o3', null],
    ])
  })

  test('are taken back by an undo of their own, before or after that of the records', async () => {
    for (const isFirst of [true, false]) {
      const { tableId, linesId } = await orders(['o0'], { linked: true })
      const { results } = await run(await begin(ORDERS, [await existing(tableId), await existing(linesId)]))
      const [records, lines] = results.map(({ changeId }) => changeId ?? 0)
      const { records: client } = app.trpc(owner.token)
      const undo = (entryId = 0) => client.undo.mutate({ baseId: base.id, entryId })
      await undo(isFirst ? lines : records)
      expect(await skusOf(tableId)).toEqual(
        isFirst ? ['o0', 'o1', 'o2', 'o3'].map((each) => [each, null]) : [['o0', null]],
      )
      expect(await named(linesId)).toHaveLength(isFirst ? 0 : 3)
      await undo(isFirst ? records : lines)
      expect(await skusOf(tableId)).toEqual([['o0', null]])
      expect(await named(linesId)).toEqual([])
    }
  })

  /** Lets a job of the base wait until it is released, and those that are started meanwhile. */
  async function occupyBase(): Promise<() => void> {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const kind = `occupies the base ${++made}`
    app.kernel.jobs.register(kind, { run: () => released, recover: async () => null })
    await app.kernel.jobs.start(kind, { userId: owner.id, baseId: base.id, input: {} })
    return release
  }

  test('are not imported if their records were not, whatever an interrupted run has left', async () => {
    const { tableId, linesId } = await orders(['o0'], { linked: true })
    const inputs = await begin(ORDERS, [await existing(tableId), await existing(linesId)])
    const release = await occupyBase()
    const [records, lines] = await app.trpc(owner.token).imports.startAll.mutate(inputs)
    await app.kernel.jobs.cancel(records?.jobId ?? '')
    // As a server leaves it that ends before the records are committed.
    const [there] = await rowIds(tableId)
    writeFileSync(join(app.config.dataDir, 'reports', `${records?.jobId}.rows`), `1 ${there}\n`)
    release()
    const { status, error } = await ended(door, lines?.jobId ?? '')
    expect([status, error]).toEqual(['failed', 'The records that these ones belong to were not imported'])
    expect(await named(linesId)).toEqual([])
  })

  test('are linked with records of an existing table even if the job that links new tables is cancelled', async () => {
    const { tableId, linesId } = await orders([], { linked: true })
    const inputs = await begin(ORDERS, [await existing(tableId), await existing(linesId)])
    const release = await occupyBase()
    const ids = (await app.trpc(owner.token).imports.startAll.mutate(inputs)).map(({ jobId }) => jobId)
    const [records = '', lines = '', links = ''] = ids
    // Between the two imports.
    const stop = app.kernel.events.on('job.changed', ({ id, status }) => {
      if (id === records && status === 'completed') void app.kernel.jobs.cancel(links)
    })
    release()
    const [{ status: imported, error }, { status: linked }] = await Promise.all([
      ended(door, lines),
      ended(door, links),
    ])
    stop()
    expect([imported, error, linked]).toEqual(['completed', null, 'cancelled'])
    expect(await skusOf(tableId)).toEqual([
      ['o1', ['a', 'b']],
      ['o2', ['c']],
      ['o3', null],
    ])
  })

  test('are imported after their records, and before what names them, even if the records name that', async () => {
    const { tableId, linesId } = await orders([], { linked: true })
    const trpc = app.trpc(owner.token)
    const { table: areas } = await trpc.schema.createTable.mutate({
      baseId: base.id,
      title: `Areas ${made}`,
      fields: [{ title: 'Area', type: 'SingleLineText' }],
    })
    const link = (from: string, title: string, relatedTableId: string) =>
      trpc.schema.createField.mutate({
        tableId: from,
        field: { title, type: 'Links', options: { kind: 'mm', relatedTableId } },
      })
    await link(areas.id, 'Best', linesId)
    await link(tableId, 'Area', areas.id)
    const sold = ORDERS.map((order) => ({ ...order, Area: 'north' }))
    const lists = await begin(sold, [await existing(tableId), await existing(linesId)])
    const naming = await begin([{ Area: 'north', Best: 'a' }], [await existing(areas.id)])
    await run([...lists, ...naming])
    expect(await skusOf(tableId)).toEqual([
      ['o1', ['a', 'b']],
      ['o2', ['c']],
      ['o3', null],
    ])
    expect(await named(areas.id)).toMatchObject([{ Area: 'north', Best: ['a'] }])
  })

  test('are refused for a field that leads elsewhere, and in a circle; an editor may not create their table', async () => {
    const first = await orders([], { linked: true })
    const second = await orders([], { linked: true })
    const trpc = app.trpc(owner.token)
    const start = (inputs: Inputs, user = owner) => app.trpc(user.token).imports.startAll.mutate(inputs)
    const parent = await existing(first.tableId)
    const other = await begin(ORDERS, [parent, await existing(second.linesId)])
    expect(other[1]?.columns.map(({ link }) => link)).toEqual([undefined, undefined])
    const back = await second.fieldOf(second.linesId, second.title)
    const link = { to: { table: 0 }, by: 'row' as const, missing: 'report' as const }
    const column = { index: 0, decimal: undefined, fieldId: back.id, link }
    const [own, lines] = other as [Input, Input]
    const elsewhere = [own, { ...lines, columns: [...lines.columns, column] }]
    await expect(start(elsewhere)).rejects.toThrow('does not link to the table')
    const plain = { ...lines.columns[0]!, link }
    await expect(start([own, { ...lines, columns: [plain] }])).rejects.toThrow('does not link to the table')
    const self = { ...lines, columns: [{ ...column, link: { ...link, to: { table: 1 } } }] }
    await expect(start([own, self])).rejects.toThrow('not imported with it')
    const editor = await createMember(app, base.id, 'editor')
    const uploadId = await upload({ ...door, token: editor.token }, JSON.stringify(ORDERS), 'orders.json')
    const created = inputsOf(uploadId, await analyse({ ...door, token: editor.token }, uploadId), [
      parent,
      { kind: 'new', title: 'Not created' },
    ])
    await expect(start(created, editor)).rejects.toThrow()
    const tables = await trpc.schema.tables.query({ baseId: base.id })
    expect(tables.map(({ title }) => title)).not.toContain('Not created')
    expect(await named(first.tableId)).toEqual([])
  })
})

describe('POST /api/v2/tables/{tableId}/import?nested=true', () => {
  const send = async (tableId: string, token: string, query = '', file: unknown = ORDERS) => {
    const answer = await fetch(
      `${app.url}/api/v2/tables/${tableId}/import?nested=true&name=orders.json${query}`,
      {
        method: 'POST',
        headers: { 'xc-auth': token, 'content-type': 'application/octet-stream' },
        body: JSON.stringify(file),
      },
    )
    return {
      status: answer.status,
      body: (await answer.json()) as { msg?: string; id: string; jobs: { id: string }[] },
    }
  }

  test('is refused to an editor where it would create a table, and nothing is imported', async () => {
    const { tableId } = await orders([])
    const editor = await createMember(app, base.id, 'editor')
    expect((await send(tableId, editor.token)).status).toBe(403)
    expect(await named(tableId)).toEqual([])
  })

  test('is refused for a table of a connected database, over tRPC as well, and nothing is written there', async () => {
    const own = await createBase(app, owner)
    const database = await createConnected(
      'sqlite',
      ['create table orders (id integer primary key, No text, Note text)'],
      app.config.dataDir,
    )
    const trpc = app.trpc(owner.token)
    const connecting = await trpc.sources.create.mutate({ baseId: own.id, ...database.sent })
    await ended(door, connecting.id)
    const [table] = await trpc.schema.tables.query({ baseId: own.id })
    const { status, body } = await send(table!.id, owner.token)
    expect([status, body.msg]).toEqual([
      400,
      'Lists in the records of a table of a connected database can’t be imported with links. Import the file into new tables, or each list on its own.',
    ])
    const inputs = await begin(ORDERS, [await existing(table!.id), { kind: 'new', title: 'Lines' }])
    expect(inputs[1]?.columns.map(({ link }) => link)).toEqual([undefined, undefined])
    const [records, lines] = inputs.map((input) => ({ ...input, baseId: own.id })) as [Input, Input]
    const link = { to: { table: 0 }, by: 'row' as const, missing: 'report' as const }
    const linked: Input = {
      ...lines,
      columns: [{ index: 0, decimal: undefined, link }, ...lines.columns],
      table: {
        title: 'Lines',
        fields: [{ title: 'Order', type: 'Number', isDisplay: false }, ...(lines.table?.fields ?? [])],
      },
    }
    await expect(trpc.imports.startAll.mutate([records, linked])).rejects.toThrow('connected databases')
    expect(await database.ask('select * from orders')).toEqual([])
    await database.stop()
  })

  test('fills the table of the link field that is called like the list, by an editor as well', async () => {
    const { tableId, linesId } = await orders(['o2'], { linked: true })
    const editor = await createMember(app, base.id, 'editor')
    const { status, body } = await send(tableId, editor.token, '&keys=No')
    expect([status, body.jobs[0]?.id]).toEqual([200, body.id])
    for (const { id } of body.jobs) expect(await ended(door, id)).toMatchObject({ status: 'completed' })
    expect(await skusOf(tableId)).toEqual([
      ['o1', ['a', 'b']],
      ['o2', ['c']],
      ['o3', null],
    ])
    expect(await named(linesId)).toHaveLength(3)
  })

  test('counts in a preview the links of lists that go into existing tables', async () => {
    const { tableId, linesId } = await orders(['o2'], { linked: true })
    const { status, body } = await send(tableId, owner.token, '&keys=No&preview=true')
    expect(status).toBe(200)
    const ends = await Promise.all(body.jobs.map(({ id }) => ended(door, id)))
    expect(ends.map((job) => job.status)).toEqual(['completed', 'completed', 'completed'])
    expect(resultOf(ends[1]!)).toMatchObject({ links: [{ count: 3 }], update: { isPreview: true, added: 3 } })
    expect([await skusOf(tableId), await named(linesId)]).toEqual([[['o2', null]], []])
  })

  test('links records that name theirs as well by their place in the file', async () => {
    const { tableId, title, linesId, fieldOf } = await orders([], { linked: true })
    await fieldOf(linesId, title)
    const file = ORDERS.map((order) => ({
      ...order,
      Lines: order.Lines.map((line) => ({ ...line, [title]: order.No })),
    }))
    const { status, body } = await send(tableId, owner.token, '', file)
    expect([status, body.msg]).toEqual([200, undefined])
    for (const { id } of body.jobs) expect(await ended(door, id)).toMatchObject({ status: 'completed' })
    expect(await skusOf(tableId)).toEqual([
      ['o1', ['a', 'b']],
      ['o2', ['c']],
      ['o3', null],
    ])
  })

  test('creates a linked table where no link field is called so', async () => {
    const { tableId } = await orders(['o1'])
    const { body } = await send(tableId, owner.token)
    const ends = await Promise.all(body.jobs.map(({ id }) => ended(door, id)))
    expect(ends.map(({ kind, status }) => [kind, status])).toEqual([
      ['import', 'completed'],
      ['import', 'completed'],
      ['import-links', 'completed'],
    ])
    const { title } = resultOf(ends[1]!)
    const related = resultOf(ends[0]!).title
    expect(ends[2]?.progress).toMatchObject({
      done: 3,
      total: 3,
      unit: 'rows',
      link: { table: title, related },
    })
    const links = await skusOf(tableId, title)
    expect(links).toHaveLength(4)
    expect(links).toContainEqual(['o1', ['a', 'b']])
    expect(links).toContainEqual(['o2', ['c']])
  })
})

for (const kind of ENGINES) {
  describe(`lists for new tables of a connected database (${kind})`, () => {
    let own: Base
    let sourceId: string
    let database: ConnectedDatabase

    beforeAll(async () => {
      own = await createBase(app, owner)
      database = await createConnected(kind, ['create table seen (id integer)'], app.config.dataDir)
      const connecting = await app
        .trpc(owner.token)
        .sources.create.mutate({ baseId: own.id, ...database.sent })
      sourceId = ((await ended(door, connecting.id)).result as { id: string }).id
    })
    afterAll(() => database.stop())

    const tableOf = async (tableId: string) => app.trpc(owner.token).schema.table.query({ tableId })

    test('are linked by a foreign key, lists within lists too, and shown on both sides', async () => {
      const file = ORDERS.map((order) => ({
        ...order,
        Lines: order.Lines.map((line) => ({
          ...line,
          order_id: `of ${order.No}`,
          Parts: [{ Part: `${line.Sku}1` }, { Part: `${line.Sku}2` }],
        })),
      }))
      const form = new FormData()
      form.append('file', new Blob([JSON.stringify(file)]), 'orders.json')
      const titles = ['Orders', 'Lines', 'Parts']
      const tables = titles.map((title, position) => ({ position, title }))
      form.append('options', JSON.stringify({ sourceId, nested: true, tables }))
      const answer = await fetch(`${app.url}/api/v2/meta/bases/${own.id}/import`, {
        method: 'POST',
        headers: { 'xc-auth': owner.token },
        body: form,
      })
      const body = (await answer.json()) as { message?: string; jobs: { id: string }[] }
      expect([answer.status, body.message]).toEqual([200, undefined])
      const ends = await Promise.all(body.jobs.map(({ id }) => ended(door, id)))
      expect(ends.map(({ status, error }) => [status, error])).toEqual(ends.map(() => ['completed', null]))
      expect(
        await database.ask(
          `select o.No, l.Sku, p.Part from Parts p join Lines l on l.id = p.Line_id
            join Orders o on o.id = l.Order_id order by p.Part`.replace(
            /\b(No|Sku|Part|Parts|Lines|Orders|Line_id|Order_id)\b/g,
            quoted(kind),
          ),
        ),
      ).toEqual([
        { No: 'o1', Sku: 'a', Part: 'a1' },
        { No: 'o1', Sku: 'a', Part: 'a2' },
        { No: 'o1', Sku: 'b', Part: 'b1' },
        { No: 'o1', Sku: 'b', Part: 'b2' },
        { No: 'o2', Sku: 'c', Part: 'c1' },
        { No: 'o2', Sku: 'c', Part: 'c2' },
      ])
      expect(ends.slice(0, 3).map((job) => resultOf(job).links)).toEqual([
        undefined,
        [{ field: 'Order', related: 'Orders', count: 3 }],
        [{ field: 'Line', related: 'Lines', count: 6 }],
      ])
      const [orderId, lineId] = ends.map((job) => resultOf(job).tableId)
      expect((await named(orderId!)).map(({ No, Lines }) => [No, Lines])).toEqual([
        ['o1', ['a', 'b']],
        ['o2', ['c']],
        ['o3', null],
      ])
      expect((await named(lineId!)).map(({ Sku, Order }) => [Sku, Order])).toEqual([
        ['a', ['first']],
        ['b', ['first']],
        ['c', ['second']],
      ])
      // The database refuses what belongs to no record.
      if (kind === 'sqlite') await database.ask('pragma foreign_keys = on')
      await expect(
        database.ask(
          `insert into Lines (Order_id) values (99)`.replace(/\b(Lines|Order_id)\b/g, quoted(kind)),
        ),
      ).rejects.toThrow()
      // A synchronization finds nothing to change.
      const { fields } = await tableOf(lineId!)
      const synced = await app.trpc(owner.token).schema.differences.query({ baseId: own.id, sourceId })
      expect([fields.filter(({ title }) => title === 'Order').length, synced]).toEqual([1, []])
    })
  })
}

/** Quotes names as the database does, whose case it keeps. */
const quoted = (kind: EngineKind) => (name: string) => (kind === 'mariadb' ? `\`${name}\`` : `"${name}"`)
