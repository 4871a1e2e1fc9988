import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { FROM_ANOTHER_BASE, lastChangeId } from '../../src/db/change-log/entry.ts'
import { doorOf, ended } from '../imports/support.ts'
import { type Bench, createBench, dump, refusalOf, type TestTable, testTable } from '../records/support.ts'
import { createBase } from '../support/factories.ts'
import { ownTableNames } from '../support/home.ts'

const MOVED = 'This table has been moved to another base'

let bench: Bench
let targetId: string

beforeAll(async () => {
  bench = await createBench()
  targetId = (await createBase(bench.app, bench.owner)).id
})
afterAll(() => bench.stop())

const reopen = async (tableId: string) =>
  testTable(bench.rest, await bench.trpc.schema.table.query({ tableId }))

const addField = (table: TestTable, title: string, type: string, options: object) =>
  bench.trpc.schema.createField.mutate({ tableId: table.id, field: { title, type, options } as never })

const link = (table: TestTable, fieldId: string, id: number, targets: number[], baseId = bench.baseId) =>
  bench.trpc.records.write.mutate({
    change: { baseId, operations: [{ kind: 'link', tableId: table.id, fieldId, id, targets }] },
  })

/** Moves tables; `meanwhile` runs when rows of the copy have been read and are about to be written. */
async function move(
  [first, ...further]: readonly TestTable[],
  { baseId = targetId, meanwhile }: { baseId?: string; meanwhile?: () => Promise<unknown> } = {},
) {
  const engine = await bench.app.kernel.sources.engine(baseId)
  const { exclusively } = engine
  if (meanwhile)
    Object.assign(engine, {
      async exclusively(work: () => Promise<unknown>) {
        Object.assign(engine, { exclusively })
        await meanwhile()
        return exclusively(work)
      },
    })
  const { jobId, tables } = await bench.trpc.copies.tableToBase.mutate({
    tableId: first?.id ?? '',
    furtherTableIds: further.map(({ id }) => id),
    baseId,
    isMove: true,
  })
  const { status, error } = await ended(doorOf(bench.app, bench.owner), jobId)
  return { status, error, newIds: tables.map(({ newId }) => newId) }
}

async function moved(
  tables: readonly TestTable[],
  options: Parameters<typeof move>[1] = {},
): Promise<TestTable[]> {
  const { status, error, newIds } = await move(tables, options)
  expect([status, error]).toEqual(['completed', null])
  return Promise.all(newIds.map(reopen))
}

/** The indexes of a base, with the table of each. Those of primary keys keep the names of their staging tables. */
async function indexesIn(baseId: string): Promise<string[]> {
  const { dialect, all } = await bench.app.kernel.sources.engine(baseId)
  const names: string[] = []
  for (const table of await ownTableNames(bench.app, baseId))
    for (const { name } of await all<{ name: string }>(dialect.listIndexes(table)))
      if (!/_pkey$|^sqlite_autoindex/.test(name)) names.push(`${table}: ${name}`)
  return names.toSorted()
}

/** A table with a unique field and links of each kind. */
async function linked(): Promise<{ items: TestTable; groups: TestTable }> {
  const groups = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'g' }, { Title: 'h' }])
  const code = { type: 'SingleLineText', unique: true } as const
  const items = await bench.table({ Title: 'SingleLineText', Code: code }, [
    { Title: 'a', Code: 'x' },
    { Title: 'b', Code: 'y' },
    { Title: 'c', Code: 'z' },
  ])
  await addField(items, 'Group', 'Links', { kind: 'bt', relatedTableId: groups.id })
  await addField(items, 'Next', 'Links', { kind: 'mm', relatedTableId: items.id })
  return { items: await reopen(items.id), groups: await reopen(groups.id) }
}

