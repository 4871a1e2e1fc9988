import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

const report = async () => (await bench.rest.get('/api/v1/aggregated-meta-info')).body

describe('GET /api/v1/aggregated-meta-info', () => {
  test('is refused to all but super admins', async () => {
    const { token } = await bench.app.signUp('somebody@example.com')
    const path = '/api/v1/aggregated-meta-info'
    expect((await bench.app.rest(token).get(path)).status).toBe(403)
    expect((await bench.app.rest().get(path)).status).toBe(401)
  })

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
    // The filter of the view narrows what it shows, and not what the table holds.
    expect((await report()).bases).toContainEqual(
      expect.objectContaining({
        tableCount: { table: 1, view: 0 },
        viewCount: expect.objectContaining({ gridCount: 1, total: 1 }),
        filterCount: 2,
        sortCount: 1,
        rowCount: [{ TotalRecords: 3 }],
      }),
    )
  })

  test('counts what is shared, and not what has expired or lies in the trash', async () => {
    const { trpc, baseId } = bench
    const { id: tableId } = await bench.table()
    const make = (kind: 'grid' | 'form') => trpc.views.create.mutate({ tableId, title: kind, kind })
    const [grid, form, late, gone] = [
      await make('grid'),
      await make('form'),
      await make('grid'),
      await make('form'),
    ]
    const share = (kind: 'view' | 'base', targetId: string, patch = {}) =>
      trpc.shares.save.mutate({ kind, targetId, patch })
    await share('base', baseId)
    await share('view', grid.id, { password: 'kept closed' })
    await share('view', form.id)
    await share('view', gone.id)
    await trpc.views.delete.mutate({ viewId: gone.id })
    await share('view', late.id, { expiresAt: new Date(Date.now() + 1000).toISOString() })
    await Bun.sleep(1100)
    const { sharedBaseCount, bases } = await report()
    expect(sharedBaseCount).toBe(1)
    expect(bases).toContainEqual(
      expect.objectContaining({
        viewCount: expect.objectContaining({
          sharedGridCount: 1,
          sharedFormCount: 1,
          sharedGalleryCount: 0,
          sharedKanbanCount: 0,
          sharedTotal: 2,
          sharedLockedCount: 1,
        }),
      }),
    )
    await trpc.shares.close.mutate({ kind: 'base', targetId: baseId })
    expect((await report()).sharedBaseCount).toBe(0)
  })
})
