import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Condition } from '../../src/core/filters/index.ts'
import type { Engine, Statement } from '../../src/dialects/dialect.ts'
import { type Bench, createBench, type TestTable } from '../records/support.ts'
import { until } from '../support/until.ts'
import { performanceOf } from './support.ts'

/** Distinct numbers, one day each, 40 names and three states. */
const RECORDS = 9_000
const DAYS = 3_000

let bench: Bench
let engine: Engine
beforeAll(async () => {
  // Every read of a large table counts as slow.
  bench = await createBench({ config: { indexSlowMs: 0.001 } })
  engine = await bench.app.kernel.sources.engine(bench.baseId)
})
afterAll(() => bench.stop())

let table: TestTable
beforeEach(async () => {
  table = await createTable(bench)
})

async function createTable({ app, baseId, table: create }: Bench): Promise<TestTable> {
  const made = await create({
    Name: 'SingleLineText',
    Num: 'Number',
    Day: 'Date',
    State: {
      type: 'SingleSelect',
      options: { choices: [{ title: 'rare' }, { title: 'often' }, { title: 'few' }] },
    },
    Note: 'LongText',
  })
  const { dialect, location, writeScript } = await app.kernel.sources.engine(baseId)
  const { quote } = dialect
  const [name, num, day, state] = ['Name', 'Num', 'Day', 'State'].map((title) =>
    quote(made.field(title).columnName),
  )
  const isFile = location.client === 'sqlite3'
  const numbers = isFile
    ? `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${RECORDS}) `
    : ''
  const from = isFile ? 'n' : `generate_series(1, ${RECORDS}) as n(i)`
  const date = isFile ? `date('2020-01-01', (i % ${DAYS}) || ' days')` : `date '2020-01-01' + (i % ${DAYS})`
  const states = `case i % 400 when 0 then 'rare' when 1 then 'few' else 'often' end`
  await writeScript([
    {
      sql: `insert into ${quote(made.schema.table.tableName)} (${quote('nc_order')}, ${name}, ${num}, ${day}, ${state})
        ${numbers}select i, 'name ' || (i % 40), (i * 7919) % ${RECORDS}, ${date}, ${states} from ${from}`,
      params: [],
    },
  ])
  app.kernel.events.emit('records.changed', {
    id: 1,
    baseId,
    actorId: null,
    at: '',
    records: [],
    truncated: true,
    tableIds: [made.id],
  })
  return made
}

const maintain = () => bench.app.services.indexes.maintain(() => true)
const indexesOf = () => bench.trpc.indexes.list.query({ tableId: table.id })

/** The titles of the first fields of each index. */
async function firstFields(count = 1): Promise<string[]> {
  const titleOf = (id: string) => table.schema.fields.find((field) => field.id === id)?.title
  return (await indexesOf()).map(({ terms }) =>
    terms
      .slice(0, count)
      .map(({ fieldId }) => titleOf(fieldId))
      .join(),
  )
}

const condition = (title: string, operator: string, value: Condition['value'], more = {}): Condition => ({
  fieldId: table.field(title).id,
  operator,
  value,
  ...more,
})

async function page(filter: Condition, more: object = {}, { trpc } = bench) {
  const query = {
    tableId: table.id,
    fieldIds: [table.field('Num').id],
    filter,
    limit: 50,
    offset: 0,
    ...more,
  }
  return trpc.records.list.query({ query: query as never })
}

/** A condition that few records meet, with another value each time. */
const RARE: [string, (at: number) => Condition][] = [
  ['above a number', (at) => condition('Num', 'gt', RECORDS - 10 - at)],
  ['below a number', (at) => condition('Num', 'lt', 10 + at)],
  ['between numbers', (at) => condition('Num', 'btw', [100 + at, 120 + at])],
  ['on a day', (at) => condition('Day', 'eq', `2021-03-${10 + at}`, { operand: 'exactDate' })],
  ['before a day', (at) => condition('Day', 'lt', `2020-01-${10 + at}`, { operand: 'exactDate' })],
  ['within days', (at) => condition('Day', 'isWithin', 3 + at, { operand: 'pastNumberOfDays' })],
  ['any of some options', () => condition('State', 'anyof', ['rare', 'few'])],
]

