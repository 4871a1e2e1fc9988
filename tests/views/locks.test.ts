import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { View } from '../../src/core/model.ts'
import {
  createField,
  createTable,
  databases,
  fieldOf,
  openWorkshop,
  readTable,
  refusalOf,
  type Workshop,
} from '../schema/support.ts'
import type { TestUser } from '../support/app.ts'
import { createMember } from '../support/factories.ts'

const M = '/api/v1/db/meta'

describe.each([...databases])('locks of views, metadata in %s', (database) => {
  let shop: Workshop
  let creator: TestUser
  let editor: TestUser
  beforeAll(async () => {
    shop = await openWorkshop(database)
    creator = await createMember(shop.app, shop.baseId, 'creator')
    editor = await createMember(shop.app, shop.baseId, 'editor')
  })
  afterAll(() => shop.app.stop())

  async function openView() {
    const schema = await createTable(shop, [
      { type: 'SingleLineText', title: 'Title' },
      { type: 'Number', title: 'N' },
    ])
    const tableId = schema.table.id
    const view = await shop.api.views.create.mutate({ tableId, title: 'Mine', kind: 'grid' })
    const n = fieldOf(schema, 'N').id
    const patch = { filter: { fieldId: n, operator: 'gt', value: 1 } }
    await shop.api.views.update.mutate({ viewId: view.id, patch })
    const sorts = [{ fieldId: n, direction: 'asc' as const }]
    await shop.api.views.update.mutate({ viewId: view.id, patch: { sorts } })
    return { schema, tableId, viewId: view.id, n }
  }
  const viewOf = async ({ tableId, viewId }: { tableId: string; viewId: string }): Promise<View> => {
    const view = (await readTable(shop, tableId)).views.find(({ id }) => id === viewId)
    if (!view) throw new Error(`View ${viewId} is gone`)
    return view
  }
  const setLock = (viewId: string, lock: View['lock'], as = shop.api) =>
    as.views.update.mutate({ viewId, patch: { lock } })

  /** Every way to change a view, over both doors. */
  function changes({ viewId, n }: Awaited<ReturnType<typeof openView>>, as: TestUser) {
    const api = shop.app.trpc(as.token)
    const rest = shop.app.rest(as.token)
    const update = (patch: Parameters<typeof api.views.update.mutate>[0]['patch']) =>
      api.views.update.mutate({ viewId, patch })
    const sent = async (method: 'post' | 'patch' | 'delete', path: string, body?: object) => {
      const answer = await rest[method](`${M}${path}`, body)
      if (answer.status === 200) return
      const { message, error } = answer.body
      throw Object.assign(new Error(message), { data: { httpStatus: answer.status, appCode: error } })
    }
    const list = async (of: string) => (await rest.get(`${M}/views/${viewId}/${of}`)).body.list[0].id
    return {
      title: () => update({ title: 'Other' }),
      filter: () => update({ filter: null }),
      groups: () => update({ groups: [{ fieldId: n, direction: 'asc' }] }),
      coloring: () => update({ coloring: { mode: 'filter', rules: [] } }),
      description: () => update({ description: 'x' }),
      icon: () => update({ meta: { icon: 'x' } }),
      arrange: () => api.views.arrange.mutate({ viewId, fields: [{ fieldId: n, show: false }] }),
      deletion: () => api.views.delete.mutate({ viewId }),
      'PATCH view': () => sent('patch', `/views/${viewId}`, { title: 'Other' }),
      'PATCH grid': () => sent('patch', `/grids/${viewId}`, { row_height: 2 }),
      'DELETE view': () => sent('delete', `/views/${viewId}`),
      'hide-all': () => sent('post', `/views/${viewId}/hide-all`),
      'POST column': () => sent('post', `/views/${viewId}/columns`, { fk_column_id: n, show: false }),
      'PATCH column': async () => sent('patch', `/grid-columns/${await list('columns')}`, { width: 99 }),
      'POST sort': () => sent('post', `/views/${viewId}/sorts`, { fk_column_id: n }),
      'DELETE sort': async () => sent('delete', `/sorts/${await list('sorts')}`),
      'POST filter': () => sent('post', `/views/${viewId}/filters`, { fk_column_id: n, comparison_op: 'eq' }),
      'PATCH filter': async () => sent('patch', `/filters/${await list('filters')}`, { value: 9 }),
    }
  }

  test('a locked view takes no change from anybody, but can be unlocked by who may rename it', async () => {
    const world = await openView()
    await setLock(world.viewId, 'locked')
    const before = await viewOf(world)
    for (const change of Object.values(changes(world, shop.owner))) {
      expect(await refusalOf(change())).toMatchObject({
        status: 403,
        code: 'PERMISSION_DENIED',
        message: 'View “Mine” is locked. Unlock it to make changes.',
      })
    }
    expect(await viewOf(world)).toEqual(before)
    const asEditor = shop.app.trpc(editor.token)
    expect((await refusalOf(setLock(world.viewId, 'collaborative', asEditor))).message).toContain(
      'viewUpdate',
    )
    // Whoever unlocks it may say the rest in the same breath; where it stands in the list was never locked.
    await shop.api.views.reorder.mutate({ viewId: world.viewId, before: null })
    const patch = { lock: 'collaborative' as const, title: 'Free' }
    await shop.app.trpc(creator.token).views.update.mutate({ viewId: world.viewId, patch })
    const free = changes(world, shop.owner)
    for (const change of [free.filter, free['PATCH column'], free.deletion]) await change()
  })

  test('undo takes back nothing in a locked view but its lock', async () => {
    const world = await openView()
    const undo = (as: TestUser) => shop.app.trpc(as.token).records.undo.mutate({ baseId: shop.baseId })
    await changes(world, editor).filter()
    await changes(world, creator).arrange()
    await setLock(world.viewId, 'locked')
    const before = await viewOf(world)
    for (const who of [editor, creator]) {
      expect(await refusalOf(undo(who))).toMatchObject({ status: 403, code: 'PERMISSION_DENIED' })
    }
    expect(await viewOf(world)).toEqual(before)
    await undo(shop.owner)
    expect((await viewOf(world)).lock).toBe('collaborative')
    await undo(editor)
    expect((await viewOf(world)).filter).toMatchObject({ value: 1 })
  })

  test('a personal view is seen by everyone and changed by its owner, until another takes it over', async () => {
    const world = await openView()
    const own = await shop.app.trpc(creator.token).views.create.mutate({
      tableId: world.tableId,
      title: 'Hers',
      kind: 'grid',
      lock: 'personal',
      description: 'Why',
      meta: { icon: '🐑' },
    })
    expect(own).toMatchObject({ lock: 'personal', ownerId: creator.id, description: 'Why' })
    await setLock(world.viewId, 'personal')
    expect(await viewOf(world)).toMatchObject({ lock: 'personal', ownerId: shop.owner.id })
    const before = await viewOf(world)
    for (const [name, change] of Object.entries(changes(world, creator))) {
      expect([name, await refusalOf(change())]).toMatchObject([
        name,
        { status: 403, message: 'View “Mine” is personal. Only its owner can change it.' },
      ])
    }
    expect(await viewOf(world)).toEqual(before)
    const seen = await shop.app.rest(editor.token).get(`${M}/tables/${world.tableId}/views`)
    expect(seen.body.list[1]).toMatchObject({ lock_type: 'personal', owned_by: shop.owner.id })
    await changes(world, shop.owner).filter()

    // Taken over by saying again that it is personal; from then on it is the other's.
    await setLock(world.viewId, 'personal', shop.app.trpc(creator.token))
    expect((await viewOf(world)).ownerId).toBe(creator.id)
    await changes(world, creator).arrange()
    expect((await refusalOf(changes(world, shop.owner).groups())).status).toBe(403)

    // Handed to an editor, who may arrange it and nothing more.
    const path = `${M}/views/${world.viewId}`
    const stranger = await shop.app.signUp()
    expect(await shop.rest.patch(path, { owned_by: stranger.id })).toMatchObject({
      status: 400,
      body: { msg: 'The owner of a view must be a member of its base' },
    })
    expect((await shop.rest.patch(path, { owned_by: editor.id })).body.owned_by).toBe(editor.id)
    await changes(world, editor).groups()
    expect((await refusalOf(changes(world, editor).title())).message).toContain('viewUpdate')
    expect((await refusalOf(changes(world, creator).icon())).status).toBe(403)
  })

  test('a view that a client sends back whole may belong to a former member', async () => {
    const world = await openView()
    const { tableId } = world
    const leaver = await createMember(shop.app, shop.baseId, 'creator')
    const made = { tableId, title: 'Theirs', kind: 'grid' } as const
    const { id } = await shop.app.trpc(leaver.token).views.create.mutate(made)
    await shop.api.bases.removeMember.mutate({ baseId: shop.baseId, userId: leaver.id })
    const { list } = (await shop.rest.get(`${M}/tables/${tableId}/views`)).body
    const view = list.find((listed: { id: string }) => listed.id === id)
    const { status, body } = await shop.rest.patch(`${M}/views/${id}`, { ...view, title: 'Ours' })
    expect([status, body.title, body.owned_by]).toEqual([200, 'Ours', leaver.id])
    expect((await shop.rest.patch(`${M}/views/${world.viewId}`, { owned_by: leaver.id })).status).toBe(400)
  })

  test('a field that is made in a locked view goes to its end', async () => {
    const world = await openView()
    await setLock(world.viewId, 'locked')
    await shop.api.schema.createField.mutate({
      tableId: world.tableId,
      viewId: world.viewId,
      beforeFieldId: world.n,
      field: { type: 'Number', title: 'Later' },
    })
    const schema = await readTable(shop, world.tableId)
    const titles = (await viewOf(world)).fields
      .filter(({ show }) => show)
      .map(({ fieldId }) => schema.fields.find(({ id }) => id === fieldId)?.title)
    expect(titles).toEqual(['Title', 'N', 'Later'])
    await createField(shop, world.tableId, { type: 'Number', title: 'Last' })
  })
})
