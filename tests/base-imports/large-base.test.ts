import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { BaseImport } from '../../src/core/base-imports.ts'
import { type AirtableServer, startAirtableServer } from '../support/airtable-server.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { FORMULAS, largeBase } from './large-base.ts'
import { fromAirtable, recordsOf, settled } from './support.ts'

/** Three pages of records in each of twenty tables. */
const SIZE = 230

let app: TestApp
let owner: TestUser
let server: AirtableServer
let done: BaseImport
const base = largeBase(SIZE)

beforeAll(async () => {
  // Airtable allows five requests per second; a test that waits so long would only be slower.
  server = startAirtableServer({ bases: [base], failEvery: 10, perSecond: 200 })
  app = await createTestApp({
    config: { airtableApiUrl: server.url, allowLocalHttp: true, airtableRequestsPerSecond: 500 },
  })
  owner = await app.signUp()
  const started = await app.trpc(owner.token).baseImports.begin.mutate(fromAirtable(base.id))
  done = await settled(app, owner, started.id)
}, 240_000)
afterAll(async () => {
  await app.stop()
  await server.stop()
})

describe('an import of twenty tables with sixty formulas from a server that fails one call in ten', () => {
  test('is completed', () => {
    expect({ status: done.status, error: done.error }).toEqual({ status: 'completed', error: null })
    expect(server.counts.failed).toBeGreaterThan(5)
    expect(done.tables.map(({ added }) => added)).toEqual(Array.from({ length: 20 }, () => SIZE))
  })

  test('has every value of the source', async () => {
    for (const [index, table] of base.tables.entries()) {
      const { rows, schema } = await recordsOf(app, owner, done.baseId!, table.name)
      expect(rows.length).toBe(SIZE)
      const typeOf = (title: string) => schema.fields.find((field) => field.title === title)?.type
      expect(typeOf('Names')).toBe('Lookup')
      expect(typeOf('Total')).toBe('Rollup')
      expect(typeOf('Links')).toBe('Count')
      const byName = new Map(rows.map((row) => [row.Name, row]))
      for (const [at, source] of base.rows[index]!.entries()) {
        const row = byName.get(source.name)!
        expect(row.A).toBe(source.a)
        expect(row.Day).toBe(source.day)
        expect(row.Links).toBe(at % 4 === 0 ? 2 : 1)
      }
    }
  })

  test('computes the formulas here, and reports exactly the one that it cannot', async () => {
    const report = await app.trpc(owner.token).baseImports.report.query({ importId: done.id })
    const lines = report.filter(({ fieldTitle }) => fieldTitle !== null)
    const plain = FORMULAS.findIndex(({ isPlain }) => isPlain)
    expect(lines.map(({ kind, tableTitle, fieldTitle }) => [kind, tableTitle, fieldTitle])).toEqual([
      ['changed', 'Table 19', `F${plain}`],
    ])
    // A lookup, a rollup and a count in each table, and all formulas but one.
    expect(done.counts.verified).toBe((20 * 3 + FORMULAS.length - 1) * SIZE)
    const { rows, schema } = await recordsOf(app, owner, done.baseId!, 'Table 19')
    expect(schema.fields.find(({ title }) => title === `F${plain}`)?.type).toBe('SingleLineText')
    expect(rows.map((row) => row[`F${plain}`])).toEqual(rows.map(({ $id }) => `recT19R${Number($id) - 1}`))
  })

  test('brings the comments with their authors and times, and the views with their fields', async () => {
    const trpc = app.trpc(owner.token)
    expect(done.counts).toMatchObject({ comments: 20 * Math.ceil((SIZE - 7) / 40), views: 40 })
    const { table, schema, rows } = await recordsOf(app, owner, done.baseId!, 'Table 3')
    const recordId = Number(rows.find(({ Name }) => Name === 'Record 7')?.$id)
    const { comments } = await trpc.comments.list.query({ tableId: table.id, recordId })
    expect(comments.map(({ text, authorName, createdAt }) => [text, authorName, createdAt])).toEqual([
      ['About Record 7', 'Ada Winter', '2024-02-03T04:05:06.000Z'],
    ])
    expect(schema.views.map(({ title, kind }) => [title, kind])).toEqual([
      ['Main', 'grid'],
      ['Cards', 'gallery'],
    ])
    const titleOf = (id: string) => schema.fields.find((field) => field.id === id)?.title
    const shown = schema.views[0]!.fields.filter(({ show }) => show).toSorted((a, b) => a.order - b.order)
    expect(shown.map(({ fieldId }) => titleOf(fieldId)).filter((title) => title !== 'Id')).toEqual([
      'Name',
      'Day',
      'A',
    ])
  })

  test('keeps the times at which records were created', async () => {
    const { schema, table } = await recordsOf(app, owner, done.baseId!, 'Table 0')
    const created = schema.fields.find(({ columnName }) => columnName === 'created_at')!
    const page = await app.trpc(owner.token).records.list.query({
      query: { tableId: table.id, fieldIds: [created.id], limit: 2, offset: 0 },
    })
    expect(page.rows.flat()).toEqual(['2024-01-01 00:00:00+00:00', '2024-01-01 00:00:01+00:00'])
  })
})
