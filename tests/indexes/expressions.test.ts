import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createIndexStore } from '../../modules/indexes/store.ts'
import type { PostgresConnection } from '../../src/db/connection.ts'
import { connectPostgres } from '../../src/db/postgres/driver.ts'
import { citus } from '../../src/dialects/citus.ts'
import type { Statement } from '../../src/dialects/dialect.ts'
import { doorOf, ended, formatOf, reportOf, resultOf, upload } from '../imports/support.ts'
import { type Bench, benchOf, createBench, type TestTable, testTable } from '../records/support.ts'
import { connect, createForeign } from '../sources/support.ts'
import { createTestApp } from '../support/app.ts'
import { createBase } from '../support/factories.ts'
import { until } from '../support/until.ts'
import { fillTable, indexNames, performanceOf, RECORDS } from './support.ts'

const FORMULAS: Record<string, string> = {
  Total: '{Num} * {Price}',
  Gross: 'ROUND({Total} * 1.19, 2)',
  Label: '{Name} & "-" & {Status}',
  Size: 'IF({Total} >= 100000, "it\'s big", IF({Num} > 100, "small", ""))',
  Part: '{Price} / ({Num} - 5)',
  Year: 'YEAR({Day})',
  Next: 'DATEADD({Day}, 1, "week")',
  Later: 'DATEADD({Seen}, 2, "hour")',
  IsLarge: 'AND({Num} > 3000, {Flag})',
  Best: 'MAX({Num}, {Price}, 12)',
  Counted: 'LEN({Note})',
}

let bench: Bench
beforeAll(async () => {
  const app = await createTestApp({ config: { indexSlowMs: 0.001 } })
  const owner = await app.signUp()
  const { id } = await createBase(app, owner)
  bench = benchOf(app, owner, id)
})
afterAll(() => bench.stop())

const isFile = async () => (await bench.app.kernel.sources.engine(bench.baseId)).location.client === 'sqlite3'

/** A table with the formulas, most of whose records have Name and Num only. */
async function createTable(records = RECORDS, of = bench): Promise<TestTable> {
  const made = await of.table({
    Name: 'SingleLineText',
    Num: 'Number',
    Price: 'Decimal',
    Status: 'SingleLineText',
    Day: 'Date',
    Seen: 'DateTime',
    Flag: 'Checkbox',
    Note: 'LongText',
  })
  await fillTable(of.app.kernel, made, records)
  const engine = await of.app.kernel.sources.engine(of.baseId)
  const { quote, client } = engine.dialect
  const column = (title: string) => quote(made.field(title).columnName)
  const isSqlite = client === 'sqlite3'
  const day = isSqlite
    ? `date('2020-01-01', '+' || (id % 900) || ' days')`
    : `date '2020-01-01' + (id % 900)::int`
  const seen = isSqlite
    ? `datetime('2020-01-01', '+' || (id % 700) || ' hours') || '+00:00'`
    : `to_timestamp(1577836800 + (id % 700) * 3600)`
  // All functions are immutable: Citus refuses others in updates.
  await engine.writeScript([
    {
      sql: `update ${quote(made.schema.table.tableName)} set ${column('Price')} = (id % 97) * 0.25,
        ${column('Status')} = case when id % 7 = 0 then null else 'status ' || cast(id % 5 as text) end,
        ${column('Day')} = ${day}, ${column('Seen')} = ${seen}, ${column('Note')} = 'note ' || cast(id as text),
        ${column('Flag')} = ${isSqlite ? 'id % 2' : 'id % 2 = 1'} where id % 11 > 0`,
      params: [],
    },
  ])
  return made
}

const addFormula = (tableId: string, title: string, formula: string, of = bench) =>
  of.trpc.schema.createField.mutate({ tableId, field: { title, type: 'Formula', options: { formula } } })

/** Adds formulas to a table, with those that they read. */
async function withFormulas(filled: TestTable, titles: string[], of = bench): Promise<TestTable> {
  const wanted = titles.some((title) => title === 'Gross' || title === 'Size') ? ['Total', ...titles] : titles
  for (const title of new Set(wanted)) await addFormula(filled.id, title, FORMULAS[title]!, of)
  return testTable(of.rest, await of.trpc.schema.table.query({ tableId: filled.id }))
}

let table: TestTable
beforeEach(async () => {
  table = await createTable()
})
const addFormulas = async (...titles: string[]) => {
  table = await withFormulas(table, titles)
}

const always = () => true
const maintain = () => bench.app.services.indexes.maintain(always)
const indexesOf = (tableId = table.id) => bench.trpc.indexes.list.query({ tableId })
const path = () => `/api/v2/meta/tables/${table.id}/indexes`

const term = (title: string, direction: 'asc' | 'desc' = 'asc') => ({
  fieldId: table.field(title).id,
  as: 'value' as const,
  direction,
})

/** The table's own order, which ends every order. */
const ownOrder = () =>
  table.schema.fields
    .filter(({ columnName, isPrimaryKey }) => columnName === 'nc_order' || isPrimaryKey)
    .toSorted((a, b) => Number(a.isPrimaryKey) - Number(b.isPrimaryKey))
    .map(({ id: fieldId }) => ({ fieldId, as: 'value' as const, direction: 'asc' as const }))

async function finished(tableId = table.id) {
  await until(
    async () => (await indexesOf(tableId)).every(({ state }) => state !== 'building'),
    'The end of all builds',
  )
  return indexesOf(tableId)
}

async function create(...terms: ReturnType<typeof term>[]) {
  const { status, body } = await bench.rest.post(path(), { terms })
  expect([status, body.msg]).toEqual([200, undefined])
  const index = (await finished()).find(({ id }) => id === body.id)
  expect(index).toMatchObject({ state: 'ready', error: null })
  return body.id as string
}

