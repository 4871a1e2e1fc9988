import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createBase } from '../support/factories.ts'

let app: TestApp
let stranger: TestUser
let baseId: string
let tableId: string

beforeAll(async () => {
  app = await createTestApp()
  const owner = await app.signUp()
  stranger = await app.signUp()
  baseId = (await createBase(app, owner)).id
  const fields = [{ title: 'Salary', type: 'Number' as const }]
  tableId = (await app.trpc(owner.token).schema.createTable.mutate({ baseId, title: 'Staff', fields })).table
    .id
})
afterAll(() => app.stop())

const V2 = () => `/api/v2/tables/${tableId}`
const V1 = () => `/api/v1/db/data/noco/${baseId}/${tableId}`
const BULK = () => `/api/v1/db/data/bulk/noco/${baseId}/${tableId}`

/** Calls that would be refused for what they say, each by a check that names a field. */
const CALLS: { method: string; path: () => string; body?: unknown }[] = [
  { method: 'GET', path: () => `${V2()}/records/count?where=(Wage,eq,1)` },
  { method: 'GET', path: () => `${V2()}/aggregate?where=(Wage,eq,1)` },
  { method: 'GET', path: () => `${V2()}/records/x` },
  { method: 'PATCH', path: () => `${V2()}/records`, body: { Id: 'x' } },
  { method: 'DELETE', path: () => `${V2()}/records`, body: { Id: 'x' } },
  { method: 'DELETE', path: () => `${V2()}/records`, body: {} },
  { method: 'POST', path: () => `${V2()}/records/x/move` },
  { method: 'GET', path: () => `${V1()}/count?where=(Wage,eq,1)` },
  { method: 'GET', path: () => `${V1()}/groupby?column_name=Wage` },
  { method: 'GET', path: () => `${V1()}/x` },
  { method: 'PATCH', path: () => `${V1()}/x`, body: {} },
  { method: 'DELETE', path: () => `${V1()}/x` },
  { method: 'PATCH', path: () => BULK(), body: [{ Id: 'x' }] },
  { method: 'DELETE', path: () => BULK(), body: [{ Id: 'x' }] },
  { method: 'POST', path: () => `${BULK()}/upsert`, body: [{ Id: 'x' }] },
  { method: 'PATCH', path: () => `${BULK()}/all?where=(Wage,eq,1)`, body: { Salary: 1 } },
  { method: 'DELETE', path: () => `${BULK()}/all?where=(Wage,eq,1)` },
]

describe('who may not open a base', () => {
  test.each(CALLS)('learns nothing of its fields from $method, call %#', async ({ method, path, body }) => {
    const call = (token?: string) =>
      fetch(app.url + path(), {
        method,
        headers: { ...(token && { 'xc-auth': token }), 'content-type': 'application/json' },
        body: body === undefined ? undefined : JSON.stringify(body),
      })
    const answers = [await call(), await call(stranger.token)]
    expect(answers.map(({ status }) => status)).toEqual([401, 403])
  })
})
