import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { createLogFollower } from '../../modules/records/read/log-follower.ts'
import type { Opened } from '../../modules/records/read/plan.ts'
import { createResultCache } from '../../modules/records/read/result-cache.ts'
import { createRowCounts } from '../../modules/records/read/row-counts.ts'
import { asCaller } from '../../src/caller.ts'
import { effectsOf, unknownEffects } from '../../src/db/change-log/effects.ts'
import { until } from '../support/until.ts'
import { createLink, type TestLink } from './links-support.ts'
import { type Bench, createBench, type TestTable } from './support.ts'

/** So many that a filter takes longer than what is cached at the least. */
const ROWS = 20_000

describe('results that are asked for again', () => {
  let bench: Bench
  let orders: TestTable
  let labels: TestTable
  let link: TestLink
  let unlike = 0

  beforeAll(async () => {
    bench = await createBench()
    labels = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'red' }, { Title: 'blue' }])
    const rows = Array.from({ length: ROWS }, (_, n) => ({
      Title: `Order ${n}`,
      Size: n % 7,
      State: `s${n % 3}`,
    }))
    orders = await bench.table({ Title: 'SingleLineText', Size: 'Number', State: 'SingleLineText' }, rows)
    link = await createLink(bench, orders, labels, 'mm', { type: 'Links', title: 'Labels' })
  })
  afterAll(() => bench.stop())

  /** Everything that a reader may see of the table and of what hangs on it. `as` names a query of its own. */
  async function answers(as = ''): Promise<unknown> {
    const { rest, trpc, baseId } = bench
    const where = encodeURIComponent('(Size,gt,2)~and(Title,like,%1%)')
    const linked = encodeURIComponent(`(${link.own.title},gt,0)`)
    const groups = `/api/v1/db/data/noco/${baseId}/${orders.id}/groupby`
    const paths = [
      `${orders.path}?where=${where}&sort=-Size,Title&limit=5`,
      `${orders.path}?where=${linked}`,
      `${orders.path}/count?where=${where}`,
      `${groups}?column_name=State&sort=State&where=${where}`,
    ]
    // A list without effect makes it another query, which is not in the cache.
    const filter = {
      join: 'and' as const,
      children: [
        { fieldId: orders.field('Title').id, operator: 'like', value: '1' },
        ...(as === ''
          ? []
          : [{ fieldId: orders.field('Title').id, operator: 'nlike', value: `\u0001${as}` }]),
      ],
    }
    const selection = { tableId: orders.id, filter }
    const fieldId = orders.field('Size').id
    return Promise.all([
      ...paths.map(async (path) => (await rest.get(as === '' ? path : `${path}&as=${as}`)).body),
      trpc.records.count.query({ selection }),
      trpc.records.summaries.query({ selection, summaries: [{ fieldId, summary: 'sum' }] }),
      trpc.records.groups.query({
        request: {
          selection,
          groups: [{ fieldId: orders.field('State').id, direction: 'asc' }],
          summaries: [{ fieldId, summary: 'sum' }],
          limit: 10,
          offset: 0,
        },
      }),
    ])
  }

  const patch = (values: object) => bench.rest.patch(orders.path, { Id: 11, ...values })
  const some = () => ({
    tableId: orders.id,
    filter: { fieldId: orders.field('Size').id, operator: 'eq', value: 6 },
  })
  const undo = async () => {
    const action = await bench.trpc.records.nextAction.query({
      baseId: bench.baseId,
      direction: 'undo',
      tableId: orders.id,
    })
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId, entryId: action!.id })
  }

  test.each<[string, () => Promise<unknown>]>([
    ['an edit', () => patch({ Size: 5, Title: 'Order 111' })],
    ['an edit of one column', () => patch({ State: 's7' })],
    ['a new record', () => bench.rest.post(orders.path, { Title: 'Order 1', Size: 3, State: 's9' })],
    ['a deletion', () => bench.rest.delete(orders.path, { Id: 18 })],
    ['a link', () => link.write('link', 12, [1, 2])],
    ['a link from the other end', () => link.write('link', 1, [13], link.inverse)],
    ['a removed link', () => link.write('unlink', 12, [1])],
    ['the deletion of a linked record', () => bench.rest.delete(labels.path, { Id: 2 })],
    [
      'an edit of a selection',
      () =>
        bench.trpc.records.updateMatching.mutate({
          selection: some(),
          values: { [orders.field('State').id]: 's6' },
        } as never),
    ],
    [
      'a deletion of a selection',
      () => bench.trpc.records.deleteMatching.mutate({ selection: some() } as never),
    ],
    ['an undo', undo],
  ])('are new after %s', async (_, write) => {
    const before = await answers()
    await answers()
    expect(await answers()).toEqual(before)
    await write()
    const after = await answers()
    expect(after).toEqual(await answers(`w${++unlike}`))
    expect(after).not.toEqual(before)
  })

  test('have each record from its acknowledgement on, while others are written', async () => {
    const { rest } = bench
    const where = encodeURIComponent('(Size,gt,2)~and(Title,like,%1%)')
    const count = async (): Promise<number> =>
      (await rest.get(`${orders.path}/count?where=${where}`)).body.count
    for (let time = 0; time < 3; time++) await count()
    // So that the edits below change nothing.
    await rest.patch(orders.path, { Id: 2, Size: 3, Title: '1' })
    const start = await count()
    let begun = 0
    let written = 0
    let isDone = false
    const seen: number[] = []
    async function read(): Promise<void> {
      while (!isDone) {
        const least = start + written
        const found = await count()
        expect(found).toBeWithin(least, start + begun + 1)
        seen.push(found)
      }
    }
    const write = async (): Promise<void> => {
      // Until enough reads fell in between, also on a busy machine.
      for (let time = 0; time < 40 || seen.length <= 10; time++) {
        begun++
        expect((await rest.post(orders.path, { Title: '1', Size: 3 })).status).toBe(200)
        written++
        // Meets the filter before and after.
        expect(
          (await rest.patch(orders.path, { Id: 2, Size: 3 + (time % 2), Title: `1 ${time}` })).status,
        ).toBe(200)
      }
    }
    const writing = Promise.all([write(), write()]).finally(() => {
      isDone = true
    })
    await Promise.all([writing, read(), read()])
    expect(await count()).toBe(start + written)
    expect(seen.length).toBeGreaterThan(10)
  })
})

