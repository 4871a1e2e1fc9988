import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench, type TestTable } from '../records/support.ts'
import type { TestUser } from '../support/app.ts'

let bench: Bench
let table: TestTable
let ann: TestUser
beforeAll(async () => {
  bench = await createBench()
  ann = await bench.app.signUp()
  await bench.trpc.bases.invite.mutate({ baseId: bench.baseId, emails: [ann.email], role: 'editor' })
  table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
})
afterAll(() => bench.stop())

const path = '/api/v1/notifications'
const rest = () => bench.app.rest(ann.token)
const mention = () =>
  bench.trpc.comments.create.mutate({ tableId: table.id, recordId: 1, text: `@(${ann.id}) look` })

describe('notifications over REST', () => {
  test('are listed as clients know them', async () => {
    const { body } = await rest().get(path)
    const { title } = await bench.trpc.bases.get.query({ baseId: bench.baseId })
    expect(body).toEqual({
      list: [
        {
          id: expect.stringMatching(/^nc[a-z0-9]{14}$/),
          type: 'base.invite',
          body: {
            base: { id: bench.baseId, title },
            user: { id: bench.owner.id, email: bench.owner.email, displayName: null, meta: null },
          },
          is_read: false,
          is_deleted: false,
          fk_user_id: ann.id,
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00$/),
          updated_at: expect.any(String),
        },
        expect.objectContaining({ type: 'app.welcome', body: {} }),
      ],
      pageInfo: { totalRows: 2, page: 1, pageSize: 25, isFirstPage: true, isLastPage: true },
      unreadCount: 2,
    })
    const paged = (await rest().get(`${path}?limit=1&offset=1`)).body
    expect(paged.list).toMatchObject([{ type: 'app.welcome' }])
  })

  test('are marked and deleted, and unknown ones change nothing', async () => {
    const [invite, welcome] = (await rest().get(path)).body.list
    expect(await rest().patch(`${path}/${invite.id}`, { is_read: 'maybe' })).toMatchObject({ status: 400 })
    expect(await rest().patch(`${path}/${invite.id}`, { is_read: true })).toMatchObject({
      status: 200,
      body: true,
    })
    expect(await rest().patch(`${path}/ncunknown`, { is_read: true })).toMatchObject({
      status: 200,
      body: true,
    })
    // Somebody else’s stays as it is.
    await bench.rest.patch(`${path}/${welcome.id}`, { is_read: true })
    expect((await rest().get(`${path}?is_read=false`)).body).toMatchObject({
      list: [{ id: welcome.id }],
      unreadCount: 1,
    })
    expect((await rest().get(`${path}?is_read=true`)).body.list).toMatchObject([{ id: invite.id }])
    const deleted = await fetch(`${bench.app.url}${path}/${invite.id}`, {
      method: 'DELETE',
      headers: { 'xc-auth': ann.token },
    })
    expect([deleted.status, await deleted.text()]).toEqual([200, ''])
    expect(await rest().post(`${path}/mark-all-read`)).toMatchObject({ status: 200, body: true })
    expect((await rest().get(path)).body).toMatchObject({
      list: [{ id: welcome.id, is_read: true }],
      unreadCount: 0,
    })
    expect(await bench.app.rest().get(path)).toMatchObject({ status: 401 })
  })

  test('answer a long poll when there is news', async () => {
    expect((await rest().get(`${path}/poll?wait=0`)).body).toEqual({ status: 'refresh' })
    const polled = rest().get(`${path}/poll`)
    // What is answered now was asked later: the server has begun with the poll.
    for (let asked = 0; asked < 3; asked++) await fetch(`${bench.app.url}/api/v1/health`)
    await bench.trpc.comments.create.mutate({ tableId: table.id, recordId: 1, text: 'not for Ann' })
    await mention()
    const { status, data } = (await polled).body
    expect(status).toBe('success')
    expect(JSON.parse(data)).toMatchObject({
      type: 'row.user.mention',
      fk_user_id: ann.id,
      body: { table: { id: table.id }, row: { id: 1, title: 'a' }, user: { id: bench.owner.id } },
    })
  })

  test('show mentions in comments as readable text, which may be sent back', async () => {
    const { id } = await mention()
    const query = `fk_model_id=${table.id}&row_id=1`
    const list = async () => (await bench.rest.get(`/api/v2/meta/comments?${query}`)).body.list.at(-1)
    const { comment } = await list()
    expect(comment).toBe(`@(${ann.id}|${ann.email}|) look`)
    await bench.rest.patch(`/api/v2/meta/comment/${id}`, { comment: `${comment} again` })
    expect(await bench.trpc.comments.list.query({ tableId: table.id, recordId: 1 })).toMatchObject({
      people: expect.arrayContaining([expect.objectContaining({ id: ann.id })]),
    })
    expect((await list()).comment).toBe(`@(${ann.id}|${ann.email}|) look again`)
  })
})
