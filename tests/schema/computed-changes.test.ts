import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
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

describe.each([...databases])('computed fields and what they read, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())
  const { world, lookup, rollup, now, update, undo, redo } = computedTools(() => shop)

  describe('a broken one', () => {
    test('says which field was deleted, keeps standing, and heals when it comes back', async () => {
      const { order, item, items, parentId, target } = await world()
      const options = { relationFieldId: items.id, targetFieldId: target('Price'), function: 'sum' }
      const fields = [await lookup(order.id, items.id, target('Price')), await rollup(order.id, options)]
      fields.push(await lookup(item.id, parentId, fields[0]!.id))
      const before = await Promise.all(fields.map(now))
      const expectBroken = async () => {
        for (const field of fields) {
          expect(await now(field)).toEqual({ result: null, error: "Column 'Price' was deleted" })
        }
      }
      await shop.api.schema.deleteField.mutate({ fieldId: target('Price') })
      await expectBroken()
      await undo()
      expect(await Promise.all(fields.map(now))).toEqual(before)
      await redo()
      await expectBroken()
      await shop.api.schema.restoreField.mutate({ fieldId: target('Price') })
      expect(await Promise.all(fields.map(now))).toEqual(before)
    })

    test('says which link was deleted, also with its table', async () => {
      const { order, item, items, target } = await world()
      const price = await lookup(order.id, items.id, target('Price'))
      const count = await createField(shop, order.id, {
        type: 'Count',
        options: { relationFieldId: items.id },
      })
      const before = [await now(price), await now(count)]
      await shop.api.schema.deleteTable.mutate({ tableId: item.id })
      expect([await now(price), await now(count)]).toEqual([
        { result: null, error: "Column 'Items' was deleted" },
        { result: null, error: "Column 'Items' was deleted" },
      ])
      await undo()
      expect([await now(price), await now(count)]).toEqual(before)
      await shop.api.schema.deleteField.mutate({ fieldId: items.id })
      expect((await now(count)).error).toBe("Column 'Items' was deleted")
    })

    test('a rollup whose function no longer suits says so', async () => {
      const { order, items, target } = await world()
      const options = { relationFieldId: items.id, targetFieldId: target('Amount'), function: 'sum' }
      const field = await rollup(order.id, options)
      await update(target('Amount'), { type: 'SingleLineText' })
      expect((await now(field)).error).toBe('Rollup function (sum) not available for type (SingleLineText)')
      await undo()
      expect((await now(field)).result).toMatchObject({ type: 'Number' })
    })

    test('tells browsers that its records look different', async () => {
      const { order, items, target } = await world()
      await lookup(order.id, items.id, target('Price'))
      const told: string[][] = []
      const stop = shop.app.kernel.events.on('records.changed', ({ tableIds }) => told.push(tableIds))
      await shop.api.schema.deleteField.mutate({ fieldId: target('Price') })
      stop()
      expect(told.flat()).toContain(order.id)
    })
  })

  describe('a circle', () => {
    test('of lookups is refused, and nothing changes', async () => {
      const { order, item, items, parentId, target } = await world()
      const first = await lookup(order.id, items.id, target('Price'))
      const second = await lookup(item.id, parentId, first.id)
      const refusal = await refusalOf(update(first.id, { options: { targetFieldId: second.id } }))
      expect(refusal).toMatchObject({ status: 400, message: 'Circular reference detected' })
      expect((await now(first)).result).toMatchObject({ type: 'Currency' })
    })

    test('of a lookup with itself is refused', async () => {
      const { table } = await createTable(shop)
      const link = await createLink(shop, table.id, table.id, { kind: 'bt', title: 'Parent' })
      const title = fieldOf(await readTable(shop, table.id), 'Title')
      const field = await lookup(table.id, link.id, title.id)
      const refusal = await refusalOf(update(field.id, { options: { targetFieldId: field.id } }))
      expect(refusal.message).toBe('Circular reference detected')
    })

    test('through the names of linked records is refused', async () => {
      const [one, two] = [(await createTable(shop)).table, (await createTable(shop)).table]
      const there = await createLink(shop, one.id, two.id, { kind: 'oo' })
      // Named after the record that is linked with it, which is named after this one.
      const field = await lookup(two.id, optionsOf(there).inverseFieldId!, there.id)
      expect(field.result).toMatchObject({ type: 'SingleLineText', isList: false })
      const refusal = await refusalOf(shop.api.schema.setDisplayField.mutate({ fieldId: field.id }))
      expect(refusal.message).toBe('Circular reference detected')
      expect((await readTable(shop, one.id)).fields.some(({ error }) => error !== null)).toBe(false)
    })
  })

  describe('another type', () => {
    test('Links and LinkToAnotherRecord show the same link', async () => {
      const { items } = await world()
      const type = 'LinkToAnotherRecord'
      const changed = await shop.api.schema.updateField.mutate({ fieldId: items.id, patch: { type } })
      expect(changed).toMatchObject({ type, options: items.options })
      await undo()
      expect((await readTable(shop, items.tableId)).fields.find(({ id }) => id === items.id)).toEqual(items)
    })

    test.each(['SingleLineText', 'Number', 'Lookup'] as const)('a link does not become %s', async (type) => {
      const { items } = await world()
      const call = shop.api.schema.updateField.mutate({ fieldId: items.id, patch: { type } })
      expect(await refusalOf(call)).toMatchObject({
        status: 501,
        message: `Updating Links => ${type} is not implemented`,
      })
      expect((await refusalOf(shop.api.schema.previewType.query({ fieldId: items.id, type }))).status).toBe(
        501,
      )
    })

    test('a text does not become a lookup, nor a single link a list', async () => {
      const { target, parentId } = await world()
      const change = (fieldId: string, type: 'Lookup' | 'Links') =>
        refusalOf(shop.api.schema.updateField.mutate({ fieldId, patch: { type } }))
      expect((await change(target('Name'), 'Lookup')).status).toBe(501)
      expect((await change(parentId, 'Links')).status).toBe(501)
    })

    test('what a link connects stays; its words and view may change', async () => {
      const { order, item, items } = await world()
      const viewId = (await readTable(shop, item.id)).views[0]!.id
      const changed = await update(items.id, { options: { singular: 'Position', viewId } })
      expect(changed.options).toEqual({ ...items.options, singular: 'Position', viewId })
      for (const options of [{ kind: 'mm' }, { relatedTableId: order.id }, { keyFieldId: null }]) {
        expect((await refusalOf(update(items.id, { options }))).message).toContain('can’t be changed')
      }
      const other = (await readTable(shop, order.id)).views[0]!.id
      expect((await refusalOf(update(items.id, { options: { viewId: other } }))).status).toBe(400)
    })
  })

  describe('schema.loadReachable', () => {
    test('gives the tables that a table’s fields need, and no others', async () => {
      const { order, item, items, parentId, target } = await world()
      const { schema } = shop.app.services
      const far = (await createTable(shop)).table
      const idsOf = async (tableId: string) => [...(await schema.loadReachable(tableId)).keys()].toSorted()
      expect(await idsOf(far.id)).toEqual([far.id])
      expect(await idsOf(order.id)).toEqual([item.id, order.id].toSorted())
      const link = await createLink(shop, item.id, far.id, { kind: 'mm', title: 'Far', createInverse: false })
      const { junction } = optionsOf(link)
      expect(await idsOf(item.id)).toEqual([far.id, item.id, junction!.tableId, order.id].toSorted())
      // The order needs them as soon as it looks through that link.
      expect(await idsOf(order.id)).toEqual([item.id, order.id].toSorted())
      await lookup(order.id, items.id, link.id)
      expect(await idsOf(order.id)).toEqual([far.id, item.id, junction!.tableId, order.id].toSorted())
      const known = await schema.loadReachable(order.id)
      expect(await schema.loadReachable(order.id)).toBe(known)
      await update(target('Price'), { title: freshTitle('Price') })
      const fresh = await schema.loadReachable(order.id)
      expect(fresh).not.toBe(known)
      expect(fresh.get(item.id)).toBe(await schema.load(item.id))
      await shop.api.schema.deleteTable.mutate({ tableId: item.id })
      expect(await idsOf(order.id)).toEqual([order.id])
      expect(parentId).toBeString()
    })
  })
})