/** The plans of the statements that a read sends, as text. */
async function plansOf(read: () => Promise<unknown>): Promise<string> {
  const engine = await bench.app.kernel.sources.engine(bench.baseId)
  const asked: Statement[] = []
  const { values, all } = engine
  engine.values = (statement, options) => {
    asked.push(statement)
    return values(statement, options)
  }
  engine.all = (statement, options) => {
    asked.push(statement)
    return all(statement, options)
  }
  try {
    await read()
  } finally {
    Object.assign(engine, { values, all })
  }
  const { location } = engine
  // A connection of its own: `explain` of SQLite uses the schema that its connection has read last.
  const file = location.client === 'sqlite3' ? new Database(location.file, { readonly: true }) : null
  const plans: unknown[] = []
  for (const statement of asked.filter(({ sql }) => sql.includes(table.schema.table.tableName))) {
    const { sql, params } = engine.dialect.explain(statement)
    plans.push(file ? file.query(sql).all(...(params as [])) : await engine.all({ sql, params }))
  }
  file?.close()
  return JSON.stringify(plans)
}

const groupsBy = (title: string, summaries: object[] = []) =>
  bench.trpc.records.groups.query({
    request: {
      selection: { tableId: table.id },
      groups: [{ fieldId: table.field(title).id, direction: 'asc' as const }],
      summaries: summaries as [],
      limit: 50,
      offset: 0,
    },
  })

describe('an index of a formula', () => {
  test.each([
    ['Total', 'asc', '?sort=Total&limit=30'],
    ['Total', 'desc', '?sort=-Total&limit=30'],
    ['Gross', 'asc', '?sort=Gross&limit=30'],
    ['Label', 'asc', '?where=(Label,eq,name%201-status%201)&limit=30'],
    ['Size', 'asc', "?where=(Size,eq,it's%20big)&limit=30"],
    ['Part', 'desc', '?sort=-Part&limit=30'],
    ['Year', 'asc', '?sort=Year&limit=30'],
    ['Next', 'desc', '?sort=-Next&limit=30'],
    ['Later', 'asc', '?sort=Later&limit=30'],
    ['Best', 'desc', '?sort=-Best&limit=30'],
    ['Counted', 'desc', '?sort=-Counted&limit=30'],
  ] as const)('of %s, %s, is used for %s and changes no result', async (title, direction, query) => {
    await addFormulas(title)
    const more = [query, `${query}&offset=40`, `?where=(${title},isnot,null)&sort=-${title}&limit=60`]
    const before = await Promise.all(more.map((each) => table.list(each)))
    expect(await plansOf(() => table.list(`${query}&offset=1`))).not.toContain('sheaf_auto_')
    const id = await create(term(title, direction), ...ownOrder())
    expect(await plansOf(() => table.list(`${query}&offset=2`))).toContain(id)
    expect(await Promise.all(more.map((each) => table.list(each)))).toEqual(before)
  })

  test('serves a filter on a column, sorted by the formula', async () => {
    await addFormulas('Total')
    const query = '?where=(Name,eq,name%207)&sort=-Total&limit=25'
    const before = await table.list(query)
    const id = await create(term('Name'), term('Total', 'desc'))
    expect(await plansOf(() => table.list(`${query}&offset=1`))).toContain(id)
    expect(await table.list(query)).toEqual(before)
  })

  test('is suggested for a view and created with its button', async () => {
    await addFormulas('Gross')
    const viewId = table.schema.views[0]!.id
    const explain = async () => (await performanceOf(bench.trpc, table.id)).views[0]!
    const sorts = [{ fieldId: table.field('Gross').id, direction: 'desc' as const }]
    const filter = { fieldId: table.field('Status').id, operator: 'eq' as const, value: 'status 2' }
    await bench.trpc.views.update.mutate({ viewId, patch: { sorts, filter } })
    const query = `?viewId=${viewId}&limit=40`
    const rows = await table.list(query)
    const before = await explain()
    expect(before).toMatchObject({ sorts: true, usesIndex: false, unindexed: [] })
    expect(before.suggestion!.slice(0, 2)).toEqual([term('Status'), term('Gross', 'desc')])
    await bench.trpc.indexes.create.mutate({ tableId: table.id, terms: before.suggestion! })
    await finished()
    expect(await explain()).toMatchObject({ sorts: false, usesIndex: true, suggestion: null, reads: 25 })
    expect(await table.list(query)).toEqual(rows)
  })

  test('is created for reads that take long, and used', async () => {
    await addFormulas('Total')
    const query = '?where=(Status,eq,status%203)&sort=Total&limit=25'
    const before = await table.list(query)
    for (let at = 1; at <= 12; at++) await table.list(`${query}&offset=${at}`)
    await maintain()
    const [index, ...others] = await indexesOf()
    expect(others).toEqual([])
    expect(index).toMatchObject({ isAutomatic: true, state: 'ready', error: null })
    expect(index!.terms.slice(0, 2)).toEqual([term('Status'), term('Total')])
    expect(await plansOf(() => table.list(`${query}&offset=20`))).toContain(index!.id)
    expect(await table.list(query)).toEqual(before)
  })

  test('is not walked for a filter on a field that it lacks', async () => {
    await addFormulas('Total')
    const viewId = table.schema.views[0]!.id
    const sorts = [{ fieldId: table.field('Total').id, direction: 'asc' as const }]
    const filter = { fieldId: table.field('Num').id, operator: 'gt' as const, value: 3_000 }
    await bench.trpc.views.update.mutate({ viewId, patch: { sorts, filter } })
    const explain = async () => (await performanceOf(bench.trpc, table.id)).views[0]!
    const rows = await table.list(`?viewId=${viewId}&limit=40`)
    const { suggestion } = await explain()
    await create(term('Total'))
    expect(await explain()).toMatchObject({ sorts: true, usesIndex: false })
    await create(...(suggestion as ReturnType<typeof term>[]))
    expect(await explain()).toMatchObject({ sorts: false, usesIndex: true })
    expect(await table.list(`?viewId=${viewId}&limit=40`)).toEqual(rows)
  })

  test.each(['Size', 'Year', 'IsLarge', 'Next'])('serves groups by %s', async (title) => {
    await addFormulas(title)
    const summaries = [{ fieldId: table.field('Num').id, summary: 'sum' }]
    const read = async () => [await groupsBy(title), await groupsBy(title, summaries)]
    const before = await read()
    for (let at = 1; at <= 12; at++) {
      await bench.trpc.records.groups.query({
        request: {
          selection: { tableId: table.id },
          groups: [{ fieldId: table.field(title).id, direction: 'asc' }],
          summaries: [],
          limit: at,
          offset: 0,
        },
      })
    }
    await maintain()
    const [index] = await indexesOf()
    expect(index).toMatchObject({ state: 'ready', error: null })
    // PostgreSQL may find that reading so small a table is faster.
    if (await isFile()) expect(await plansOf(() => groupsBy(title))).toContain(index!.id)
    expect(await read()).toEqual(before)
  })

  test('follows writes, undo and deleted records', async () => {
    await addFormulas('Total', 'Label')
    await create(term('Total'))
    await create(term('Label', 'desc'))
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const rows = (await table.list('?sort=-Total&limit=3')) as { Id: number }[]
    const id = rows[0]!.Id
    await bench.rest.patch(table.path, [{ Id: id, Price: -1_000_000, Name: 'zz' }])
    expect((await table.list('?sort=Total,-Num&where=(Total,isnot,null)&limit=1'))[0]).toMatchObject({
      Id: id,
    })
    expect((await table.list('?sort=-Label&limit=1'))[0]).toMatchObject({ Id: id })
    await bench.rest.delete(table.path, [{ Id: id }])
    expect((await table.list('?sort=-Label&limit=1'))[0]).not.toMatchObject({ Id: id })
    if (await isFile()) {
      const [check] = await engine.values({ sql: 'pragma integrity_check', params: [] })
      expect(check).toEqual(['ok'])
    }
  })
})