describe('a filter that few records meet', () => {
  test.each(RARE)('has an index that is entered at its values: %s', async (kind, filterAt) => {
    const isNow = kind === 'within days'
    if (isNow) {
      const today = new Date().toISOString().slice(0, 10)
      await bench.rest.post(table.path, [
        { Num: 1e6, Day: today },
        { Num: 2e6, Day: today },
      ])
    }
    const field = filterAt(0).fieldId
    const title = table.schema.fields.find(({ id }) => id === field)!.title
    const before = await page(filterAt(0))
    expect(before.ids.length).toBeGreaterThan(0)
    const sorted = { sorts: [{ fieldId: table.field('Name').id, direction: 'desc' }] }
    const beforeSorted = await page(filterAt(0), sorted)
    for (let at = 0; at < 15; at++) {
      await page(filterAt(at), { limit: 50 + at })
      await page(filterAt(at), { ...sorted, limit: 50 + at })
    }
    await maintain()
    const first = await firstFields()
    expect(first.length).toBeGreaterThan(0)
    expect(new Set(first)).toEqual(new Set([title]))
    expect(await page(filterAt(0))).toEqual(before)
    expect(await page(filterAt(0), sorted)).toEqual(beforeSorted)
    const viewId = table.schema.views[0]!.id
    await bench.trpc.views.update.mutate({ viewId, patch: { filter: filterAt(0) } })
    const explained = (await performanceOf(bench.trpc, table.id)).views[0]!
    if (engine.location.client === 'sqlite3') {
      expect(explained).toMatchObject({ usesIndex: true, reads: before.ids.length, suggestion: null })
    }
  })

  test('has an index in the order of a sort where many meet it', async () => {
    const sorts = [{ fieldId: table.field('Name').id, direction: 'asc' }]
    for (let at = 0; at < 15; at++) await page(condition('Num', 'gt', at), { sorts, limit: 50 + at })
    await maintain()
    expect(await firstFields()).toEqual(['Name'])
  })

  test('has an index of its field alone where it also reads a long text', async () => {
    const filterAt = (at: number) => ({
      join: 'and',
      children: [condition('Num', 'gt', RECORDS - 20 - at), condition('Note', 'blank', null)],
    })
    const before = await page(filterAt(0) as never)
    for (let at = 0; at < 15; at++) await page(filterAt(at) as never)
    await maintain()
    expect(await firstFields(3)).toEqual(['Num'])
    expect(await page(filterAt(0) as never)).toEqual(before)
  })

  test.each(['gallery', 'kanban'])(
    'has an index in the manual order of a view as well (%s)',
    async (kind) => {
      const view = await bench.trpc.views.create.mutate({
        tableId: table.id,
        kind,
        title: kind,
        ...(kind === 'kanban' && { options: { stackFieldId: table.field('State').id } }),
      } as never)
      const orderViewId = (view as { id: string }).id
      const filter = condition('Name', 'eq', 'name 7')
      const before = await page(filter, { orderViewId, limit: 500 })
      expect(before.ids).toHaveLength(RECORDS / 40)
      for (let at = 0; at < 15; at++) await page(filter, { orderViewId, limit: 200 + at })
      await maintain()
      expect(await firstFields()).toEqual(['Name'])
      expect(await page(filter, { orderViewId, limit: 500 })).toEqual(before)
      expect(await page(condition('Num', 'gt', 17), { orderViewId })).toHaveProperty('ids.length', 50)
    },
  )
})

describe('a filter that many records meet', () => {
  /** The statements that a page sends to count its records. */
  async function countsOf(own: Bench): Promise<string[]> {
    const used = await own.app.kernel.sources.engine(own.baseId)
    const { all } = used
    const counts: string[] = []
    used.all = (statement, options) => {
      if (/ limit \d+\) as counted$/.test(statement.sql)) counts.push(statement.sql)
      return all(statement, options)
    }
    try {
      expect((await page(condition('Num', 'gt', 10), {}, own)).ids).toHaveLength(50)
    } finally {
      used.all = all
    }
    return counts
  }

  test('is counted after a slow page only', async () => {
    expect(await countsOf(bench)).toHaveLength(1)
    const fast = await createBench({ config: { indexSlowMs: 60_000 } })
    try {
      table = await createTable(fast)
      expect(await countsOf(fast)).toEqual([])
    } finally {
      await fast.stop()
    }
  })
})