/** Reads of the log itself, which do not count as reads of records. */
const OF_LOG = /^select (?:max\(id\) as id from sheaf_changes|c\.id)\b/
const countAll = (tableName: string) => sql`select count(*) as count from ${sql.identifier(tableName)}`

describe('createResultCache', () => {
  let bench: Bench
  let opened: Opened
  let runs = 0
  const statement = (n = 100_000) => ({
    sql: `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${n}) select count(*) as n from numbers`,
    params: [],
  })

  /** A slow statement that names a column. */
  const naming = (column: string, n?: number) => {
    const { sql: text, params } = statement(n)
    return {
      sql: text.replace(' select count(*)', `, named as (select 1 as "${column}") select count(*)`),
      params,
    }
  }

  /** Opens a table with an engine that counts its reads of records. */
  async function openCounted(tableId: string): Promise<Opened> {
    const actor = {
      kind: 'user' as const,
      id: bench.owner.id,
      email: bench.owner.email,
      orgRoles: ['super'],
      via: 'session' as const,
    }
    const real: Opened = await bench.app.services.records.open(actor, tableId)
    const engine = Object.create(real.engine, {
      all: {
        value: (...args: Parameters<typeof real.engine.all>) => {
          if (!OF_LOG.test(args[0].sql)) runs++
          return real.engine.all(...args)
        },
      },
    })
    return { ...real, engine }
  }

  beforeAll(async () => {
    bench = await createBench()
    opened = await openCounted((await bench.table({ Title: 'SingleLineText', Size: 'Number' })).id)
  })
  afterAll(() => bench.stop())

  test('reads a statement that comes again once, until the table changes', async () => {
    const cache = createResultCache(null)
    const slow = statement()
    runs = 0
    for (let time = 0; time < 5; time++) expect(await cache.over(opened).all(slow)).toEqual([{ n: 100_000 }])
    expect(runs).toBe(2)
    cache.touch(unknownEffects([opened.model.table.id]))
    await cache.over(opened).all(slow)
    await cache.over(opened).all(slow)
    expect(runs).toBe(3)
    cache.touch(unknownEffects(['another']))
    await cache.over(opened).all(slow)
    expect(runs).toBe(3)
  })

  test('lets those who ask at the same time share a read, each with rows of its own', async () => {
    const cache = createResultCache(null)
    const slow = statement()
    await cache.over(opened).all(slow)
    runs = 0
    const answers = await Promise.all(
      [1, 2, 3].map(() => cache.over(opened).all<{ n: number }>(slow, { scan: true })),
    )
    expect(runs).toBe(1)
    for (const [row] of answers) row!.n += 1
    expect(answers).toEqual(Array(3).fill([{ n: 100_001 }]))
    expect(await cache.over(opened).all(slow)).toEqual([{ n: 100_000 }])
  })

  test('reads on for the others where the one who began leaves', async () => {
    const cache = createResultCache(null)
    const slow = statement(3_000_000)
    await cache.over(opened).all(slow, { scan: true })
    runs = 0
    const leaves = new AbortController()
    const asRequest = <T>(signal: AbortSignal, work: () => T): T =>
      asCaller(new Request('http://127.0.0.1', { signal }), 60_000, work)
    const first = asRequest(leaves.signal, () => cache.over(opened).all(slow, { scan: true }))
    const second = asRequest(new AbortController().signal, () => cache.over(opened).all(slow, { scan: true }))
    const left = first.catch((error) => error)
    await until(() => runs > 0, 'The read')
    leaves.abort()
    expect(await left).toMatchObject({ code: 'QUERY_CANCELLED' })
    expect(await second).toEqual([{ n: 3_000_000 }])
    expect(runs).toBe(2)
  })

  test('holds nothing that was read while the table changed', async () => {
    const cache = createResultCache(null)
    const slow = statement()
    await cache.over(opened).all(slow)
    runs = 0
    const reading = cache.over(opened).all(slow, { scan: true })
    cache.touch(unknownEffects([opened.model.table.id]))
    await Promise.all([reading, cache.over(opened).all(slow, { scan: true })])
    expect(runs).toBe(2)
  })

  test('keeps what an edit of other columns cannot change', async () => {
    const cache = createResultCache(null)
    const { table, fields } = opened.model
    const named = (title: string) => fields.find((field) => field.title === title)!
    const slow = naming('Title')
    const edit = (fieldId: string) =>
      effectsOf([{ tableId: table.id, recordId: 1, before: { [fieldId]: null }, after: { [fieldId]: 'x' } }])
    await cache.over(opened).all(slow)
    await cache.over(opened).all(slow)
    runs = 0
    cache.touch(edit(named('Size').id))
    await cache.over(opened).all(slow)
    expect(runs).toBe(0)
    cache.touch(edit(named('Title').id))
    await cache.over(opened).all(slow)
    expect(runs).toBe(1)
    // Its column is not known here.
    cache.touch(edit('a field that is gone'))
    await cache.over(opened).all(slow)
    expect(runs).toBe(2)
    cache.touch(effectsOf([{ tableId: table.id, recordId: 1, before: null, after: {} }]))
    await cache.over(opened).all(slow)
    expect(runs).toBe(3)
  })

  describe('where other processes write as well', () => {
    let orders: TestTable
    let other: TestTable
    let own: Opened

    beforeAll(async () => {
      other = await bench.table()
      orders = await bench.table({ Title: 'SingleLineText', Size: 'Number' }, [{ Title: 'a', Size: 1 }])
      own = await openCounted(orders.id)
    })

    test('reads again after a change that matters, and only then', async () => {
      const shared = createResultCache(createLogFollower())
      const query = naming('Title', 1_000_000)
      const read = () => shared.over(own).all(query)
      runs = 0
      for (let time = 0; time < 5; time++) await read()
      expect(runs).toBe(3)
      // As by another process: this cache hears of it from the log.
      await bench.rest.patch(orders.path, { Id: 1, Size: 2 })
      await read()
      expect(runs).toBe(3)
      await bench.rest.patch(orders.path, { Id: 1, Title: 'b' })
      for (let time = 0; time < 3; time++) await read()
      expect(runs).toBe(4)
      await bench.rest.post(orders.path, { Title: 'c' })
      await read()
      expect(runs).toBe(5)
      // Another table of the base.
      await bench.rest.post(other.path, { Title: 'x' })
      await read()
      expect(runs).toBe(5)
      shared.clear()
      await read()
      expect(runs).toBe(6)
    })

    test('counts from the log what any process wrote, without counting again', async () => {
      const counts = createRowCounts(createLogFollower())
      const total = () => counts.get(own.engine, own.model, countAll(own.model.table.tableName))
      const real = async () => (await bench.rest.get(`${orders.path}/count`)).body.count
      expect(await total()).toBe(await real())
      runs = 0
      const writes: (() => Promise<unknown>)[] = [
        () => bench.rest.post(orders.path, { Title: 'one' }),
        () => bench.rest.patch(orders.path, { Id: 1, Size: 9 }),
        () =>
          bench.rest.post(
            orders.path,
            Array.from({ length: 150 }, (_, n) => ({ Title: `many ${n}` })),
          ),
        () => bench.rest.delete(orders.path, { Id: 1 }),
      ]
      for (const write of writes) {
        await write()
        const seen = await Promise.all([total(), total(), total()])
        const size: number = await real()
        expect(seen).toEqual([size, size, size])
      }
      expect(runs).toBe(0)
      // More than what is looked at one by one.
      for (let time = 0; time < 3; time++) {
        const rows = Array.from({ length: 100 }, (_, n) => ({ Title: `more ${n}` }))
        const { body } = await bench.rest.post(orders.path, rows)
        await bench.rest.delete(orders.path, body)
      }
      expect(await total()).toBe(await real())
    })
  })

  test('holds no quick reads', async () => {
    const readOften = async (minReadMs: number) => {
      const cache = createResultCache(null, minReadMs)
      const statement = { sql: 'select 1 as n', params: [] }
      runs = 0
      for (let time = 0; time < 3; time++) await cache.over(opened).all(statement)
      return runs
    }
    // Whatever the machine: by these limits one is quick and the other slow, and held from the second read on.
    expect([await readOften(60_000), await readOften(0)]).toEqual([3, 2])
  })

  test('passes on the error of a read, and reads again', async () => {
    const cache = createResultCache(null)
    const broken = { sql: 'select nothing from nowhere', params: [] }
    for (let time = 0; time < 3; time++) expect(cache.over(opened).all(broken)).rejects.toThrow()
  })
})
