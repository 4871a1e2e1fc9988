import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createIndexStore } from '../../modules/indexes/store.ts'
import { listGroups } from '../../modules/records/read/groups/list-groups.ts'
import type { Statement } from '../../src/dialects/dialect.ts'
import { createUnfinished } from '../../src/dialects/sqlite-unfinished-index.ts'
import { doorOf, ended } from '../imports/support.ts'
import { type Bench, benchOf, createBench, type TestTable } from '../records/support.ts'
import { createTestApp } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'
import { until } from '../support/until.ts'
import { fillTable, indexNames, performanceOf } from './support.ts'

let bench: Bench
beforeAll(async () => {
  // Every read of a large table counts as slow.
  const app = await createTestApp({ config: { indexSlowMs: 0.001 } })
  const owner = await app.signUp()
  const { id } = await createBase(app, owner)
  bench = benchOf(app, owner, id)
})
afterAll(() => bench.stop())

const RECORDS = 6_000
const DAY_MS = 24 * 60 * 60 * 1000
const always = () => true

let table: TestTable
beforeEach(async () => {
  table = await bench.table({ Name: 'SingleLineText', Num: 'Number', Note: 'LongText', Flag: 'Checkbox' })
  const engine = await bench.app.kernel.sources.engine(bench.baseId)
  const { quote } = engine.dialect
  const name = quote(table.schema.table.tableName)
  const [text, num, flag] = ['Name', 'Num', 'Flag'].map((title) => quote(table.field(title).columnName))
  const isFile = engine.location.client === 'sqlite3'
  const numbers = isFile
    ? `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${RECORDS}) `
    : ''
  const from = isFile ? 'n' : `generate_series(1, ${RECORDS}) as n(i)`
  const truth = isFile ? 'i % 2' : 'i % 2 = 1'
  await engine.writeScript([
    {
      sql: `insert into ${name} (${quote('nc_order')}, ${text}, ${num}, ${flag})
        ${numbers}select i, 'name ' || (i % 40), (i * 7919) % ${RECORDS}, ${truth} from ${from}`,
      params: [],
    },
  ])
  bench.app.kernel.events.emit('records.changed', {
    id: 1,
    baseId: bench.baseId,
    actorId: null,
    at: '',
    records: [],
    truncated: true,
    tableIds: [table.id],
  })
})

const where = '?where=(Name,eq,name%207)&sort=Num&limit=25'

/** Sends a read that differs each time, so that it is not answered from memory. */
const readOften = async (query: string, times = 12) => {
  for (let at = 0; at < times; at++) await table.list(`${query}&offset=${at}`)
}
const maintain = () => bench.app.services.indexes.maintain(always)
const indexesOf = (tableId = table.id) => bench.trpc.indexes.list.query({ tableId })

async function finished(tableId = table.id) {
  await until(
    async () => (await indexesOf(tableId)).every(({ state }) => state !== 'building'),
    'The end of all builds',
  )
  return indexesOf(tableId)
}

/** Names of the indexes that exist in the database, besides those of keys. */
async function namesInDatabase(baseId = bench.baseId, tableName = table.schema.table.tableName) {
  const engine = await bench.app.kernel.sources.engine(baseId)
  const found = await engine.all<{ name: string }>(engine.dialect.listIndexes(tableName))
  return found.map(({ name }) => name).filter((name) => name.startsWith('sheaf_auto_'))
}

const term = (title: string, direction: 'asc' | 'desc' = 'asc') => ({
  fieldId: table.field(title).id,
  as: 'value' as const,
  direction,
})

