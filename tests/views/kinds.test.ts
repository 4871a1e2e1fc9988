import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { View, ViewKind } from '../../src/core/model.ts'
import { optionsOf } from '../../src/core/views/index.ts'
import { createTable, databases, fieldOf, openWorkshop, refusalOf, type Workshop } from '../schema/support.ts'
import { asked, createView, everything, KINDS, shownIn, updateView, viewOf } from './support.ts'

describe.each([...databases])('kinds of views, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  const undo = () => shop.api.records.undo.mutate({ baseId: shop.baseId })
  const redo = () => shop.api.records.redo.mutate({ baseId: shop.baseId })

  test('views.create begins each kind with the fields that suit it', async () => {
    const schema = await everything(shop)
    const made = await Promise.all(KINDS.map((kind) => createView(shop, schema, kind)))
    const [grid, form, gallery, kanban, calendar, map] = made as [View, View, View, View, View, View]
    const id = (title: string) => fieldOf(schema, title).id
    expect(optionsOf(gallery, 'gallery')).toEqual({ coverFieldId: id('Files'), coverFit: 'fit' })
    expect(optionsOf(kanban, 'kanban')).toMatchObject({
      stackFieldId: id('State'),
      coverFieldId: id('Files'),
      stacks: [],
    })
    expect(optionsOf(calendar, 'calendar')).toMatchObject({
      ranges: [{ fromFieldId: id('Start'), toFieldId: null }],
      scale: 'month',
    })
    expect(optionsOf(map, 'map')).toEqual({ geoFieldId: id('Place') })
    expect(grid.options).toEqual({})
    const all = ['Title', 'State', 'Files', 'Start', 'End', 'Place', 'N', 'No']
    expect(shownIn(schema, grid)).toEqual(all)
    // A form asks for what people write.
    expect(shownIn(schema, form)).toEqual(all.slice(0, -1))
    expect(shownIn(schema, kanban)).toEqual(['Title', 'State', 'Files', 'Start'])
    expect(shownIn(schema, calendar)).toEqual(['Title', 'State', 'Files'])

    const bare = await createTable(shop)
    const empty = await Promise.all(KINDS.map((kind) => createView(shop, bare, kind)))
    expect(empty.map(({ options }) => options)).toMatchObject([
      {},
      { heading: null },
      { coverFieldId: null },
      { stackFieldId: null },
      // Every record has been created at some time.
      { ranges: [{ fromFieldId: bare.fields.find(({ type }) => type === 'CreatedTime')?.id }] },
      { geoFieldId: null },
    ])
  })

  test('options that do not go with the fields are refused, naming them', async () => {
    const schema = await everything(shop)
    const n = fieldOf(schema, 'N').id
    const wrong: [ViewKind, Record<string, unknown>, string][] = [
      ['gallery', { coverFieldId: n }, 'Field “N” is not an attachment field'],
      ['kanban', { stackFieldId: n }, 'Records can’t be stacked by field “N”'],
      ['kanban', { stacks: [{ key: 'Open' }, { key: 'Open' }] }, 'A stack is named twice'],
      ['calendar', { ranges: [{ fromFieldId: n }] }, 'Field “N” is not a date field'],
      ['calendar', { colorFieldId: n }, 'Field “N” is not a single select field'],
      ['map', { geoFieldId: n }, 'Field “N” is not a location field'],
      ['map', { zoom: 3 }, 'options: Unrecognized key: "zoom"'],
      ['form', { redirectUrl: 'javascript:alert(1)' }, 'The redirect URL'],
    ]
    for (const [kind, options, message] of wrong) {
      const refusal = await refusalOf(createView(shop, schema, kind, options))
      expect(refusal).toMatchObject({ status: 400, message: expect.stringContaining(message) })
      const view = await createView(shop, schema, kind)
      const whole = { ...view.options, ...options }
      expect((await refusalOf(updateView(shop, view, { options: whole }))).status).toBe(400)
      expect(await viewOf(shop, view)).toEqual(view)
    }
    const unknown = createView(shop, schema, 'map', { geoFieldId: 'cxxxxxxxxxxxxxx' })
    expect(await refusalOf(unknown)).toMatchObject({ code: 'FIELD_NOT_FOUND' })
  })

  test('groups are three fields at most, each once, of values that make headings', async () => {
    const schema = await everything(shop)
    const view = schema.views[0]!
    const by = (...titles: string[]) =>
      titles.map((title) => ({ fieldId: fieldOf(schema, title).id, direction: 'asc' as const }))
    for (const [groups, message] of [
      [by('Files'), 'Can’t group by field "Files": Attachment fields don’t support grouping'],
      [by('N', 'N'), 'Field “N” is used twice for grouping'],
    ] as const) {
      expect(await refusalOf(updateView(shop, view, { groups }))).toMatchObject({ status: 400, message })
    }
    expect(
      (await refusalOf(updateView(shop, view, { groups: by('N', 'State', 'Start', 'End') }))).status,
    ).toBe(400)
    expect((await updateView(shop, view, { groups: by('State', 'N', 'Title') })).groups).toEqual(
      by('State', 'N', 'Title'),
    )
    await undo()
    expect((await viewOf(shop, view)).groups).toEqual([])
    await redo()
    expect((await viewOf(shop, view)).groups).toHaveLength(3)
  })

  test('colours are checked, kept, and gone from sight with what they look at', async () => {
    const schema = await everything(shop)
    const view = schema.views[0]!
    const [state, n] = [fieldOf(schema, 'State').id, fieldOf(schema, 'N').id]
    const wrong = { mode: 'select' as const, fieldId: n, isBackground: true }
    expect((await refusalOf(updateView(shop, view, { coloring: wrong }))).message).toBe(
      'Field “N” is not a single select field',
    )
    const rule = (fieldId: string, value: number | string) => ({
      color: '#FF0000',
      isBackground: false,
      filter: { fieldId, operator: 'eq', value },
    })
    const coloring = { mode: 'filter' as const, rules: [rule(n, 1), rule(state, 'Open')] }
    const odd = { mode: 'filter' as const, rules: [rule(n, 'many')] }
    expect((await refusalOf(updateView(shop, view, { coloring: odd }))).code).toBe(
      'FILTER_VERIFICATION_FAILED',
    )
    expect((await updateView(shop, view, { coloring })).coloring).toEqual(coloring)
    await shop.api.schema.deleteField.mutate({ fieldId: n })
    expect((await viewOf(shop, view)).coloring).toEqual({ mode: 'filter', rules: [rule(state, 'Open')] })
    await undo()
    expect((await viewOf(shop, view)).coloring).toEqual(coloring)
  })

  test('views.duplicate copies every kind whole, and a copy of another kind what fits', async () => {
    const schema = await everything(shop)
    const [state, n, title] = ['State', 'N', 'Title'].map((name) => fieldOf(schema, name).id)
    const coloring = { mode: 'select' as const, fieldId: state!, isBackground: true }
    const groups = [{ fieldId: state!, direction: 'desc' as const }]
    for (const kind of KINDS) {
      const view = await createView(shop, schema, kind)
      const patch = { coloring, groups, description: 'Why', meta: { icon: '🐑' }, lock: 'locked' as const }
      if (kind === 'kanban') {
        Object.assign(patch, { options: { ...view.options, stacks: [{ key: 'Done', isHidden: true }] } })
      }
      const form = { ...asked, label: 'How many?', required: true }
      const said = kind === 'form' ? { form } : { width: 321 }
      await shop.api.views.arrange.mutate({ viewId: view.id, fields: [{ fieldId: n!, order: 0.5, ...said }] })
      const original = await updateView(shop, view, patch)
      const copy = await shop.api.views.duplicate.mutate({ viewId: view.id })
      const { kind: same, fields, options, description, meta } = original
      expect(copy).toMatchObject({ kind: same, fields, options, coloring, groups, description, meta })
      expect(copy).toMatchObject({ title: `${kind}_1`, lock: 'collaborative', ownerId: shop.owner.id })
      expect(copy.fields.find(({ fieldId }) => fieldId === n)).toMatchObject(said)
    }
    const grid = await createView(shop, schema, 'grid')
    await shop.api.views.arrange.mutate({
      viewId: grid.id,
      fields: [
        { fieldId: state!, show: false },
        { fieldId: n!, order: 0.5 },
      ],
    })
    const form = await shop.api.views.create.mutate({
      tableId: schema.table.id,
      title: 'Asks',
      kind: 'form',
      copyOf: grid.id,
    })
    expect(shownIn(schema, form)).toEqual(['Title', 'N', 'Files', 'Start', 'End', 'Place'])
    expect(form.fields.find(({ fieldId }) => fieldId === title)?.show).toBe(true)
    expect(optionsOf(form, 'form').heading).toBeNull()
  })

  test('only forms ask, and only what they can', async () => {
    const schema = await everything(shop)
    const [n, no, state] = ['N', 'No', 'State'].map((title) => fieldOf(schema, title).id)
    const grid = await createView(shop, schema, 'grid')
    const form = await createView(shop, schema, 'form')
    const arrange = (viewId: string, fieldId: string, said: object) =>
      shop.api.views.arrange.mutate({ viewId, fields: [{ fieldId, form: { ...asked, ...said } }] })
    expect((await refusalOf(arrange(grid.id, n!, {}))).message).toBe(
      'Form settings of field “N” are only valid in form views',
    )
    const aboutNumber = { showIf: { fieldId: no!, operator: 'eq', value: 1 } }
    expect((await refusalOf(arrange(form.id, n!, aboutNumber))).message).toBe('Field “No” is not in the form')
    // A rule that a field of another type has left behind is in nobody's way.
    const title = fieldOf(schema, 'Title').id
    const rules = [{ rule: 'minLength', value: 3, message: null }]
    expect((await refusalOf(arrange(form.id, n!, { rules }))).message).toBe(
      'Field “N” has no rule “minLength”',
    )
    await arrange(form.id, title, { rules })
    await shop.api.schema.updateField.mutate({ fieldId: title, patch: { type: 'Number' } })
    await arrange(form.id, title, { rules, label: 'How many?' })
    // The display field is one like the others here.
    await shop.api.views.arrange.mutate({
      viewId: form.id,
      fields: [
        { fieldId: title, show: false },
        { fieldId: state!, order: -1 },
      ],
    })
    expect(shownIn(schema, await viewOf(shop, form))).toEqual([
      'State',
      'Files',
      'Start',
      'End',
      'Place',
      'N',
    ])
    await undo()
    expect(shownIn(schema, await viewOf(shop, form))[0]).toBe('Title')
  })
})
