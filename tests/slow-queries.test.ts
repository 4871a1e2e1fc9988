import { afterAll, describe, expect, test } from 'bun:test'
import { createLog } from '../src/log.ts'
import { createSlowQueryLog, withoutValues } from '../src/slow-queries.ts'
import { createDataDir, startProcess } from './durability/server-process.ts'
import { createRestClient, createTrpcClient } from './support/client.ts'
import { createDatabase } from './support/servers.ts'

describe('a logged statement', () => {
  test.each([
    ['select 1', 'select ?'],
    [`select * from "Tasks" where "Name" = 'O''Neil'`, 'select * from "Tasks" where "Name" = ?'],
    [`select 'a', "b c", 'd'`, 'select ?, "b c", ?'],
    [
      `select "1 it's" from \`My 2 table\` where a1 > 4.5e3`,
      `select "1 it's" from \`My 2 table\` where a1 > ?`,
    ],
    ['select $1::text, ? from t', 'select $1::text, ? from t'],
    ["x like ? escape '\\' and y = 'secret'", 'x like ? escape ? and y = ?'],
    // Unclear where the text ends, so nothing after its start is kept.
    ["x = 'it\\'s secret' and y = 'more'", 'x = ?'],
    ["x = 'never ends", 'x = ?'],
    ['select $$secret$$ || name', 'select ?'],
  ])('%s has no values', (sql, text) => {
    expect(withoutValues(sql).text).toBe(text)
  })

  test.each([
    ['select "x from y" from "nc_1___Tasks" t join "Other"', 'nc_1___Tasks'],
    ['insert into `Tasks` values (?)', 'Tasks'],
    ['update "Tasks" set a = ?', 'Tasks'],
    ['select 1', null],
  ])('%s names its first table', (sql, table) => {
    expect(withoutValues(sql).table).toBe(table)
  })

  test('of 0 ms is never slow', () => {
    expect(createSlowQueryLog(createLog('silent'), 0)).toBeNull()
  })
})

describe.each(['sqlite', 'postgres'] as const)('the log of a server over %s', (home) => {
  const folder = createDataDir()
  afterAll(() => folder.remove())

  test('names slow statements with their request and table, and no value of a user', async () => {
    const database = home === 'postgres' ? await createDatabase('postgres') : null
    const server = await startProcess(folder.path, {
      SLOW_QUERY_MS: '1',
      ...(database && { DATABASE_URL: database.url }),
    })
    const { token } = await createTrpcClient(server.url).auth.signUp.mutate({
      email: 'owner@example.com',
      password: 'correct horse battery',
    })
    const trpc = createTrpcClient(server.url, token)
    const { id: baseId } = await trpc.bases.create.mutate({ title: 'Slow' })
    const { table } = await trpc.schema.createTable.mutate({ baseId, title: 'Patients' })
    const rest = createRestClient(server.url, token)
    const rows = Array.from({ length: 2_000 }, (_, index) => ({ Title: `Confidential ${index}` }))
    const { headers } = await rest.post(`/api/v2/tables/${table.id}/records`, rows)
    const requestId = headers.get('x-request-id')
    await rest.get(`/api/v2/tables/${table.id}/records?where=(Title,like,Confidential 19)`)
    await server.end('SIGTERM')
    const lines = server
      .printed()
      .split('\n')
      .filter((line) => line.includes('"slow query"'))
      .map((line) => JSON.parse(line))
    const client = home === 'postgres' ? 'pg' : 'sqlite3'
    const insert = lines.find((line) => line.requestId === requestId && /^insert into/.test(line.sql))
    expect(insert).toMatchObject({
      level: 'warn',
      client,
      kind: 'write',
      route: '/api/v2/tables/:tableId/records',
      table: 'Patients',
    })
    expect(insert.ms).toBeGreaterThanOrEqual(1)
    expect(lines.filter(({ kind }) => kind === 'metadata')).toContainEqual(
      expect.objectContaining({ client, sql: expect.stringMatching(/^insert into "/) }),
    )
    expect(server.printed()).not.toContain('Confidential')
    await database?.drop()
  })
})