describe('a filter that many records meet, beside an index that is entered at its values', () => {
  /** The statements with which a read looks for pages among the first records. */
  async function walksOf(read: () => Promise<void>): Promise<string[]> {
    const walks: string[] = []
    const { values } = engine
    engine.values = (statement: Statement, options) => {
      if (/ limit 1 offset \d+\)/.test(statement.sql)) walks.push(statement.sql)
      return values(statement, options)
    }
    try {
      await read()
    } finally {
      engine.values = values
    }
    return walks
  }

  async function withIndex(): Promise<void> {
    for (const title of ['Num', 'Day']) {
      const terms = [{ fieldId: table.field(title).id, as: 'value' as const, direction: 'asc' as const }]
      await bench.trpc.indexes.create.mutate({ tableId: table.id, terms })
    }
    while ((await indexesOf()).some(({ state }) => state !== 'ready')) await Bun.sleep(20)
  }

  test.if(process.env.TEST_HOME !== 'postgres')(
    'is read in the order of the table or the view, before its records are counted',
    async () => {
      const view = await bench.trpc.views.create.mutate({
        tableId: table.id,
        kind: 'gallery',
        title: 'Cards',
      } as never)
      const orderViewId = (view as { id: string }).id
      const [moved, before] = [8_000, 3]
      await bench.trpc.records.write.mutate({
        change: {
          baseId: bench.baseId,
          operations: [{ kind: 'move', tableId: table.id, viewId: orderViewId, ids: [moved], before }],
        },
      } as never)
      const filters = [
        ...[10, 4_000, RECORDS - 400, RECORDS - 5].map((value) => condition('Num', 'gt', value)),
        // Many, of which the first records of the table have none.
        condition('Day', 'gt', '2027-01-01', { operand: 'exactDate' }),
      ]
      const read = () =>
        Promise.all(
          filters.flatMap((filter) => [
            page(filter),
            page(filter, { orderViewId }),
            page(filter, { orderViewId, offset: 30 }),
          ]),
        )
      const expected = await read()
      await withIndex()
      const walks = await walksOf(async () => expect(await read()).toEqual(expected))
      expect(walks.length).toBeGreaterThan(0)
      expect(walks.some((sql) => sql.includes('sheaf_places'))).toBe(true)
    },
  )

  test.if(process.env.TEST_HOME !== 'postgres')(
    'is not counted for a page again where its number is known',
    async () => {
      await withIndex()
      // Takes long enough for the count to be kept.
      const filterAt = (value: number) => ({
        join: 'and',
        children: [
          condition('Num', 'gt', value),
          ...['name', 'ame', 'na', 'm', 'e'].map((text) => condition('Name', 'like', text)),
        ],
      })
      const countsOf = async (value: number) => {
        const counts: string[] = []
        const { all } = engine
        engine.all = (statement, options) => {
          if (/ as counted$/.test(statement.sql)) counts.push(statement.sql)
          return all(statement, options)
        }
        try {
          expect((await page(filterAt(value) as never)).ids).toHaveLength(50)
        } finally {
          engine.all = all
        }
        return counts.length
      }
      // The rounds of the server build no other index meanwhile, which would change the plans.
      const { claims } = bench.app.kernel.meta.cluster
      const claim = `indexes ${table.id}`
      await until(() => claims.take(claim), 'The end of a round')
      try {
        expect(await countsOf(10)).toBeGreaterThan(0)
        const selection = { tableId: table.id, filter: filterAt(20) as never }
        for (let times = 0; times < 5; times++)
          expect(await bench.trpc.records.count.query({ selection })).toEqual({ count: RECORDS - 21 })
        expect(await countsOf(20)).toBe(0)
      } finally {
        await claims.release(claim)
      }
    },
  )

  test.if(process.env.TEST_HOME !== 'postgres')(
    'is read in the order of the table where a view is measured as well',
    async () => {
      await withIndex()
      const viewId = table.schema.views[0]!.id
      await bench.trpc.views.update.mutate({ viewId, patch: { filter: condition('Num', 'gt', 10) } })
      const walks = await walksOf(async () => {
        const measured = await bench.trpc.indexes.measure.query({ tableId: table.id, viewId })
        expect(measured).toMatchObject({ returns: 25, matches: RECORDS - 11 })
      })
      expect(walks.length).toBeGreaterThan(0)
    },
  )
})

describe('counts and summaries of a filter whose page is fast', () => {
  test.each([
    [
      'a count',
      'Num',
      (at: number) => condition('Num', 'gt', at),
      async (filter: Condition) => {
        await bench.trpc.records.count.query({ selection: { tableId: table.id, filter } })
      },
    ],
    [
      'a count over REST',
      'Num',
      (at: number) => condition('Num', 'gt', at),
      async ({ value }: Condition) => {
        await bench.rest.get(`${table.path}/count?where=(Num,gt,${value})`)
      },
    ],
    [
      'a sum',
      'Name,Num',
      (at: number) => condition('Name', 'eq', `name ${at}`),
      async (filter: Condition) => {
        const summaries = [{ fieldId: table.field('Num').id, summary: 'sum' }]
        await bench.trpc.records.summaries.query({ selection: { tableId: table.id, filter }, summaries })
      },
    ],
    [
      'an average',
      'Day,Num',
      (at: number) => condition('Day', 'gt', `2020-02-${10 + at}`, { operand: 'exactDate' }),
      async (filter: Condition) => {
        const summaries = [{ fieldId: table.field('Num').id, summary: 'avg' }]
        await bench.trpc.records.summaries.query({ selection: { tableId: table.id, filter }, summaries })
      },
    ],
  ] as const)('lead to an index: %s', async (_, titles, filterAt, readTotal) => {
    for (let at = 0; at < 15; at++) await readTotal(filterAt(at))
    await maintain()
    expect(await firstFields(titles.split(',').length)).toEqual([titles])
    const selection = { tableId: table.id, filter: condition('Num', 'gt', 99) }
    expect(await bench.trpc.records.count.query({ selection })).toEqual({ count: RECORDS - 100 })
  })
})
