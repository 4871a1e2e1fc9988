import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type RunningServer, startServer } from '../../src/app.ts'
import { createTrpcClient } from '../support/client.ts'
import { createTable, fieldOf, openWorkshop, refusalOf, type Workshop } from './support.ts'

// Two servers over one PostgreSQL and one data folder: what one changes, the other knows on the next call.
let shop: Workshop
let other: RunningServer
let api: ReturnType<typeof createTrpcClient>
beforeAll(async () => {
  shop = await openWorkshop('postgres')
  other = await startServer({ ...shop.app.config, port: 0 })
  // Tokens are signed by a secret that lies in the shared data folder.
  api = createTrpcClient(other.url, shop.owner.token)
})
afterAll(async () => {
  await other.stop()
  await shop.app.stop()
})

test('a change of a table, a field or a view by another server counts at once', async () => {
  const schema = await createTable(shop)
  const { id: tableId } = schema.table
  const viewId = schema.views[0]!.id
  await api.schema.table.query({ tableId })
  const field = await shop.api.schema.createField.mutate({ tableId, field: { type: 'Number', title: 'N' } })
  expect(fieldOf(await api.schema.table.query({ tableId }), 'N').id).toBe(field.id)
  await shop.api.views.arrange.mutate({ viewId, fields: [{ fieldId: field.id, width: 99 }] })
  const [view] = (await api.schema.table.query({ tableId })).views
  expect(view?.fields.find(({ fieldId }) => fieldId === field.id)?.width).toBe(99)
  await api.schema.deleteField.mutate({ fieldId: field.id })
  expect((await shop.api.schema.table.query({ tableId })).fields.map(({ id }) => id)).not.toContain(field.id)
  await shop.api.schema.deleteTable.mutate({ tableId })
  expect((await refusalOf(api.schema.table.query({ tableId }))).status).toBe(404)
})

test('a title that was taken on another server is taken here', async () => {
  const { table } = await createTable(shop)
  const { baseId } = shop
  const call = api.schema.createTable.mutate({ baseId, title: table.title.toUpperCase() })
  expect(await refusalOf(call)).toMatchObject({ status: 422, code: 'DUPLICATE_ALIAS' })
})