describe('the indexes of moved tables', () => {
  test('are built before writers wait, and have the names that they would have in a table created there', async () => {
    const { items, groups } = await linked()
    const { id: from } = await createBase(bench.app, bench.owner)
    const [first, second] = await moved([items, groups], { baseId: from })
    const before = await indexesIn(from)
    expect(before.filter((name) => name.endsWith('__unique'))).toHaveLength(2)
    expect(before).toContain(
      `${first?.schema.table.tableName}: ${first?.schema.table.tableName}__Code__unique`,
    )
    for (const name of before) expect(name.split(': ')[1]).toStartWith(`${name.split(': ')[0]}__`)

    const { id: to } = await createBase(bench.app, bench.owner)
    const view = { tableId: first!.id, title: 'Board', kind: 'kanban' } as const
    const { id: viewId } = await bench.trpc.views.create.mutate(view)
    const place = { kind: 'move' as const, tableId: first!.id, ids: [3], before: 1, viewId }
    await bench.trpc.records.write.mutate({ change: { baseId: from, operations: [place] } })
    const engine = await bench.app.kernel.sources.engine(to)
    const { writeScript } = engine
    const scripts: string[] = []
    Object.assign(engine, {
      writeScript: (script: Parameters<typeof writeScript>[0], options: Parameters<typeof writeScript>[1]) =>
        writeScript(async () => {
          const statements = typeof script === 'function' ? await script() : script
          scripts.push(...statements.map(({ sql }) => sql))
          return statements
        }, options),
    })
    await moved([first!, second!], { baseId: to })
    Object.assign(engine, { writeScript })
    expect(scripts.filter((text) => text.startsWith('alter table'))).toHaveLength(3)
    expect(scripts.filter((text) => /create (unique )?index|sheaf_places/.test(text))).toEqual([])
    expect(await engine.values({ sql: 'select count(*) from sheaf_places', params: [] })).toEqual([[1]])
    expect(await indexesIn(to)).toEqual(before)
    expect(await indexesIn(from)).toEqual(before)
  })

  test('follow the rules of their fields afterwards', async () => {
    const { items } = await linked()
    const [table] = await moved([items])
    const { rest, trpc } = bench
    const twice = { Title: 'd', Code: 'x' }
    expect((await rest.post(table?.path ?? '', twice)).status).toBe(400)
    await trpc.schema.updateField.mutate({
      fieldId: table?.field('Code').id ?? '',
      patch: { unique: false },
    })
    expect((await rest.post(table?.path ?? '', twice)).status).toBe(200)
  })

  test('get other names if a table of the same name is created meanwhile, and the move ends', async () => {
    const { items } = await linked()
    const { baseId } = bench
    const { id: to } = await createBase(bench.app, bench.owner)
    let created = 0
    const engine = await bench.app.kernel.sources.engine(baseId)
    const { exclusively } = engine
    // The first that asks for the lease of the source is the publication.
    Object.assign(engine, {
      async exclusively(work: () => Promise<unknown>) {
        if (created++ === 0)
          await bench.trpc.schema.createTable.mutate({ baseId: to, title: items.title, fields: [] })
        return exclusively(work)
      },
    })
    const [table] = await moved([items], { baseId: to })
    Object.assign(engine, { exclusively })
    expect(created).toBeGreaterThan(0)
    expect(table?.title).toBe(`${items.title}_1`)
    expect(await table?.titles()).toEqual(['a', 'b', 'c'])
    for (const name of await indexesIn(to))
      expect(name.split(': ')[1]).toStartWith(`${name.split(': ')[0]}__`)
  })
})

