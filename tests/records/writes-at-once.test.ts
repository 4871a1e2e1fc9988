import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestApp, type TestApp } from '../support/app.ts'
import type { RestClient, TrpcClient } from '../support/client.ts'
import { type CountingProxy, startCountingProxy } from '../support/database-proxy.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'

/*
 * Writes to a base in PostgreSQL that arrive together run at the same time in one transaction, so that their statements
 * share round trips.
 */

const WRITERS = 50

let database: TestDatabase
let proxy: CountingProxy
let app: TestApp
let rest: RestClient
let api: TrpcClient
let sql: Bun.SQL
let baseId: string
beforeAll(async () => {
  database = await createDatabase('postgres')
  proxy = await startCountingProxy(database.url)
  app = await createTestApp({ config: { databaseUrl: proxy.url } })
  const { token } = await app.signUp('owner@example.com')
  rest = app.rest(token)
  api = app.trpc(token)
  baseId = (await api.bases.create.mutate({ title: 'B' })).id
  sql = new Bun.SQL(database.url, { max: 1 })
})
afterAll(async () => {
  await sql.close()
  await app.stop()
  await proxy.stop()
  await database.drop()
})

async function createTable(fields: { title: string; type: 'SingleLineText' | 'Number'; unique?: boolean }[]) {
  const schema = await api.schema.createTable.mutate({ baseId, title: `T${crypto.randomUUID()}`, fields })
  const { id, tableName } = schema.table
  const fieldId = (title: string) => schema.fields.find((field) => field.title === title)?.id ?? ''
  return { id, tableName, fieldId, path: `/api/v2/tables/${id}/records` }
}
type Table = Awaited<ReturnType<typeof createTable>>

const rowsOf = async ({ tableName }: Table): Promise<Record<string, unknown>[]> =>
  await sql.unsafe(`select * from nc_${baseId}."${tableName}" order by id`)

/** The log of a table's records, in order. */
const logOf = async ({ id }: Table): Promise<{ record: string; before: Values; after: Values }[]> => {
  const lines = await sql.unsafe(
    `select record_id as record, before, after from nc_${baseId}.sheaf_change_records where table_id = $1 order by change_id`,
    [id],
  )
  return lines.map(({ record, before, after }: Record<string, string>) => ({
    record,
    before: JSON.parse(before ?? 'null'),
    after: JSON.parse(after ?? 'null'),
  }))
}
type Values = Record<string, unknown> | null

const times = <T>(count: number, call: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => call(at))

