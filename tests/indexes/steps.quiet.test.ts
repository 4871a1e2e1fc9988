import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Bench, createBench } from '../records/support.ts'
import { fillTable } from './support.ts'

const MANY = 300_000
/** As a whole, an index is built in one transaction: the first write waits for nearly all of it. */
const LONGEST_PART = 1 / 4

let bench: Bench
beforeAll(async () => {
  // The server adds no indexes of its own meanwhile.
  bench = await createBench({ config: { indexSlowMs: 0 } })
})
afterAll(() => bench.stop())

test('no write waits for a large part of the time that an index of a large table takes', async () => {
  const table = await bench.table({ Name: 'SingleLineText', Num: 'Number' })
  await fillTable(bench.app.kernel, table, MANY)
  const terms = ['Name', 'Num'].map((title) => ({
    fieldId: table.field(title).id,
    as: 'value' as const,
    direction: 'asc' as const,
  }))
  const tableId = table.id
  const list = () => bench.trpc.indexes.list.query({ tableId })
  const begunAt = performance.now()
  await bench.trpc.indexes.create.mutate({ tableId, terms })
  const times: number[] = []
  do {
    const startedAt = performance.now()
    const { status } = await bench.rest.patch(table.path, [{ Id: times.length + 1, Name: 'new' }])
    times.push(performance.now() - startedAt)
    expect(status).toBe(200)
  } while ((await list())[0]?.state === 'building')
  const builtMs = performance.now() - begunAt
  expect(await list()).toMatchObject([{ state: 'ready' }])
  expect(Math.max(...times)).toBeLessThan(builtMs * LONGEST_PART)
}, 240_000)
