import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readLinks } from '../../src/core/fields/list-value.ts'
import type { LinkResult } from '../../src/core/imports/link-result.ts'
import type { Base } from '../../src/core/model.ts'
import type { TestApp, TestUser } from '../support/app.ts'
import { createMember } from '../support/factories.ts'
import {
  analyse,
  type Door,
  ended,
  formatOf,
  openImports,
  reportOf,
  resultOf,
  rowsOf,
  upload,
} from './support.ts'

let app: TestApp
let owner: TestUser
let base: Base
let door: Door

beforeAll(async () => {
  ;({ app, owner, base, door } = await openImports())
})
afterAll(() => app.stop())

type StartInput = Parameters<ReturnType<TestApp['trpc']>['imports']['startAll']['mutate']>[0][number]
type Link = NonNullable<StartInput['columns'][number]['link']>

/** A CSV file as the input of an import into a new table, with links by the column's title. */
async function table(title: string, file: string, links: Record<string, Link> = {}): Promise<StartInput> {
  const titles = file.slice(0, file.indexOf('\n')).split(',')
  return {
    baseId: base.id,
    uploadId: await upload(door, file),
    format: formatOf(file),
    width: titles.length,
    timeZone: 'UTC',
    columns: titles.map((name, index) => ({ index, link: links[name] })),
    table: { title, fields: titles.map((name) => ({ title: name, type: 'LongText' })) },
  }
}

/** Imports tables together; the rows of each, with linked records by name. */
async function importAll(inputs: StartInput[], user = owner) {
  const jobs = await app.trpc(user.token).imports.startAll.mutate(inputs)
  const results = await Promise.all(jobs.map(({ jobId }) => ended(door, jobId)))
  const imported = results.slice(0, inputs.length).map(resultOf)
  const last = results[inputs.length]
  return {
    tableIds: imported.map(({ tableId }) => tableId),
    links: last?.result as LinkResult | undefined,
    report: last ? await reportOf(door, last.id) : [],
    rows: await Promise.all(imported.map(({ tableId }) => namedRows(tableId))),
  }
}

/** The rows of a table; links as the names of the linked records. */
async function namedRows(tableId: string): Promise<Record<string, unknown>[]> {
  const rows = await rowsOf(door, tableId)
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([title, value]) => {
        const { count, records } = readLinks(value)
        return [title, count > 0 ? records.map((record) => record.title) : value]
      }),
    ),
  )
}

const CUSTOMERS = 'Name,City\nAnn,Rome\n"Smith, John",Oslo\nTwin,A\nTwin,B\n'
const toFirst = (missing: 'create' | 'report'): Link => ({ to: { table: 0 }, missing })

let made = 0
const names = () => {
  made++
  return { customers: `Customers ${made}`, orders: `Orders ${made}` }
}

