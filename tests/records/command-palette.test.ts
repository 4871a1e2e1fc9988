import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { type Bench, createBench } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

describe('POST /api/v1/command_palette', () => {
  const call = async (rest: Bench['rest']): Promise<{ id: string }[]> =>
    (await rest.post('/api/v1/command_palette', { scope: 'root' })).body

  test('names bases, tables and views that the caller sees', async () => {
    const { id: tableId, title, schema } = await bench.table()
    const view = schema.views[0]!
    const base = await bench.trpc.bases.get.query({ baseId: bench.baseId })
    const own = (entries: { id: string }[]) =>
      entries.filter(({ id }) => [`p-${base.id}`, `tbl-${tableId}`, `vw-${view.id}`].includes(id))
    const entries = own(await call(bench.rest))
    expect(entries).toEqual([
      { id: `p-${base.id}`, title: base.title, icon: 'project', iconColor: null, section: 'Bases' },
      {
        id: `tbl-${tableId}`,
        title,
        parent: `p-${base.id}`,
        icon: 'table',
        projectName: base.title,
        section: 'Tables',
      },
      {
        id: `vw-${view.id}`,
        title: view.title,
        parent: `tbl-${tableId}`,
        icon: 'grid',
        projectName: base.title,
        section: 'Views',
        is_default: true,
        handler: { type: 'navigate', payload: `/nc/${base.id}/${tableId}/${view.id}` },
      },
    ] as never)
    const viewer = await createMember(bench.app, bench.baseId, 'viewer')
    expect(own(await call(bench.app.rest(viewer.token)))).toEqual(entries)
    const hidden = await bench.trpc.views.create.mutate({ tableId, title: 'Hidden', kind: 'grid' })
    await bench.rest.post(`/api/v1/db/meta/projects/${bench.baseId}/visibility-rules`, [
      { id: hidden.id, disabled: { viewer: true } },
    ])
    const ids = async (rest: Bench['rest']) => (await call(rest)).map(({ id }) => id)
    expect(await ids(bench.rest)).toContain(`vw-${hidden.id}`)
    expect(await ids(bench.app.rest(viewer.token))).not.toContain(`vw-${hidden.id}`)
    const stranger = await bench.app.signUp()
    expect(own(await call(bench.app.rest(stranger.token)))).toEqual([])
    expect((await bench.app.rest().post('/api/v1/command_palette')).status).toBe(401)
  })

  test('has no views of the tables that hold links', async () => {
    const { id: tableId } = await bench.table()
    const options = { kind: 'mm', relatedTableId: tableId }
    await bench.trpc.schema.createField.mutate({
      tableId,
      field: { title: 'Others', type: 'Links', options },
    })
    const entries: { id: string; parent?: string }[] = await call(bench.rest)
    const ids = entries.map(({ id }) => id)
    expect(entries.filter(({ parent }) => parent !== undefined && !ids.includes(parent))).toEqual([])
  })
})
