import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Condition, Filter } from '../../src/core/filters/index.ts'
import type { Engine, Statement } from '../../src/dialects/dialect.ts'
import { pick, seeded, textOf } from '../core/random.ts'
import { fillTable, indexNames, performanceOf } from '../indexes/support.ts'
import { byLink } from '../shares/world.ts'
import { createTestApp, type TestApp } from '../support/app.ts'
import { createBase } from '../support/factories.ts'
import { until } from '../support/until.ts'
import { type Bench, benchOf, createBench, type TestTable } from './support.ts'

/** Enough records for a search index. */
const ROWS = 20_500
const FIELDS = {
  Title: 'SingleLineText',
  Note: 'LongText',
  Status: {
    type: 'SingleSelect',
    options: { choices: ['In arbeit', 'ERLEDIGT', 'Überfällig'].map((title) => ({ title })) },
  },
  Tags: {
    type: 'MultiSelect',
    options: { choices: ['rötlich', 'dark blue', '日本語タグ'].map((title) => ({ title })) },
  },
  Files: 'Attachment',
  Num: 'Number',
} as const

/** Parts of texts, of which the table's rarest texts are made. */
const PIECES = [
  ...[
    'Straße',
    'STRASSE',
    'İstanbul',
    'ısı',
    'café',
    'cafe\u0301',
    'ΣΊΣΥΦΟΣ',
    'οδός',
    'K12',
    '\u212A12',
    'ſense',
  ],
  ...[
    '日本語テスト',
    '語',
    '100%',
    'a_b',
    '\\',
    "O'Neil",
    '"x"',
    '👩‍👩‍👧',
    '🦓🦓🦓',
    '\n',
    ' ',
    'the',
    'Ж',
    'жук',
  ],
  ...['שלום', '%', '_', '[a-z]', '*', '?', '+00', '2024', 'É', 'é', 'x'.repeat(90)],
]

let app: TestApp
let bench: Bench
let table: TestTable
let engine: Engine
/** Statements that read records. */
const read: string[] = []

