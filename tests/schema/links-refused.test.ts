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

describe.each([...databases])('links that do not fit, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  const read = (tableId: string) => readTable(shop, tableId)
  async function authorAndBook(suffix = freshTitle('')) {
    const author = (await createTable(shop, undefined, `Author${suffix}k`)).table
    const book = (await createTable(shop, undefined, `Book${suffix}k`)).table
    return { author, book }
  }
  describe('refuses', () => {
    const cases: [string, (ids: { author: string; book: string }) => Promise<unknown>, number, RegExp][] = [
      [
        'a title in use',
        ({ author, book }) => createLink(shop, author, book, { kind: 'hm', title: 'Title' }),
        422,
        /Duplicate column alias 'Title'/,
      ],
      [
        'an unknown table',
        ({ author }) => createLink(shop, author, 'mnope0000000000', { kind: 'hm' }),
        404,
        /'mnope0000000000' not found/,
      ],
      [
        'a required list',
        ({ author, book }) => createLink(shop, author, book, { kind: 'hm', required: true }),
        400,
        /one parent record/,
      ],
      [
        'no relation',
        ({ author }) => shop.api.schema.createField.mutate({ tableId: author, field: { type: 'Links' } }),
        400,
        /kind/,
      ],
      [
        'a default',
        ({ author, book }) =>
          shop.api.schema.createField.mutate({
            tableId: author,
            field: { type: 'Links', options: { kind: 'hm', relatedTableId: book }, defaultValue: '[1]' },
          }),
        400,
        /default/,
      ],
      [
        'a view of another table',
        async ({ author, book }) => {
          const viewId = (await read(author)).views[0]!.id
          return shop.api.schema.createField.mutate({
            tableId: author,
            field: { type: 'Links', options: { kind: 'hm', relatedTableId: book, viewId } },
          })
        },
        400,
        /view/,
      ],
      [
        'a link in a new table',
        ({ book }) =>
          createTable(shop, [{ type: 'Links', title: 'x', options: { kind: 'hm', relatedTableId: book } }]),
        400,
        /can only be added to an existing table/,
      ],
      [
        'a foreign key without a link',
        ({ author }) =>
          shop.api.schema.createField.mutate({ tableId: author, field: { type: 'ForeignKey' } }),
        400,
        /ForeignKey/,
      ],
      [
        'a junction table as an end',
        async ({ author, book }) => {
          const field = await createLink(shop, author, book, { kind: 'mm' })
          return createLink(shop, author, optionsOf(field).junction!.tableId, { kind: 'hm' })
        },
        400,
        /is a junction table/,
      ],
      [
        'a unique key',
        async ({ author, book }) => {
          const { keyFieldId } = optionsOf(await createLink(shop, author, book, { kind: 'hm' }))
          return patch(keyFieldId, { unique: true })
        },
        400,
        /belongs to a link: create a one-to-one link/,
      ],
      [
        'a key with a default value',
        async ({ author, book }) => {
          const { keyFieldId } = optionsOf(await createLink(shop, author, book, { kind: 'hm' }))
          return patch(keyFieldId, { defaultValue: 1 })
        },
        400,
        /belongs to a link: it can’t have a default/,
      ],
      [
        'a unique key of a pair',
        async ({ author, book }) => {
          const { junction } = optionsOf(await createLink(shop, author, book, { kind: 'mm' }))
          return patch(junction!.ownFieldId, { unique: true })
        },
        400,
        /belongs to a link/,
      ],
      [
        'half a pair',
        async ({ author, book }) => {
          const { junction } = optionsOf(await createLink(shop, author, book, { kind: 'mm' }))
          return patch(junction!.relatedFieldId, { required: false })
        },
        400,
        /both ends are required/,
      ],
    ]
    const patch = (
      fieldId: string | null,
      given: { unique?: true; required?: false; defaultValue?: number },
    ) => shop.api.schema.updateField.mutate({ fieldId: fieldId ?? '', patch: given })
    test.each(cases)('%s', async (_, call, status, message) => {
      const { author, book } = await authorAndBook()
      const refusal = await refusalOf(call({ author: author.id, book: book.id }))
      expect(refusal.status).toBe(status)
      expect(refusal.message).toMatch(message)
    })

    test('a table of another base', async () => {
      const { author } = await authorAndBook()
      const other = await shop.api.bases.create.mutate({ title: freshTitle('Other') })
      const { table } = await shop.api.schema.createTable.mutate({ baseId: other.id, title: 'Secret' })
      expect(await refusalOf(createLink(shop, author.id, table.id, { kind: 'hm' }))).toMatchObject({
        status: 404,
        message: `Table '${table.id}' not found`,
      })
    })
  })
})
