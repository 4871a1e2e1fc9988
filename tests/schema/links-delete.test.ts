import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { LinkOptions } from '../../src/core/fields/link-options.ts'
import type { Field } from '../../src/core/model.ts'
import {
  createField,
  createLink,
  createTable,
  databases,
  freshTitle,
  openWorkshop,
  readTable,
  refusalOf,
  type Workshop,
} from './support.ts'

const optionsOf = (field: Field) => field.options as LinkOptions

describe.each([...databases])('links in the trash, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  /** Two tables and a link from the first to the second. */
  async function world(kind: LinkOptions['kind'], createInverse = true) {
    const from = (await createTable(shop, undefined, freshTitle('From'))).table
    const to = (await createTable(shop, undefined, freshTitle('To'))).table
    const link = await createLink(shop, from.id, to.id, { kind, title: 'Link', createInverse })
    return { from, to, link, ...optionsOf(link) }
  }

  const has = async (tableId: string, fieldId: string | null) =>
    (await readTable(shop, tableId)).fields.some(({ id }) => id === fieldId)
  const isListed = async (tableId: string | undefined) =>
    (await shop.api.schema.tables.query({ baseId: shop.baseId, includeJunctions: true })).some(
      ({ id }) => id === tableId,
    )
  const fieldsOf = async (...tableIds: string[]) => {
    const schemas = await Promise.all(tableIds.map((tableId) => readTable(shop, tableId)))
    return schemas.map(({ fields }) => fields)
  }
  const undo = () => shop.api.records.undo.mutate({ baseId: shop.baseId })
  const redo = () => shop.api.records.redo.mutate({ baseId: shop.baseId })
  const deleteField = (fieldId: string) => shop.api.schema.deleteField.mutate({ fieldId })
  const deleteTable = (tableId: string) => shop.api.schema.deleteTable.mutate({ tableId })

  describe('schema.deleteField of a link', () => {
    test.each(['hm', 'bt', 'oo', 'mm'] as const)(
      '%s takes its reverse and what keeps it; undo, redo and the trash move all of it',
      async (kind) => {
        const { from, to, link, inverseFieldId, junction } = await world(kind)
        const before = await fieldsOf(from.id, to.id)
        await deleteField(link.id)
        const without = await fieldsOf(from.id, to.id)
        expect(without.map((fields) => fields.length)).toEqual([7, 7])
        expect(await isListed(junction?.tableId)).toBe(false)
        await undo()
        expect(await fieldsOf(from.id, to.id)).toEqual(before)
        expect(await isListed(junction?.tableId)).toBe(kind === 'mm')
        await redo()
        expect(await fieldsOf(from.id, to.id)).toEqual(without)
        // Either end brings back both.
        await shop.api.schema.restoreField.mutate({ fieldId: inverseFieldId! })
        expect(await fieldsOf(from.id, to.id)).toEqual(before)
        expect(await isListed(junction?.tableId)).toBe(kind === 'mm')
      },
    )

    test('of the reverse takes the link', async () => {
      const { from, link, inverseFieldId } = await world('mm')
      await deleteField(inverseFieldId!)
      expect(await has(from.id, link.id)).toBe(false)
    })

    test('shows in the trash of both tables, without its keys', async () => {
      const { from, to, link, inverseFieldId } = await world('hm')
      await deleteField(link.id)
      const trashOf = async (tableId: string) =>
        (await shop.api.schema.trashedFields.query({ tableId })).map(({ id }) => id)
      expect([await trashOf(from.id), await trashOf(to.id)]).toEqual([[link.id], [inverseFieldId!]])
    })

    test('keeps the values of the foreign key', async () => {
      const { from, to, link, keyFieldId } = await world('hm')
      const engine = await shop.app.kernel.sources.engine(shop.baseId)
      const key = (await readTable(shop, to.id)).fields.find(({ id }) => id === keyFieldId)!
      const all = () =>
        engine.all({ sql: `select "${key.columnName}" as k from "${to.tableName}"`, params: [] })
      await engine.write((tx) =>
        tx.run({ sql: `insert into "${to.tableName}" ("${key.columnName}") values (7)`, params: [] }),
      )
      await deleteField(link.id)
      await undo()
      expect(await all()).toEqual([{ k: 7 }])
      expect(await has(from.id, link.id)).toBe(true)
    })

    test('comes back under another title where its own is taken, on both sides', async () => {
      const { from, to, link, inverseFieldId } = await world('hm')
      await deleteField(link.id)
      await createField(shop, from.id, { type: 'Number', title: 'Link' })
      await createField(shop, to.id, { type: 'Number', title: from.title })
      await shop.api.schema.restoreField.mutate({ fieldId: link.id })
      const titles = (await fieldsOf(from.id, to.id)).flat().map(({ id, title }) => [id, title])
      expect(titles).toContainEqual([link.id, 'Link_1'])
      expect(titles).toContainEqual([inverseFieldId!, `${from.title}_1`])
    })

    test('leaves the key and the junction to it', async () => {
      const { keyFieldId } = await world('hm')
      expect(await refusalOf(deleteField(keyFieldId!))).toMatchObject({
        status: 400,
        message: expect.stringContaining('belongs to the link'),
      })
      const { junction, link } = await world('mm')
      expect((await refusalOf(deleteField(junction!.ownFieldId))).status).toBe(400)
      expect((await refusalOf(deleteTable(junction!.tableId))).status).toBe(400)
      await deleteField(link.id)
      const restore = shop.api.schema.restoreTable.mutate({ tableId: junction!.tableId })
      expect((await refusalOf(restore)).status).toBe(400)
      const trash = await shop.api.schema.tables.query({ baseId: shop.baseId, trash: true })
      expect(trash.some(({ id }) => id === junction!.tableId)).toBe(false)
    })
  })

  describe('schema.deleteTable', () => {
    test.each(['hm', 'bt', 'oo', 'mm'] as const)(
      'takes links of other tables that lead to it (%s); undo brings them back',
      async (kind) => {
        for (const end of ['from', 'to'] as const) {
          const made = await world(kind)
          const [gone, stays] = end === 'from' ? [made.from, made.to] : [made.to, made.from]
          const before = await fieldsOf(made.from.id, made.to.id)
          await deleteTable(gone.id)
          expect((await readTable(shop, stays.id)).fields).toHaveLength(
            // A key in the table that stays goes as well.
            7,
          )
          expect(await isListed(made.junction?.tableId)).toBe(false)
          await undo()
          expect(await fieldsOf(made.from.id, made.to.id)).toEqual(before)
          expect(await isListed(made.junction?.tableId)).toBe(kind === 'mm')
          await deleteTable(gone.id)
          await shop.api.schema.restoreTable.mutate({ tableId: gone.id })
          expect(await fieldsOf(made.from.id, made.to.id)).toEqual(before)
        }
      },
    )

    test('takes a link without reverse', async () => {
      const { from, to, link } = await world('bt', false)
      await deleteTable(to.id)
      expect(await has(from.id, link.id)).toBe(false)
      await undo()
      expect(await has(from.id, link.id)).toBe(true)
    })

    test('does not bring back a link that was deleted before it', async () => {
      const { from, to, link } = await world('mm')
      await deleteField(link.id)
      await deleteTable(to.id)
      await shop.api.schema.restoreTable.mutate({ tableId: to.id })
      expect(await has(from.id, link.id)).toBe(false)
    })

    test.each([
      ['the first', 0],
      ['the second', 1],
    ])('both deleted, %s restored first: the link is whole again', async (_, first) => {
      const { from, to, junction } = await world('mm')
      const before = await fieldsOf(from.id, to.id)
      await deleteTable(from.id)
      await deleteTable(to.id)
      const order = first === 0 ? [from, to] : [to, from]
      for (const { id } of order) await shop.api.schema.restoreTable.mutate({ tableId: id })
      expect(await fieldsOf(from.id, to.id)).toEqual(before)
      expect(await isListed(junction?.tableId)).toBe(true)
    })

    test('keeps its links from coming back while it is away', async () => {
      const { from, to, link } = await world('hm')
      await deleteTable(to.id)
      expect(await refusalOf(shop.api.schema.restoreField.mutate({ fieldId: link.id }))).toMatchObject({
        status: 409,
        message: expect.stringContaining(`“${to.title}” is in the trash`),
      })
      expect(await has(from.id, link.id)).toBe(false)
    })
  })

  describe('schema.dependents', () => {
    test('names the other end, what is computed and the views that use it', async () => {
      const { from, to, link, inverseFieldId, keyFieldId } = await world('hm')
      const options = { relationFieldId: link.id, targetFieldId: (await titleOf(to.id)).id }
      const lookup = await createField(shop, from.id, { type: 'Lookup', title: 'Looked up', options })
      const count = await createField(shop, from.id, { type: 'Count', title: 'Number of', options })
      const view = (await readTable(shop, from.id)).views[0]!
      const sorts = [{ fieldId: link.id, direction: 'asc' as const }]
      await shop.api.views.update.mutate({ viewId: view.id, patch: { sorts } })
      const found = await shop.api.schema.dependents.query({ fieldId: link.id })
      const inverse = (await readTable(shop, to.id)).fields.find(({ id }) => id === inverseFieldId)!
      expect(found).toContainEqual({
        kind: 'field',
        id: inverse.id,
        title: inverse.title,
        tableTitle: to.title,
        effect: 'deleted',
      })
      expect(found.map(({ kind, id, effect }) => [kind, id, effect]).toSorted()).toEqual(
        [
          ['field', inverseFieldId, 'deleted'],
          ['field', keyFieldId, 'deleted'],
          ['field', lookup.id, 'broken'],
          ['field', count.id, 'broken'],
          ['view', view.id, 'broken'],
        ].toSorted() as string[][],
      )
      // Of the table: what stands in other tables.
      const ofTable = await shop.api.schema.dependents.query({ tableId: to.id })
      expect(ofTable.map(({ id, effect }) => [id, effect]).toSorted()).toEqual(
        [
          [link.id, 'deleted'],
          [lookup.id, 'broken'],
          [count.id, 'broken'],
        ].toSorted(),
      )
    })

    test('finds nothing for a field that nobody uses, and changes nothing', async () => {
      const { table } = await createTable(shop, [
        { type: 'SingleLineText', title: 'A' },
        { type: 'Number', title: 'B' },
      ])
      const before = await readTable(shop, table.id)
      const fieldId = before.fields.at(-1)!.id
      expect(await shop.api.schema.dependents.query({ fieldId })).toEqual([])
      expect(await shop.api.schema.dependents.query({ tableId: table.id })).toEqual([])
      expect(await readTable(shop, table.id)).toEqual(before)
    })
  })

  const titleOf = async (tableId: string) =>
    (await readTable(shop, tableId)).fields.find(({ title }) => title === 'Title')!
})