describe('automatic indexes', () => {
  test('stay with their base when it is duplicated', async () => {
    // Indexes take at most half of a base.
    const notes = Array.from({ length: 5 }, () => ({ Num: 2 * RECORDS, Note: 'x'.repeat(90_000) }))
    expect((await bench.rest.post(table.path, notes)).status).toBe(200)
    await readOften(where)
    await maintain()
    const own = await namesInDatabase()
    expect(own).toHaveLength(1)
    const records = await table.list('?sort=Num&limit=100')
    const made = await bench.rest.post(`/api/v1/db/meta/duplicate/${bench.baseId}`, {})
    expect(made.status).toBe(200)
    const copyId: string = made.body.base_id
    expect((await ended(doorOf(bench.app, bench.owner), made.body.id)).status).toBe('completed')
    const tables = await bench.trpc.schema.tables.query({ baseId: copyId })
    const copy = tables.find(({ title }) => title === table.title)!
    const listed = (query: string) => bench.rest.get(`/api/v2/tables/${copy.id}/records${query}`)
    expect((await listed('?sort=Num&limit=100')).body.list).toEqual(records)
    expect(await indexesOf(copy.id)).toEqual([])
    expect(await namesInDatabase(copyId, copy.tableName)).toEqual([])
    expect(await namesInDatabase()).toEqual(own)
    for (let at = 0; at < 20; at++) await listed(`${where}&offset=${at}`)
    await maintain()
    expect((await indexesOf(copy.id)).map(({ id }) => id)).toEqual(
      await namesInDatabase(copyId, copy.tableName),
    )
    expect(await indexesOf(copy.id)).toHaveLength(1)
  })

  test('are created for reads of 10 ms by default, not for faster ones', async () => {
    const own = await createBench()
    try {
      const filled = await own.table({ Name: 'SingleLineText', Num: 'Number' })
      await fillTable(own.app.kernel, filled)
      const { indexes, schema } = own.app.services
      const model = await schema.load(filled.id)
      const reads = async (title: string, ms: number) => {
        const terms = [{ fieldId: filled.field(title).id, as: 'value' as const, direction: 'asc' as const }]
        for (let at = 0; at < 10; at++) indexes.automatic.observe({ model, terms, ms })
        await indexes.maintain(always)
      }
      await reads('Name', 9.9)
      expect(await indexNames(own.app.kernel, filled)).toEqual([])
      await reads('Num', 10)
      expect(await indexNames(own.app.kernel, filled)).toHaveLength(1)
    } finally {
      await own.stop()
    }
  })

  test('are not created for a read that is rare', async () => {
    await readOften(where, 2)
    await maintain()
    expect(await indexesOf()).toEqual([])
  })

  test('are built while others write, and dropped when nobody does, where writers would wait for that', async () => {
    const own = await createBench()
    try {
      const filled = await own.table({ Name: 'SingleLineText', Num: 'Number' })
      await fillTable(own.app.kernel, filled)
      const { indexes, schema } = own.app.services
      const model = await schema.load(filled.id)
      const terms = [{ fieldId: filled.field('Num').id, as: 'value' as const, direction: 'asc' as const }]
      for (let at = 0; at < 10; at++) indexes.automatic.observe({ model, terms, ms: 10 })
      await indexes.maintain(() => false)
      expect(await indexNames(own.app.kernel, filled)).toHaveLength(1)
      const engine = await own.app.kernel.sources.engine(own.baseId)
      const isWaiting = engine.dialect.client === 'sqlite3'
      const later = Date.now() + 31 * DAY_MS
      await indexes.maintain(() => false, later)
      expect(await indexNames(own.app.kernel, filled)).toHaveLength(isWaiting ? 1 : 0)
      await indexes.maintain(always, later)
      expect(await indexNames(own.app.kernel, filled)).toEqual([])
    } finally {
      await own.stop()
    }
  })

  test('serve a filter and a sort that are asked repeatedly, with the same records as before', async () => {
    const before = await table.list(where)
    await readOften(where)
    await maintain()
    const [index, ...others] = await indexesOf()
    expect(others).toEqual([])
    expect(index).toMatchObject({ isAutomatic: true, state: 'ready', error: null })
    expect(index?.terms.slice(0, 2)).toEqual([term('Name'), term('Num')])
    expect(index?.bytes).toBeGreaterThan(0)
    expect(await table.list(where)).toEqual(before)
    const { views } = await performanceOf(bench.trpc, table.id)
    expect(views).toHaveLength(1)
  })

  test('are counted once, however often the table is maintained', async () => {
    await readOften(where)
    await maintain()
    await maintain()
    expect(await indexesOf()).toHaveLength(1)
  })

  test('of which somebody drops one do not come back', async () => {
    await readOften(where)
    await maintain()
    const [index] = await indexesOf()
    await bench.trpc.indexes.drop.mutate({ tableId: table.id, indexId: index!.id })
    expect(await indexesOf()).toEqual([])
    await readOften(where)
    await maintain()
    expect(await indexesOf()).toEqual([])
  })

  test('serve groups', async () => {
    const groups = () =>
      bench.trpc.records.groups.query({
        request: {
          selection: { tableId: table.id },
          groups: [{ fieldId: table.field('Name').id, direction: 'asc' }],
          summaries: [{ fieldId: table.field('Num').id, summary: 'sum' }],
          limit: 50,
          offset: 0,
        },
      })
    const before = await groups()
    for (let at = 0; at < 12; at++) {
      await groups()
      await table.list('?limit=1')
    }
    await maintain()
    const [index] = await indexesOf()
    const { dialect } = await bench.app.kernel.sources.engine(bench.baseId)
    const as = dialect.readsIndexedExpressions ? 'group' : 'value'
    expect(index?.terms[0]).toEqual({ ...term('Name'), as })
    expect(await groups()).toEqual(before)
  })

  test('serve the groups of values over REST', async () => {
    const path = `/api/v1/db/data/noco/${bench.baseId}/${table.id}/groupby?column_name=Name&sort=Name`
    const groups = async () => (await bench.rest.get(path)).body
    const before = await groups()
    expect([before.list.length, before.pageInfo.totalRows]).toEqual([25, 40])
    const last = (await bench.rest.get(`${path}&offset=25`)).body
    expect([last.list.length, last.pageInfo.totalRows]).toEqual([15, 40])
    expect((await bench.rest.get(`${path}&offset=40`)).status).toBe(422)
    for (let at = 0; at < 12; at++) await bench.rest.get(`${path}&offset=${at}`)
    await maintain()
    const [index] = await indexesOf()
    expect(index?.terms).toEqual([term('Name')])
    expect(await groups()).toEqual(before)
  })

  test('are all that groups without summaries read', async () => {
    const groups = (limit: number) => ({
      selection: { tableId: table.id },
      groups: [{ fieldId: table.field('Name').id, direction: 'asc' as const }],
      summaries: [],
      limit,
      offset: 0,
    })
    for (let at = 1; at <= 12; at++) {
      await bench.trpc.records.groups.query({ request: groups(at) })
    }
    await maintain()
    const [index] = await indexesOf()
    const { id, email } = bench.owner
    const actor = { kind: 'user' as const, id, email, orgRoles: ['super'], via: 'session' as const }
    const { engine, context } = await bench.app.services.records.open(actor, table.id)
    const asked: Statement[] = []
    const watched = {
      ...engine,
      values(statement: Statement) {
        asked.push(statement)
        return engine.values(statement)
      },
    }
    await listGroups({ engine: watched, context }, groups(5))
    const { sql, params } = engine.dialect.explain(asked[0]!)
    const { location } = engine
    // A connection of its own: `explain` of SQLite uses the schema that its connection has read last.
    const file = location.client === 'sqlite3' ? new Database(location.file, { readonly: true }) : null
    const lines = file?.query(sql).all(...(params as [])) ?? (await engine.all({ sql, params }))
    file?.close()
    const plan = JSON.stringify(lines)
    expect(plan).toContain(index!.id)
    expect(plan).toMatch(/Index Only Scan|COVERING INDEX/)
    // The groups of the page and two more end the read.
    expect(sql).toContain(' limit 7 offset 0')
  })

  test('are not tried for groups whose expression no index can hold', async () => {
    const groups = [{ fieldId: table.field('Flag').id, direction: 'asc' as const }]
    for (let offset = 0; offset < 12; offset++) {
      await bench.trpc.records.list.query({ query: { tableId: table.id, groups, limit: 25, offset } })
    }
    await maintain()
    expect((await indexesOf()).filter(({ error }) => error !== null)).toEqual([])
  })

  test('are dropped with the column that they are over', async () => {
    await readOften(where)
    await maintain()
    const [before] = await indexesOf()
    const field = table.field('Num')
    await bench.trpc.schema.updateField.mutate({ fieldId: field.id, patch: { type: 'SingleLineText' } })
    expect(await indexesOf()).toEqual([])
    await table.list(where)
    await maintain()
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const left = await engine.all<{ name: string }>(engine.dialect.listIndexes(table.schema.table.tableName))
    const now = await indexesOf()
    expect(now.map(({ id }) => id)).not.toContain(before!.id)
    // Nothing stays in the database that is not listed.
    const names = left.map(({ name }) => name).filter((name) => name.startsWith('sheaf_auto_'))
    expect(names.toSorted()).toEqual(now.map(({ id }) => id).toSorted())
  })

  test('are dropped after 30 days without a use, and do not come back for the old reads', async () => {
    await readOften(where)
    await maintain()
    await bench.trpc.indexes.create.mutate({ tableId: table.id, terms: [term('Flag')] })
    expect(await finished()).toHaveLength(2)
    await bench.app.services.indexes.maintain(always, Date.now() + 29 * DAY_MS)
    expect(await indexesOf()).toHaveLength(2)
    await bench.app.services.indexes.maintain(always, Date.now() + 31 * DAY_MS)
    // The one that somebody asked for stays.
    expect((await indexesOf()).map(({ isAutomatic }) => isAutomatic)).toEqual([false])
    expect(await namesInDatabase()).toEqual((await indexesOf()).map(({ id }) => id))
    await readOften(where)
    await maintain()
    expect(await indexesOf()).toHaveLength(2)
  })

  test('are tried again a day after one could not be built', async () => {
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const { buildIndex } = engine
    let builds = 0
    engine.buildIndex = async () => {
      builds++
      throw new Error('database or disk is full')
    }
    try {
      await readOften(where)
      await maintain()
      expect(await indexesOf()).toMatchObject([{ state: 'failed', error: 'database or disk is full' }])
      await readOften(where)
      await maintain()
      expect(builds).toBe(1)
    } finally {
      engine.buildIndex = buildIndex
    }
    await bench.app.services.indexes.maintain(always, Date.now() + 25 * 60 * 60 * 1000)
    expect(await indexesOf()).toMatchObject([{ state: 'ready', error: null }])
  })

  test.each(['before', 'after'] as const)(
    'serve a deleted field again that is restored %s the next round',
    async (moment) => {
      const before = await table.list(where)
      await readOften(where)
      await maintain()
      const [index] = await indexesOf()
      await bench.trpc.schema.deleteField.mutate({ fieldId: table.field('Num').id })
      expect(await indexesOf()).toEqual([])
      if (moment === 'after') {
        await maintain()
        expect(await namesInDatabase()).toEqual([])
      }
      await bench.trpc.schema.restoreField.mutate({ fieldId: table.field('Num').id })
      expect(await table.list(where)).toEqual(before)
      await maintain()
      expect(await indexesOf()).toMatchObject([{ terms: index!.terms, state: 'ready' }])
      expect(await namesInDatabase()).toHaveLength(1)
      expect(await table.list(where)).toEqual(before)
    },
  )

  test('of searches are dropped after 30 days without a search, and built again by the next one', async () => {
    await fillTable(bench.app.kernel, table, 20_000)
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const search = (text: string) =>
      bench.trpc.records.count.query({ selection: { tableId: table.id, search: { text, fieldId: null } } })
    const stateOf = async () =>
      (await bench.trpc.indexes.performance.query({ tableId: table.id })).search?.state
    const built = async () => {
      for (let tries = 0; (await stateOf()) !== 'ready'; tries++) {
        if (tries === 300) throw new Error('The index was not built')
        await search(`try ${tries} ${Math.random()}`)
        await Bun.sleep(100)
      }
    }
    const { searchIndexBytes } = bench.app.services.records
    const before = await search('name 17')
    const without = await searchIndexBytes(engine)
    await built()
    expect(await search('name 17')).toEqual(before)
    expect(await searchIndexBytes(engine)).toBeGreaterThan(without + 100_000)
    await bench.app.services.indexes.maintain(always, Date.now() + 29 * DAY_MS)
    expect(await stateOf()).toBe('ready')
    await bench.app.services.indexes.maintain(always, Date.now() + 31 * DAY_MS)
    expect(await stateOf()).toBe('none')
    expect(await searchIndexBytes(engine)).toBeLessThanOrEqual(without)
    expect(await search('name 17')).toEqual(before)
    await built()
    expect(await search('name 17')).toEqual(before)
  })

  test('take a part of the base, are six for a table at most, and leave room for those of a large one', async () => {
    const own = await createBench({ config: { indexSlowMs: 0.001 } })
    try {
      const small = await own.table({
        Name: 'SingleLineText',
        Num: 'Number',
        Flag: 'Checkbox',
        More: 'Number',
      })
      await fillTable(own.app.kernel, small)
      const { indexes, schema } = own.app.services
      const observe = async (of: TestTable, titles: string[]) => {
        const model = await schema.load(of.id)
        const terms = titles.map((title) => ({
          fieldId: of.field(title).id,
          as: 'value' as const,
          direction: 'asc' as const,
        }))
        for (let at = 0; at < 10; at++) indexes.automatic.observe({ model, terms, ms: 100 })
      }
      for (const titles of [
        ['Name', 'Num', 'Flag'],
        ['Name', 'Flag', 'Num'],
        ['Num', 'Name', 'Flag'],
        ['Num', 'Flag', 'Name'],
        ['Flag', 'Name', 'Num'],
        ['Flag', 'Num', 'Name'],
      ])
        await observe(small, titles)
      const indexesOfSmall = async () => (await indexNames(own.app.kernel, small)).length
      await indexes.maintain(always)
      expect(await indexesOfSmall()).toBeGreaterThan(0)
      expect(await indexesOfSmall()).toBeLessThan(6)

      const large = await own.table({ Name: 'SingleLineText', Num: 'Number' })
      await fillTable(own.app.kernel, large, 20 * RECORDS)
      await indexes.maintain(always)
      expect(await indexesOfSmall()).toBe(6)
      await observe(small, ['More'])
      await indexes.maintain(always)
      expect(await indexesOfSmall()).toBe(6)
      await observe(large, ['Name', 'Num'])
      await indexes.maintain(always)
      expect(await indexNames(own.app.kernel, large)).toHaveLength(1)
    } finally {
      await own.stop()
    }
  })

  test('that the metadata do not know, as after a restored backup, are dropped once their table is read', async () => {
    // Too small for its reads to be observed.
    const small = await bench.table({ Num: 'Number' })
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const { quote } = engine.dialect
    const { tableName } = small.schema.table
    const [name, column] = [tableName, small.field('Num').columnName].map(quote)
    const unfinished =
      engine.location.client === 'sqlite3'
        ? createUnfinished({
            name: 'sheaf_auto_unfinished',
            table: tableName,
            terms: [column!],
            key: 'id',
            columns: [[small.field('Num').columnName, 'integer']],
          })
        : []
    const created = [`create index sheaf_auto_unknown on ${name} (${column})`, ...unfinished]
    await engine.writeScript(created.map((sql) => ({ sql, params: [] })))
    expect(await namesInDatabase(bench.baseId, tableName)).not.toEqual([])
    await small.list()
    await maintain()
    expect(await namesInDatabase(bench.baseId, tableName)).toEqual([])
    expect((await bench.rest.post(small.path, { Num: 1 })).status).toBe(200)
  })

  test('do not keep a deleted field from being removed forever', async () => {
    await readOften(where)
    await maintain()
    const fieldId = table.field('Num').id
    await bench.trpc.schema.deleteField.mutate({ fieldId })
    await bench.trpc.trash.purge.mutate({ baseId: bench.baseId, items: [{ kind: 'field', fieldId }] })
    await maintain()
    expect(await indexesOf()).toEqual([])
    expect(await table.total()).toBe(RECORDS)
  })

  test('accept texts of any length afterwards', async () => {
    await readOften(where)
    await maintain()
    const letters = Array.from({ length: 12_000 }, () => Math.random().toString(36)[2] ?? 'x').join('')
    const { status } = await bench.rest.post(table.path, { Name: letters, Num: 1 })
    expect(status).toBe(200)
    expect(await table.total()).toBe(RECORDS + 1)
  })

  test.each(['Name', '-Name', 'Num', '-Num', 'Flag', '-Flag', 'Num,-Name'])(
    'do not change what is sorted by %s',
    async (sort) => {
      const queries = [`?sort=${sort}&limit=25`, `?sort=${sort}&limit=25&where=(Name,like,7)`]
      const before = await Promise.all(queries.map((query) => table.list(query)))
      for (const title of ['Name', 'Num', 'Flag'] as const) {
        for (const direction of ['asc', 'desc'] as const) {
          await bench.trpc.indexes.create.mutate({ tableId: table.id, terms: [term(title, direction)] })
        }
      }
      expect((await finished()).map(({ state }) => state)).toEqual(Array(6).fill('ready'))
      expect(await Promise.all(queries.map((query) => table.list(query)))).toEqual(before)
    },
  )
})

