import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, createBench, type TestTable } from '../records/support.ts'
import { connect } from '../sources/support.ts'
import type { TestUser } from '../support/app.ts'

let bench: Bench
let table: TestTable
const people: Record<'commenter' | 'viewer' | 'creator', TestUser> = {} as never
beforeAll(async () => {
  bench = await createBench()
  table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }, { Title: 'b' }, { Title: 'c' }])
  for (const role of ['commenter', 'viewer', 'creator'] as const) {
    people[role] = await bench.app.signUp()
    await bench.app.services.auth.access.setMembership(bench.baseId, people[role].id, role)
  }
})
afterAll(() => bench.stop())

const as = (role: keyof typeof people) => bench.app.trpc(people[role].token).comments
const listed = async (recordId = 1) =>
  (await bench.trpc.comments.list.query({ tableId: table.id, recordId })).comments
const write = (
  text: string,
  more: { recordId?: number; parentId?: string; id?: string; fieldId?: string } = {},
) => bench.trpc.comments.create.mutate({ tableId: table.id, recordId: 1, text, ...more })

describe('comments', () => {
  test('form threads of one level, oldest first, with the people who wrote them', async () => {
    const first = await write('First')
    const reply = await as('commenter').create.mutate({
      tableId: table.id,
      recordId: 1,
      text: 'Reply',
      parentId: first.id,
    })
    // A reply to a reply belongs to the same thread.
    const second = await write('Reply to the reply', { parentId: reply.id })
    const { comments, people: named } = await as('viewer').list.query({ tableId: table.id, recordId: 1 })
    expect(comments.map(({ id, text, parentId }) => [id, text, parentId])).toEqual([
      [first.id, 'First', null],
      [reply.id, 'Reply', first.id],
      [second.id, 'Reply to the reply', first.id],
    ])
    expect(new Set(named.map(({ id }) => id))).toEqual(new Set([bench.owner.id, people.commenter.id]))
    await bench.trpc.comments.remove.mutate({ commentId: first.id })
    expect(await listed()).toEqual([])
  })

  test('go with their thread while they are written', async () => {
    for (let round = 0; round < 10; round++) {
      const { id: parentId } = await write('Thread', { recordId: 3 })
      const reply = () =>
        as('commenter').create.mutate({ tableId: table.id, recordId: 3, text: 'Late', parentId })
      const [, , , ...replies] = await Promise.allSettled([
        bench.trpc.comments.remove.mutate({ commentId: parentId }),
        as('viewer').list.query({ tableId: table.id, recordId: 3 }),
        as('viewer').list.query({ tableId: table.id, recordId: 3 }),
        reply(),
        reply(),
        reply(),
      ])
      for (const result of replies)
        if (result.status === 'rejected') expect(result.reason.data?.appCode).toBe('GENERIC_NOT_FOUND')
      expect(await listed(3)).toEqual([])
    }
  })

  test('are changed by their author only, and deleted by the author or a creator', async () => {
    const { id: commentId } = await as('commenter').create.mutate({
      tableId: table.id,
      recordId: 1,
      text: 'Mine',
    })
    await expect(bench.trpc.comments.update.mutate({ commentId, text: 'x' })).rejects.toThrow(
      'Only its author',
    )
    const changed = await as('commenter').update.mutate({ commentId, text: 'Mine, changed' })
    expect(changed).toMatchObject({ text: 'Mine, changed', updatedAt: expect.any(String) })
    const foreign = await write('Of the owner')
    await expect(as('commenter').remove.mutate({ commentId: foreign.id })).rejects.toMatchObject({
      data: { appCode: 'PERMISSION_DENIED' },
    })
    await as('creator').remove.mutate({ commentId: foreign.id })
    await as('creator').remove.mutate({ commentId })
    expect(await listed()).toEqual([])
  })

  test('are resolved and opened again, and get reactions', async () => {
    const { id: commentId } = await write('Done?')
    const reply = await write('Yes', { parentId: commentId })
    await as('commenter').resolve.mutate({ commentId, isResolved: true })
    await as('commenter').react.mutate({ commentId, emoji: '👍', isOn: true })
    await as('commenter').react.mutate({ commentId, emoji: '👍', isOn: true })
    await bench.trpc.comments.react.mutate({ commentId, emoji: '👍', isOn: true })
    expect((await listed())[0]).toMatchObject({
      resolvedBy: people.commenter.id,
      reactions: [{ emoji: '👍', userIds: [people.commenter.id, bench.owner.id] }],
    })
    await bench.trpc.comments.react.mutate({ commentId, emoji: '👍', isOn: false })
    await bench.trpc.comments.resolve.mutate({ commentId, isResolved: false })
    expect((await listed())[0]).toMatchObject({
      resolvedBy: null,
      reactions: [{ emoji: '👍', userIds: [people.commenter.id] }],
    })
    await expect(
      bench.trpc.comments.resolve.mutate({ commentId: reply.id, isResolved: true }),
    ).rejects.toThrow('A reply can’t be resolved')
    await bench.trpc.comments.remove.mutate({ commentId })
  })

  test('sent twice with the same id are written once, and take no id of others', async () => {
    const id = `com${'a'.repeat(14)}`
    const sent = { tableId: table.id, recordId: 2, text: 'Once', id }
    await bench.trpc.comments.create.mutate(sent)
    expect(await bench.trpc.comments.create.mutate(sent)).toMatchObject({ id, text: 'Once' })
    expect(await listed(2)).toHaveLength(1)
    await expect(as('commenter').create.mutate(sent)).rejects.toThrow('This id belongs to another comment')
    await bench.trpc.comments.remove.mutate({ commentId: id })
  })

  test('refuse what does not exist, and texts that are empty, too long, or have characters that cannot be stored', async () => {
    const codeOf = (work: Promise<unknown>) =>
      work.then(
        () => null,
        (error) => error.data?.appCode,
      )
    expect(await codeOf(write('x', { recordId: 99 }))).toBe('RECORD_NOT_FOUND')
    expect(await codeOf(write('x', { fieldId: 'c00000000000000' }))).toBe('FIELD_NOT_FOUND')
    expect(await codeOf(write('x', { parentId: 'com00000000000000' }))).toBe('GENERIC_NOT_FOUND')
    const other = await write('Elsewhere', { recordId: 3 })
    expect(await codeOf(write('x', { parentId: other.id }))).toBe('GENERIC_NOT_FOUND')
    await bench.trpc.comments.remove.mutate({ commentId: other.id })
    expect(await codeOf(write('   '))).toBe('INVALID_REQUEST_BODY')
    expect(await codeOf(write('x'.repeat(3_001)))).toBe('INVALID_REQUEST_BODY')
    const { id: commentId } = await write('Mine')
    for (const text of ['null \0 character', 'half of an emoji: \ud83d']) {
      expect(await codeOf(write(text))).toBe('INVALID_REQUEST_BODY')
      expect(await codeOf(bench.trpc.comments.update.mutate({ commentId, text }))).toBe(
        'INVALID_REQUEST_BODY',
      )
      const patched = await bench.rest.patch(`/api/v2/meta/comment/${commentId}`, { comment: text })
      expect(patched.status).toBe(400)
    }
    await bench.trpc.comments.remove.mutate({ commentId })
    expect(await listed()).toEqual([])
  })

  test('are counted by record, and listed in the inbox while their thread is open', async () => {
    const cell = await write('On a cell', { recordId: 2, fieldId: table.field('Title').id })
    await write('Reply', { recordId: 2, parentId: cell.id })
    const resolved = await write('Done', { recordId: 3 })
    await bench.trpc.comments.resolve.mutate({ commentId: resolved.id, isResolved: true })
    expect(await as('viewer').counts.query({ tableId: table.id, recordIds: [1, 2, 3] })).toEqual([
      { recordId: '2', count: 2 },
      { recordId: '3', count: 1 },
    ])
    const inbox = () => as('viewer').inbox.query({ baseId: bench.baseId })
    expect((await inbox()).threads).toMatchObject([
      {
        comment: { id: cell.id, fieldId: table.field('Title').id },
        replies: 1,
        recordTitle: 'b',
        tableTitle: table.title,
      },
    ])
    // Comments of a deleted record are hidden, and are back with it.
    await bench.rest.delete(table.path, { Id: 2 })
    expect((await inbox()).threads).toEqual([])
    expect(await listed(2)).toEqual([])
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect(await listed(2)).toHaveLength(2)
    expect((await inbox()).threads).toHaveLength(1)
    await bench.trpc.comments.remove.mutate({ commentId: cell.id })
    await bench.trpc.comments.remove.mutate({ commentId: resolved.id })
  })

  test('name their records as tables show them, in the time zone of the reader', async () => {
    const visits = await bench.table({ At: 'DateTime' }, [{ At: '2026-01-05 23:30:00+00:00' }])
    const comment = await bench.trpc.comments.create.mutate({
      tableId: visits.id,
      recordId: 1,
      text: 'Late?',
    })
    const request = { baseId: bench.baseId, timeZone: 'Asia/Tokyo' }
    const { threads } = await bench.trpc.comments.inbox.query(request)
    expect(threads[0]?.recordTitle).toBe('2026-01-06 08:30')
    const { items } = await bench.trpc.activity.list.query({ ...request, filter: { kinds: ['comments'] } })
    expect(items[0]).toMatchObject({ kind: 'comment', recordTitle: '2026-01-06 08:30' })
    await bench.trpc.comments.remove.mutate({ commentId: comment.id })
  })

  test('name a record by its id, however it is written', async () => {
    const { id: commentId } = await bench.trpc.comments.create.mutate({
      tableId: table.id,
      recordId: '02',
      text: 'On 2',
    })
    expect(await listed(2)).toMatchObject([{ id: commentId, recordId: '2' }])
    expect(await bench.trpc.comments.counts.query({ tableId: table.id, recordIds: ['002'] })).toEqual([
      { recordId: '2', count: 1 },
    ])
    await bench.trpc.comments.remove.mutate({ commentId })
  })

  test('of a table that was deleted meanwhile are none', async () => {
    const own = await bench.table()
    await bench.trpc.schema.deleteTable.mutate({ tableId: own.id })
    expect(await bench.trpc.comments.counts.query({ tableId: own.id, recordIds: [1] })).toEqual([])
  })

  test('of a base are listed page by page', async () => {
    const own = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'many' }])
    for (let n = 0; n < 35; n++)
      await bench.trpc.comments.create.mutate({ tableId: own.id, recordId: 1, text: `${n}` })
    const first = await bench.trpc.comments.inbox.query({ baseId: bench.baseId })
    const second = await bench.trpc.comments.inbox.query({ baseId: bench.baseId, cursor: first.next ?? '' })
    expect([first.threads.length, second.threads.length, second.next]).toEqual([30, 5, null])
    await expect(
      bench.trpc.comments.inbox.query({ baseId: bench.baseId, cursor: 'nowhere' }),
    ).rejects.toThrow('can’t be continued')
    expect([...first.threads, ...second.threads].map(({ comment }) => comment.text)).toEqual(
      Array.from({ length: 35 }, (_, n) => `${34 - n}`),
    )
  })

  test('go with a base that is removed for good', async () => {
    const { id: baseId } = await bench.trpc.bases.create.mutate({ title: 'Removed' })
    const { table: own } = await bench.trpc.schema.createTable.mutate({ baseId, title: 'Rows' })
    await bench.rest.post(`/api/v2/tables/${own.id}/records`, { Title: 'a' })
    const { id } = await bench.trpc.comments.create.mutate({ tableId: own.id, recordId: 1, text: 'x' })
    await bench.trpc.comments.react.mutate({ commentId: id, emoji: '👍', isOn: true })
    await bench.trpc.bases.delete.mutate({ baseId })
    await bench.trpc.trash.purgeBase.mutate({ baseId })
    await expect(bench.trpc.comments.remove.mutate({ commentId: id })).rejects.toMatchObject({
      data: { appCode: 'GENERIC_NOT_FOUND' },
    })
  })
})