describe('a move', () => {
  test('of records that exchange their unique values meanwhile has the new ones', async () => {
    const { items } = await linked()
    const { rest } = bench
    const [table] = await moved([items], {
      async meanwhile() {
        for (const [Id, Code] of [
          [1, 'free'],
          [3, 'x'],
          [1, 'z'],
        ])
          expect((await rest.patch(items.path, { Id, Code })).status).toBe(200)
      },
    })
    expect((await table!.list()).map(({ Code }) => Code)).toEqual(['z', 'y', 'x'])
  })

  test('has what a field that becomes its values shows when the table moves, not when it was copied', async () => {
    const makers = await bench.table({ Title: 'SingleLineText', Town: 'SingleLineText' }, [
      { Title: 'Acme', Town: 'Rome' },
      { Title: 'Bolt', Town: 'Oslo' },
    ])
    const towns = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'Nice' }])
    const items = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }, { Title: 'b' }])
    const { id: relationFieldId } = await addField(items, 'Maker', 'Links', {
      kind: 'mm',
      relatedTableId: makers.id,
    })
    const { id: inTown } = await addField(makers, 'In', 'Links', { kind: 'mm', relatedTableId: towns.id })
    const lookup = (table: TestTable, title: string, options: object) =>
      addField(table, title, 'Lookup', options)
    const far = await lookup(makers, 'Far', {
      relationFieldId: inTown,
      targetFieldId: towns.field('Title').id,
    })
    await lookup(items, 'Town', { relationFieldId, targetFieldId: makers.field('Town').id })
    await lookup(items, 'Far', { relationFieldId, targetFieldId: far.id })
    await link(items, relationFieldId, 1, [1])
    await link(items, relationFieldId, 2, [2])
    await link(makers, inTown, 2, [1])
    const { rest } = bench
    const [table] = await moved([items], {
      async meanwhile() {
        expect((await rest.patch(makers.path, { Id: 1, Title: 'Acme Ltd', Town: 'Paris' })).status).toBe(200)
        expect((await rest.patch(towns.path, { Id: 1, Title: 'Lyon' })).status).toBe(200)
      },
    })
    expect(await table!.list()).toMatchObject([
      { Title: 'a', Maker: 'Acme Ltd', Town: 'Paris', Far: null },
      { Title: 'b', Maker: 'Bolt', Town: 'Oslo', Far: 'Lyon' },
    ])
  })

  test('shows no history before the tables, and leaves no staging table, index or history if it fails', async () => {
    const { items } = await linked()
    await bench.rest.patch(items.path, { Id: 1, Title: 'changed' })
    const { id: to } = await createBase(bench.app, bench.owner)
    const engine = await bench.app.kernel.sources.engine(to)
    const { sheaf_changes: entries = [], ...before } = await dump({ app: bench.app, baseId: to })
    const { writeScript } = engine
    let logged = 0
    let newest = 0
    let shown: string[] = []
    Object.assign(engine, {
      async writeScript(...given: Parameters<typeof writeScript>) {
        if (typeof given[0] !== 'function') return writeScript(...given)
        const found = await engine.all({
          sql: `select 1 from sheaf_changes where undone_by = ${FROM_ANOTHER_BASE}`,
          params: [],
        })
        logged = found.length
        newest = await lastChangeId(engine)
        const { actions } = await bench.trpc.records.actions.query({ baseId: to })
        shown = actions.map(({ kind }) => kind)
        throw new Error('The publication failed')
      },
    })
    const { status } = await move([items], { baseId: to })
    Object.assign(engine, { writeScript })
    expect(status).toBe('failed')
    // The history had been copied.
    expect(logged).toBeGreaterThan(1)
    expect(shown).toEqual([])
    const { sheaf_changes: left = [], ...after } = await dump({ app: bench.app, baseId: to })
    expect(after).toEqual(before)
    // Those who follow the log may have read the last entry: it stays, of no table, and the next ones get other ids.
    expect(left.slice(0, -1)).toEqual(entries)
    const [id, , , , tableId] = left.at(-1) as unknown[]
    expect([Number(id), tableId]).toEqual([newest, ''])
    expect(await (await reopen(items.id)).titles()).toEqual(['changed', 'b', 'c'])
  })
})

