import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Opened } from '../../modules/records/read/plan.ts'
import { createResultCache } from '../../modules/records/read/result-cache.ts'
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
})

const LAST_CHANGE = 'select max(id) as id from sheaf_changes'

describe('createResultCache', () => {
  let bench: Bench
  let opened: Opened
  let runs = 0
  const statement = (n = 100_000) => ({
    sql: `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${n}) select count(*) as n from numbers`,
    params: [],
  })

  beforeAll(async () => {
    bench = await createBench()
    const table = await bench.table()
    const actor = {
      kind: 'user' as const,
      id: bench.owner.id,
      email: bench.owner.email,
      orgRoles: ['super'],
      via: 'session' as const,
    }
    const real: Opened = await bench.app.services.records.open(actor, table.id)
    const engine = Object.create(real.engine, {
      all: {
        value: (...args: Parameters<typeof real.engine.all>) => {
          if (args[0].sql !== LAST_CHANGE) runs++
          return real.engine.all(...args)
        },
      },
    })
    opened = { ...real, engine }
  })
  afterAll(() => bench.stop())

  test('reads a statement that comes again once, until the table changes', async () => {
    const cache = createResultCache(false)
    const slow = statement()
    runs = 0
    for (let time = 0; time < 5; time++) expect(await cache.over(opened).all(slow)).toEqual([{ n: 100_000 }])
    expect(runs).toBe(2)
    cache.touch([opened.model.table.id])
    await cache.over(opened).all(slow)
    await cache.over(opened).all(slow)
    expect(runs).toBe(3)
    cache.touch(['another'])
    await cache.over(opened).all(slow)
    expect(runs).toBe(3)
  })

  test('lets those who ask at the same time share a read, each with rows of its own', async () => {
    const cache = createResultCache(false)
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

  test('holds nothing that was read while the table changed', async () => {
    const cache = createResultCache(false)
    const slow = statement()
    await cache.over(opened).all(slow)
    runs = 0
    const reading = cache.over(opened).all(slow, { scan: true })
    cache.touch([opened.model.table.id])
    await Promise.all([reading, cache.over(opened).all(slow, { scan: true })])
    expect(runs).toBe(2)
  })

  test('where other processes write as well, reads again after any change of the base', async () => {
    const shared = createResultCache(true)
    const slow = statement(1_000_000)
    runs = 0
    for (let time = 0; time < 5; time++) await shared.over(opened).all(slow)
    expect(runs).toBe(3)
    // As by another process: this cache hears nothing of it.
    await bench.rest.post((await bench.table()).path, { Title: 'x' })
    for (let time = 0; time < 3; time++) await shared.over(opened).all(slow)
    expect(runs).toBe(4)
    shared.clear()
    await shared.over(opened).all(slow)
    expect(runs).toBe(5)
  })

  test('holds no quick reads', async () => {
    const cache = createResultCache(false)
    const quick = { sql: 'select 1 as n', params: [] }
    runs = 0
    for (let time = 0; time < 3; time++) await cache.over(opened).all(quick)
    expect(runs).toBe(3)
  })

  test('passes on the error of a read, and reads again', async () => {
    const cache = createResultCache(false)
    const broken = { sql: 'select nothing from nowhere', params: [] }
    for (let time = 0; time < 3; time++) expect(cache.over(opened).all(broken)).rejects.toThrow()
  })
})
