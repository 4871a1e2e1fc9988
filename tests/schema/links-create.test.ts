import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { LinkOptions } from '../../src/core/fields/link-options.ts'
import type { Field } from '../../src/core/model.ts'
import {
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

describe.each([...databases])('new links, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  const read = (tableId: string) => readTable(shop, tableId)
  const tablesOf = (includeJunctions = false) =>
    shop.api.schema.tables.query({ baseId: shop.baseId, includeJunctions })
  async function authorAndBook(suffix = freshTitle('')) {
    const author = (await createTable(shop, undefined, `Author${suffix}k`)).table
    const book = (await createTable(shop, undefined, `Book${suffix}k`)).table
    return { author, book }
  }
  const ownFields = async (tableId: string) =>
    (await read(tableId)).fields.filter((field) => !field.isSystem && !field.isPrimaryKey)

  describe('has many', () => {
    test('makes a key in the child, and the parent as a single link there', async () => {
      const { author, book } = await authorAndBook()
      const field = await createLink(shop, author.id, book.id, { kind: 'hm', title: 'Books' })
      const [, key, reverse] = await ownFields(book.id)
      expect(key).toMatchObject({
        type: 'ForeignKey',
        title: `${author.tableName}_id`,
        columnName: `${author.tableName}_id`,
        isSystem: false,
      })
      expect(reverse).toMatchObject({
        type: 'LinkToAnotherRecord',
        title: author.title,
        columnName: '',
        result: null,
        error: null,
      })
      const parentKey = (await read(author.id)).fields.find((each) => each.isPrimaryKey)
      expect(optionsOf(field)).toEqual({
        kind: 'hm',
        relatedTableId: book.id,
        inverseFieldId: reverse!.id,
        keyFieldId: key!.id,
        parentFieldId: parentKey!.id,
        holdsKey: false,
        junction: null,
        viewId: null,
        singular: book.title,
        plural: `${book.title}s`,
      })
      expect(optionsOf(reverse!)).toEqual({
        kind: 'bt',
        relatedTableId: author.id,
        inverseFieldId: field.id,
        keyFieldId: key!.id,
        parentFieldId: parentKey!.id,
        holdsKey: true,
        junction: null,
        viewId: null,
        singular: author.title,
        plural: `${author.title}s`,
      })
      expect(field).toMatchObject({ type: 'Links', title: 'Books', columnName: '', tableId: author.id })
    })

    test('hides the key and shows both ends in the views that are there', async () => {
      const { author, book } = await authorAndBook()
      const field = await createLink(shop, author.id, book.id, { kind: 'hm' })
      const { fields, views } = await read(book.id)
      const shown = new Map(views[0]?.fields.map((line) => [line.fieldId, line.show]))
      const { inverseFieldId, keyFieldId } = optionsOf(field)
      expect(shown.get(keyFieldId!)).toBe(false)
      expect(shown.get(inverseFieldId!)).toBe(true)
      expect(fields.find(({ id }) => id === keyFieldId)).toBeDefined()
      const own = (await read(author.id)).views[0]?.fields.find((line) => line.fieldId === field.id)
      expect(own?.show).toBe(true)
    })

    test('is called after the other table, with a number where that is taken', async () => {
      const { author, book } = await authorAndBook()
      const titles = []
      for (let round = 0; round < 3; round++) {
        titles.push((await createLink(shop, author.id, book.id, { kind: 'hm' })).title)
      }
      expect(titles).toEqual([`${book.title}s`, `${book.title}s1`, `${book.title}s2`])
      expect((await ownFields(book.id)).map(({ title }) => title)).toEqual([
        'Title',
        `${author.tableName}_id`,
        author.title,
        `${author.tableName}_id1`,
        `${author.title}1`,
        `${author.tableName}_id2`,
        `${author.title}2`,
      ])
    })

    test('can stay unseen in the other table', async () => {
      const { author, book } = await authorAndBook()
      const field = await createLink(shop, author.id, book.id, { kind: 'hm', createInverse: false })
      expect(optionsOf(field).inverseFieldId).toBeNull()
      expect((await ownFields(book.id)).map(({ type }) => type)).toEqual(['SingleLineText', 'ForeignKey'])
    })
  })

  describe('belongs to', () => {
    test('makes the key here and the children as links there', async () => {
      const { author, book } = await authorAndBook()
      const field = await createLink(shop, book.id, author.id, { kind: 'bt', title: 'Writer' })
      const [, key, own] = await ownFields(book.id)
      const [, reverse] = await ownFields(author.id)
      // The single side is always a link to a record, whatever was asked for.
      expect(field).toMatchObject({ type: 'LinkToAnotherRecord', title: 'Writer', required: false })
      expect([key, own].map((each) => each?.type)).toEqual(['ForeignKey', 'LinkToAnotherRecord'])
      expect(optionsOf(field)).toMatchObject({ kind: 'bt', holdsKey: true, inverseFieldId: reverse!.id })
      expect(reverse).toMatchObject({ type: 'Links', title: `${book.title}s` })
      expect(optionsOf(reverse!)).toMatchObject({ kind: 'hm', holdsKey: false, inverseFieldId: field.id })
    })

    test('is required as its key is, whichever of them is told so', async () => {
      const { author, book } = await authorAndBook()
      const field = await createLink(shop, book.id, author.id, { kind: 'bt', required: true })
      const required = async () => {
        const { fields } = await read(book.id)
        return [field.id, optionsOf(field).keyFieldId].map(
          (id) => fields.find((each) => each.id === id)?.required,
        )
      }
      expect(await required()).toEqual([true, true])
      await shop.api.schema.updateField.mutate({ fieldId: field.id, patch: { required: false } })
      expect(await required()).toEqual([false, false])
      await shop.api.records.undo.mutate({ baseId: shop.baseId })
      expect(await required()).toEqual([true, true])
      const keyId = optionsOf(field).keyFieldId!
      await shop.api.schema.updateField.mutate({ fieldId: keyId, patch: { required: false } })
      expect(await required()).toEqual([false, false])
    })
  })

  test('one to one: a single link on both sides, the key in the other table', async () => {
    const { author, book } = await authorAndBook()
    const field = await createLink(shop, author.id, book.id, { kind: 'oo' })
    const [, key, reverse] = await ownFields(book.id)
    expect([field.type, reverse?.type]).toEqual(['LinkToAnotherRecord', 'LinkToAnotherRecord'])
    expect(key?.type).toBe('ForeignKey')
    expect(optionsOf(field)).toMatchObject({ kind: 'oo', holdsKey: false, keyFieldId: key!.id })
    expect(optionsOf(reverse!)).toMatchObject({ kind: 'oo', holdsKey: true, keyFieldId: key!.id })
  })

  describe('many to many', () => {
    test('makes a junction table that is not listed unless asked for', async () => {
      const { author, book } = await authorAndBook()
      const field = await createLink(shop, author.id, book.id, { kind: 'mm' })
      const reverse = (await ownFields(book.id))[1]!
      const { junction, keyFieldId } = optionsOf(field)
      expect(keyFieldId).toBeNull()
      expect([field.title, reverse.title]).toEqual([`${book.title}s`, `${author.title}s`])
      expect(optionsOf(reverse).junction).toEqual({
        tableId: junction!.tableId,
        ownFieldId: junction!.relatedFieldId,
        relatedFieldId: junction!.ownFieldId,
      })
      expect((await tablesOf()).some(({ id }) => id === junction!.tableId)).toBe(false)
      const listed = (await tablesOf(true)).find(({ id }) => id === junction!.tableId)
      expect(listed).toMatchObject({ isJunction: true, version: 1 })
      const { fields } = await read(junction!.tableId)
      expect(fields.slice(-2).map(({ id, type, title }) => [id, type, title])).toEqual([
        [junction!.ownFieldId, 'ForeignKey', `${author.tableName}_id`],
        [junction!.relatedFieldId, 'ForeignKey', `${book.tableName}_id`],
      ])
      expect(fields).toHaveLength(8)
    })

    test('gives both sides the type that was asked for', async () => {
      const { author, book } = await authorAndBook()
      const type = 'LinkToAnotherRecord'
      const field = await createLink(shop, author.id, book.id, { kind: 'mm', type })
      expect([field.type, (await ownFields(book.id))[1]?.type]).toEqual([type, type])
    })

    test('keeps no pair twice', async () => {
      const { author, book } = await authorAndBook()
      const field = await createLink(shop, author.id, book.id, { kind: 'mm' })
      const { tableId, ownFieldId, relatedFieldId } = optionsOf(field).junction!
      const { table, fields } = await read(tableId)
      const [own, related] = [ownFieldId, relatedFieldId].map((id) => fields.find((each) => each.id === id)!)
      const engine = await shop.app.kernel.sources.engine(shop.baseId)
      const insert = () =>
        engine.write((tx) =>
          tx.run({
            sql: `insert into "${table.tableName}" ("${own!.columnName}", "${related!.columnName}") values (1, 2)`,
            params: [],
          }),
        )
      await insert()
      expect(insert()).rejects.toThrow(/unique/i)
    })
  })

  describe('of a table with itself', () => {
    test.each(['hm', 'bt', 'mm', 'oo'] as const)('%s keeps its reverse out of sight', async (kind) => {
      const { table } = await createTable(shop)
      const field = await createLink(shop, table.id, table.id, { kind, title: 'Own' })
      const { fields } = await read(table.id)
      const reverse = fields.find(({ id }) => id === optionsOf(field).inverseFieldId)
      expect(reverse).toMatchObject({ tableId: table.id, isSystem: true })
      expect(field.isSystem).toBe(false)
      const keys = fields.filter(({ type }) => type === 'ForeignKey')
      expect(keys).toHaveLength(kind === 'mm' ? 0 : 1)
      const { junction } = optionsOf(field)
      if (!junction) return
      const inJunction = (await read(junction.tableId)).fields.slice(-2).map(({ title }) => title)
      expect(inJunction).toEqual([`${table.tableName}_id`, `${table.tableName}_id1`])
    })
  })

  describe('is one action', () => {
    test.each(['hm', 'mm'] as const)('%s: undo takes all of it, redo brings it back', async (kind) => {
      const { author, book } = await authorAndBook()
      const before = [await ownFields(author.id), await ownFields(book.id)]
      const field = await createLink(shop, author.id, book.id, { kind })
      const after = [await ownFields(author.id), await ownFields(book.id)]
      const junctionId = optionsOf(field).junction?.tableId
      const hasJunction = async () => (await tablesOf(true)).some(({ id }) => id === junctionId)
      await shop.api.records.undo.mutate({ baseId: shop.baseId })
      expect([await ownFields(author.id), await ownFields(book.id)]).toEqual(before)
      expect(await hasJunction()).toBe(false)
      await shop.api.records.redo.mutate({ baseId: shop.baseId })
      expect([await ownFields(author.id), await ownFields(book.id)]).toEqual(after)
      expect(await hasJunction()).toBe(kind === 'mm')
    })

    test('both tables grow by one version', async () => {
      const { author, book } = await authorAndBook()
      const versions = async () => [
        (await read(author.id)).table.version,
        (await read(book.id)).table.version,
      ]
      const [a, b] = await versions()
      await createLink(shop, author.id, book.id, { kind: 'mm' })
      expect(await versions()).toEqual([a! + 1, b! + 1])
    })

    test('a refused one leaves nothing behind', async () => {
      const { author, book } = await authorAndBook()
      const before = await tablesOf(true)
      await refusalOf(createLink(shop, author.id, book.id, { kind: 'mm', title: 'Title' }))
      expect(await tablesOf(true)).toEqual(before)
      expect(await ownFields(book.id)).toHaveLength(1)
    })
  })
})
