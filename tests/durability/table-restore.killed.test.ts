import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { createDataDir, type ServerProcess, startProcess } from './server-process.ts'

let data: ReturnType<typeof createDataDir>
let server: ServerProcess

beforeEach(async () => {
  data = createDataDir()
  server = await startProcess(data.path)
})
afterEach(async () => {
  await server.end('SIGKILL')
  data.remove()
})

const ROWS = 20_000

describe('restoring a table', () => {
  test('leaves the state before if the server is killed meanwhile, and the whole restored table otherwise', async () => {
    const { token } = await createTrpcClient(server.url).auth.signUp.mutate({
      email: 'a@example.com',
      password: 'correct horse battery',
    })
    let trpc = createTrpcClient(server.url, token)
    const { id: baseId } = await trpc.bases.create.mutate({ title: 'Kill' })
    const { table, fields } = await trpc.schema.createTable.mutate({
      baseId,
      title: 'Many',
      fields: [
        { title: 'Title', type: 'SingleLineText' },
        { title: 'Qty', type: 'Number' },
      ],
    })
    const path = `/api/v2/tables/${table.id}/records`
    const rest = createRestClient(server.url, token)
    for (let at = 0; at < ROWS; at += 10_000) {
      const rows = Array.from({ length: 10_000 }, (_, index) => ({ Title: `r${at + index}`, Qty: 1 }))
      expect((await rest.post(path, rows)).status).toBe(200)
    }
    const qty = fields.find(({ title }) => title === 'Qty')!.id
    const selection = { tableId: table.id }
    const { id: entryId } = await trpc.records.updateMatching.mutate({ selection, values: { [qty]: 2 } })
    const sum = async () =>
      (await trpc.records.summaries.query({ selection, summaries: [{ fieldId: qty, summary: 'sum' }] }))[qty]
    for (const afterMs of [20, 150, 400]) {
      const restoring = trpc.records.restoreTable
        .mutate({ tableId: table.id, before: entryId })
        .then(() => true)
        .catch(() => false)
      await Bun.sleep(afterMs)
      await server.end('SIGKILL')
      const wasAnswered = await restoring
      server = await startProcess(data.path)
      trpc = createTrpcClient(server.url, token)
      const restored = await sum()
      expect([ROWS, 2 * ROWS]).toContain(Number(restored))
      if (wasAnswered) expect(restored).toBe(ROWS)
      if (restored !== ROWS) continue
      const { actions } = await trpc.records.actions.query({ baseId, limit: 1 })
      expect(actions[0]).toMatchObject({ kind: 'records.rewind', records: ROWS })
      await trpc.records.undo.mutate({ baseId, entryId: actions[0]!.id })
      expect(await sum()).toBe(2 * ROWS)
    }
    await trpc.records.restoreTable.mutate({ tableId: table.id, before: entryId })
    expect(await sum()).toBe(ROWS)
  })
})