describe('a formula of which there can be no index', () => {
  test.each([
    ['DATETIME_DIFF(NOW(), {Day}, "day")', 'changes with time'],
    ['TODAY()', 'changes with time'],
    ['DATETIME_FORMAT({Seen}, "YYYY-MM-DD")', 'time zone'],
    ['REGEX_EXTRACT({Name}, "[0-9]+")', 'no indexable form'],
    ['MEDIAN({Num}, {Price}, 3)', 'no indexable form'],
    ['UPPER({Name})', 'no indexable form'],
    [`"${'x'.repeat(20)}" & {Num} & {Price} & {Gross}`, 'too long'],
  ])('%s is refused with the reason', async (formula, reason) => {
    await addFormulas('Gross')
    const { id } = await addFormula(table.id, 'Refused', formula)
    const { status, body } = await bench.rest.post(path(), { terms: [{ fieldId: id }] })
    expect([status, body.msg]).toEqual([400, expect.stringContaining(reason)])
    expect(body.msg).toContain('Refused')
    const viewId = table.schema.views[0]!.id
    await bench.trpc.views.update.mutate({
      viewId,
      patch: { sorts: [{ fieldId: id, direction: 'asc' }] },
    })
    const { body: seen } = await bench.rest.get(`/api/v2/meta/tables/${table.id}/performance`)
    expect(seen.views[0]).toMatchObject({
      suggestion: null,
      unindexed: [{ fieldId: id, reason: expect.any(String) }],
    })
    for (let at = 1; at <= 12; at++) await table.list(`?sort=Refused&limit=${at}`)
    await maintain()
    expect(await indexesOf()).toEqual([])
  })

  test('over another one says the same', async () => {
    await addFormula(table.id, 'Inner', 'IF(NOW() > {Day}, 1, 2)')
    const { id } = await addFormula(table.id, 'Outer', '{Inner} + 1')
    const { status, body } = await bench.rest.post(path(), { terms: [{ fieldId: id }] })
    expect([status, body.msg]).toEqual([400, expect.stringContaining('changes with time')])
  })

  test('is refused where it reads linked records', async () => {
    const other = await bench.table()
    const link = await bench.trpc.schema.createField.mutate({
      tableId: table.id,
      field: { title: 'Links', type: 'Links', options: { relatedTableId: other.id, kind: 'hm' } },
    })
    const { id } = await addFormula(table.id, 'Count', `{${link.title}} + 1`)
    const { status, body } = await bench.rest.post(path(), { terms: [{ fieldId: id }] })
    expect([status, body.msg]).toEqual([400, expect.stringContaining('does not store itself')])
  })

  test.each([
    ['EXP({Num} / 10000)', 'no indexable form', null],
    ['VALUE({Name})', 'no indexable form', null],
    ['DATEADD({Day}, 1, "month")', null, 'too long'],
  ])('%s is refused in one database only', async (formula, inSqlite, inPostgres) => {
    const { id } = await addFormula(table.id, 'Special', formula)
    const { status, body } = await bench.rest.post(path(), { terms: [{ fieldId: id }] })
    const reason = (await isFile()) ? inSqlite : inPostgres
    expect([status, body.msg]).toEqual(reason ? [400, expect.stringContaining(reason)] : [200, undefined])
    expect((await finished()).filter(({ state }) => state !== 'ready')).toEqual([])
  })

  test('is not combined with others to an index that is too large', async () => {
    await addFormulas('Gross')
    const titles = ['Gross', 'Gross 2', 'Gross 3', 'Gross 4', 'Gross 5', 'Gross 6']
    for (const [at, title] of titles.entries())
      if (at > 0) await addFormula(table.id, title, `ROUND({Total} * ${at}, ${at})`)
    const { fields } = await bench.trpc.schema.table.query({ tableId: table.id })
    const terms = titles.map((title) => ({ fieldId: fields.find((field) => field.title === title)!.id }))
    const { status, body } = await bench.rest.post(path(), { terms })
    expect([status, body.msg]).toEqual(
      (await isFile()) ? [200, undefined] : [400, expect.stringContaining('can’t be indexed in this way')],
    )
    expect((await finished()).filter(({ state }) => state !== 'ready')).toEqual([])
  })
})

