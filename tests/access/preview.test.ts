import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench, refusalOf, type TestTable } from '../records/support.ts'
import { createMember } from '../support/factories.ts'

let bench: Bench
let table: TestTable
beforeAll(async () => {
  bench = await createBench()
  table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
})
afterAll(() => bench.stop())

const as = (token: string, role: string) => {
  const headers = { 'xc-auth': token, 'xc-preview': role }
  return { rest: bench.app.rest(headers), trpc: bench.app.trpc(headers) }
}
const base = () => `/api/v1/db/meta/projects/${bench.baseId}`

describe('xc-preview', () => {
  test('holds a super admin to the rights of the role, over REST and tRPC', async () => {
    const { rest, trpc } = as(bench.owner.token, 'viewer')
    expect((await rest.get(table.path)).status).toBe(200)
    const writes = [
      await rest.post(table.path, { Title: 'b' }),
      await rest.patch(table.path, { Id: 1, Title: 'b' }),
      await rest.delete(table.path, { Id: 1 }),
      await rest.patch(base(), { title: 'Other' }),
      await rest.get('/api/v1/app-settings'),
      await rest.get('/api/v1/users'),
      await rest.post('/api/v1/db/meta/projects', { title: 'New' }),
    ]
    expect(writes.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403, 403])
    const change = {
      baseId: bench.baseId,
      operations: [{ kind: 'delete' as const, tableId: table.id, ids: [1] }],
    }
    expect((await refusalOf(trpc.records.write.mutate({ change }))).status).toBe(403)
    expect((await trpc.bases.list.query()).every(({ role }) => role === 'viewer')).toBe(true)
    expect((await trpc.bases.get.query({ baseId: bench.baseId })).role).toBe('viewer')
    expect(await table.titles()).toEqual(['a'])
  })

  test('goes by each role: an editor writes records and alters no table; no-access sees nothing', async () => {
    const editor = as(bench.owner.token, 'editor').rest
    expect((await editor.post(table.path, { Title: 'by editor' })).status).toBe(200)
    expect((await editor.post(`/api/v1/db/meta/tables/${table.id}/columns`, { title: 'X' })).status).toBe(403)
    const creator = as(bench.owner.token, 'workspace-level-creator').rest
    expect((await creator.post(`/api/v1/db/meta/tables/${table.id}/columns`, { title: 'X' })).status).toBe(
      200,
    )
    expect((await creator.delete(base())).status).toBe(403)
    expect((await as(bench.owner.token, 'no-access').rest.get(table.path)).status).toBe(401)
    expect((await as(bench.owner.token, 'org-level-viewer').rest.get('/api/v1/users')).status).toBe(403)
    // Without the organisation's top role an admin has the roles that they were given in bases.
    expect(
      (await as(bench.owner.token, 'org-level-creator').rest.patch(base(), { title: 'Mine' })).status,
    ).toBe(200)
  })

  test('never raises anybody', async () => {
    const viewer = await createMember(bench.app, bench.baseId, 'viewer')
    const stranger = await bench.app.signUp()
    for (const role of ['owner', 'super', 'org-level-creator', 'workspace-level-owner', 'editor']) {
      const { rest } = as(viewer.token, role)
      expect((await rest.post(table.path, { Title: 'no' })).status).toBe(403)
      expect((await rest.get('/api/v1/users')).status).toBe(403)
      expect((await as(stranger.token, role).rest.get(table.path)).status).toBe(403)
      expect((await bench.app.rest({ 'xc-preview': role }).get(table.path)).status).toBe(401)
    }
  })

  test('refuses an unknown role, and is left out of calls that tell who one is', async () => {
    const { rest, trpc } = as(bench.owner.token, 'emperor')
    const refused = await rest.get(table.path)
    expect([refused.status, refused.body.msg]).toEqual([400, 'Unknown role in xc-preview: “emperor”'])
    expect((await refusalOf(trpc.bases.list.query())).status).toBe(400)
    const me = await as(bench.owner.token, 'viewer').rest.get(`/api/v1/auth/user/me?base_id=${bench.baseId}`)
    expect(me.body.base_roles).toEqual({ owner: true })
    expect((await rest.get('/api/v1/auth/user/me')).status).toBe(200)
  })
})
