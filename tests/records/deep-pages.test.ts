import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench, type TestTable } from './support.ts'

const ROWS = 12_000
const PAGE = 40

describe('a page in the last third of a large table', () => {
  let bench: Bench
  let orders: TestTable
  beforeAll(async () => {
    bench = await createBench()
    const rows = Array.from({ length: ROWS }, (_, n) => ({
      Title: `Order ${(n * 7919) % ROWS}`,
      // Many records with the same value, and many without one.
      Size: n % 3 === 0 ? null : n % 11,
      State: n % 5 === 0 ? '' : `s${n % 4}`,
    }))
    orders = await bench.table({ Title: 'SingleLineText', Size: 'Number', State: 'SingleLineText' }, rows)
    // Positions and keys no longer agree.
    const { baseId, trpc } = bench
    for (const [ids, before] of [
      [[11_950, 11_960], 20],
      [[30, 31], 11_990],
      [[40], null],
    ] as const) {
      await trpc.records.write.mutate({
        change: { baseId, operations: [{ kind: 'move', tableId: orders.id, ids: [...ids], before }] },
      })
    }
    await bench.rest.delete(orders.path, [{ Id: 11_980 }, { Id: 7 }])
  })
  afterAll(() => bench.stop())

  const list = async (query: string): Promise<Record<string, unknown>[]> => {
    const { status, body } = await bench.rest.get(`${orders.path}?limit=${PAGE}&${query}`)
    expect(status).toBe(200)
    return body.list
  }

  test.each([
    ['the manual order', ''],
    ['a sort', '&sort=-Size'],
    ['two sorts', '&sort=Size,-Title'],
    ['a sort by text with empty values', '&sort=State'],
  ])('has the same records as counted from the start, in %s', async (_, order) => {
    for (const offset of [8_200, 9_999, ROWS - 2 - PAGE, ROWS - 2 - 3]) {
      const expected = Math.min(PAGE, ROWS - 2 - offset)
      const near = await list(`offset=${offset}${order}`)
      // A filter of all records is counted from the start.
      const far = await list(`offset=${offset}${order}&where=(Id,gt,0)`)
      expect(near).toHaveLength(expected)
      expect(near).toEqual(far)
    }
  })

  test('has the same records in the grid, with groups', async () => {
    const { trpc } = bench
    const groups = [{ fieldId: orders.field('State').id, direction: 'desc' as const }]
    const filter = {
      join: 'and' as const,
      children: [{ fieldId: orders.field('Title').id, operator: 'like', value: 'Order' }],
    }
    for (const offset of [8_500, ROWS - 2 - PAGE]) {
      const query = { tableId: orders.id, limit: PAGE, offset, groups }
      const near = await trpc.records.list.query({ query })
      const far = await trpc.records.list.query({ query: { ...query, filter } })
      expect(near.ids).toHaveLength(PAGE)
      expect([near.ids, near.rows]).toEqual([far.ids, far.rows])
    }
  })

  test('is cached like any other', async () => {
    const { id, email } = bench.owner
    const { records } = bench.app.services
    const actor = { kind: 'user' as const, id, email, orgRoles: ['super'], via: 'session' as const }
    const opened = await records.open(actor, orders.id)
    const plan = records.plan(opened, null, () => ({
      limit: PAGE,
      offset: 9_000,
      fields: [orders.field('Title')],
      shape: { kind: 'rows', links: 'first' },
    }))
    const statement = plan.fromEnd?.(ROWS)
    expect(statement?.sql).toContain('desc')
    // Results are cached by their statement.
    expect(plan.fromEnd?.(ROWS)).toBe(statement!)
    expect(plan.fromEnd?.(ROWS + 1)).not.toEqual(statement!)
  })

  test('does not move while records are added', async () => {
    const first = await list(`offset=${ROWS - 1_000}`)
    let isOver = false
    const adding = (async () => {
      for (let n = 0; !isOver; n++) await bench.rest.post(orders.path, { Title: `late ${n}` })
    })()
    for (let n = 0; n < 60; n++) {
      // Another page each time, so that none comes from the cache.
      const page = await list(`offset=${ROWS - 1_000 - (n % 20)}`)
      expect(page[n % 20]).toEqual(first[0]!)
    }
    isOver = true
    await adding
  })
})