describe('tables that are imported together with links', () => {
  test('are refused with a link to no table, from a display field, from an existing table, and by an editor', async () => {
    const { customers, orders } = names()
    const trpc = app.trpc(owner.token)
    const start = async (links: Record<string, Link>, patch: Partial<StartInput> = {}) =>
      trpc.imports.startAll.mutate([
        await table(customers, CUSTOMERS),
        { ...(await table(orders, 'No,Customer\n1,Ann\n', links)), ...patch },
      ])
    const before = await trpc.schema.tables.query({ baseId: base.id })
    expect(start({ Customer: { to: { table: 7 } } })).rejects.toThrow('not imported with it')
    expect(start({ No: toFirst('create') })).rejects.toThrow('display field can’t become a link')
    expect(start({ Customer: { to: { tableId: 'none' } } })).rejects.toThrow('not found')
    const { table: existing } = await trpc.schema.createTable.mutate({
      baseId: base.id,
      title: `Old ${made}`,
    })
    expect(start({ Customer: { to: { tableId: existing.id }, by: 'row' } })).rejects.toThrow('not imported')
    expect(
      start({ Customer: toFirst('create') }, { table: undefined, tableId: existing.id }),
    ).rejects.toThrow('existing tables can’t become links')
    const editor = await createMember(app, base.id, 'editor')
    const asEditor = [await table(customers, CUSTOMERS)]
    expect(app.trpc(editor.token).imports.startAll.mutate(asEditor)).rejects.toThrow()
    expect(await trpc.schema.tables.query({ baseId: base.id })).toHaveLength(before.length + 1)
  })

  test('report names that no record has, or several, and link the others', async () => {
    const { customers, orders } = names()
    const file = 'No,Customer\n1,Ann \n2,"Smith, John"\n3,Zoe\n4,Twin\n5,\n'
    const { rows, links, report } = await importAll([
      await table(customers, CUSTOMERS),
      await table(orders, file, { Customer: toFirst('report') }),
    ])
    expect(rows[1]?.map(({ Customer }) => Customer)).toEqual([['Ann'], ['Smith, John'], null, null, null])
    expect(links?.columns).toMatchObject([
      { field: 'Customer', related: customers, linked: 2, refused: 2, created: 0, problem: null },
    ])
    expect(report).toEqual([
      `4,${orders}: Customer,Zoe,No record in “${customers}” is named “Zoe”`,
      `5,${orders}: Customer,Twin,"Several records in “${customers}” are named “Twin”, so none of them is linked"`,
    ])
    expect(rows[0]).toHaveLength(4)
  })

  test('create the records that are missing, each once, whichever table comes first', async () => {
    const { customers, orders } = names()
    const file = 'No,Customer\n1,Zoe\n2,"Doe, Max"\n3, Zoe\n4,Ann\n'
    const { rows, links } = await importAll([
      await table(orders, file, { Customer: { to: { table: 1 }, missing: 'create' } }),
      await table(customers, CUSTOMERS),
    ])
    expect(rows[0]?.map(({ Customer }) => Customer)).toEqual([['Zoe'], ['Doe, Max'], ['Zoe'], ['Ann']])
    expect(rows[1]?.map(({ Name }) => Name)).toEqual([
      'Ann',
      'Smith, John',
      'Twin',
      'Twin',
      'Zoe',
      'Doe, Max',
    ])
    expect(links?.columns).toMatchObject([{ linked: 4, refused: 0, created: 2 }])
    expect(links?.problems).toBe(0)
  })

  test('find and create records by days and times in the time zone of the import', async () => {
    const { customers, orders } = names()
    const timeZone = 'America/New_York'
    const meetings = {
      ...(await table(customers, 'At\n2024-03-05 18:30\n')),
      table: { title: customers, fields: [{ title: 'At', type: 'DateTime' as const }] },
    }
    const notes = await table(orders, 'No,Meeting\n1,2024-03-05 18:30\n2,2024-03-06 18:30\n', {
      Meeting: toFirst('create'),
    })
    const { rows, links } = await importAll([
      { ...meetings, timeZone },
      { ...notes, timeZone },
    ])
    expect(links?.columns).toMatchObject([{ linked: 2, refused: 0, created: 1, problem: null }])
    expect(rows[0]?.map(({ At }) => At)).toEqual(['2024-03-05 23:30:00+00:00', '2024-03-06 23:30:00+00:00'])
  })

  test('link several records where cells list them by commas or lines', async () => {
    const { customers, orders } = names()
    const file = 'No,Customer\n1,"Ann, Zoe"\n2,"Ann\nSmith, John"\n3,"""Smith, John"", Max"\n4,Ann\n'
    const { rows, links } = await importAll([
      await table(customers, 'Name\nAnn\n"Smith, John"\n'),
      await table(orders, file, { Customer: toFirst('create') }),
    ])
    expect(rows[1]?.map(({ Customer }) => Customer).slice(0, 1)).toEqual([['Ann', 'Zoe']])
    expect(rows[1]?.[2]?.Customer).toEqual(['Smith, John', 'Max'])
    expect(links?.columns).toMatchObject([{ refused: 0 }])
  })

  test('link to tables of the base and to themselves', async () => {
    const { customers, orders } = names()
    const first = await importAll([await table(customers, CUSTOMERS)])
    const [tableId = ''] = first.tableIds
    const file = 'Task,Customer,Parent\nRoot,Ann,\nLeaf,Zoe,Root\nTwig,Ann,Leaf\n'
    const { rows, links } = await importAll([
      await table(orders, file, {
        Customer: { to: { tableId }, missing: 'create' },
        Parent: { to: { table: 0 }, missing: 'report' },
      }),
    ])
    expect(rows[0]).toMatchObject([
      { Task: 'Root', Customer: ['Ann'], Parent: null },
      { Task: 'Leaf', Customer: ['Zoe'], Parent: ['Root'] },
      { Task: 'Twig', Customer: ['Ann'], Parent: ['Leaf'] },
    ])
    expect(links?.columns.map(({ field, created }) => [field, created])).toEqual([
      ['Customer', 1],
      ['Parent', 0],
    ])
    expect((await namedRows(tableId)).at(-1)).toMatchObject({ Name: 'Zoe' })
  })

  test('leave the text where the other table was not imported, and say so', async () => {
    const { customers, orders } = names()
    const trpc = app.trpc(owner.token)
    const broken = { ...(await table(customers, CUSTOMERS)), uploadId: await upload(door, 'Name\n"Ann') }
    const jobs = await trpc.imports.startAll.mutate([
      broken,
      await table(orders, 'No,Customer\n1,Ann\n', { Customer: toFirst('create') }),
    ])
    await trpc.jobs.cancel.mutate({ jobId: jobs[0]?.jobId ?? '' })
    const [first, second, links] = await Promise.all(jobs.map(({ jobId }) => ended(door, jobId)))
    if (first?.status === 'completed') return
    expect(await namedRows(resultOf(second!).tableId)).toEqual([{ No: '1', Customer: 'Ann' }])
    expect(links?.result).toMatchObject({
      columns: [{ problem: 'The table that it links to was not imported' }],
    })
  })

  test('are taken back by undo: first the link, which is text again', async () => {
    const { customers, orders } = names()
    const { tableIds } = await importAll([
      await table(customers, CUSTOMERS),
      await table(orders, 'No,Customer\n1,Ann\n2,Zoe\n', { Customer: toFirst('report') }),
    ])
    await app.trpc(owner.token).records.undo.mutate({ baseId: base.id })
    expect((await namedRows(tableIds[1] ?? '')).map(({ Customer }) => Customer)).toEqual(['Ann', 'Zoe'])
    await app.trpc(owner.token).records.redo.mutate({ baseId: base.id })
    expect((await namedRows(tableIds[1] ?? '')).map(({ Customer }) => Customer)).toEqual([['Ann'], null])
  })
})