describe('an index in the order of a sort', () => {
  const explain = async () => (await performanceOf(bench.trpc, table.id)).views[0]!
  const setView = async (sorts: { fieldId: string; direction: 'asc' | 'desc' }[]) => {
    // Matches half of the records, so that a database that may choose would walk the index.
    const filter = { fieldId: table.field('Num').id, operator: 'gt' as const, value: RECORDS / 2 }
    await bench.trpc.views.update.mutate({ viewId: table.schema.views[0]!.id, patch: { sorts, filter } })
  }
  const create = async (...terms: ReturnType<typeof term>[]) => {
    await bench.trpc.indexes.create.mutate({ tableId: table.id, terms })
    await finished()
  }

  test.each(['asc', 'desc'] as const)(
    'is not walked for a filter on another field, sorted %s, unless it has that field as well',
    async (direction) => {
      await setView([{ fieldId: table.field('Name').id, direction }])
      const query = `?viewId=${table.schema.views[0]!.id}&limit=50`
      const suggested = (await explain()).suggestion!
      const before = await table.list(query)
      await create(term('Name', direction))
      expect(await explain()).toMatchObject({ sorts: true, usesIndex: false })
      expect(await table.list(query)).toEqual(before)
      await create(...(suggested as ReturnType<typeof term>[]))
      expect(await explain()).toMatchObject({ sorts: false, usesIndex: true })
      expect(await table.list(query)).toEqual(before)
    },
  )

  test('is not walked for groups of a filtered view either', async () => {
    const fieldId = table.field('Name').id
    await setView([])
    const groups = [{ fieldId, direction: 'asc' as const }]
    await bench.trpc.views.update.mutate({ viewId: table.schema.views[0]!.id, patch: { groups } })
    const terms = [{ ...term('Name'), as: 'group' as const }]
    await bench.trpc.indexes.create.mutate({ tableId: table.id, terms })
    await finished()
    expect(await explain()).toMatchObject({ sorts: true, usesIndex: false })
  })

  test('sorts texts as before, with empty ones', async () => {
    for (const Name of [null, 'Name 1x', 'näme 1', 'name 1 z', 'NAME 1']) {
      await bench.rest.post(table.path, { Name, Num: 1 })
    }
    const queries = ['Name', '-Name'].map((sort) => `?sort=${sort}&limit=400&where=(Num,lt,200)`)
    const before = await Promise.all(queries.map((query) => table.list(query)))
    await create(term('Name'))
    await create(term('Name', 'desc'))
    expect(await Promise.all(queries.map((query) => table.list(query)))).toEqual(before)
  })
})

