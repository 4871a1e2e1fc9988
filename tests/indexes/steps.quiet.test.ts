import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Bench, createBench } from '../records/support.ts'
import { fillTable } from './support.ts'

const MANY = 300_000

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

test('no write waits long while an index of a large table is built', async () => {
  const table = await bench.table({ Name: 'SingleLineText', Num: 'Number' })
  await fillTable(bench.app.kernel, table, MANY)
  /** Writes one record after the other until the end. @returns the duration of each write */
  async function write(hasEnded: () => Promise<boolean>): Promise<number[]> {
    const times: number[] = []
    for (let at = 1; at % 10 !== 0 || !(await hasEnded()); at++) {
      const startedAt = performance.now()
      expect((await bench.rest.patch(table.path, [{ Id: at, Name: `new ${at}` }])).status).toBe(200)
      times.push(performance.now() - startedAt)
    }
    return times
  }

  const terms = ['Name', 'Num'].map((title) => ({
    fieldId: table.field(title).id,
    as: 'value' as const,
    direction: 'asc' as const,
  }))
  const tableId = table.id
  await bench.trpc.indexes.create.mutate({ tableId, terms })
  const list = () => bench.trpc.indexes.list.query({ tableId })
  const inSteps = await write(async () => (await list())[0]?.state !== 'building')
  expect(await list()).toMatchObject([{ state: 'ready' }])
  expect(inSteps.length).toBeGreaterThan(20)

  // The same index as a whole, as small tables get it.
  const engine = await bench.app.kernel.sources.engine(bench.baseId)
  const { quote } = engine.dialect
  const columns = ['Name', 'Num'].map((title) => quote(table.field(title).columnName))
  const sql = `create index whole on ${quote(table.schema.table.tableName)} (${columns.join(', ')})`
  let hasEnded = false
  const building = engine.writeScript([{ sql, params: [] }]).finally(() => {
    hasEnded = true
  })
  const asWhole = await write(async () => hasEnded)
  await building
  expect(Math.max(...inSteps)).toBeLessThan(Math.max(...asWhole) / 2)
}, 240_000)
