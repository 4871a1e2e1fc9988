import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { View } from '../../src/core/model.ts'
import { createTable, databases, fieldOf, openWorkshop, refusalOf, type Workshop } from '../schema/support.ts'
import { createMember } from '../support/factories.ts'

describe.each([...databases])('views, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  const read = (tableId: string) => shop.api.schema.table.query({ tableId })
  const viewOf = async ({ id, tableId }: Pick<View, 'id' | 'tableId'>) => {
    const view = (await read(tableId)).views.find((candidate) => candidate.id === id)
    if (!view) throw new Error(`View ${id} is gone`)
    return view
  }
  const undo = () => shop.api.records.undo.mutate({ baseId: shop.baseId })
  const redo = () => shop.api.records.redo.mutate({ baseId: shop.baseId })
  const threeFields = () =>
    createTable(shop, [
      { type: 'SingleLineText', title: 'Title' },
      { type: 'Number', title: 'N' },
      { type: 'Date', title: 'D' },
    ])

  describe('views.create', () => {
    test('refuses an editor, an empty title, an unknown kind and an unknown table', async () => {
      const { table } = await createTable(shop)
      const editor = await createMember(shop.app, shop.baseId, 'editor')
      const input = { tableId: table.id, title: 'V', kind: 'grid' as const }
      expect(await refusalOf(shop.app.trpc(editor.token).views.create.mutate(input))).toMatchObject({
        status: 403,
      })
      expect((await refusalOf(shop.api.views.create.mutate({ ...input, title: ' ' }))).message).toBe(
        'A view needs a title',
      )
      const chart = { ...input, kind: 'chart' as 'grid' }
      expect((await refusalOf(shop.api.views.create.mutate(chart))).status).toBe(400)
      const lost = { ...input, tableId: 'mxxxxxxxxxxxxxx' }
      expect(await refusalOf(shop.api.views.create.mutate(lost))).toMatchObject({ code: 'TABLE_NOT_FOUND' })
      expect((await read(table.id)).views).toHaveLength(1)
    })

    test('shows every field of one’s own, goes last, and takes a free title', async () => {
      const schema = await threeFields()
      const create = () =>
        shop.api.views.create.mutate({ tableId: schema.table.id, title: 'Grid', kind: 'grid' })
      const titles = (await Promise.all([create(), create(), create()])).map((view) => view.title)
      expect(titles.sort()).toEqual(['Grid', 'Grid_1', 'Grid_2'])
      const { views } = await read(schema.table.id)
      expect(views.map((view) => view.isDefault)).toEqual([true, false, false, false])
      const shown = views
        .at(-1)
        ?.fields.filter(({ show }) => show)
        .map(({ fieldId }) => fieldId)
      expect(shown).toEqual(['Title', 'N', 'D'].map((title) => fieldOf(schema, title).id))
    })
  })

  test('views.duplicate copies what the view shows, with ids of its own', async () => {
    const schema = await threeFields()
    const view = schema.views[0]!
    const n = fieldOf(schema, 'N').id
    const filter = { fieldId: n, operator: 'gt', value: 1 }
    await shop.api.views.update.mutate({
      viewId: view.id,
      patch: { filter, rowHeight: 'extra', sorts: [{ fieldId: n, direction: 'asc' }] },
    })
    await shop.api.views.arrange.mutate({ viewId: view.id, fields: [{ fieldId: n, width: 77 }] })
    const original = await viewOf(view)
    const copy = await shop.api.views.duplicate.mutate({ viewId: view.id })
    expect(copy).toMatchObject({
      title: `${schema.table.title}_1`,
      isDefault: false,
      rowHeight: 'extra',
      filter,
    })
    expect(copy.fields).toEqual(original.fields)
    expect(copy.filter?.id).not.toBe(original.filter?.id)
    expect(copy.sorts[0]?.id).not.toBe(original.sorts[0]?.id)
  })

  test('views.delete refuses the default view; undo brings a deleted one back whole', async () => {
    const schema = await threeFields()
    const copy = await shop.api.views.duplicate.mutate({ viewId: schema.views[0]!.id })
    expect(await refusalOf(shop.api.views.delete.mutate({ viewId: schema.views[0]!.id }))).toMatchObject({
      status: 400,
      message: 'The default view of a table can’t be deleted',
    })
    await shop.api.views.delete.mutate({ viewId: copy.id })
    expect(await refusalOf(shop.api.views.delete.mutate({ viewId: copy.id }))).toMatchObject({
      code: 'VIEW_NOT_FOUND',
    })
    await undo()
    expect(await viewOf(copy)).toEqual(copy)
    await redo()
    expect((await read(schema.table.id)).views).toHaveLength(1)
  })

  test('views.reorder puts a view ahead of another, or last', async () => {
    const schema = await createTable(shop)
    const tableId = schema.table.id
    for (const title of ['A', 'B']) await shop.api.views.create.mutate({ tableId, title, kind: 'grid' })
    const order = async () => (await read(tableId)).views.map(({ id }) => id)
    const [first, a, b] = await order()
    await shop.api.views.reorder.mutate({ viewId: b!, before: a! })
    expect(await order()).toEqual([first!, b!, a!])
    await shop.api.views.reorder.mutate({ viewId: first!, before: null })
    expect(await order()).toEqual([b!, a!, first!])
    await undo()
    expect(await order()).toEqual([first!, b!, a!])
  })

  test('views of a table in the trash are not found', async () => {
    const schema = await createTable(shop)
    await shop.api.schema.deleteTable.mutate({ tableId: schema.table.id })
    const patch = { rowHeight: 'tall' as const }
    expect(
      (await refusalOf(shop.api.views.update.mutate({ viewId: schema.views[0]!.id, patch }))).status,
    ).toBe(404)
  })
})
