import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Filter, isGroup } from '../../src/core/filters/index.ts'
import type { View } from '../../src/core/model.ts'
import type { CalendarOptions } from '../../src/core/views/calendar.ts'
import { formField } from '../../src/core/views/form.ts'
import {
  addRecords,
  createTable,
  databases,
  fieldOf,
  openWorkshop,
  refusalOf,
  type Workshop,
} from '../schema/support.ts'
import { createMember, createMemberOfEachRole } from '../support/factories.ts'

/** The parts of a view's filter. */
const partsOf = (filter: Filter | null) => (filter && isGroup(filter) ? filter.children : [])

describe.each([...databases])('changes of views, metadata in %s', (database) => {
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

  describe('views.update', () => {
    test('editors filter and sort, creators rename, viewers do neither', async () => {
      const schema = await threeFields()
      const viewId = schema.views[0]!.id
      const members = await createMemberOfEachRole(shop.app, shop.baseId)
      const as = (role: 'viewer' | 'editor' | 'creator') => shop.app.trpc(members[role].token).views.update
      const sorts = [{ fieldId: fieldOf(schema, 'N').id, direction: 'desc' as const }]
      expect((await refusalOf(as('viewer').mutate({ viewId, patch: { sorts } }))).status).toBe(403)
      expect((await as('editor').mutate({ viewId, patch: { sorts } })).sorts).toMatchObject(sorts)
      const both = { viewId, patch: { sorts: [], title: 'X' } }
      expect((await refusalOf(as('editor').mutate(both))).status).toBe(403)
      expect((await viewOf(schema.views[0]!)).sorts).toMatchObject(sorts)
      expect((await as('creator').mutate(both)).title).toBe('X')
    })

    test('editors set the options of forms, and of no other kind', async () => {
      const schema = await createTable(shop, [
        { type: 'SingleLineText', title: 'Title' },
        { type: 'Date', title: 'Starts' },
        { type: 'Date', title: 'Ends' },
      ])
      const editor = await createMember(shop.app, shop.baseId, 'editor')
      const asEditor = shop.app.trpc(editor.token)
      const create = (kind: 'form' | 'calendar') =>
        shop.api.views.create.mutate({ tableId: schema.table.id, title: kind, kind })
      const form = await create('form')
      const named = { ...form.options, heading: 'Sign up' }
      const changed = await asEditor.views.update.mutate({ viewId: form.id, patch: { options: named } })
      expect(changed.options).toMatchObject({ heading: 'Sign up' })
      const calendar = await create('calendar')
      const [range] = (calendar.options as CalendarOptions).ranges
      const ranges = [{ ...range, fromFieldId: fieldOf(schema, 'Ends').id }]
      const patch = { options: { ...calendar.options, ranges } }
      const refused = await refusalOf(asEditor.views.update.mutate({ viewId: calendar.id, patch }))
      expect([refused.status, refused.message]).toEqual([403, expect.stringContaining('viewUpdate')])
      expect((await viewOf(calendar)).options).toEqual(calendar.options)
    })

    test('keeps what it is given, filters and sorts with ids that stay', async () => {
      const schema = await threeFields()
      const viewId = schema.views[0]!.id
      const n = fieldOf(schema, 'N').id
      const condition = { fieldId: n, operator: 'gt', value: 1 }
      const filter = {
        join: 'and' as const,
        children: [condition, { join: 'or' as const, children: [condition, { ...condition, value: 2 }] }],
      }
      const patch = {
        rowHeight: 'tall' as const,
        frozen: 2,
        filter,
        sorts: [{ fieldId: n, direction: 'asc' as const }],
        meta: { a: 1 },
      }
      const first = await shop.api.views.update.mutate({ viewId, patch })
      expect(first).toMatchObject(patch)
      const ids = JSON.stringify(first.filter).match(/fi[a-z0-9]{14}/g)
      expect(ids).toHaveLength(4)
      // The web app sends the tree without ids; what stayed the same keeps its own.
      const again = await shop.api.views.update.mutate({
        viewId,
        patch: { filter: { ...filter, join: 'or' } },
      })
      expect(
        JSON.stringify(again.filter)
          .match(/fi[a-z0-9]{14}/g)
          ?.sort(),
      ).toEqual(ids?.sort())
      expect((await viewOf(schema.views[0]!)).filter).toEqual(again.filter)
      // A copy of a part comes with the part's id, and gets one of its own.
      const [part] = partsOf(again.filter)
      const copied = await shop.api.views.update.mutate({
        viewId,
        patch: { filter: { join: 'and', children: [part, structuredClone(part)] } },
      })
      const [kept, copy] = partsOf(copied.filter)
      expect(kept?.id).toBe(part?.id)
      expect(copy?.id).toMatch(/^fi[a-z0-9]{14}$/)
      expect(copy?.id).not.toBe(part?.id)
      expect((await shop.api.views.update.mutate({ viewId, patch: { filter: null } })).filter).toBeNull()
    })

    test('refuses filters and sorts that do not go with the fields', async () => {
      const schema = await threeFields()
      const viewId = schema.views[0]!.id
      const refuse = async (patch: Parameters<Workshop['api']['views']['update']['mutate']>[0]['patch']) =>
        refusalOf(shop.api.views.update.mutate({ viewId, patch }))
      const n = fieldOf(schema, 'N').id
      expect(
        await refuse({ filter: { fieldId: 'cxxxxxxxxxxxxxx', operator: 'eq', value: 1 } }),
      ).toMatchObject({ code: 'FIELD_NOT_FOUND' })
      expect(await refuse({ filter: { fieldId: n, operator: 'checked', value: null } })).toMatchObject({
        status: 422,
      })
      expect(await refuse({ filter: { fieldId: n, operator: 'eq', value: 'x' } })).toMatchObject({
        status: 422,
      })
      expect(await refuse({ sorts: [{ fieldId: 'cxxxxxxxxxxxxxx', direction: 'asc' }] })).toMatchObject({
        code: 'FIELD_NOT_FOUND',
      })
      expect(await refuse({ frozen: 0 })).toMatchObject({ status: 400 })
      expect(await viewOf(schema.views[0]!)).toMatchObject({ filter: null, sorts: [], frozen: 1 })
    })

    test('refuses the title of another view', async () => {
      const schema = await threeFields()
      const { id: viewId } = await shop.api.views.create.mutate({
        tableId: schema.table.id,
        title: 'B',
        kind: 'grid',
      })
      const refusal = await refusalOf(
        shop.api.views.update.mutate({ viewId, patch: { title: schema.table.title } }),
      )
      expect(refusal).toMatchObject({ status: 422, code: 'DUPLICATE_ALIAS' })
    })

    test('takes effect on records that are read through the view, and for everyone else at once', async () => {
      const schema = await threeFields()
      await addRecords(shop, schema, [
        { Title: 'a', N: 1 },
        { Title: 'b', N: 3 },
        { Title: 'c', N: 2 },
      ])
      const [tableId, viewId, n] = [schema.table.id, schema.views[0]!.id, fieldOf(schema, 'N').id]
      const list = async () =>
        (
          await shop.api.records.list.query({
            query: { tableId, viewId, fieldIds: [n], limit: 10, offset: 0 },
          })
        ).rows.flat()
      expect(await list()).toEqual([1, 3, 2])
      const filter = { fieldId: n, operator: 'gt', value: 1 }
      await shop.api.views.update.mutate({
        viewId,
        patch: { filter, sorts: [{ fieldId: n, direction: 'desc' }] },
      })
      expect(await list()).toEqual([3, 2])
      await undo()
      expect(await list()).toEqual([1, 3, 2])
      await redo()
      expect(await list()).toEqual([3, 2])
    })

    test('what says something of a deleted field waits, and comes back with the field', async () => {
      const schema = await threeFields()
      const [viewId, n] = [schema.views[0]!.id, fieldOf(schema, 'N').id]
      const sorts = [{ fieldId: n, direction: 'asc' as const }]
      const filter = { fieldId: n, operator: 'gt', value: 1 }
      await shop.api.views.update.mutate({ viewId, patch: { filter, sorts } })
      await shop.api.views.arrange.mutate({ viewId, fields: [{ fieldId: n, width: 333 }] })
      await shop.api.schema.deleteField.mutate({ fieldId: n })
      const meanwhile = await viewOf(schema.views[0]!)
      expect(meanwhile).toMatchObject({ filter: null, sorts: [] })
      expect(meanwhile.fields.map(({ fieldId }) => fieldId)).not.toContain(n)
      await shop.api.schema.restoreField.mutate({ fieldId: n })
      const back = await viewOf(schema.views[0]!)
      expect(back).toMatchObject({ filter, sorts })
      expect(back.fields.find(({ fieldId }) => fieldId === n)?.width).toBe(333)
    })

    test('undo keeps the options that others have set since', async () => {
      const schema = await threeFields()
      const input = { tableId: schema.table.id, kind: 'form' as const, title: 'Form' }
      const view = await shop.api.views.create.mutate(input)
      const ofOwner = { ...view.options, heading: 'Order' }
      await shop.api.views.update.mutate({ viewId: view.id, patch: { options: ofOwner } })
      const creator = await createMember(shop.app, shop.baseId, 'creator')
      const options = { ...ofOwner, maxAnswers: 20 }
      await shop.app.trpc(creator.token).views.update.mutate({ viewId: view.id, patch: { options } })
      await undo()
      expect((await viewOf(view)).options).toMatchObject({ heading: null, maxAnswers: 20 })
      await redo()
      expect((await viewOf(view)).options).toMatchObject({ heading: 'Order', maxAnswers: 20 })
    })

    test('undo keeps the stacks that others have hidden since', async () => {
      const schema = await createTable(shop, [
        { type: 'SingleLineText', title: 'Title' },
        {
          type: 'SingleSelect',
          title: 'Status',
          options: { choices: ['a', 'b', 'c'].map((title) => ({ title })) },
        },
      ])
      const stackFieldId = schema.fields.find(({ title }) => title === 'Status')!.id
      const input = { tableId: schema.table.id, kind: 'kanban' as const, title: 'Board' }
      const view = await shop.api.views.create.mutate(input)
      const stack = (key: string, set: object = {}) => ({ key, isCollapsed: false, isHidden: false, ...set })
      const write = (api: typeof shop.api, stacks: object[]) =>
        api.views.update.mutate({
          viewId: view.id,
          patch: { options: { ...view.options, stackFieldId, stacks } },
        })
      const stacksNow = async () => (await viewOf(view)).options
      await write(shop.api, [stack('a'), stack('b')])
      const others = shop.app.trpc((await createMember(shop.app, shop.baseId, 'creator')).token)
      // Moves and collapses stacks, and adds settings of a third.
      await write(shop.api, [
        stack('b', { isCollapsed: true }),
        stack('a'),
        stack('c', { isCollapsed: true }),
      ])
      const hidden = { isHidden: true }
      await write(others, [
        stack('b', { isCollapsed: true, ...hidden }),
        stack('a', hidden),
        stack('c', { isCollapsed: true, ...hidden }),
      ])
      await undo()
      expect(await stacksNow()).toMatchObject({
        stacks: [stack('a', hidden), stack('b', hidden), stack('c', hidden)],
      })
      await redo()
      expect(await stacksNow()).toMatchObject({
        stacks: [stack('b', { isCollapsed: true, ...hidden }), stack('a', hidden), stack('c', hidden)],
      })
    })

    test('undo keeps the stacks of one field from another', async () => {
      const choices = [{ title: 'a' }]
      const schema = await createTable(shop, [
        { type: 'SingleLineText', title: 'Title' },
        { type: 'SingleSelect', title: 'Status', options: { choices } },
        { type: 'SingleSelect', title: 'Priority', options: { choices } },
      ])
      const [status, priority] = ['Status', 'Priority'].map((title) => fieldOf(schema, title).id)
      const input = { tableId: schema.table.id, kind: 'kanban' as const, title: 'Board' }
      const view = await shop.api.views.create.mutate(input)
      const write = (api: typeof shop.api, stackFieldId: string | undefined, stacks: object[]) =>
        api.views.update.mutate({
          viewId: view.id,
          patch: { options: { ...view.options, stackFieldId, stacks } },
        })
      const stack = (isHidden: boolean) => ({ key: null, isCollapsed: false, isHidden })
      const others = shop.app.trpc((await createMember(shop.app, shop.baseId, 'creator')).token)
      await write(shop.api, status, [])
      await write(shop.api, priority, [])
      await write(others, priority, [stack(true)])
      await undo()
      expect((await viewOf(view)).options).toMatchObject({ stackFieldId: status, stacks: [] })

      await write(shop.api, status, [stack(true)])
      await write(shop.api, status, [stack(false)])
      await write(others, priority, [stack(false)])
      await undo()
      expect((await viewOf(view)).options).toMatchObject({ stackFieldId: priority, stacks: [stack(false)] })
    })
  })

  describe('views.arrange', () => {
    test('changes many fields at once; undo and redo go back and forth', async () => {
      const schema = await threeFields()
      const view = schema.views[0]!
      const [n, d] = [fieldOf(schema, 'N').id, fieldOf(schema, 'D').id]
      const fields = [
        { fieldId: d, order: 0.5, width: 120, summary: 'earliest' },
        { fieldId: n, show: false, summary: 'sum' },
      ]
      const arranged = await shop.api.views.arrange.mutate({ viewId: view.id, fields })
      expect(arranged.fields.filter(({ show }) => show).map(({ fieldId }) => fieldId)).toEqual([
        fieldOf(schema, 'Title').id,
        d,
      ])
      expect(arranged.fields.find(({ fieldId }) => fieldId === n)).toMatchObject({
        show: false,
        summary: 'sum',
        width: 200,
      })
      await undo()
      expect((await viewOf(view)).fields).toEqual(view.fields)
      await redo()
      expect((await viewOf(view)).fields).toEqual(arranged.fields)
    })

    test('undo keeps what others have set for the field since', async () => {
      const schema = await threeFields()
      const view = schema.views[0]!
      const n = fieldOf(schema, 'N').id
      await shop.api.views.arrange.mutate({ viewId: view.id, fields: [{ fieldId: n, width: 333 }] })
      const creator = await createMember(shop.app, shop.baseId, 'creator')
      const fields = [{ fieldId: n, summary: 'sum' }]
      await shop.app.trpc(creator.token).views.arrange.mutate({ viewId: view.id, fields })
      await undo()
      const found = (await viewOf(view)).fields.find(({ fieldId }) => fieldId === n)
      expect(found).toMatchObject({ width: 200, summary: 'sum' })
    })

    test('undo keeps what others have set for the question since', async () => {
      const schema = await threeFields()
      const input = { tableId: schema.table.id, kind: 'form' as const, title: 'Form' }
      const view = await shop.api.views.create.mutate(input)
      const n = fieldOf(schema, 'N').id
      const form = formField.parse({ label: 'How many?' })
      await shop.api.views.arrange.mutate({ viewId: view.id, fields: [{ fieldId: n, form }] })
      const order = { fieldId: n, order: 0.5, form: { ...form, label: 'Number' } }
      await shop.api.views.arrange.mutate({ viewId: view.id, fields: [order] })
      const creator = await createMember(shop.app, shop.baseId, 'creator')
      const fields = [{ fieldId: n, form: { ...order.form, help: 'As a numeral' } }]
      await shop.app.trpc(creator.token).views.arrange.mutate({ viewId: view.id, fields })
      await undo()
      const found = (await viewOf(view)).fields.find(({ fieldId }) => fieldId === n)
      expect(found?.form).toMatchObject({ label: 'How many?', help: 'As a numeral' })
    })

    test('refuses to hide the display field, summaries that a field has not, and unknown fields', async () => {
      const schema = await threeFields()
      const view = schema.views[0]!
      const refuse = (field: { fieldId: string; show?: boolean; summary?: string; width?: number }) =>
        refusalOf(
          shop.api.views.arrange.mutate({
            viewId: view.id,
            fields: [{ fieldId: fieldOf(schema, 'N').id, width: 90 }, field],
          }),
        )
      const title = fieldOf(schema, 'Title').id
      expect((await refuse({ fieldId: title, show: false })).message).toBe(
        'Field “Title” is the display field and is always shown',
      )
      expect((await refuse({ fieldId: title, summary: 'sum' })).status).toBe(400)
      expect((await refuse({ fieldId: title, width: 10 })).status).toBe(400)
      expect(await refuse({ fieldId: 'cxxxxxxxxxxxxxx', width: 100 })).toMatchObject({
        code: 'FIELD_NOT_FOUND',
      })
      expect((await viewOf(view)).fields).toEqual(view.fields)
    })

    test('ten who arrange at once all do', async () => {
      const schema = await createTable(
        shop,
        Array.from({ length: 10 }, (_, index) => ({ type: 'Number' as const, title: `N${index}` })),
      )
      const view = schema.views[0]!
      const own = schema.fields.filter((field) => field.title.startsWith('N'))
      await Promise.all(
        own.map((field, index) =>
          shop.api.views.arrange.mutate({
            viewId: view.id,
            fields: [{ fieldId: field.id, width: 100 + index }],
          }),
        ),
      )
      const widths = new Map((await viewOf(view)).fields.map(({ fieldId, width }) => [fieldId, width]))
      expect(own.map((field) => widths.get(field.id))).toEqual(own.map((_, index) => 100 + index))
    })
  })
})