describe('a move whose last round takes too long', () => {
  let slow: Bench
  const moveWaitMs = 3_000
  beforeAll(async () => {
    slow = await createBench({ config: { moveWaitMs } })
  })
  afterAll(() => slow.stop())

  test('goes on later, with the records whose values it was replacing', async () => {
    const { app, trpc, rest, baseId } = slow
    const makers = await slow.table({ Title: 'SingleLineText' }, [{ Title: 'Acme' }])
    const items = await slow.table({ Title: 'SingleLineText' }, [{ Title: 'a' }, { Title: 'b' }])
    const { id: fieldId } = await trpc.schema.createField.mutate({
      tableId: items.id,
      field: { title: 'Maker', type: 'Links', options: { kind: 'mm', relatedTableId: makers.id } } as never,
    })
    await trpc.records.write.mutate({
      change: { baseId, operations: [{ kind: 'link', tableId: items.id, fieldId, id: 1, targets: [1] }] },
    })
    const to = await createBase(app, slow.owner)
    const [home, newHome] = await Promise.all([baseId, to.id].map((id) => app.kernel.sources.engine(id)))
    if (!home || !newHome) throw new Error('A base has no home')
    const [former, later] = [home.exclusively, newHome.exclusively]
    let isFilled = false
    let isHeld = false
    home.exclusively = (work) => {
      isHeld = true
      return former(work)
    }
    newHome.exclusively = async (work) => {
      // Read, and not written yet.
      if (!isFilled) await rest.patch(makers.path, { Id: 1, Title: 'Acme Ltd' })
      isFilled = true
      // The first turn of the last round removes rows, for which the next one has no time.
      if (isHeld) {
        newHome.exclusively = later
        await Bun.sleep(moveWaitMs + 100)
      }
      return later(work)
    }
    const { jobId, tableId } = await trpc.copies.tableToBase.mutate({
      tableId: items.id,
      baseId: to.id,
      isMove: true,
    })
    expect(await ended(doorOf(app, slow.owner), jobId)).toMatchObject({ status: 'completed', error: null })
    const table = testTable(rest, await trpc.schema.table.query({ tableId }))
    expect(await table.list()).toMatchObject([
      { Title: 'a', Maker: 'Acme Ltd' },
      { Title: 'b', Maker: null },
    ])
  })
})

describe('undoing a change of links after the tables have moved', () => {
  /** Links records, and returns the action that does it. */
  async function linkedBy(table: TestTable, fieldId: string, targets: number[]): Promise<number> {
    await link(table, fieldId, 1, targets)
    const next = await bench.trpc.records.nextAction.query({ baseId: bench.baseId, direction: 'undo' })
    return next?.id ?? 0
  }

  test('is refused, and changes nothing in the originals', async () => {
    const { items, groups } = await linked()
    const { baseId, trpc } = bench
    const actions = [
      await linkedBy(items, items.field('Next').id, [2]),
      await linkedBy(items, items.field('Group').id, [1]),
    ]
    const [table] = await moved([items, groups])
    const before = await dump(bench)
    for (const entryId of actions)
      expect(await refusalOf(trpc.records.undo.mutate({ baseId, entryId }))).toMatchObject({
        status: 404,
        message: expect.stringContaining(MOVED),
      })
    expect(await dump(bench)).toEqual(before)
    expect((await table!.list('?where=(Id,eq,1)'))[0]).toMatchObject({ Next: 1, Group: { Title: 'g' } })
  })

  test('made in a table that stays shows in the originals once they are restored, and not in the moved table', async () => {
    const { items } = await linked()
    const staying = await bench.table({ Title: 'SingleLineText' }, [{ Title: 's' }])
    const { id: fieldId } = await addField(staying, 'Items', 'Links', {
      kind: 'mm',
      relatedTableId: items.id,
    })
    const entryId = await linkedBy(staying, fieldId, [1])
    const end = (await reopen(items.id)).schema.fields.find(
      ({ options }) => (options as { inverseFieldId?: string }).inverseFieldId === fieldId,
    )
    const [table] = await moved([items])
    const { baseId, trpc } = bench
    await trpc.records.undo.mutate({ baseId, entryId })
    const [first] = await table!.list('?where=(Id,eq,1)')
    expect(first?.[end?.title ?? '']).toBe('s')
    await trpc.schema.restoreTable.mutate({ tableId: items.id })
    const [original] = await (await reopen(items.id)).list('?where=(Id,eq,1)')
    expect(original).toMatchObject({ [end?.title ?? '']: 0 })
    expect(await (await reopen(staying.id)).list()).toMatchObject([{ Items: 0 }])
  })
})