describe('writes', () => {
  test('of any values are stored, whatever the formulas of indexes make of them', async () => {
    await addFormulas(...Object.keys(FORMULAS))
    for (const title of Object.keys(FORMULAS)) await create(term(title))
    const rows = [
      { Num: 5, Price: 1 },
      { Num: 9_007_199_254_740_991, Price: 1e300 },
      { Num: -9_007_199_254_740_991, Price: -1e-300 },
      { Num: 0, Price: 0, Day: '0001-01-01', Seen: '0001-01-01 00:00:00+00:00' },
      { Day: '9999-12-31', Seen: '9999-12-31 23:59:59+00:00' },
      { Name: `\u{1f600}'"\\`, Status: "it's; --", Note: 'x'.repeat(100_000) },
      { Name: null, Num: null },
    ]
    const { status, body } = await bench.rest.post(table.path, rows)
    expect([status, body.msg]).toEqual([200, undefined])
    expect(await table.total()).toBe(RECORDS + rows.length)
    expect(await indexNames(bench.app.kernel, table)).toHaveLength(Object.keys(FORMULAS).length)
  })

  test('of texts that are too long for an index drop the index', async () => {
    await addFormulas('Label')
    const id = await create(term('Label'))
    // Rounds compare the indexes of a table with the database once.
    await maintain()
    const letters = Array.from({ length: 12_000 }, () => Math.random().toString(36)[2] ?? 'x').join('')
    const { status } = await bench.rest.post(table.path, { Name: letters })
    expect(status).toBe(200)
    expect(await table.total()).toBe(RECORDS + 1)
    expect(await indexNames(bench.app.kernel, table)).toHaveLength((await isFile()) ? 1 : 0)
    if (await isFile()) return
    // Nothing reads by it any more, and whoever asked for it sees the reason.
    await until(async () => {
      await maintain()
      return (await indexesOf()).some((index) => index.id === id && index.state === 'failed')
    }, 'The next round')
    const index = (await indexesOf()).find((each) => each.id === id)
    expect(index?.error).toContain('index row')
    expect(await indexNames(bench.app.kernel, table)).not.toContain(id)
  })

  test('that the expression of an index refuses drop the index', async () => {
    if (await isFile()) return
    await addFormulas('Total')
    const kept = await create(term('Num'))
    const suspected = await create(term('Total'))
    await maintain()
    const { quote } = (await bench.app.kernel.sources.engine(bench.baseId)).dialect
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    await engine.writeScript([
      {
        sql: `create index sheaf_auto_failing on ${quote(table.schema.table.tableName)}
          ((1 / (${quote(table.field('Num').columnName)} - 123456789)))`,
        params: [],
      },
    ])
    const { status, body } = await bench.rest.post(table.path, [{ Num: 123_456_789 }, { Num: 1 }])
    expect([status, body.msg]).toEqual([200, undefined])
    expect(await table.total()).toBe(RECORDS + 2)
    await until(async () => {
      await maintain()
      const isReady = (await indexesOf()).every(({ state }) => state === 'ready')
      return isReady && (await indexNames(bench.app.kernel, table)).includes(suspected)
    }, 'The next round')
    const names = await indexNames(bench.app.kernel, table)
    expect(names).toContain(kept)
    expect(names).not.toContain('sheaf_auto_failing')
  })

  /** The indexes for reads in the database: another build of the same index has another number. */
  async function builtIndexes(baseId = bench.baseId): Promise<Map<string, number>> {
    const engine = await bench.app.kernel.sources.engine(baseId)
    const found = await engine.all<{ name: string; oid: number }>({
      sql: `select c.relname::text as name, c.oid::int as oid from pg_index i join pg_class c on c.oid = i.indexrelid
        where i.indrelid = to_regclass($1) and starts_with(c.relname::text, 'sheaf_auto_')`,
      params: [engine.dialect.quote(table.schema.table.tableName)],
    })
    return new Map(found.map(({ name, oid }) => [name, oid]))
  }

  /** Gives an index an expression that cannot be computed for one number. */
  async function makeRefuse(id: string, num: number): Promise<void> {
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const { quote } = engine.dialect
    const [name, column] = [table.schema.table.tableName, table.field('Num').columnName].map(quote)
    await engine.writeScript([
      { sql: `drop index ${quote(id)}`, params: [] },
      { sql: `create index ${quote(id)} on ${name} ((1 / (${column} - ${num})))`, params: [] },
    ])
  }

  test('that one of several indexes refuses drop it alone, until its formula changes', async () => {
    if (await isFile()) return
    await addFormulas('Gross')
    const before = await create(term('Gross'))
    const refusing = await create(term('Total'))
    const after = await create(term('Gross', 'desc'))
    await maintain()
    await makeRefuse(refusing, 123_456_789)
    const built = await builtIndexes()
    const { status, body } = await bench.rest.post(table.path, [{ Num: 123_456_789 }, { Num: 1 }])
    expect([status, body.msg]).toEqual([200, undefined])
    expect(await table.total()).toBe(RECORDS + 2)
    const refused = async () => (await indexesOf()).find(({ id }) => id === refusing)
    await until(async () => (await refused())?.state === 'failed', 'The note of the refusal')
    expect((await refused())?.error).toContain('division by zero')
    built.delete(refusing)
    expect([...built.keys()].toSorted()).toEqual([before, after].toSorted())
    expect(await builtIndexes()).toEqual(built)
    // Also not a day later, as one that was created for slow reads and could not be built for another reason.
    await createIndexStore(bench.app.kernel).update(refusing, { isAutomatic: true })
    await bench.app.services.indexes.maintain(always, Date.now() + 25 * 60 * 60 * 1000)
    await maintain()
    expect((await refused())?.state).toBe('failed')
    expect(await builtIndexes()).toEqual(built)
    await bench.trpc.schema.updateField.mutate({
      fieldId: table.field('Total').id,
      patch: { options: { formula: '{Num} * 3' } },
    })
    await maintain()
    await finished()
    expect((await refused())?.state).toBe('ready')
  })

  /** A connection to the server that stores the table, in Citus a worker, and its quoted name there. */
  async function storedTable(): Promise<{ connection: PostgresConnection; name: string }> {
    const { dialect, location, all } = await bench.app.kernel.sources.engine(bench.baseId)
    if (location.client !== 'pg') throw new Error('The base is in no PostgreSQL')
    const { connection, schema } = location
    const name = `${dialect.quote(schema)}.${dialect.quote(table.schema.table.tableName)}`
    if (dialect !== citus) return { connection, name }
    const [shard] = await all<{ host: string; port: number; name: string }>({
      sql: `select nodename as host, nodeport as port, shard_name as name from citus_shards
        where table_name = to_regclass($1)`,
      params: [name],
    })
    if (!shard) throw new Error(`No worker stores ${name}`)
    return { connection: { ...connection, host: shard.host, port: shard.port }, name: shard.name }
  }

  for (const { title, lock } of [
    { title: 'somebody reads by it', lock: 'access share' },
    { title: 'another index of the table is built', lock: 'share update exclusive' },
  ]) {
    test(`that an index refuses are stored as well while ${title}`, async () => {
      if (await isFile()) return
      await addFormulas('Total')
      const id = await create(term('Total'))
      await maintain()
      await makeRefuse(id, 123_456_789)
      const engine = await bench.app.kernel.sources.engine(bench.baseId)
      const { connection, name } = await storedTable()
      const client = connectPostgres(connection, { searchPath: null, statementTimeoutMs: 0 })
      const begun = Promise.withResolvers<void>()
      const ended = Promise.withResolvers<void>()
      const holding = client.begin(async (tx) => {
        // Without Citus, the setting has no effect.
        await tx.unsafe('set local citus.enable_manual_changes_to_shards to on')
        await tx.unsafe(`lock table ${name} in ${lock} mode`)
        begun.resolve()
        await ended.promise
      })
      try {
        await begun.promise
        const posted = bench.rest.post(table.path, [{ Num: 123_456_789 }])
        const isWaiting = {
          sql: `select 1 from pg_stat_activity
            where query like 'drop index concurrently%' || $1::text || '%' and state = 'active'`,
          params: [id],
        }
        await until(async () => (await engine.all(isWaiting)).length > 0, 'The drop of the index')
        ended.resolve()
        await holding
        expect((await posted).status).toBe(200)
      } finally {
        ended.resolve()
        await client.end({ timeout: 5 })
      }
      expect(await table.total()).toBe(RECORDS + 1)
    })
  }

  const longText = (length: number) =>
    Array.from({ length }, () => Math.random().toString(36)[2] ?? 'x').join('')

  test('that an index refuses do not wait for long reads, nor do other writes', async () => {
    if (await isFile()) return
    // Writes wait no longer than reads may take.
    const app = await createTestApp({ config: { queryTimeoutSeconds: 5 } })
    const owner = await app.signUp()
    const { id: baseId } = await createBase(app, owner)
    const of = benchOf(app, owner, baseId)
    try {
      const made = await of.table({ Name: 'SingleLineText' }, [{ Name: 'first' }])
      const terms = [{ fieldId: made.field('Name').id, as: 'value' as const, direction: 'asc' as const }]
      const { id } = await of.trpc.indexes.create.mutate({ tableId: made.id, terms })
      // Not by a request, which may take too long as well.
      const indexOf = () => createIndexStore(app.kernel).find(id)
      await until(async () => (await indexOf())?.state === 'ready', 'The index')
      const { location } = await app.kernel.sources.engine(baseId)
      if (location.client !== 'pg') throw new Error('The base is in no PostgreSQL')
      const client = connectPostgres(location.connection, {
        searchPath: `"${location.schema}"`,
        statementTimeoutMs: 0,
      })
      const letters = longText(4_000)
      const write = async (Name: string) => (await of.rest.post(made.path, { Name })).status
      try {
        await client.begin(async (tx) => {
          await tx.unsafe(`select 1 from "${made.schema.table.tableName}" limit 1`)
          // 503 is BASE_BUSY: the reader still holds the table when the answer comes.
          expect(await write(letters)).toBe(503)
          await until(async () => (await write('other')) === 200, 'A write beside the reader')
        })
      } finally {
        await client.end({ timeout: 5 })
      }
      await until(async () => (await indexOf())?.state === 'refused', 'The note of the refusal')
      expect((await indexOf())?.error).toContain('index row')
      await until(async () => (await write(letters)) === 200, 'The write without the index')
      expect(await indexNames(app.kernel, made)).not.toContain(id)
    } finally {
      await of.stop()
    }
  })

  test('that the table itself refuses drop no index', async () => {
    if (await isFile()) return
    await addFormulas('Gross')
    await create(term('Total'))
    await create(term('Gross'))
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const { quote } = engine.dialect
    const [name, column] = [table.schema.table.tableName, table.field('Num').columnName].map(quote)
    await engine.writeScript([
      { sql: `alter table ${name} add constraint "few" check (${column} < 1000000)`, params: [] },
    ])
    const built = await builtIndexes()
    const { status } = await bench.rest.post(table.path, [{ Num: 2_000_000 }])
    expect(status).toBe(400)
    expect(await builtIndexes()).toEqual(built)
    expect(await table.total()).toBe(RECORDS)
  })

  test('of whole tables, which read them as well, drop an index that refuses a value', async () => {
    if (await isFile()) return
    await addFormulas('Total')
    expect((await bench.rest.post(table.path, { Num: 123_456_789 })).status).toBe(200)
    await bench.trpc.records.updateMatching.mutate({
      selection: { tableId: table.id },
      values: table.values({ Num: 5 }),
    })
    const id = await create(term('Total'))
    await maintain()
    await makeRefuse(id, 123_456_789)
    const { skipped } = await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect(skipped).toBe(0)
    expect(await table.list('?where=(Num,eq,123456789)')).toMatchObject([{ Num: 123_456_789 }])
  })

  /** Begins to import a file with a number and a name in each row; with `isUpdate`, a number that is there already names its record. */
  async function beginImport(rows: [number, string][], { isUpdate = false } = {}): Promise<string> {
    const door = doorOf(bench.app, bench.owner)
    const file = ['Num,Name', ...rows.map(([num, name]) => `${num},${name}`), ''].join('\n')
    const [num, name] = ['Num', 'Name'].map((title) => table.field(title).id)
    const { jobId } = await bench.trpc.imports.start.mutate({
      baseId: bench.baseId,
      tableId: table.id,
      uploadId: await upload(door, file),
      format: formatOf(file),
      width: 2,
      columns: [num, name].map((fieldId, index) => ({ index, fieldId: fieldId! })),
      ...(isUpdate && { update: { keys: [num!] } }),
    })
    return jobId
  }

  async function importRows(...[rows, options]: Parameters<typeof beginImport>) {
    const door = doorOf(bench.app, bench.owner)
    const jobId = await beginImport(rows, options)
    return { result: resultOf(await ended(door, jobId)), report: await reportOf(door, jobId) }
  }

  /** Waits until the performance page names the reason why an index is gone, and another one is there. */
  async function expectRefused(id: string, kept: string): Promise<void> {
    await until(async () => {
      await maintain()
      const { indexes } = await bench.trpc.indexes.performance.query({ tableId: table.id })
      const stateOf = (name: string) => indexes.find((index) => index.id === name)?.state
      return stateOf(id) === 'failed' && stateOf(kept) === 'ready'
    }, 'The note of the refusal')
    const { indexes } = await bench.trpc.indexes.performance.query({ tableId: table.id })
    expect(indexes.find((index) => index.id === id)?.error).toContain('index row')
    const names = await indexNames(bench.app.kernel, table)
    expect(names).toContain(kept)
    expect(names).not.toContain(id)
  }

  // The error of PostgreSQL names the index for texts that fit on a page, and none for longer ones.
  test.each([
    ['adds', 'long', 4_000, false],
    ['adds', 'very long', 12_000, false],
    ['updates', 'long', 4_000, true],
    ['updates', 'very long', 12_000, true],
  ] as const)(
    'of an import that %s records with %s texts drop the index that refuses them',
    async (_, __, length, isUpdate) => {
      const kept = await create(term('Num'))
      const id = await create(term('Name'))
      await maintain()
      const letters = longText(length)
      // In an update, the first row names a record that is there, and the last one is refused.
      const rows: [number, string][] = [
        [isUpdate ? 5 : 1_000_001, letters],
        [1_000_002, 'short'],
        [1_000_002, 'repeated'],
      ]
      const before = await table.total()
      const { result, report } = await importRows(rows, { isUpdate })
      if (isUpdate) {
        expect(result).toMatchObject({
          rowsRefused: 1,
          problems: 1,
          update: { added: 1, changed: 1, repeated: 1 },
        })
        // Once: what an attempt has reported that was repeated does not count.
        expect(report).toHaveLength(1)
      } else expect(result).toMatchObject({ rows: 3, problems: 0 })
      const added = isUpdate ? 1 : 3
      const stored = async () => (await table.list(`?where=(Num,eq,${rows[0]![0]})`)).map(({ Name }) => Name)
      expect(await table.total()).toBe(before + added)
      expect(await stored()).toEqual([letters])
      if (await isFile()) expect(await indexNames(bench.app.kernel, table)).toContain(id)
      else await expectRefused(id, kept)

      expect((await bench.trpc.records.undo.mutate({ baseId: bench.baseId })).skipped).toBe(0)
      expect(await table.total()).toBe(before)
      expect(await stored()).not.toContain(letters)
      await bench.trpc.records.redo.mutate({ baseId: bench.baseId })
      expect(await stored()).toEqual([letters])
      if (!(await isFile())) await expectRefused(id, kept)
    },
  )

  test('of an import that is cancelled do not wait for the readers of an index that refuses them', async () => {
    if (await isFile()) return
    const id = await create(term('Name'))
    await maintain()
    const before = await table.total()
    const { jobs, sources } = bench.app.kernel
    const engine = await sources.engine(bench.baseId)
    if (engine.location.client !== 'pg') throw new Error('The base is in no PostgreSQL')
    const { connection, schema } = engine.location
    const reader = connectPostgres(connection, { searchPath: `"${schema}"`, statementTimeoutMs: 0 })
    const isDropping = async () => {
      const sql = `select 1 from pg_stat_activity
        where query like 'drop index concurrently%${id}%' and wait_event_type = 'Lock'`
      return (await engine.all({ sql, params: [] })).length > 0
    }
    try {
      await reader.begin(async (tx) => {
        await tx.unsafe(`select 1 from "${table.schema.table.tableName}" limit 1`)
        const jobId = await beginImport([[1_000_001, longText(4_000)]])
        await until(isDropping, 'The drop of the index')
        await bench.trpc.jobs.cancel.mutate({ jobId })
        // The reader still holds the table.
        await until(async () => (await jobs.find(jobId))?.status === 'cancelled', 'The end of the import')
      })
    } finally {
      await reader.end({ timeout: 5 })
    }
    expect(await table.total()).toBe(before)
  })

  test('of an import that the expression of an index refuses drop the indexes that may be at fault', async () => {
    if (await isFile()) return
    await addFormulas('Total')
    const kept = await create(term('Num'))
    const id = await create(term('Total'))
    await maintain()
    await makeRefuse(id, 123_456_789)
    const { result } = await importRows([[123_456_789, 'late']])
    expect(result).toMatchObject({ rows: 1, problems: 0 })
    expect(await table.list('?where=(Num,eq,123456789)')).toMatchObject([{ Name: 'late' }])
    expect(await indexNames(bench.app.kernel, table)).toContain(kept)
  })

  test('that a connected database refuses are sent to it once, whatever indexes the base has', async () => {
    if (await isFile()) return
    const { id: baseId } = await createBase(bench.app, bench.owner)
    const other = benchOf(bench.app, bench.owner, baseId)
    table = await withFormulas(await createTable(10, other), ['Total', 'Gross'], other)
    for (const title of ['Total', 'Gross']) await create(term(title))
    const built = await builtIndexes(baseId)
    expect(built.size).toBe(2)
    const connected = await createForeign('postgres', [
      'create sequence tries',
      'create table orders (id integer primary key, amount integer)',
      `create function refuse() returns trigger language plpgsql as $$ begin
        perform nextval('tries');
        raise 'too much' using errcode = '22003';
      end $$`,
      'create trigger refuse before insert on orders for each row execute function refuse()',
    ])
    try {
      await connect(other, connected.sent)
      const tables = await other.trpc.schema.tables.query({ baseId })
      const orders = tables.find(({ tableName }) => tableName === 'orders')
      const { status, body } = await other.rest.post(`/api/v2/tables/${orders?.id}/records`, {
        id: 1,
        amount: 5,
      })
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('too much')])
      // What a sequence has counted stays when the transaction fails.
      expect(await connected.ask('select last_value::int as tries from tries')).toEqual([{ tries: 1 }])
      expect(await builtIndexes(baseId)).toEqual(built)
    } finally {
      await connected.stop()
    }
  })

  test('by other programs to the file of a base are possible, and the indexes stay correct', async () => {
    if (!(await isFile())) return
    await addFormulas(...Object.keys(FORMULAS))
    for (const title of Object.keys(FORMULAS)) await create(term(title))
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    if (engine.location.client !== 'sqlite3') throw new Error('The base is no file')
    const column = (title: string) => `"${table.field(title).columnName}"`
    const name = `"${table.schema.table.tableName}"`
    // A connection without the functions of Sheaf.
    const file = new Database(engine.location.file)
    file.run('pragma busy_timeout = 10000')
    for (const value of ['now', 'NOW', "x'00ff'", '12', '-1e308', "'inf'", 'null'])
      file.run(
        `insert into ${name} (${['Name', 'Num', 'Price', 'Day', 'Seen', 'Note'].map(column).join()})
          values (?1, ?1, ?1, ?1, ?1, ?1)`,
        [value],
      )
    file.run(`update ${name} set ${column('Price')} = ${column('Price')} + 1, ${column('Day')} = 'now'
      where id between 1 and 50`)
    file.run(`delete from ${name} where id between 60 and 70`)
    expect(file.query('pragma integrity_check').values()).toEqual([['ok']])
    file.close()
    expect((await table.list('?sort=Total&limit=5')).length).toBe(5)
  })
})

