import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type RunningServer, startServer } from '../../src/app.ts'
import { createTrpcClient } from '../support/client.ts'
import { followWrites } from '../support/waiting-writes.ts'
import { addRecords, createTable, fieldOf, openWorkshop, refusalOf, type Workshop } from './support.ts'

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

test('a change that one person undoes on two servers at the same time is undone once, as is its redo', async () => {
  const { baseId } = shop
  const schema = await createTable(shop, [
    { title: 'Title', type: 'SingleLineText' },
    { title: 'N', type: 'Number' },
    { title: 'Gone', type: 'Number' },
  ])
  const { id: tableId } = schema.table
  const viewId = schema.views[0]!.id
  await addRecords(shop, schema, [{ Title: 'One', N: 1 }])
  const version = async () => (await shop.api.schema.table.query({ tableId })).table.version
  const number = fieldOf(schema, 'N').id
  const changes = [
    () => shop.api.schema.updateField.mutate({ fieldId: number, patch: { title: 'Renamed' } }),
    () => shop.api.schema.updateField.mutate({ fieldId: number, patch: { type: 'SingleLineText' } }),
    () => shop.api.schema.deleteField.mutate({ fieldId: fieldOf(schema, 'Gone').id }),
    () => shop.api.views.arrange.mutate({ viewId, fields: [{ fieldId: number, width: 99 }] }),
  ]
  for (const change of changes) {
    await change()
    const { id: entryId } = (await shop.api.records.nextAction.query({ baseId, direction: 'undo' }))!
    for (const direction of ['undo', 'redo', 'undo'] as const) {
      const before = await version()
      const engines = await Promise.all([shop.app, other].map(({ kernel }) => kernel.sources.engine(baseId)))
      const held = Promise.withResolvers<void>()
      const waiting = engines.map(followWrites)
      // While the write lease is held, both servers get as far as they can.
      const lease = engines[0]!.exclusively(() => held.promise)
      const calls = [shop.api, api].map((one) => one.records[direction].mutate({ baseId, entryId }))
      await Promise.any(waiting.map((one) => one.until(1)))
      for (const one of waiting) one.stop()
      held.resolve()
      await lease
      const results = await Promise.all(calls)
      expect(results.map(({ kind }) => kind)).toEqual([results[0]!.kind, results[0]!.kind])
      expect({ direction, version: await version() }).toEqual({ direction, version: before + 1 })
      const actions = await shop.api.records.actions.query({ baseId, limit: 10 })
      const found = actions.actions.find(({ id }) => id === entryId)
      expect(found?.state).toBe(direction === 'undo' ? 'undone' : 'done')
    }
  }
})