describe('tables of the base that columns of a file may link to', () => {
  test('are not found in a base that does not exist, by a super admin either', async () => {
    const asked = { baseId: 'no id of a base', columns: [{ title: 'Who', values: ['Ann'] }] }
    await expect(app.trpc(owner.token).imports.matchTables.query(asked)).rejects.toMatchObject({
      data: { appCode: 'BASE_NOT_FOUND' },
    })
  })

  test('are found by the names of their records, also in lists, and numbers only by their title', async () => {
    const { customers, orders } = names()
    await importAll([await table(customers, CUSTOMERS), await table(orders, 'No,Sum\n1,5\n2,6\n3,7\n4,8\n')])
    const columns = [
      { title: 'Who', values: ['Ann', 'Smith, John', 'Twin'] },
      { title: 'Customers', values: ['Ann, Twin', 'Nobody', ''] },
      { title: 'Weight', values: ['1', '2', '3', '4'] },
      { title: orders, values: ['1', '2'] },
      { title: 'Note', values: ['x'] },
    ]
    const found = await app.trpc(owner.token).imports.matchTables.query({ baseId: base.id, columns })
    const matches = (title: string) =>
      found
        .find((each) => each.title === title)
        ?.columns.map(({ column, count, found: named, isLikely }) => [column, count, named, isLikely])
    expect(matches(customers)).toEqual([
      [0, 3, 3, true],
      [1, 2, 1, false],
    ])
    expect(matches(orders)).toEqual([
      [2, 4, 4, false],
      [3, 2, 2, true],
    ])
  })

  test('are found by days and times in the time zone of the import', async () => {
    const owned = app.trpc(owner.token)
    const { table: meetings, fields } = await owned.schema.createTable.mutate({
      baseId: base.id,
      title: 'Meetings',
      fields: [{ title: 'At', type: 'DateTime' }],
    })
    const values = { [fields.find(({ isDisplay }) => isDisplay)!.id]: '2024-03-05 23:30:00+00:00' }
    const operations = [{ kind: 'insert' as const, tableId: meetings.id, rows: [{ values }] }]
    await owned.records.write.mutate({ change: { baseId: base.id, operations } })
    const columns = [{ title: 'Meeting', values: ['2024-03-05 18:30'] }]
    const asked = { baseId: base.id, columns, timeZone: 'America/New_York' }
    const found = await owned.imports.matchTables.query(asked)
    expect(found.find(({ tableId }) => tableId === meetings.id)?.columns).toMatchObject([{ found: 1 }])
  })
})

