import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { LinkOptions } from '../../src/core/fields/link-options.ts'
import {
  createField,
  createLink,
  createTable,
  databases,
  freshTitle,
  openWorkshop,
  readTable,
  type Workshop,
} from './support.ts'

describe.each([...databases])('links that come back together, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  test('have each a title of its own, and those whose title is free keep it', async () => {
    const from = (await createTable(shop, undefined, freshTitle('From'))).table
    const to = (await createTable(shop, undefined, freshTitle('To'))).table
    const first = await createLink(shop, from.id, to.id, { kind: 'mm', title: 'Link' })
    const second = await createLink(shop, from.id, to.id, { kind: 'mm', title: 'Link_1' })
    await shop.api.schema.deleteTable.mutate({ tableId: to.id })
    await createField(shop, from.id, { type: 'Number', title: 'Link' })
    await shop.api.schema.restoreTable.mutate({ tableId: to.id })
    const titles = new Map((await readTable(shop, from.id)).fields.map(({ id, title }) => [id, title]))
    expect([titles.get(first.id), titles.get(second.id)]).toEqual(['Link_2', 'Link_1'])
    expect(new Set(titles.values()).size).toBe(titles.size)
  })

  test('stay in the trash where their table goes there at the same moment', async () => {
    const { deleteTable, deleteField, restoreField } = shop.api.schema
    for (let time = 0; time < 5; time++) {
      const from = (await createTable(shop, undefined, freshTitle('From'))).table
      const to = (await createTable(shop, undefined, freshTitle('To'))).table
      const link = await createLink(shop, from.id, to.id, { kind: 'hm', title: 'Link' })
      await deleteField.mutate({ fieldId: link.id })
      const [gone] = await Promise.allSettled([
        deleteTable.mutate({ tableId: to.id }),
        restoreField.mutate({ fieldId: link.id }),
      ])
      expect(gone.status).toBe('fulfilled')
      const { fields } = await readTable(shop, from.id)
      expect(fields.map(({ id }) => id)).not.toContain(link.id)
    }
  })

  test('are restored once, however many ask for it at the same moment', async () => {
    const from = (await createTable(shop, undefined, freshTitle('From'))).table
    const to = (await createTable(shop, undefined, freshTitle('To'))).table
    const link = await createLink(shop, from.id, to.id, { kind: 'mm', title: 'Link' })
    const engine = await shop.app.kernel.sources.engine(shop.baseId)
    const restores = async () => {
      const sql = `select id from sheaf_changes where kind in ('field.restore', 'table.restore')`
      return (await engine.all({ sql, params: [] })).length
    }
    const before = await restores()
    await shop.api.schema.deleteField.mutate({ fieldId: link.id })
    const fieldId = link.id
    await Promise.allSettled([1, 2, 3].map(() => shop.api.schema.restoreField.mutate({ fieldId })))
    await shop.api.schema.deleteTable.mutate({ tableId: to.id })
    const tableId = to.id
    await Promise.allSettled([1, 2, 3].map(() => shop.api.schema.restoreTable.mutate({ tableId })))
    expect((await restores()) - before).toBe(2)
  })

  test('have tables of pairs with titles of their own', async () => {
    const from = (await createTable(shop, undefined, freshTitle('From'))).table
    const to = (await createTable(shop, undefined, freshTitle('To'))).table
    const first = await createLink(shop, from.id, to.id, { kind: 'mm', title: 'Link' })
    await shop.api.schema.deleteField.mutate({ fieldId: first.id })
    const second = await createLink(shop, from.id, to.id, { kind: 'mm', title: 'Link' })
    await shop.api.schema.restoreField.mutate({ fieldId: first.id })
    const tables = await shop.api.schema.tables.query({ baseId: shop.baseId, includeJunctions: true })
    const titleOf = (link: { options: unknown }) =>
      tables.find(({ id }) => id === (link.options as LinkOptions).junction?.tableId)?.title
    expect(titleOf(first)).toBe(`${titleOf(second)}_1`)
  })
})