describe('an index whose formula changes', () => {
  const change = (title: string, formula: string) =>
    bench.trpc.schema.updateField.mutate({
      fieldId: table.field(title).id,
      patch: { options: { formula } },
    })

  test.each(['Total', 'Gross'])('of %s itself, or of a formula below, is built again', async (title) => {
    await addFormulas('Gross')
    const id = await create(term(title), ...ownOrder())
    // The rounds of the server leave the table alone meanwhile.
    const { claims } = bench.app.kernel.meta.cluster
    const claim = `indexes ${table.id}`
    await until(() => claims.take(claim), 'The end of a round')
    await change('Total', '{Num} * -2')
    const query = `?sort=${title}&limit=30`
    const now = await table.list(query)
    expect(await indexesOf()).toEqual([])
    expect(await plansOf(() => table.list(`${query}&offset=1`))).not.toContain(id)
    await claims.release(claim)
    await maintain()
    expect(await finished()).toMatchObject([{ id, state: 'ready' }])
    expect(await plansOf(() => table.list(`${query}&offset=2`))).toContain(id)
    expect(await table.list(query)).toEqual(now)
  })

  test('is dropped where there can be none any more', async () => {
    await addFormulas('Gross')
    await create(term('Total'))
    await change('Total', 'DATETIME_DIFF(NOW(), {Day}, "day")')
    await maintain()
    expect(await indexesOf()).toEqual([])
    expect(await indexNames(bench.app.kernel, table)).toEqual([])
  })

  test('is built again where another version of Sheaf wrote other SQL', async () => {
    await addFormulas('Gross')
    const id = await create(term('Total'), ...ownOrder())
    const store = createIndexStore(bench.app.kernel)
    const { columns } = (await store.find(id))!
    await store.update(id, { columns: columns.with(0, 'expression:0123456789abcdef0123456789abcdef') })
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    await engine.dropIndex(table.schema.table.tableName, id)
    const { quote } = engine.dialect
    const other = `create index ${quote(id)} on ${quote(table.schema.table.tableName)} ((${quote(table.field('Num').columnName)} + 1))`
    await engine.writeScript([{ sql: other, params: [] }])
    // A started server has compared nothing.
    await bench.trpc.schema.updateField.mutate({ fieldId: table.field('Note').id, patch: { title: 'Notes' } })
    await maintain()
    expect(await finished()).toMatchObject([{ id, state: 'ready' }])
    expect(await plansOf(() => table.list('?sort=Total&limit=30'))).toContain(id)
  })

  test.each(['Total', 'Price'])('survives that %s gets another title', async (title) => {
    await addFormulas('Gross')
    const id = await create(term('Total'), ...ownOrder())
    await bench.trpc.schema.updateField.mutate({
      fieldId: table.field(title).id,
      patch: { title: 'Renamed' },
    })
    await maintain()
    expect(await finished()).toMatchObject([{ id, state: 'ready' }])
    const sort = title === 'Total' ? 'Renamed' : 'Total'
    expect(await plansOf(() => table.list(`?sort=${sort}&limit=30`))).toContain(id)
  })

  test('follows a field that changes its type, and one that is deleted and restored', async () => {
    await addFormulas('Gross')
    const id = await create(term('Total'))
    const price = table.field('Price').id
    await bench.trpc.schema.updateField.mutate({ fieldId: price, patch: { type: 'Number' } })
    const rows = await table.list('?sort=Total&limit=30')
    await maintain()
    expect(await finished()).toMatchObject([{ id, state: 'ready' }])
    expect(await table.list('?sort=Total&limit=30')).toEqual(rows)
    await bench.trpc.schema.deleteField.mutate({ fieldId: price })
    expect(await indexesOf()).toEqual([])
    await bench.trpc.schema.restoreField.mutate({ fieldId: price })
    expect(await table.list('?sort=Total&limit=30')).toEqual(rows)
    await bench.trpc.schema.deleteField.mutate({ fieldId: price })
    const items = [{ kind: 'field' as const, fieldId: price }]
    await bench.trpc.trash.purge.mutate({ baseId: bench.baseId, items })
    await maintain()
    expect(await indexesOf()).toEqual([])
    expect(await indexNames(bench.app.kernel, table)).toEqual([])
    expect(await table.total()).toBe(RECORDS)
  })
})