describe('lists of objects in the records of a JSON file', () => {
  const FILE = JSON.stringify([
    { order: 'A', lines: [{ item: 'Pen', taxes: [{ rate: 7 }, { rate: 19 }] }, { item: 'Ink' }] },
    {},
    { order: 'B', lines: [] },
    { order: 'C', lines: [{ item: 'Cup', taxes: [{ rate: 5 }] }] },
  ])

  test('are offered as tables, and kept as JSON by default', async () => {
    const tables = await analyse(door, await upload(door, FILE))
    expect(tables.map(({ name, isHidden, parent }) => [name, isHidden, parent])).toEqual([
      ['', false, undefined],
      ['lines', true, { table: 0, column: 1 }],
      ['taxes', true, { table: 1, column: 2 }],
    ])
    expect(tables[0]?.analysis?.fields.map(({ title, type }) => [title, type])).toEqual([
      ['order', 'SingleLineText'],
      ['lines', 'JSON'],
    ])
    expect(tables[1]?.analysis?.fields.map(({ title }) => title)).toEqual(['Parent', 'item', 'taxes'])
    expect(tables[2]?.analysis?.rows).toEqual([
      ['1', '7'],
      ['1', '19'],
      ['3', '5'],
    ])
  })

  test('are not offered where a record has something else in their place', async () => {
    for (const other of ['{"a": "x"}', '{"a": [1]}', '{"a": [{"n": 1}, 2]}']) {
      for (const file of [`[{"a": [{"n": 1}]}, ${other}]`, `[${other}, {"a": [{"n": 1}]}]`]) {
        expect(await analyse(door, await upload(door, file))).toHaveLength(1)
      }
    }
  })

  test('become tables that are linked to their records, at every level', async () => {
    const uploadId = await upload(door, FILE)
    const tables = await analyse(door, uploadId)
    const title = (at: number) => ['Sale', 'Line', 'Tax'][at] ?? ''
    const inputs = tables.map(({ analysis }, at): StartInput => {
      if (!analysis) throw new Error('The table has no rows')
      const wanted = analysis.fields.flatMap((field, index) =>
        field.type === 'JSON' ? [] : [{ field, index }],
      )
      return {
        baseId: base.id,
        uploadId,
        format: analysis.format,
        width: analysis.fields.length,
        columns: wanted.map(({ index }) => ({
          index,
          link: at > 0 && index === 0 ? { to: { table: at - 1 }, by: 'row' as const } : undefined,
        })),
        table: {
          title: title(at),
          fields: wanted.map(({ field: { title: name, type }, index }) => ({
            title: name,
            type,
            isDisplay: index === (at > 0 ? 1 : 0),
          })),
        },
      }
    })
    // The lists first: the order does not matter.
    const { rows, links } = await importAll(inputs)
    expect(rows[1]).toMatchObject([
      { Parent: ['A'], item: 'Pen' },
      { Parent: ['A'], item: 'Ink' },
      { Parent: ['C'], item: 'Cup' },
    ])
    expect(rows[2]).toMatchObject([
      { line: ['Pen'], rate: 7 },
      { line: ['Pen'], rate: 19 },
      { line: ['Cup'], rate: 5 },
    ])
    expect(rows[0]?.map(({ order }) => order)).toEqual(['A', 'B', 'C'])
    expect(links?.columns.map(({ linked, refused }) => [linked, refused])).toEqual([
      [3, 0],
      [3, 0],
    ])
  })
})
