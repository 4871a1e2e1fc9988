import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { readList } from '../../src/core/fields/list-value.ts'
import { groupKeyOf } from '../../src/core/group-key.ts'
import type { Sort } from '../../src/core/model.ts'
import type { GroupKey, GroupRequest } from '../../src/core/query.ts'
import { EVERY_TYPE, STORED_VALUES } from './every-type.ts'
import { createLibrary, type Library } from './library.ts'
import { type Bench, createBench, refusalOf, type TestTable } from './support.ts'

let bench: Bench
let library: Library
let tasks: TestTable

const OPTIONS = { choices: ['Todo', 'Doing', 'Done'].map((title) => ({ title })) }
const ROWS = [
  { Title: 'a', Status: 'Done', Points: 3, Done: true, Tags: 'Todo,Done', At: '2024-03-01 23:30:00+00:00' },
  { Title: 'b', Status: 'Todo', Points: 5, Tags: 'Done,Todo', At: '2024-03-01 12:00:00+00:00' },
  { Title: 'c', Points: 1, Done: false, Tags: 'Done' },
  { Title: 'd', Status: 'Done', Points: 4, Done: true, At: '2024-03-02 01:00:00+00:00' },
  { Title: 'e', Status: 'Doing', Points: null, At: '2024-03-01 22:30:00+00:00' },
  { Title: 'f', Status: 'Done', Points: 10 },
]

beforeAll(async () => {
  bench = await createBench()
  library = await createLibrary(bench)
  tasks = await bench.table(
    {
      Title: 'SingleLineText',
      Status: { type: 'SingleSelect', options: OPTIONS },
      Points: 'Number',
      Done: 'Checkbox',
      Tags: { type: 'MultiSelect', options: OPTIONS },
      At: 'DateTime',
    },
    ROWS,
  )
})

afterAll(() => bench.stop())

const by = (table: TestTable, ...titles: string[]): Sort[] =>
  titles.map((title) => ({
    fieldId: table.field(title.replace('-', '')).id,
    direction: title.startsWith('-') ? 'desc' : 'asc',
  }))

const groupsOf = (table: TestTable, groups: Sort[], more: Partial<GroupRequest> = {}) =>
  bench.trpc.records.groups.query({
    request: {
      selection: { tableId: table.id },
      groups,
      summaries: [],
      limit: 100,
      offset: 0,
      ...more,
    },
  })

/** Keys and counts. */
const listed = async (table: TestTable, groups: Sort[], more: Partial<GroupRequest> = {}) =>
  (await groupsOf(table, groups, more)).groups.map(({ keys, count }) => [...keys, count])

const idsIn = async (table: TestTable, query: { group?: GroupKey[]; groups?: Sort[]; timeZone?: string }) =>
  (await bench.trpc.records.list.query({ query: { tableId: table.id, limit: 100, offset: 0, ...query } })).ids