describe('indexes that people ask for', () => {
  test('are refused for a long text, an unknown field and a field named twice', async () => {
    const create = (terms: object[]) => bench.rest.post(`/api/v2/meta/tables/${table.id}/indexes`, { terms })
    const long = await create([term('Note')])
    expect(long.status).toBe(400)
    expect(long.body.msg).toContain('Note')
    expect((await create([{ fieldId: 'cUnknown' }])).status).toBe(404)
    expect((await create([term('Num'), term('Num')])).status).toBe(400)
    expect((await create([])).status).toBe(400)
    expect(await indexesOf()).toEqual([])
  })

  test('are refused to editors', async () => {
    const editor = await createMember(bench.app, bench.baseId, 'editor')
    const rest = bench.app.rest(editor.token)
    expect((await rest.get(`/api/v2/meta/tables/${table.id}/performance`)).status).toBe(403)
    expect(
      (await rest.post(`/api/v2/meta/tables/${table.id}/indexes`, { terms: [term('Num')] })).status,
    ).toBe(403)
    expect(await indexesOf()).toEqual([])
  })

  test('are created, listed and dropped over REST', async () => {
    const path = `/api/v2/meta/tables/${table.id}/indexes`
    const made = await bench.rest.post(path, { terms: [{ fieldId: table.field('Num').id }] })
    expect(made.status).toBe(200)
    await finished()
    const { body } = await bench.rest.get(path)
    expect(body.list).toMatchObject([
      { id: made.body.id, state: 'ready', isAutomatic: false, terms: [term('Num')] },
    ])
    expect((await bench.rest.post(path, { terms: [term('Num')] })).body.id).toBe(made.body.id)
    expect((await bench.rest.delete(`${path}/${made.body.id}`)).status).toBe(200)
    expect((await bench.rest.get(path)).body.list).toEqual([])
    expect((await bench.rest.delete(`${path}/${made.body.id}`)).status).toBe(404)
  })

  test('are created once, however often they are asked for at the same time', async () => {
    const ask = () => bench.trpc.indexes.create.mutate({ tableId: table.id, terms: [term('Num')] })
    const asked = await Promise.all(Array.from({ length: 8 }, ask))
    expect(new Set(asked.map(({ id }) => id)).size).toBe(1)
    expect(await finished()).toHaveLength(1)
    expect(await namesInDatabase()).toHaveLength(1)
  })

  // In PostgreSQL, a build does not wait for writers.
  test.skipIf(process.env.TEST_HOME === 'postgres')(
    'are not built once another server has dropped them, nor come back to the list',
    async () => {
      const engine = await bench.app.kernel.sources.engine(bench.baseId)
      const store = createIndexStore(bench.app.kernel)
      const held = Promise.withResolvers<void>()
      const write = engine.exclusively(() => held.promise)
      const ask = (title: string) =>
        bench.trpc.indexes.create.mutate({ tableId: table.id, terms: [term(title)] })
      const [running, waiting] = [await ask('Num'), await ask('Name')]
      await Bun.sleep(200)
      for (const { id } of [running, waiting]) await store.update(id, { state: 'declined' })
      held.resolve()
      await write
      await until(async () => (await store.find(running.id))?.state !== 'building')
      // A later one waits for both.
      await ask('Flag')
      expect(await finished()).toMatchObject([{ terms: [term('Flag')], state: 'ready' }])
      expect(await namesInDatabase()).toHaveLength(1)
    },
  )

  test('are built for the copy of their base as well', async () => {
    const terms = [term('Num', 'desc'), term('Name')]
    const made = await bench.trpc.indexes.create.mutate({ tableId: table.id, terms })
    await finished()
    const { jobId, baseId } = await bench.trpc.copies.base.mutate({ baseId: bench.baseId, options: {} })
    const job = await ended(doorOf(bench.app, bench.owner), jobId)
    expect(job).toMatchObject({ status: 'completed', result: { id: baseId } })
    const tables = await bench.trpc.schema.tables.query({ baseId })
    const copy = await bench.trpc.schema.table.query({
      tableId: tables.find(({ title }) => title === table.title)?.id ?? '',
    })
    await maintain()
    const [built] = await finished(copy.table.id)
    const idOf = (title: string) => copy.fields.find((field) => field.title === title)?.id
    expect(built).toMatchObject({
      state: 'ready',
      isAutomatic: false,
      terms: [
        { fieldId: idOf('Num'), direction: 'desc' },
        { fieldId: idOf('Name'), direction: 'asc' },
      ],
    })
    expect(await namesInDatabase(baseId, copy.table.tableName)).toEqual([built?.id ?? ''])
    expect(await namesInDatabase()).toEqual([made.id])
  })

  test('are forgotten with their table', async () => {
    await bench.trpc.indexes.create.mutate({ tableId: table.id, terms: [term('Num')] })
    await finished()
    const known = async () =>
      (await createIndexStore(bench.app.kernel).all()).filter(({ tableId }) => tableId === table.id).length
    await bench.trpc.schema.deleteTable.mutate({ tableId: table.id })
    await maintain()
    // It may be restored.
    expect(await known()).toBe(1)
    const items = [{ kind: 'table' as const, tableId: table.id }]
    await bench.trpc.trash.purge.mutate({ baseId: bench.baseId, items })
    await maintain()
    expect(await known()).toBe(0)
  })

  test('are built after all if their table is in the trash when their turn comes', async () => {
    const other = await bench.table({ Num: 'Number' })
    const ask = (tableId: string, fieldId: string, direction: 'asc' | 'desc' = 'asc') =>
      bench.trpc.indexes.create.mutate({ tableId, terms: [{ fieldId, as: 'value', direction }] })
    const isReady = async (tableId: string, id: string) =>
      (await indexesOf(tableId)).some((index) => index.id === id && index.state === 'ready')
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const { buildIndex } = engine
    const held = Promise.withResolvers<void>()
    engine.buildIndex = async (...given) => {
      await held.promise
      return buildIndex(...given)
    }
    try {
      // One build follows the other.
      await ask(other.id, other.field('Num').id)
      const { id } = await ask(table.id, table.field('Num').id)
      const last = await ask(other.id, other.field('Num').id, 'desc')
      await bench.trpc.schema.deleteTable.mutate({ tableId: table.id })
      held.resolve()
      await until(() => isReady(other.id, last.id), 'The last build')
      await bench.trpc.schema.restoreTable.mutate({ tableId: table.id })
      expect((await indexesOf()).map(({ state }) => state)).not.toContain('failed')
      await until(async () => {
        await maintain()
        return isReady(table.id, id)
      }, 'The build after the restoration')
    } finally {
      held.resolve()
      engine.buildIndex = buildIndex
    }
  })

  test('are not suggested where a longer one serves the view', async () => {
    const viewId = table.schema.views[0]!.id
    const sorts = [{ fieldId: table.field('Num').id, direction: 'asc' as const }]
    await bench.trpc.views.update.mutate({ viewId, patch: { sorts } })
    const suggested = async () => (await performanceOf(bench.trpc, table.id)).views[0]!.suggestion
    const terms = (await suggested())!
    await bench.trpc.indexes.create.mutate({ tableId: table.id, terms: [...terms, term('Flag')] })
    await finished()
    expect(await suggested()).toBeNull()
  })

  test('make a view read only its page', async () => {
    const viewId = table.schema.views[0]!.id
    const sorts = [{ fieldId: table.field('Num').id, direction: 'asc' as const }]
    await bench.trpc.views.update.mutate({ viewId, patch: { sorts } })
    const explain = async () => (await performanceOf(bench.trpc, table.id)).views[0]!
    const before = await explain()
    expect(before).toMatchObject({ reads: RECORDS, returns: 25, sorts: true, usesIndex: false })
    await bench.trpc.indexes.create.mutate({ tableId: table.id, terms: before.suggestion! })
    await finished()
    expect(await explain()).toMatchObject({
      reads: 25,
      returns: 25,
      sorts: false,
      usesIndex: true,
      suggestion: null,
    })
  })

  test('are found without reading the page of a view, which is read when its time is asked for', async () => {
    const viewId = table.schema.views[0]!.id
    const fieldId = table.field('Num').id
    await bench.trpc.views.update.mutate({
      viewId,
      patch: { sorts: [{ fieldId, direction: 'asc' }], filter: { fieldId, operator: 'gt', value: 10 } },
    })
    const { columnName } = table.field('Note')
    const statements: string[] = []
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const { values } = engine
    engine.values = (statement, options) => {
      statements.push(statement.sql)
      return values(statement, options)
    }
    const readsOfPage = () => statements.filter((sql) => sql.includes(columnName)).length
    try {
      const [explained] = (await performanceOf(bench.trpc, table.id)).views
      expect(explained).toMatchObject({ reads: RECORDS, returns: 25, matches: RECORDS - 11, sorts: true })
      expect(readsOfPage()).toBe(0)
      const path = `/api/v2/meta/tables/${table.id}/performance`
      const { status, body } = await bench.rest.get(`${path}/${viewId}`)
      expect([status, body]).toEqual([
        200,
        expect.objectContaining({ reads: RECORDS, returns: 25, matches: RECORDS - 11, sorts: true }),
      ])
      expect(body.ms).toBeGreaterThan(0)
      expect(readsOfPage()).toBe(1)
      expect((await bench.rest.get(`${path}/vwUnknown`)).status).toBe(404)
    } finally {
      engine.values = values
    }
  })
})
