import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { FieldOptions } from '../../src/core/fields/field-type.ts'
import { computedTools, optionsOf } from './computed-support.ts'
import {
  createField,
  createLink,
  createTable,
  databases,
  fieldOf,
  freshTitle,
  openWorkshop,
  readTable,
  refusalOf,
  type Workshop,
} from './support.ts'

describe.each([...databases])('lookups, rollups and counts, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())
  const { world, lookup, rollup, now, update, undo } = computedTools(() => shop)

  describe('a lookup', () => {
    test('gives what its target gives: a list through many, one value through one', async () => {
      const { order, item, items, parentId, target } = await world()
      const many = await lookup(order.id, items.id, target('Price'))
      expect(many).toMatchObject({ columnName: '', error: null, isSystem: false })
      expect(many.result).toEqual({
        type: 'Currency',
        options: { code: 'EUR', locale: 'de-DE', precision: 2 },
        isList: true,
      })
      const title = fieldOf(await readTable(shop, order.id), 'Title')
      const one = await lookup(item.id, parentId, title.id)
      expect(one.result).toEqual({ type: 'SingleLineText', options: {}, isList: false })
    })

    test('takes any field: a lookup, a rollup, a count, a link', async () => {
      const { order, item, items, parentId, target } = await world()
      const dates = await lookup(order.id, items.id, target('Due'))
      const sum = await rollup(order.id, {
        relationFieldId: items.id,
        targetFieldId: target('Price'),
        function: 'sum',
      })
      const count = await createField(shop, order.id, {
        type: 'Count',
        options: { relationFieldId: items.id },
      })
      const of = async (targetId: string) => (await lookup(item.id, parentId, targetId)).result
      expect(await of(dates.id)).toMatchObject({ type: 'Date', isList: true })
      expect(await of(sum.id)).toMatchObject({ type: 'Currency', isList: false })
      expect(await of(count.id)).toMatchObject({ type: 'Number', isList: false })
      // Of a link the names of its records.
      expect(await of(items.id)).toMatchObject({ type: 'SingleLineText', isList: true })
      expect((await lookup(order.id, items.id, parentId)).result).toMatchObject({ isList: true })
    })

    test('follows its target through every table: another type, other options', async () => {
      const { order, item, items, parentId, target } = await world()
      const first = await lookup(order.id, items.id, target('Amount'))
      const second = await lookup(item.id, parentId, first.id)
      const versions = async () => [
        (await readTable(shop, order.id)).table.version,
        (await readTable(shop, item.id)).table.version,
      ]
      const [orderBefore, itemBefore] = await versions()
      await update(target('Amount'), { options: { thousands: true } })
      for (const field of [first, second]) {
        expect((await now(field)).result).toEqual({
          type: 'Number',
          options: { thousands: true },
          isList: true,
        })
      }
      await update(target('Amount'), { type: 'SingleLineText' })
      for (const field of [first, second]) {
        expect((await now(field)).result).toMatchObject({ type: 'SingleLineText', isList: true })
      }
      await undo()
      expect((await now(second)).result).toMatchObject({ type: 'Number' })
      expect(await versions()).toEqual([orderBefore! + 3, itemBefore! + 3])
      // A new name changes nothing of it.
      await update(target('Amount'), { title: freshTitle('Renamed') })
      expect(await versions()).toEqual([orderBefore! + 3, itemBefore! + 4])
    })

    test('can be given another target, and gets the old one back by undo', async () => {
      const { order, items, target } = await world()
      const field = await lookup(order.id, items.id, target('Price'))
      const changed = await update(field.id, { options: { targetFieldId: target('Done') } })
      expect(changed.options).toEqual({ relationFieldId: items.id, targetFieldId: target('Done') })
      expect(changed.result).toMatchObject({ type: 'Checkbox' })
      await undo()
      expect((await now(field)).result).toMatchObject({ type: 'Currency' })
    })

    test('can name records where it gives one value', async () => {
      const { order, item, items, parentId, target } = await world()
      const title = fieldOf(await readTable(shop, order.id), 'Title')
      const one = await lookup(item.id, parentId, title.id)
      await shop.api.schema.setDisplayField.mutate({ fieldId: one.id })
      const many = await lookup(order.id, items.id, target('Price'))
      for (const field of [many, items]) {
        const refusal = await refusalOf(shop.api.schema.setDisplayField.mutate({ fieldId: field.id }))
        expect(refusal).toMatchObject({
          status: 400,
          message: expect.stringContaining('can’t be the display field'),
        })
      }
    })
  })

  describe('a rollup', () => {
    test.each([
      ['Price', 'sum', 'Currency'],
      ['Price', 'avg', 'Currency'],
      ['Price', 'max', 'Currency'],
      ['Amount', 'sum', 'Number'],
      ['Amount', 'avg', 'Decimal'],
      ['Amount', 'avgDistinct', 'Decimal'],
      ['Stars', 'sum', 'Number'],
      ['Stars', 'max', 'Rating'],
      ['Due', 'min', 'Date'],
      ['Due', 'countDistinct', 'Number'],
      ['Name', 'count', 'Number'],
      ['Mail', 'countDistinct', 'Number'],
      ['Id', 'sum', 'Number'],
      ['Id', 'avg', 'Decimal'],
      ['Id', 'max', 'Number'],
    ])('over %s with %s gives %s', async (title, name, type) => {
      const { order, items, target } = await world()
      const options = { relationFieldId: items.id, targetFieldId: target(title), function: name }
      expect((await rollup(order.id, options)).result).toMatchObject({ type, isList: false })
    })

    test.each([
      ['Name', 'sum', 'SingleLineText'],
      ['Mail', 'max', 'Email'],
      ['Due', 'avg', 'Date'],
      ['Amount', 'nope', 'Number'],
      ['Done', 'sum', 'Checkbox'],
    ])('over %s refuses %s', async (title, name, type) => {
      const { order, items, target } = await world()
      const options = { relationFieldId: items.id, targetFieldId: target(title), function: name }
      expect(await refusalOf(rollup(order.id, options))).toMatchObject({
        status: 400,
        message: `Rollup function (${name}) not available for type (${type})`,
      })
    })

    test('sums up what a lookup lists, and how many records a link has', async () => {
      const { order, items, target } = await world()
      const customer = (await createTable(shop)).table
      const orders = await createLink(shop, customer.id, order.id, { kind: 'hm', title: 'Orders' })
      const prices = await lookup(order.id, items.id, target('Price'))
      const over = (targetFieldId: string) =>
        rollup(customer.id, { relationFieldId: orders.id, targetFieldId, function: 'sum' })
      expect((await over(prices.id)).result).toMatchObject({ type: 'Currency', isList: false })
      expect((await over(items.id)).result).toMatchObject({ type: 'Number', isList: false })
      expect((await refusalOf(over(optionsOf(orders).inverseFieldId!))).message).toBe(
        'Rollup function (sum) not available for type (LinkToAnotherRecord)',
      )
    })

    test('can be given another function', async () => {
      const { order, items, target } = await world()
      const options = { relationFieldId: items.id, targetFieldId: target('Due'), function: 'min' }
      const field = await rollup(order.id, options)
      expect((await update(field.id, { options: { function: 'count' } })).result).toMatchObject({
        type: 'Number',
      })
      expect((await refusalOf(update(field.id, { options: { function: 'sum' } }))).message).toBe(
        'Rollup function (sum) not available for type (Date)',
      )
    })

    test('is shown with the decimals and separators that it asks for', async () => {
      const { order, items, target } = await world()
      const of = async (title: string, name: string, format: FieldOptions) => {
        const options = { relationFieldId: items.id, targetFieldId: target(title), function: name, ...format }
        return (await rollup(order.id, options)).result
      }
      const shown = { precision: 3, thousands: true }
      expect(await of('Amount', 'sum', shown)).toMatchObject({ type: 'Decimal', options: shown })
      expect(await of('Amount', 'avg', shown)).toMatchObject({ type: 'Decimal', options: shown })
      expect(await of('Amount', 'sum', { thousands: true })).toMatchObject({
        type: 'Number',
        options: { thousands: true },
      })
      expect(await of('Price', 'sum', { precision: 0 })).toMatchObject({
        type: 'Currency',
        options: { precision: 0, code: 'EUR' },
      })
      expect(await of('Due', 'max', shown)).toMatchObject({ type: 'Date', options: { format: 'YYYY-MM-DD' } })
    })

    test('over a single link is refused', async () => {
      const { order, item, parentId } = await world()
      const title = fieldOf(await readTable(shop, order.id), 'Title')
      const options = { relationFieldId: parentId, targetFieldId: title.id, function: 'count' }
      expect((await refusalOf(rollup(item.id, options))).status).toBe(400)
    })
  })

  describe('what does not fit', () => {
    test('is refused in the words of the wire', async () => {
      const { order, item, items, parentId, target } = await world()
      const title = fieldOf(await readTable(shop, order.id), 'Title')
      const messageOf = async (call: Promise<unknown>) => (await refusalOf(call)).message
      for (const relation of ['', 'cnope0000000000', title.id, parentId]) {
        expect(await messageOf(lookup(order.id, relation, target('Price')))).toBe('Relation column not found')
      }
      for (const wrong of ['', 'cnope0000000000', title.id]) {
        expect(await messageOf(lookup(order.id, items.id, wrong))).toBe(
          'Lookup column not found in related table',
        )
        const options = { relationFieldId: items.id, targetFieldId: wrong, function: 'count' }
        expect(await messageOf(rollup(order.id, options))).toBe('Rollup column not found in related table')
      }
      const count = { type: 'Count' as const, options: { relationFieldId: title.id } }
      expect(await messageOf(createField(shop, order.id, count))).toBe('Relation column not found')
      expect((await readTable(shop, order.id)).fields).toHaveLength(8)
      expect((await readTable(shop, item.id)).fields).toHaveLength(15)
    })

    test('rules that computed fields cannot keep are refused', async () => {
      const { order, items, target } = await world()
      const options = { relationFieldId: items.id, targetFieldId: target('Price') }
      for (const rule of [{ unique: true }, { required: true }, { defaultValue: 'x' }]) {
        const call = createField(shop, order.id, { type: 'Lookup', options, ...rule })
        expect((await refusalOf(call)).status).toBe(400)
      }
      const wanted = { unique: true }
      const call = shop.api.schema.updateField.mutate({ fieldId: items.id, patch: wanted })
      expect((await refusalOf(call)).status).toBe(400)
    })
  })
})
