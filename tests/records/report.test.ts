import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

describe('GET /api/v1/aggregated-meta-info', () => {
  test('counts records, views, filters and sorts of each base', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [
      { Title: 'a' },
      { Title: 'b' },
      { Title: 'c' },
    ])
    const fieldId = table.field('Title').id
    const condition = { fieldId, operator: 'eq', value: 'a' }
    const filter = {
      join: 'or' as const,
      children: [condition, { join: 'and' as const, children: [condition] }],
    }
    const viewId = table.schema.views[0]!.id
    await bench.trpc.views.update.mutate({
      viewId,
      patch: { filter, sorts: [{ fieldId, direction: 'asc' }] },
    })
    const { body } = await bench.rest.get('/api/v1/aggregated-meta-info')
    // The filter of the view narrows what it shows, and not what the table holds.
    expect(body.bases).toContainEqual(
      expect.objectContaining({
        tableCount: { table: 1, view: 0 },
        viewCount: expect.objectContaining({ gridCount: 1, total: 1 }),
        filterCount: 2,
        sortCount: 1,
        rowCount: [{ TotalRecords: 3 }],
      }),
    )
  })
})