const INDEXED = /sheaf_search_(?:terms_)?\d+_|lower\(\(coalesce/

beforeAll(async () => {
  // Filters do not build the index while the records are compared.
  app = await createTestApp({ config: { indexSlowMs: 60_000 } })
  const owner = await app.signUp()
  bench = benchOf(app, owner, (await createBase(app, owner)).id)
  engine = await app.kernel.sources.engine(bench.baseId)
  for (const name of ['all', 'values', 'column'] as const) {
    const run = engine[name] as (statement: Statement, options?: object) => Promise<never[]>
    Object.assign(engine, {
      [name]: (statement: Statement, options?: object) => {
        read.push(statement.sql)
        return run(statement, options)
      },
    })
  }
  table = await fill(seeded(3))
})
afterAll(() => app.stop())

/** A table whose texts are rare, at random. */
async function fill(random: () => number): Promise<TestTable> {
  const filled = await bench.table(FIELDS as never)
  const some = <T>(value: T): T | null => (random() < 0.5 ? value : null)
  for (let from = 0; from < ROWS; from += 5_000) {
    const rows = Array.from({ length: Math.min(5_000, ROWS - from) }, (_, at) => ({
      values: filled.values({
        Title: at % 7 === 3 ? textOf(random, PIECES, 6) || null : `Row ${from + at}`,
        Note: at % 11 === 5 ? some(textOf(random, PIECES, 30)) : null,
        Num: at % 50,
        ...(at % 13 === 1 && {
          Status: pick(random, FIELDS.Status.options.choices).title,
          Tags: some(pick(random, FIELDS.Tags.options.choices).title),
        }),
        ...(at % 17 === 2 && { Note: `${'text long '.repeat(400)}${textOf(random, PIECES, 4)}tail` }),
        ...(at % 29 === 4 && {
          Files: JSON.stringify([
            { url: 'https://example.com/x', title: `${textOf(random, PIECES, 3)}.pdf`, size: 1 },
          ]),
        }),
      }),
    }))
    await bench.trpc.records.write.mutate({
      change: { baseId: bench.baseId, operations: [{ kind: 'insert', tableId: filled.id, rows }] },
    })
  }
  return filled
}

const TEXT_FIELDS = ['Title', 'Note', 'Status', 'Tags', 'Files']
const OPERATORS = ['like', 'like', 'like', 'nlike', 'startsWith', 'endsWith', 'pattern', 'npattern']

function conditionAt(random: () => number): Condition {
  if (random() < 0.15) return { fieldId: table.field('Num').id, operator: 'gt', value: 30 }
  const field = table.field(pick(random, TEXT_FIELDS))
  const operator = pick(random, OPERATORS)
  const fixed = [
    'arbeit',
    'ERLED',
    'überfällig',
    'ötlich',
    'dark blue',
    '日本語',
    '.pdf',
    'ong tail',
    'row 12',
    'ROW 20',
  ]
  const text = random() < 0.3 ? pick(random, fixed) : textOf(random, PIECES, 3) || 'the'
  const letters = [...text]
  const from = random() < 0.3 ? Math.floor(random() * letters.length) : 0
  const part = letters.slice(from).join('')
  const value = operator.endsWith('pattern') ? `${part.slice(0, 4)}%${pick(random, PIECES)}_%` : part
  return {
    fieldId: field.id,
    operator,
    value: pick(random, [value, value.toLowerCase(), value.toUpperCase()]),
  }
}

function filterAt(random: () => number, depth = 2): Filter {
  if (depth === 0 || random() < 0.45) return conditionAt(random)
  const children = Array.from({ length: 2 + Math.floor(random() * 2) }, () => filterAt(random, depth - 1))
  return { join: pick(random, ['and', 'or'] as const), not: random() < 0.2, children }
}

/** Everything that people read through a filter. */
async function readThrough(filter: Filter, of = table) {
  const { records } = bench.trpc
  const selection = { tableId: of.id, filter }
  const fieldId = of.field('Num').id
  const fieldIds = [of.field('Title').id]
  const query = { ...selection, fieldIds, limit: 40, offset: 0 }
  const sorts = [{ fieldId, direction: 'desc' as const }]
  const groups = [{ fieldId: of.field('Status').id, direction: 'asc' as const }]
  return {
    page: await records.list.query({ query }),
    later: await records.list.query({ query: { ...query, offset: 7 } }),
    sorted: await records.list.query({ query: { ...query, sorts } }),
    grouped: await records.list.query({ query: { ...query, groups } }),
    count: await records.count.query({ selection }),
    sum: await records.summaries.query({ selection, summaries: [{ fieldId, summary: 'sum' }] }),
    groups: await records.groups.query({
      request: { selection, groups, summaries: [], limit: 10, offset: 0 },
    }),
  }
}

const stateOf = async (tableId = table.id) =>
  (await bench.trpc.indexes.performance.query({ tableId })).search?.state

const planOfView = async () => (await performanceOf(bench.trpc, table.id)).views[0]!

async function setFilter(filter: Filter | null, of = table) {
  await bench.trpc.views.update.mutate({ viewId: of.schema.views[0]!.id, patch: { filter } as never })
}

const like = (title: string, value: string, of = table): Condition => ({
  fieldId: of.field(title).id,
  operator: 'like',
  value,
})

describe('a filter that looks for a text in a large table', () => {
  test('finds the same with the index as without, and reads through it', async () => {
    const random = seeded(29)
    const filters = Array.from({ length: 50 }, () => filterAt(random))
    const before = []
    await setFilter(null)
    for (const filter of filters) before.push(await readThrough(filter))
    expect(before.filter(({ count }) => count.count > 0 && count.count < 2_000).length).toBeGreaterThan(8)
    expect(read.filter((sql) => INDEXED.test(sql))).toEqual([])
    const search = { text: 'anything', fieldId: null }
    await bench.trpc.records.count.query({ selection: { tableId: table.id, search } })
    await until(async () => (await stateOf()) === 'ready', 'The search index')
    read.length = 0
    let byIndex = 0
    for (const [at, filter] of filters.entries()) {
      read.length = 0
      expect([filter, await readThrough(filter)]).toEqual([filter, before[at]!])
      byIndex += Number(read.some((sql) => INDEXED.test(sql) && sql.includes(' order by ')))
    }
    expect(byIndex).toBeGreaterThan(15)
  })

  test('is read through the index everywhere', async () => {
    const where = '(Note,like,ong%20tail)~and(Title,like,ow%2012)'
    const asks = async (work: () => Promise<unknown>) => {
      read.length = 0
      await work()
      return read.some(
        (sql) => INDEXED.test(sql) && !/^select count\(\*\)(::integer)? as (n|records)/.test(sql),
      )
    }
    const path = `/api/v1/db/data/noco/${bench.baseId}/${table.id}/groupby?column_name=Num&where=${where}`
    expect(await asks(() => table.list(`?where=${where}&limit=25`))).toBe(true)
    expect(await asks(() => bench.rest.get(`${table.path}/count?where=${where}`))).toBe(true)
    expect(await asks(() => bench.rest.get(path))).toBe(true)
    const filter = { join: 'and' as const, children: [like('Note', 'ong tail'), like('Title', 'ow 12')] }
    const found = await readThrough(filter)
    expect(found.count.count).toBeGreaterThan(0)
    const query = { tableId: table.id, filter, limit: 40, offset: 0 }
    const { ids } = found.page
    expect(
      await asks(async () => {
        const { places } = await bench.trpc.records.positions.query({ query, recordIds: ids })
        expect(places).toEqual(ids.map((recordId, offset) => ({ recordId, offset })))
      }),
    ).toBe(true)
    expect(
      await asks(async () => {
        const { status } = await bench.rest.get(
          `/api/v1/db/data/noco/${bench.baseId}/${table.id}/export/csv?where=${where}`,
        )
        expect(status).toBe(200)
      }),
    ).toBe(true)
    expect(await asks(() => table.list('?where=(Note,like,語)&limit=25'))).toBe(true)
    // Records that do not show a text.
    expect(await asks(() => table.list('?where=(Note,nlike,ong%20tail)&limit=25'))).toBe(false)
    await setFilter(filter)
    expect(await planOfView()).toMatchObject({
      usesSearchIndex: true,
      suggestsSearchIndex: false,
      suggestion: null,
    })
    await setFilter(null)
  })

  test('finds what was just written', async () => {
    const where = '?where=(Title,like,zebra)&limit=25'
    expect(await table.list(where)).toEqual([])
    const { body } = await bench.rest.post(table.path, { Title: 'A Zebra crossing' })
    expect((await table.list(where)).map(({ Id }) => Id)).toEqual([body.Id])
    await bench.rest.patch(table.path, { Id: body.Id, Title: 'Okapi' })
    expect(await table.list(where)).toEqual([])
    expect((await table.list('?where=(Title,endsWith,kapi)')).map(({ Id }) => Id)).toEqual([body.Id])
    await bench.rest.delete(table.path, { Id: body.Id })
    expect(await table.list('?where=(Title,endsWith,kapi)')).toEqual([])
  })

  test('limits a visitor by a field that the view hides, and shows nothing else of it', async () => {
    const viewId = table.schema.views[0]!.id
    const filter = like('Note', 'ong tail')
    await setFilter({ join: 'and', children: [filter, like('Title', 'ow 12')] })
    const { views } = bench.trpc
    await views.arrange.mutate({ viewId, fields: [{ fieldId: table.field('Note').id, show: false }] })
    const expected = await bench.trpc.records.list.query({
      query: { tableId: table.id, viewId, fieldIds: [], limit: 1000, offset: 0 },
    })
    expect(expected.ids.length).toBeGreaterThan(0)
    const share = await bench.trpc.shares.save.mutate({ kind: 'view', targetId: viewId, patch: {} })
    const visitor = app.trpc(byLink('view', share!.id))
    const query = { tableId: table.id, viewId, fieldIds: [], limit: 1000, offset: 0 }
    read.length = 0
    expect((await visitor.records.list.query({ query })).ids).toEqual(expected.ids)
    expect(read.some((sql) => INDEXED.test(sql))).toBe(true)
    const refused = visitor.records.list.query({ query: { ...query, filter } })
    expect(await refused.catch((error) => error.data?.code ?? String(error))).toContain('NOT_FOUND')
    await setFilter(null)
  })
})

describe('a slow filter that looks for a text', () => {
  test('leads to the search index, after several reads', async () => {
    // Every read of a large table counts as slow.
    const own = await createBench({ config: { indexSlowMs: 0.001 } })
    try {
      const large = await own.table({ Name: 'SingleLineText', Num: 'Number' })
      await fillTable(own.app.kernel, large, 20_000)
      const performance = () => performanceOf(own.trpc, large.id)
      const filter = like('Name', 'ame 39', large)
      await own.trpc.views.update.mutate({ viewId: large.schema.views[0]!.id, patch: { filter } })
      // Where that takes long, as on a busy machine, it is not suggested.
      await until(async () => (await performance()).views[0]!.suggestsSearchIndex, 'The suggestion')
      const [before] = (await performance()).views
      expect(before).toMatchObject({ suggestion: null, usesSearchIndex: false })
      const maintain = () => own.app.services.indexes.maintain(() => false)
      await large.list('?where=(Name,like,ame%201)&limit=25')
      await maintain()
      await Bun.sleep(500)
      expect((await performance()).search?.state).toBe('none')
      for (let at = 0; at < 12; at++) await large.list(`?where=(Name,like,ame%20${at})&sort=Num&limit=25`)
      await maintain()
      await until(async () => (await performance()).search?.state === 'ready', 'The search index')
      expect((await performance()).views[0]).toMatchObject({
        suggestion: null,
        suggestsSearchIndex: false,
        usesSearchIndex: true,
        matches: 500,
      })
      // No index of the field, which would be read from its beginning to its end.
      expect(await indexNames(own.app.kernel, large)).toEqual([])
      expect(await large.list('?where=(Name,like,ame%2039)&limit=1000')).toHaveLength(500)
    } finally {
      await own.stop()
    }
  })
})