describe('records.groups', () => {
  test('refuses what a table cannot answer', async () => {
    const ask = (request: object) => refusalOf(groupsOf(tasks, by(tasks, 'Status'), request))
    const unknown = { fieldId: 'cnobody', direction: 'asc' as const }
    expect(await ask({ groups: [unknown] })).toMatchObject({ code: 'FIELD_NOT_FOUND', status: 404 })
    expect((await ask({ groups: [] })).status).toBe(400)
    expect((await ask({ groups: by(tasks, 'Status', 'Done', 'Title', 'Points') })).status).toBe(400)
    expect((await ask({ limit: 0 })).status).toBe(400)
    const summaries = [{ fieldId: tasks.field('Title').id, summary: 'sum' }]
    expect(await ask({ summaries })).toMatchObject({ code: 'BAD_REQUEST', status: 400 })
    const selection = { tableId: tasks.id, group: [{ fieldId: tasks.field('Points').id, value: 'many' }] }
    expect((await ask({ selection })).message).toContain('Points')
    const numbered = [{ fieldId: tasks.field('Title').id, value: 1e300 }]
    expect(await idsIn(tasks, { group: numbered })).toEqual([])
  })

  test('lists groups in the order of options, boxes never touched as off, sets in any order as one', async () => {
    expect(await listed(tasks, by(tasks, 'Status'))).toEqual([
      [null, 1],
      ['Todo', 1],
      ['Doing', 1],
      ['Done', 3],
    ])
    expect(await listed(tasks, by(tasks, '-Status'))).toEqual([
      ['Done', 3],
      ['Doing', 1],
      ['Todo', 1],
      [null, 1],
    ])
    expect(await listed(tasks, by(tasks, 'Done'))).toEqual([
      [false, 4],
      [true, 2],
    ])
    expect(await listed(tasks, by(tasks, 'Tags'))).toEqual([
      [null, 3],
      ['Todo,Done', 2],
      ['Done', 1],
    ])
  })

  test('has the records of a set as it was stored where a field has too many options to sort it', async () => {
    const choices = Array.from({ length: 201 }, (_, at) => ({ title: `T${at}` }))
    const tagged = await bench.table(
      { Title: 'SingleLineText', Tags: { type: 'MultiSelect', options: { choices } } },
      [
        { Title: 'sorted', Tags: 'T1,T2' },
        { Title: 'not sorted', Tags: 'T2,T1' },
      ],
    )
    const fieldId = tagged.field('Tags').id
    expect(await listed(tagged, by(tagged, 'Tags'))).toEqual([
      ['T1,T2', 1],
      ['T2,T1', 1],
    ])
    expect(await idsIn(tagged, { group: [{ fieldId, value: 'T1,T2' }] })).toEqual([1])
    expect(await idsIn(tagged, { group: [{ fieldId, value: 'T2,T1' }] })).toEqual([2])
  })

  test('groups moments by their day where the person is', async () => {
    const selection = { tableId: tasks.id, timeZone: 'Europe/Berlin' }
    expect(await listed(tasks, by(tasks, 'At'), { selection })).toEqual([
      [null, 2],
      ['2024-03-01', 2],
      ['2024-03-02', 2],
    ])
    expect(await listed(tasks, by(tasks, 'At'))).toEqual([
      [null, 2],
      ['2024-03-01', 3],
      ['2024-03-02', 1],
    ])
    const group = [{ fieldId: tasks.field('At').id, value: '2024-03-02' }]
    expect(await idsIn(tasks, { group, timeZone: 'Europe/Berlin' })).toEqual([1, 4])
    const local = tasks.field('At')
    expect(groupKeyOf(local, '2024-03-01 23:30:00+00:00', 'Europe/Berlin')).toBe('2024-03-02')
  })

  test('lists groups of groups with their summaries, and only what the rest of the selection lets through', async () => {
    const points = tasks.field('Points').id
    const { groups } = await groupsOf(tasks, by(tasks, '-Status', 'Done'), {
      summaries: [{ fieldId: points, summary: 'median' }],
      selection: {
        tableId: tasks.id,
        filter: { fieldId: tasks.field('Title').id, operator: 'neq', value: 'b' },
      },
    })
    expect(groups.map(({ keys, count, summaries }) => [keys, count, summaries[points]])).toEqual([
      [['Done'], 3, 4],
      [['Done', false], 1, 10],
      [['Done', true], 2, 3.5],
      [['Doing'], 1, null],
      [['Doing', false], 1, null],
      [[null], 1, 1],
      [[null, false], 1, 1],
    ])
  })

  test('pages by groups of the first level', async () => {
    const groups = by(tasks, 'Status', 'Title')
    const first = await groupsOf(tasks, groups, { limit: 2 })
    expect([first.hasMore, first.groups.map(({ keys }) => keys)]).toEqual([
      true,
      [[null], [null, 'c'], ['Todo'], ['Todo', 'b']],
    ])
    const last = await groupsOf(tasks, groups, { limit: 2, offset: 2 })
    expect([last.hasMore, last.groups.length]).toEqual([false, 6])
    const group = [{ fieldId: tasks.field('Status').id, value: 'Done' }]
    expect(
      await listed(tasks, by(tasks, 'Title'), { selection: { tableId: tasks.id, group }, offset: 1 }),
    ).toEqual([
      ['d', 1],
      ['f', 1],
    ])
  })

  test('pages as it lists, in both directions, where records have an empty text or none', async () => {
    const names = ['b', null, 'a', '', 'a', 'c', null, 'b', '']
    const rows = names.map((Name, at) => ({ Name, Num: at % 3 === 0 ? null : at % 4, Done: at % 2 === 0 }))
    const table = await bench.table({ Name: 'SingleLineText', Num: 'Number', Done: 'Checkbox' }, rows)
    const { dialect, writeScript } = await bench.app.kernel.sources.engine(bench.baseId)
    const [name, box] = [table.field('Name'), table.field('Done')].map(({ columnName }) =>
      dialect.quote(columnName),
    )
    const own = dialect.quote(table.schema.table.tableName)
    // Written past the write door, which keeps no empty text and no untouched box apart.
    await writeScript([
      { sql: `update ${own} set ${name} = '' where id in (4, 9)`, params: [] },
      { sql: `update ${own} set ${box} = null where id in (2, 4)`, params: [] },
    ])
    expect(await listed(table, by(table, 'Name'))).toEqual([
      [null, 4],
      ['a', 2],
      ['b', 2],
      ['c', 1],
    ])
    expect(await listed(table, by(table, 'Done', 'Name'))).toEqual([
      [false, 4],
      [false, null, 2],
      [false, 'b', 1],
      [false, 'c', 1],
      [true, 5],
      [true, null, 2],
      [true, 'a', 2],
      [true, 'b', 1],
    ])
    for (const title of ['Name', '-Name', 'Num', '-Num', 'Done', '-Done']) {
      const all = await listed(table, by(table, title))
      for (let offset = 0; offset <= all.length; offset++) {
        for (const limit of [1, 2]) {
          const page = await groupsOf(table, by(table, title), { limit, offset })
          expect(page.groups.map(({ keys, count }) => [...keys, count])).toEqual(
            all.slice(offset, offset + limit),
          )
          expect(page.hasMore).toBe(offset + limit < all.length)
        }
      }
    }
  })

  test('groups by links, and by what is computed over them', async () => {
    const { authors, books, tags } = library
    await library.addThrough(books, 'Tag names', 'Tags', [tags, 'Title'])
    await library.addThrough(authors, 'Total', 'Books', [books, 'Price'], 'sum')
    const dear = await library.add(books, 'Dear', 'Formula', { formula: 'IF({Price} > 8, "yes", "no")' })
    const on = async (table: TestTable, title: string) => [
      { fieldId: (await library.field(table, title)).id, direction: 'asc' as const },
    ]
    expect(await listed(books, await on(books, 'Author'))).toEqual([
      [null, 1],
      ['Asimov', 1],
      ['Tolkien', 2],
    ])
    expect(await listed(books, await on(books, 'Tags'))).toEqual([
      [0, 2],
      [1, 1],
      [2, 1],
    ])
    const lists = await listed(books, await on(books, 'Tag names'))
    expect(lists.map(([list, count]) => [readList(list ?? null), count])).toEqual([
      [[], 2],
      [['fantasy'], 1],
      [['fantasy', 'classic'], 1],
    ])
    expect(await listed(authors, await on(authors, 'Total'))).toEqual([
      [0, 1],
      [5, 1],
      [30.5, 1],
    ])
    expect(await listed(books, [{ fieldId: dear.id, direction: 'desc' }])).toEqual([
      ['yes', 2],
      ['no', 2],
    ])
    const { id } = await library.field(books, 'Author')
    expect(await idsIn(books, { group: [{ fieldId: id, value: 'Tolkien' }] })).toEqual([1, 2])
  })

  test('answers for a field of every type, in the order in which the records then stand', async () => {
    const table = await bench.table(EVERY_TYPE)
    const columns = Object.entries(STORED_VALUES)
    const rows = Array.from({ length: 20 }, (_, at) => {
      const values = columns.map(([title, list]) => [table.field(title).id, list[at % list.length] ?? null])
      return { values: Object.fromEntries(values) }
    })
    const operations = [{ kind: 'insert' as const, tableId: table.id, rows }]
    await bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations } })
    for (const field of table.schema.fields) {
      const groups: Sort[] = [{ fieldId: field.id, direction: 'asc' }]
      const { groups: found } = await groupsOf(table, groups)
      const ids: unknown[] = []
      for (const { keys, count } of found) {
        const own = await idsIn(table, { group: [{ fieldId: field.id, value: keys[0] ?? null }] })
        expect([field.type, keys, own.length]).toEqual([field.type, keys, count])
        ids.push(...own)
      }
      expect([field.type, ids]).toEqual([field.type, await idsIn(table, { groups })])
    }
  })

  test('asks one statement for each level, whatever the summaries', async () => {
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const { values } = engine
    let asked = 0
    engine.values = (statement, options) => {
      asked++
      return values(statement, options)
    }
    const summaries = [{ fieldId: tasks.field('Points').id, summary: 'median' }]
    try {
      await groupsOf(tasks, by(tasks, 'Status', 'Done', 'Title'), { summaries, limit: 2, offset: 1 })
    } finally {
      engine.values = values
    }
    expect(asked).toBe(3)
  })
})

