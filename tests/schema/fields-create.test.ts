import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { FIELD_TYPES } from '../../src/core/fields/index.ts'
import {
  addRecords,
  createTable,
  databases,
  fieldOf,
  openWorkshop,
  refusalOf,
  valuesOf,
  type Workshop,
} from './support.ts'

describe.each([...databases])('new fields, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  const read = (tableId: string) => shop.api.schema.table.query({ tableId })

  describe('schema.createField', () => {
    test('makes one of every type that people may choose', async () => {
      const { table } = await createTable(shop)
      // What is computed needs something to be computed from.
      const free = FIELD_TYPES.filter((type) => !('internal' in type) && !('computed' in type))
      for (const type of free.filter(({ name }) => name !== 'ID')) {
        const field = await shop.api.schema.createField.mutate({
          tableId: table.id,
          field: { type: type.name },
        })
        expect(field).toMatchObject({
          type: type.name,
          title: type.label(),
          tableId: table.id,
          isSystem: false,
        })
        expect(field.columnName === '').toBe('systemColumn' in type)
      }
      const again = await shop.api.schema.createField.mutate({ tableId: table.id, field: { type: 'Number' } })
      expect(again.title).toBe('Number_1')
      expect((await read(table.id)).fields.at(-1)?.id).toBe(again.id)
    })

    test.each([
      ['a second record id', { type: 'ID' }, 400],
      ['a type of our own making', { type: 'Order' }, 400],
      ['options that do not fit', { type: 'Rating', options: { max: 11 } }, 400],
      [
        'doubled options',
        { type: 'SingleSelect', options: { choices: [{ title: 'a' }, { title: 'a' }] } },
        400,
      ],
      ['a default that does not fit', { type: 'Number', defaultValue: 'many' }, 400],
      ['a default that is no option', { type: 'SingleSelect', defaultValue: 'zz' }, 400],
      ['a unique created time', { type: 'CreatedTime', unique: true }, 400],
      ['a required modifier', { type: 'LastModifiedBy', required: true }, 400],
      ['a unique checkbox', { type: 'Checkbox', unique: true }, 400],
      ['an empty title', { type: 'Number', title: ' ' }, 400],
      ['a title in use', { type: 'Number', title: 'TITLE' }, 422],
      ['the title of a system field', { type: 'Number', title: 'createdat' }, 422],
      [
        'a null character in an option',
        { type: 'SingleSelect', options: { choices: [{ title: 'a\u0000' }] } },
        400,
      ],
    ] as const)('refuses %s', async (_, field, status) => {
      const { table } = await createTable(shop)
      const call = shop.api.schema.createField.mutate({
        tableId: table.id,
        field: field as { type: 'Number' },
      })
      expect((await refusalOf(call)).status).toBe(status)
      expect((await read(table.id)).fields).toHaveLength(7)
    })

    test('leaves the records that are there empty, and gives new ones the default', async () => {
      const schema = await createTable(shop)
      await addRecords(shop, schema, [{ Title: 'old' }])
      const field = await shop.api.schema.createField.mutate({
        tableId: schema.table.id,
        field: { type: 'Number', title: 'Count', defaultValue: 7 },
      })
      await addRecords(shop, await read(schema.table.id), [{ Title: 'new' }])
      expect(await valuesOf(shop, field)).toEqual([null, 7])
    })

    test('goes ahead of another field in the view that asks for it, and last in the others', async () => {
      const schema = await createTable(shop, [
        { type: 'SingleLineText', title: 'A' },
        { type: 'SingleLineText', title: 'B' },
        { type: 'SingleLineText', title: 'C' },
      ])
      const tableId = schema.table.id
      const other = await shop.api.views.create.mutate({ tableId, title: 'Other', kind: 'grid' })
      const field = { type: 'Number' as const, title: 'N' }
      const [viewId, beforeFieldId] = [schema.views[0]!.id, fieldOf(schema, 'C').id]
      await shop.api.schema.createField.mutate({ tableId, field, viewId, beforeFieldId })
      const after = await read(tableId)
      const shown = (id: string) =>
        after.views
          .find((view) => view.id === id)
          ?.fields.filter(({ show }) => show)
          .map(({ fieldId }) => after.fields.find((candidate) => candidate.id === fieldId)?.title)
      expect(shown(viewId)).toEqual(['A', 'B', 'N', 'C'])
      expect(shown(other.id)).toEqual(['A', 'B', 'C', 'N'])
      const lost = shop.api.schema.createField.mutate({
        tableId,
        field: { type: 'URL' },
        viewId: 'vwxxxxxxxxxxxxxx',
        beforeFieldId,
      })
      expect(await refusalOf(lost)).toMatchObject({ status: 404, code: 'VIEW_NOT_FOUND' })
      expect((await read(tableId)).fields).toHaveLength(after.fields.length)
    })

    test('stops at 1,000 fields', async () => {
      const fields = Array.from({ length: 1000 }, (_, index) => ({
        type: 'Number' as const,
        title: `N${index}`,
      }))
      const { table } = await createTable(shop, fields)
      const call = shop.api.schema.createField.mutate({ tableId: table.id, field: { type: 'Number' } })
      expect(await refusalOf(call)).toMatchObject({
        status: 400,
        message: 'A table can have up to 1000 fields',
      })
    })

    test('gives one winner of ten who take a title at once', async () => {
      const { table } = await createTable(shop)
      const field = { type: 'Number' as const, title: 'Once' }
      const attempts = await Promise.allSettled(
        Array.from({ length: 10 }, () => shop.api.schema.createField.mutate({ tableId: table.id, field })),
      )
      expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect((await read(table.id)).fields.filter(({ title }) => title === 'Once')).toHaveLength(1)
    })
  })
})