describe('writes to PostgreSQL that arrive together', () => {
  test('share their round trips', async () => {
    const table = await createTable([{ title: 'Title', type: 'SingleLineText' }])
    const insert = (Title: string) => rest.post(table.path, { Title })
    // Statements are prepared and the metadata cached.
    for (let count = 0; count < 3; count++) await Promise.all(times(5, (at) => insert(`warm ${at}`)))
    const trips = await proxy.roundTrips(() => Promise.all(times(WRITERS, (at) => insert(`t${at}`))))
    console.info(`${WRITERS} inserts took ${trips} round trips`)
    expect(trips).toBeLessThan(WRITERS)
  })

  test('share their round trips although some of them are refused', async () => {
    const table = await createTable([{ title: 'Title', type: 'SingleLineText' }])
    const unique = { type: 'SingleLineText', title: 'Code', unique: true } as const
    await api.schema.createField.mutate({ tableId: table.id, field: unique })
    await rest.post(table.path, { Title: 'first', Code: 'taken' })
    const attempt = (at: number, round: string) => {
      if (at % 10 === 3) return rest.patch(table.path, { Id: 9_999, Title: 'nothing' })
      const Code = at % 17 === 5 ? 'taken' : `${round} ${at}`
      return rest.post(table.path, { Title: 't', Code })
    }
    for (let count = 0; count < 3; count++) await Promise.all(times(20, (at) => attempt(at, `warm ${count}`)))
    let answers: { status: number }[] = []
    const trips = await proxy.roundTrips(async () => {
      answers = await Promise.all(times(WRITERS, (at) => attempt(at, 'measured')))
    })
    console.info(`${WRITERS} inserts, of which 8 are refused, took ${trips} round trips`)
    const statusOf = (status: number) => answers.filter((answer) => answer.status === status).length
    expect([statusOf(200), statusOf(404), answers.length]).toEqual([42, 5, WRITERS])
    expect((await rowsOf(table)).filter(({ Code }) => String(Code).startsWith('measured'))).toHaveLength(42)
    // One by one they would take four each.
    expect(trips).toBeLessThan(2 * WRITERS)
  })

  test('number and order new records without gaps and ties, and log each', async () => {
    const table = await createTable([{ title: 'Title', type: 'SingleLineText' }])
    const answers = await Promise.all(times(3 * WRITERS, (at) => rest.post(table.path, { Title: `t${at}` })))
    const rows = await rowsOf(table)
    expect(rows.map(({ id }) => Number(id))).toEqual(times(3 * WRITERS, (at) => at + 1))
    expect(rows.map(({ nc_order }) => Number(nc_order))).toEqual(times(3 * WRITERS, (at) => at + 1))
    const title = table.fieldId('Title')
    const byId = new Map(rows.map((row) => [Number(row.id), row.Title]))
    // Each caller got the id of its own record.
    expect(answers.map(({ body }) => byId.get(body.Id))).toEqual(times(3 * WRITERS, (at) => `t${at}`))
    const log = await logOf(table)
    expect(log.map(({ record, after }) => [Number(record), after?.[title]]).toSorted()).toEqual(
      rows.map(({ id, Title }) => [Number(id), Title]).toSorted() as never,
    )
  })

  test('see the values of those before them where they change the same record', async () => {
    const table = await createTable([{ title: 'Count', type: 'Number' }])
    await rest.post(
      table.path,
      times(5, () => ({ Count: 0 })),
    )
    const answers = await Promise.all(
      times(4 * WRITERS, (at) => rest.patch(table.path, { Id: (at % 5) + 1, Count: at + 1 })),
    )
    expect(answers.map(({ status }) => status)).toEqual(times(4 * WRITERS, () => 200))
    const count = table.fieldId('Count')
    const rows = await rowsOf(table)
    for (const { id, Count } of rows) {
      const lines = (await logOf(table))
        .filter(({ record }) => record === String(id))
        .slice(-(4 * WRITERS) / 5)
      let last: unknown = 0
      for (const { before, after } of lines) {
        expect(before?.[count]).toBe(last)
        last = after?.[count]
      }
      expect(lines).toHaveLength((4 * WRITERS) / 5)
      expect(Number(Count)).toBe(last as number)
    }
  })

  test('are refused alone: values, missing records and duplicates', async () => {
    const table = await createTable([
      { title: 'Title', type: 'SingleLineText' },
      { title: 'Count', type: 'Number' },
    ])
    const unique = { type: 'SingleLineText', title: 'Code', unique: true } as const
    await api.schema.createField.mutate({ tableId: table.id, field: unique })
    await rest.post(
      table.path,
      times(10, (at) => ({ Title: `first ${at}`, Code: `first ${at}` })),
    )
    const kinds = times(4 * WRITERS, (at) => at % 7)
    const answers = await Promise.all(
      kinds.map((kind, at) => {
        if (kind === 0) return rest.post(table.path, { Title: 'bad', Count: 'many' })
        if (kind === 1) return rest.patch(table.path, { Id: 9_999, Title: 'nothing' })
        if (kind === 2) return rest.post(table.path, { Title: 'twice', Code: 'first 3' })
        if (kind === 3) return rest.patch(table.path, { Id: (at % 10) + 1, Count: at })
        return rest.post(table.path, { Title: 'good', Code: `code ${at}` })
      }),
    )
    const expected = [400, 404, 400, 200, 200, 200, 200]
    expect(answers.map(({ status }) => (status === 422 ? 400 : status))).toEqual(
      kinds.map((kind) => expected[kind]!),
    )
    const good = kinds.filter((kind) => kind > 3).length
    const { body } = await rest.get(`${table.path}?where=(Title,eq,good)`)
    expect(body.pageInfo.totalRows).toBe(good)
    const rows = await rowsOf(table)
    expect(rows).toHaveLength(10 + good)
    expect(new Set(rows.map(({ nc_order }) => Number(nc_order))).size).toBe(10 + good)
    const added = (await logOf(table)).filter(({ before }) => before === null)
    expect(added).toHaveLength(10 + good)
  })

  test('are written once where a browser sends one twice', async () => {
    const table = await createTable([{ title: 'Title', type: 'SingleLineText' }])
    const write = (clientId: string, value: string) =>
      api.records.write.mutate({
        change: {
          baseId,
          clientId,
          operations: [
            { kind: 'insert', tableId: table.id, rows: [{ values: { [table.fieldId('Title')]: value } }] },
          ],
        },
      })
    const clientIds = times(WRITERS / 2, () => crypto.randomUUID())
    const results = await Promise.all(
      [...clientIds, ...clientIds].map((clientId) => write(clientId, clientId)),
    )
    const rows = await rowsOf(table)
    expect(rows.map(({ Title }) => String(Title)).toSorted()).toEqual(clientIds.toSorted())
    for (const [at, { inserted }] of results.entries())
      expect(inserted).toEqual(results[(at + WRITERS / 2) % WRITERS]!.inserted)
  })

  test('keep their order next to deletions and moves', async () => {
    const table = await createTable([{ title: 'Title', type: 'SingleLineText' }])
    await rest.post(
      table.path,
      times(20, (at) => ({ Title: `first ${at}` })),
    )
    const operations = (at: number) => {
      if (at % 9 === 0) return rest.delete(table.path, { Id: at / 9 + 1 })
      if (at % 5 === 0) {
        const move = { kind: 'move' as const, tableId: table.id, ids: [20], before: 15 }
        return api.records.write.mutate({
          change: { baseId, clientId: crypto.randomUUID(), operations: [move] },
        })
      }
      return at % 2 === 0
        ? rest.post(table.path, { Title: `new ${at}` })
        : rest.patch(table.path, { Id: 11 + (at % 7), Title: `changed ${at}` })
    }
    await Promise.all(times(90, operations))
    const rows = await rowsOf(table)
    expect(new Set(rows.map(({ nc_order }) => Number(nc_order))).size).toBe(rows.length)
    const title = table.fieldId('Title')
    const replayed = new Map<string, unknown>()
    for (const { record, before, after } of await logOf(table)) {
      if (before && title in before && replayed.has(record)) expect(before[title]).toBe(replayed.get(record))
      if (after === null) replayed.delete(record)
      else if (title in after) replayed.set(record, after[title])
    }
    expect(rows.map(({ id, Title }) => [String(id), Title])).toEqual(
      [...replayed].toSorted(([a], [b]) => Number(a) - Number(b)) as never,
    )
  })
})