test('comments on records of a connected database name them by all columns of their key', async () => {
  const { id: baseId } = await bench.trpc.bases.create.mutate({ title: 'Connected' })
  const own = { ...bench, baseId }
  const folder = join(bench.app.config.dataDir, 'sources')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'pairs.db')
  const file = new Database(path)
  file.run('create table pair (a text not null, b text not null, primary key (a, b))')
  file.run(`insert into pair values ('x', 'y'), ('x', 'z')`)
  file.close()
  await connect(own, { client: 'sqlite3', connection: { filename: 'pairs.db' } })
  const [pairs] = await bench.trpc.schema.tables.query({ baseId })
  const tableId = pairs?.id ?? ''
  await bench.trpc.comments.create.mutate({ tableId, recordId: 'x___y', text: 'On a pair' })
  expect(await bench.trpc.comments.counts.query({ tableId, recordIds: ['x___y', 'x___z'] })).toEqual([
    { recordId: 'x___y', count: 1 },
  ])
  await expect(
    bench.trpc.comments.create.mutate({ tableId, recordId: 'x___q', text: 'On none' }),
  ).rejects.toMatchObject({ data: { appCode: 'RECORD_NOT_FOUND' } })
  const inbox = async () => (await bench.trpc.comments.inbox.query({ baseId })).threads
  expect(await inbox()).toMatchObject([{ comment: { recordId: 'x___y' }, recordTitle: 'x' }])
  // Away: listed without the name of the record.
  rmSync(path)
  // The file is looked for at most once a second.
  await Bun.sleep(1_100)
  expect(await inbox()).toMatchObject([{ comment: { recordId: 'x___y' }, recordTitle: '' }])
})

