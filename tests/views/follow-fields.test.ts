import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { View, ViewKind } from '../../src/core/model.ts'
import { optionsOf } from '../../src/core/views/index.ts'
import { createField, databases, fieldOf, openWorkshop, readTable, type Workshop } from '../schema/support.ts'
import { asked, createView, everything, KINDS, openLink, shownIn, updateView, viewOf } from './support.ts'

describe.each([...databases])('views and changes of fields, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  const undo = () => shop.api.records.undo.mutate({ baseId: shop.baseId })

  test('what a view keeps of a field in the trash waits there, and other options can be changed', async () => {
    const schema = await everything(shop)
    const fields: [ViewKind, string, object, object][] = [
      ['gallery', 'Files', { coverFieldId: null }, { coverFit: 'crop' }],
      ['kanban', 'State', { stackFieldId: null, stacks: [] }, { hideEmpty: true }],
      ['calendar', 'Start', { ranges: [] }, { scale: 'week' }],
      ['map', 'Place', { geoFieldId: null }, {}],
    ]
    for (const [kind, title, without, change] of fields) {
      const fieldId = fieldOf(schema, title).id
      const stacks = kind === 'kanban' ? { stacks: [{ key: 'Done' }] } : undefined
      const view = await createView(shop, schema, kind, stacks)
      await shop.api.schema.deleteField.mutate({ fieldId })
      const pruned = await viewOf(shop, view)
      expect(pruned.options).toMatchObject(without)
      // Another change, by someone who does not see what waits, leaves it where it is.
      await updateView(shop, view, { options: { ...pruned.options, ...change } })
      await shop.api.schema.restoreField.mutate({ fieldId })
      expect((await viewOf(shop, view)).options).toEqual({ ...view.options, ...change })
    }
    const form = await createView(shop, schema, 'form')
    const n = fieldOf(schema, 'N').id
    const said = { ...asked, label: 'How many?', required: true }
    const arranged = await shop.api.views.arrange.mutate({
      viewId: form.id,
      fields: [{ fieldId: n, order: 0.5, form: said }],
    })
    await shop.api.schema.deleteField.mutate({ fieldId: n })
    expect((await viewOf(shop, form)).fields.some(({ fieldId }) => fieldId === n)).toBe(false)
    await shop.api.schema.restoreField.mutate({ fieldId: n })
    expect((await viewOf(shop, form)).fields).toEqual(arranged.fields)
    const kanban = await createView(shop, schema, 'kanban')
    const owner = await createField(shop, schema.table.id, { type: 'User', title: 'Who' })
    const state = fieldOf(schema, 'State').id
    await shop.api.schema.deleteField.mutate({ fieldId: state })
    const pruned = await viewOf(shop, kanban)
    // What has been put in its place stays.
    await updateView(shop, kanban, { options: { ...pruned.options, stackFieldId: owner.id } })
    await shop.api.schema.restoreField.mutate({ fieldId: state })
    expect(optionsOf(await viewOf(shop, kanban), 'kanban').stackFieldId).toBe(owner.id)
  })

  test('a view opens after its field has become one that does not fit, and again as it was', async () => {
    const schema = await everything(shop)
    const state = fieldOf(schema, 'State').id
    const stacks = [{ key: 'Done', isCollapsed: true, isHidden: false }]
    const kanban = await createView(shop, schema, 'kanban', { stacks })
    const grid = await updateView(shop, schema.views[0]!, {
      coloring: { mode: 'select', fieldId: state, isBackground: false },
      groups: [{ fieldId: state, direction: 'asc' }],
    })
    await shop.api.schema.updateField.mutate({ fieldId: state, patch: { type: 'JSON' } })
    expect(optionsOf(await viewOf(shop, kanban), 'kanban')).toMatchObject({ stackFieldId: null, stacks: [] })
    expect(await viewOf(shop, grid)).toMatchObject({ coloring: null, groups: [] })
    await undo()
    expect((await viewOf(shop, kanban)).options).toEqual(kanban.options)
    expect(await viewOf(shop, grid)).toEqual(grid)
  })

  test('a renamed option keeps its stack, its filters, its colours and its place in forms', async () => {
    const schema = await everything(shop)
    const state = fieldOf(schema, 'State')
    const is = (value: string | string[]) => ({ fieldId: state.id, operator: 'anyof', value })
    const kanban = await createView(shop, schema, 'kanban', {
      stacks: [{ key: 'Done', isCollapsed: true }, { key: null }, { key: 'Open' }],
    })
    const coloring = {
      mode: 'filter' as const,
      rules: [{ color: '#00FF00', isBackground: true, filter: is(['Done']) }],
    }
    const grid = await updateView(shop, schema.views[0]!, { filter: is(['Open', 'Done']), coloring })
    const form = await createView(shop, schema, 'form')
    const n = fieldOf(schema, 'N').id
    await shop.api.views.arrange.mutate({
      viewId: form.id,
      fields: [
        { fieldId: state.id, form: { ...asked, limitOptions: ['Done'], defaultValue: 'Done' } },
        { fieldId: n, form: { ...asked, showIf: is(['Done']) } },
      ],
    })
    const before = await Promise.all([kanban, grid, form].map((view) => viewOf(shop, view)))

    const choices = (state.options.choices as { id: string; title: string }[]).map((choice) => ({
      ...choice,
      // Two that change places: one after the other would make them one.
      title: choice.title === 'Done' ? 'Open' : 'Done',
    }))
    await shop.api.schema.updateField.mutate({ fieldId: state.id, patch: { options: { choices } } })
    expect(optionsOf(await viewOf(shop, kanban), 'kanban').stacks).toMatchObject([
      { key: 'Open', isCollapsed: true },
      { key: null },
      { key: 'Done' },
    ])
    expect(await viewOf(shop, grid)).toMatchObject({
      filter: is(['Done', 'Open']),
      coloring: { rules: [{ filter: is(['Open']) }] },
    })
    const said = (view: View, fieldId: string) => view.fields.find((line) => line.fieldId === fieldId)?.form
    expect(said(await viewOf(shop, form), state.id)).toMatchObject({
      limitOptions: ['Open'],
      defaultValue: 'Open',
    })
    expect(said(await viewOf(shop, form), n)).toMatchObject({ showIf: is(['Open']) })
    await undo()
    expect(await Promise.all([kanban, grid, form].map((view) => viewOf(shop, view)))).toEqual(before)
  })

  test('a new field is shown in grids, hidden on cards, and asked for unless the form is public', async () => {
    const schema = await everything(shop)
    const views = await Promise.all(KINDS.map((kind) => createView(shop, schema, kind)))
    const publicForm = await createView(shop, schema, 'form')
    await openLink(shop.api, publicForm.id)
    await createField(shop, schema.table.id, { type: 'Number', title: 'Later' })
    const after = await readTable(shop, schema.table.id)
    const shows = async (view: View, title: string) =>
      shownIn(await readTable(shop, schema.table.id), await viewOf(shop, view)).includes(title)
    expect(await Promise.all(views.map((view) => shows(view, 'Later')))).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ])
    expect(await shows(publicForm, 'Later')).toBe(false)
    // It goes last, and does not move with what becomes of the link.
    expect(shownIn(after, await viewOf(shop, views[1]!)).at(-1)).toBe('Later')

    // In the view that it is made in it is shown, whatever that is.
    for (const view of [views[3]!, publicForm]) {
      const title = `Made in ${view.id}`
      await shop.api.schema.createField.mutate({
        tableId: schema.table.id,
        field: { type: 'Number', title },
        viewId: view.id,
      })
      expect(await shows(view, title)).toBe(true)
    }
  })

  test('schema.dependents names the views that lose something, and what', async () => {
    const schema = await everything(shop)
    const [state, n] = [fieldOf(schema, 'State').id, fieldOf(schema, 'N').id]
    const kanban = await createView(shop, schema, 'kanban')
    const grid = await updateView(shop, schema.views[0]!, {
      groups: [{ fieldId: state, direction: 'asc' }],
      coloring: { mode: 'select', fieldId: state, isBackground: false },
    })
    const form = await createView(shop, schema, 'form')
    const showIf = { fieldId: state, operator: 'eq', value: 'Open' }
    await shop.api.views.arrange.mutate({
      viewId: form.id,
      fields: [{ fieldId: n, form: { ...asked, showIf } }],
    })
    const found = await shop.api.schema.dependents.query({ fieldId: state })
    expect(found.map(({ id, uses }) => [id, uses])).toEqual([
      [grid.id, ['group', 'coloring']],
      [kanban.id, ['layout']],
      [form.id, ['condition']],
    ])
  })
})