describe('the records of a group', () => {
  const inStatus = (value: CellValue) => [{ fieldId: tasks.field('Status').id, value }]

  test('are counted, summed up, and found at their place in a grouped list', async () => {
    const selection = { tableId: tasks.id, group: inStatus('Done') }
    expect(await bench.trpc.records.count.query({ selection })).toEqual({ count: 3 })
    const points = tasks.field('Points').id
    const summaries = [{ fieldId: points, summary: 'sum' }]
    expect(await bench.trpc.records.summaries.query({ selection, summaries })).toEqual({ [points]: 17 })
    const groups = by(tasks, '-Status')
    expect(await idsIn(tasks, { groups })).toEqual([1, 4, 6, 5, 2, 3])
    const query = { tableId: tasks.id, groups, limit: 1, offset: 0 }
    expect(await bench.trpc.records.position.query({ query, recordId: 5 })).toEqual({ offset: 3 })
    expect(await idsIn(tasks, { group: inStatus(null) })).toEqual([3])
    expect(await idsIn(tasks, { group: inStatus('') })).toEqual([3])
  })

  test('are changed and deleted as a whole, and come back by undo', async () => {
    const { trpc, baseId } = bench
    const selection = { tableId: tasks.id, group: inStatus('Done') }
    const values = tasks.values({ Title: 'closed' })
    expect((await trpc.records.updateMatching.mutate({ selection, values })).count).toBe(3)
    expect(await tasks.titles()).toEqual(['closed', 'b', 'c', 'closed', 'e', 'closed'])
    await trpc.records.undo.mutate({ baseId })
    expect((await trpc.records.deleteMatching.mutate({ selection })).count).toBe(3)
    expect(await tasks.titles()).toEqual(['b', 'c', 'e'])
    await trpc.records.undo.mutate({ baseId })
    expect(await tasks.titles()).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  })
})