describe('comments over REST', () => {
  const path = '/api/v1/db/meta'
  const place = () => `fk_model_id=${table.id}&row_id=1`
  const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00$/

  test('answer as clients know them', async () => {
    const created = await bench.rest.post(`${path}/comments`, {
      fk_model_id: table.id,
      row_id: '1',
      comment: 'Hello',
    })
    const { source_id } = created.body
    expect(created).toMatchObject({ status: 200 })
    expect(created.body).toEqual({
      fk_model_id: table.id,
      row_id: '1',
      comment: 'Hello',
      created_by: bench.owner.id,
      created_by_email: bench.owner.email,
      source_id,
      id: expect.stringMatching(/^com[a-z0-9]{14}$/),
      base_id: bench.baseId,
    })
    const { id } = created.body
    const { body } = await bench.rest.get(`${path}/comments?${place()}`)
    expect(body.list).toEqual([
      {
        id,
        row_id: '1',
        comment: 'Hello',
        created_by: bench.owner.id,
        created_by_email: bench.owner.email,
        resolved_by: null,
        resolved_by_email: null,
        parent_comment_id: null,
        source_id,
        base_id: bench.baseId,
        fk_model_id: table.id,
        is_deleted: null,
        created_at: expect.stringMatching(TIME),
        updated_at: expect.stringMatching(TIME),
      },
    ])
    const counts = await bench.rest.get(`${path}/comments/count?fk_model_id=${table.id}&ids[]=1&ids[]=2`)
    expect(counts.body).toEqual([{ count: 1, row_id: '1' }])
    const indexed = await bench.rest.get(`${path}/comments/count?fk_model_id=${table.id}&ids[0]=1&ids[1]=2`)
    expect(indexed.body).toEqual(counts.body)
    const other = bench.app.rest(people.commenter.token)
    expect(await other.patch(`${path}/comment/${id}`, { comment: 'x' })).toMatchObject({ status: 401 })
    expect((await bench.rest.patch(`${path}/comment/${id}`, { comment: 'Changed' })).body).toMatchObject({
      id,
      comment: 'Changed',
    })
    const resolve = (body?: object) => bench.rest.post(`${path}/comment/${id}/resolve`, body)
    for (let time = 0; time < 2; time++) {
      expect((await resolve()).body).toMatchObject({
        resolved_by: bench.owner.id,
        resolved_by_email: bench.owner.email,
      })
    }
    expect((await resolve({ is_resolved: false })).body).toMatchObject({ resolved_by: null })
    expect(await resolve({ is_resolved: 'no' })).toMatchObject({ status: 400 })
    expect(await bench.rest.delete(`${path}/comment/${id}`)).toMatchObject({ status: 200, body: true })
    expect(await bench.rest.patch(`${path}/comment/${id}`, { comment: 'x' })).toMatchObject({
      status: 404,
      body: { error: 'GENERIC_NOT_FOUND', message: `Comment '${id}' not found` },
    })
  })

  test('have the addresses of earlier clients too', async () => {
    const { body: created } = await bench.rest.post(`${path}/audits/comments`, {
      fk_model_id: table.id,
      row_id: '1',
      description: 'Early',
    })
    expect(created).toMatchObject({ op_type: 'COMMENT', description: 'Early', user: bench.owner.email })
    await bench.rest.patch(`${path}/audits/${created.id}/comment`, { description: 'Later' })
    const { body } = await bench.rest.get(`${path}/audits/comments?${place()}&comments_only=true`)
    expect(body.list).toMatchObject([{ id: created.id, row_id: '1', description: 'Later' }])
    expect(
      (await bench.rest.get(`${path}/audits/comments/count?fk_model_id=${table.id}&ids[]=1`)).body,
    ).toEqual([{ count: 1, row_id: '1' }])
    await bench.rest.delete(`${path}/comment/${created.id}`)
  })

  test('name a missing parameter, an unknown table and record', async () => {
    const get = (query: string) => bench.rest.get(`${path}/comments?${query}`)
    expect(await get('row_id=1')).toMatchObject({
      status: 400,
      body: { msg: 'The parameter “fk_model_id” is required' },
    })
    expect(await get('fk_model_id=m00000000000000&row_id=1')).toMatchObject({ status: 404 })
    const unknown = { fk_model_id: table.id, row_id: '99', comment: 'x' }
    expect(await bench.rest.post(`${path}/comments`, unknown)).toMatchObject({
      status: 404,
      body: { error: 'RECORD_NOT_FOUND' },
    })
    const tooLong = { fk_model_id: table.id, row_id: '1', comment: 'x'.repeat(3_001) }
    expect(await bench.rest.post(`${path}/comments`, tooLong)).toMatchObject({ status: 400 })
  })
})
