import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { currentCaller } from '../../src/caller.ts'
import { createBase, createMember } from '../support/factories.ts'
import { type Bench, benchOf, createBench } from './support.ts'

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

  test('reads several bases with as many statements as one', async () => {
    const person = await bench.app.signUp()
    const rest = bench.app.rest(person.token)
    const addBase = async () => {
      const { id } = await createBase(bench.app, bench.owner)
      await bench.app.services.auth.access.setMembership(id, person.id, 'viewer')
      await benchOf(bench.app, bench.owner, id).table()
    }
    const { db } = bench.app.kernel.meta
    const select = db.select.bind(db)
    const statements = async () => {
      let count = 0
      const spy = spyOn(db, 'select').mockImplementation(((...fields: []) => {
        if (currentCaller()?.key === `user ${person.id}`) count++
        return select(...fields)
      }) as typeof db.select)
      try {
        const entries = await call(rest)
        return { count, bases: entries.filter(({ id }) => id.startsWith('p-')).length }
      } finally {
        spy.mockRestore()
      }
    }
    await addBase()
    const { count: ofOne } = await statements()
    for (let n = 0; n < 4; n++) await addBase()
    const { count, bases } = await statements()
    expect(bases).toBe(5)
    expect(count).toBeLessThanOrEqual(ofOne)
    expect(ofOne).toBeGreaterThan(0)
  })
})
