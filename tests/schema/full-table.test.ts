import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  createLink,
  createTable,
  databases,
  fieldOf,
  openWorkshop,
  readTable,
  refusalOf,
  type Workshop,
} from './support.ts'

describe.each([...databases])('a table that has as many columns as its database keeps, %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  test('refuses another field, type or link in words, and goes on as it is', async () => {
    const schema = await createTable(shop)
    const { id, tableName } = schema.table
    await fill(tableName)
    const before = await readTable(shop, id)
    const title = fieldOf(schema, 'Title')
    const { api } = shop
    const refused = {
      status: 400,
      message: expect.stringContaining('has reached its database’s column limit'),
    }
    const other = (await createTable(shop)).table.id
    for (const call of [
      () => api.schema.createField.mutate({ tableId: id, field: { type: 'Number', title: 'More' } }),
      () => api.schema.updateField.mutate({ fieldId: title.id, patch: { type: 'LongText' } }),
      () => createLink(shop, id, other, { kind: 'bt', title: 'Link' }),
    ]) {
      expect(await refusalOf(call())).toMatchObject(refused)
    }
    expect(await readTable(shop, id)).toEqual(before)
    const { status } = await shop.rest.post(`/api/v2/tables/${id}/records`, { Title: 'still' })
    expect(status).toBe(200)
  })

  /** Columns as deleted fields and former types leave them behind. */
  async function fill(tableName: string): Promise<void> {
    const engine = await shop.app.kernel.sources.engine(shop.baseId)
    const most = database === 'sqlite' ? 2000 : 1600
    const { length } = await engine.all(engine.dialect.listColumns(tableName))
    await engine.write(async (tx) => {
      for (let index = length; index < most; index++) {
        await tx.run({ sql: `alter table "${tableName}" add column left_${index} bigint`, params: [] })
      }
    })
  }
})