describe('copies', () => {
  test('of a base have the indexes that people asked for, over their own columns', async () => {
    const own = await createBench()
    try {
      const filled = await withFormulas(await createTable(RECORDS, own), ['Gross', 'Label'], own)
      const terms = [{ fieldId: filled.field('Gross').id, as: 'value' as const, direction: 'asc' as const }]
      await own.trpc.indexes.create.mutate({ tableId: filled.id, terms })
      const list = (tableId: string) => own.trpc.indexes.list.query({ tableId })
      const ready = (tableId: string) =>
        until(async () => (await list(tableId)).some(({ state }) => state === 'ready'), 'An index')
      await ready(filled.id)
      const records = await filled.list('?sort=Gross&limit=50')
      const made = await own.rest.post(`/api/v1/db/meta/duplicate/${own.baseId}`, {})
      expect((await ended(doorOf(own.app, own.owner), made.body.id)).status).toBe('completed')
      const tables = await own.trpc.schema.tables.query({ baseId: made.body.base_id })
      const copy = tables.find(({ title }) => title === filled.title)!
      const copied = await own.rest.get(`/api/v2/tables/${copy.id}/records?sort=Gross&limit=50`)
      expect(copied.body.list).toEqual(records)
      await own.app.services.indexes.maintain(always)
      await ready(copy.id)
      expect(await list(copy.id)).toHaveLength(1)
      const engine = await own.app.kernel.sources.engine(made.body.base_id)
      const left = await engine.all<{ name: string }>(engine.dialect.listIndexes(copy.tableName))
      expect(left.filter(({ name }) => name.startsWith('sheaf_auto_')).map(({ name }) => name)).toEqual(
        (await list(copy.id)).map(({ id }) => id),
      )
    } finally {
      await own.stop()
    }
  })

  test('of a table have the indexes that people asked for, over their own columns', async () => {
    await addFormulas('Gross', 'Label')
    await create(term('Gross'))
    const valuesOf = (rows: Record<string, unknown>[]) =>
      rows.map(({ Id, Gross, Label }) => [Id, Gross, Label])
    const records = valuesOf(await table.list('?sort=Gross&limit=50'))
    const made = await bench.rest.post(`/api/v1/db/meta/duplicate/${bench.baseId}/table/${table.id}`, {})
    expect((await ended(doorOf(bench.app, bench.owner), made.body.id)).status).toBe('completed')
    const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    const copy = tables.find(({ title }) => title.startsWith(`${table.title} copy`))!
    const copied = await bench.rest.get(`/api/v2/tables/${copy.id}/records?sort=Gross&limit=50`)
    expect(valuesOf(copied.body.list)).toEqual(records)
    await maintain()
    for (const index of await finished(copy.id)) expect(index).toMatchObject({ state: 'ready', error: null })
  })
})
