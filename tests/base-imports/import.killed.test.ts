import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServerProcess } from '../imports/server-process.ts'
import { type AirtableServer, startAirtableServer } from '../support/airtable-server.ts'
import { PASSWORD } from '../support/app.ts'
import { createTrpcClient } from '../support/client.ts'
import { largeBase } from './large-base.ts'
import { fromAirtable } from './support.ts'

/** Kills while tables are created, records are read, links written and formulas compared. */
const KILLS = 6
const SIZE = 120

let server: AirtableServer
let dataDir: string
const base = largeBase(SIZE)

beforeAll(() => {
  server = startAirtableServer({ bases: [base] })
  dataDir = mkdtempSync(join(tmpdir(), 'sheaf-import-'))
})
afterAll(async () => {
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

describe('an import whose server is killed again and again', () => {
  test('goes on by itself and has each record, link and formula once', async () => {
    const env = {
      AIRTABLE_API_URL: server.url,
      ALLOW_LOCAL_HTTP: 'true',
      AIRTABLE_REQUESTS_PER_SECOND: '500',
      LOG_LEVEL: 'info',
    }
    let process = await startServerProcess(dataDir, env)
    const { token } = await createTrpcClient(process.url).auth.signUp.mutate({
      email: 'owner@example.com',
      password: PASSWORD,
    })
    const { id: importId } = await createTrpcClient(process.url, token).baseImports.begin.mutate(
      fromAirtable(base.id),
    )
    for (let kills = 0; kills < KILLS; kills++) {
      await Bun.sleep(200 + Math.random() * 900)
      await process.end('SIGKILL')
      process = await startServerProcess(dataDir, env)
    }
    const trpc = createTrpcClient(process.url, token)
    let done = await trpc.baseImports.get.query({ importId })
    for (let tries = 0; tries < 600 && done.status === 'running'; tries++) {
      await Bun.sleep(100)
      done = await trpc.baseImports.get.query({ importId })
    }
    expect({ status: done.status, error: done.error }).toEqual({ status: 'completed', error: null })
    const tables = await trpc.schema.tables.query({ baseId: done.baseId! })
    expect(tables.map(({ title }) => title).toSorted()).toEqual(
      base.tables.map(({ name }) => name).toSorted(),
    )
    for (const [index, table] of base.tables.entries()) {
      const tableId = tables.find(({ title }) => title === table.name)!.id
      const schema = await trpc.schema.table.query({ tableId })
      const own = schema.fields.filter((field) => !field.isSystem && !field.isPrimaryKey)
      expect(own.map(({ title }) => title).toSorted()).toEqual(
        table.fields.map(({ name }) => name).toSorted(),
      )
      const page = await trpc.records.list.query({ query: { tableId, limit: 500, offset: 0 } })
      const at = (title: string) => page.fieldIds.indexOf(own.find((field) => field.title === title)!.id)
      const names = page.rows.map((row) => row[at('Name')]).toSorted()
      expect(names).toEqual(base.rows[index]!.map(({ name }) => name).toSorted())
      for (const row of page.rows) {
        const number = Number(String(row[at('Name')]).slice('Record '.length))
        expect(row[at('Links')]).toBe(number % 4 === 0 ? 2 : 1)
      }
      expect(schema.views.length).toBe(2)
    }
    await process.end('SIGTERM')
  }, 180_000)
})
