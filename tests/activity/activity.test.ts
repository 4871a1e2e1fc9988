import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { actionText } from '../../src/core/actions.ts'
import type { ActivityItem } from '../../src/core/activity.ts'
import { createLink } from '../records/links-support.ts'
import { type Bench, benchOf, createBench, refusalOf } from '../records/support.ts'
import type { TestUser } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'

let bench: Bench
let ann: TestUser
beforeAll(async () => {
  bench = await createBench()
  ann = await createMember(bench.app, bench.baseId, 'editor')
})
afterAll(() => bench.stop())

/** A base of its own, with the same people. */
async function freshBase(): Promise<Bench> {
  const base = await createBase(bench.app, bench.owner)
  const own = benchOf(bench.app, bench.owner, base.id)
  await bench.app.services.auth.access.setMembership(base.id, ann.id, 'editor')
  return own
}

const textOf = (item: ActivityItem): string => {
  if (item.kind === 'change') return `${item.step}: ${actionText(item.action)}`
  if (item.kind === 'comment') return `comment: ${item.text} on ${item.recordTitle}`
  return `${item.auditKind} ${item.detail.name ?? ''} ${item.detail.role ?? ''}`.trim()
}

const listed = async ({ trpc, baseId }: Pick<Bench, 'trpc' | 'baseId'>, request: object = {}) =>
  (await trpc.activity.list.query({ baseId, ...request })).items.map(textOf)

describe('activity.list', () => {
  test('rejects strangers, and cursors and filters that mean nothing', async () => {
    const stranger = bench.app.trpc((await bench.app.signUp()).token)
    const { baseId } = bench
    expect(await refusalOf(stranger.activity.list.query({ baseId }))).toMatchObject({ status: 403 })
    for (const cursor of ['x', '{}', '[1]', 'null', '{"change":"1","comment":null,"audit":1}']) {
      expect(await refusalOf(bench.trpc.activity.list.query({ baseId, cursor }))).toMatchObject({
        status: 400,
      })
    }
    for (const filter of [{ from: 'yesterday' }, { kinds: ['other'] }, { record: { tableId: 'm1' } }]) {
      expect(await refusalOf(bench.trpc.activity.list.query({ baseId, filter } as never))).toMatchObject({
        status: 400,
      })
    }
  })

  test('lists changes, comments, members and links, newest first, page by page', async () => {
    const own = await freshBase()
    const table = await own.table({ Title: 'SingleLineText', Qty: 'Number' }, [{ Title: 'a', Qty: 1 }])
    await bench.app.rest(ann.token).patch(table.path, [{ Id: 1, Qty: 2 }])
    await bench.app.trpc(ann.token).records.undo.mutate({ baseId: own.baseId })
    await own.trpc.comments.create.mutate({ tableId: table.id, recordId: 1, text: 'Why?' })
    const bob = await bench.app.signUp()
    await own.trpc.bases.invite.mutate({ baseId: own.baseId, emails: [bob.email], role: 'viewer' })
    await own.trpc.bases.updateMember.mutate({ baseId: own.baseId, userId: bob.id, role: 'commenter' })
    await own.trpc.shares.save.mutate({ kind: 'base', targetId: own.baseId, patch: {} })
    await own.trpc.shares.close.mutate({ kind: 'base', targetId: own.baseId })
    const all = await listed(own)
    expect(all.map((text) => text.replace(/Base \d+|Table \d+/, '…'))).toEqual([
      'share.delete …',
      'share.create …',
      `member.update ${bob.email} commenter`,
      `member.invite ${bob.email} viewer`,
      'comment: Why? on a',
      'undid: Qty of a: 1 → 2',
      'did: Qty of a: 1 → 2',
      'did: New record a in …',
      'did: Create table …',
      'base.create …',
    ])
    const pages: string[] = []
    let cursor: string | null = null
    do {
      const page: { items: ActivityItem[]; next: string | null } = await own.trpc.activity.list.query({
        baseId: own.baseId,
        cursor,
        limit: 3,
      })
      expect(page.items.length).toBeLessThanOrEqual(3)
      pages.push(...page.items.map(textOf))
      cursor = page.next
    } while (cursor !== null)
    expect(pages).toEqual(all)
  })

  test('shows times in the time zone of its reader, also in the records of an entry', async () => {
    const own = await freshBase()
    const { baseId } = own
    const table = await own.table({ At: 'DateTime', Due: 'DateTime' }, [
      { At: '2026-01-05 23:30:00+00:00', Due: '2026-01-05 22:20:00+00:00' },
    ])
    await own.rest.patch(table.path, { Id: 1, Due: null })
    const timeZone = 'Asia/Tokyo'
    const [text] = await listed(own, { timeZone })
    expect(text).toBe('did: Due of 2026-01-06 08:30: 2026-01-06 07:20 → (empty)')
    const { items } = await own.trpc.activity.list.query({ baseId })
    expect(textOf(items[0]!)).toBe('did: Due of 2026-01-05 23:30: 2026-01-05 22:20 → (empty)')
    const entryId = Number(items[0]?.id.split(' ')[1])
    const titlesOf = async () =>
      (await own.trpc.activity.entry.query({ baseId, entryId, timeZone })).records.map(({ title }) => title)
    expect(await titlesOf()).toEqual(['2026-01-06 08:30'])
    // A deleted record, as the log has it.
    await own.rest.delete(table.path, { Id: 1 })
    const [deletion] = (await own.trpc.activity.list.query({ baseId })).items
    const deleted = { baseId, entryId: Number(deletion?.id.split(' ')[1]), timeZone }
    expect((await own.trpc.activity.entry.query(deleted)).records).toMatchObject([
      { did: 'deleted', title: '2026-01-06 08:30' },
    ])
  })

  test('is limited to a person, a table, a record, kinds and times', async () => {
    const own = await freshBase()
    const table = await own.table({ Title: 'SingleLineText' }, [{ Title: 'a' }, { Title: 'b' }])
    const other = await own.table({ Title: 'SingleLineText' }, [{ Title: 'x' }])
    const many = Array.from({ length: 120 }, (_, index) => ({ Title: `m${index}` }))
    await own.rest.post(table.path, many)
    await bench.app.rest(ann.token).patch(table.path, [{ Id: 2, Title: 'B' }])
    await own.trpc.comments.create.mutate({ tableId: other.id, recordId: 1, text: 'Hm' })
    await own.trpc.comments.create.mutate({ tableId: table.id, recordId: 2, text: 'Oh' })
    const filtered = (filter: object) => listed(own, { filter })
    expect(await filtered({ actorId: ann.id })).toEqual(['did: Title of B: b → B'])
    expect(await filtered({ tableId: other.id })).toEqual([
      'comment: Hm on x',
      `did: New record x in ${other.title}`,
      `did: Create table ${other.title}`,
    ])
    expect(await filtered({ record: { tableId: table.id, recordId: 2 } })).toEqual([
      'comment: Oh on B',
      'did: Title of B: b → B',
      `did: 2 new records in ${table.title}`,
    ])
    // As an address has it.
    expect(await filtered({ record: { tableId: table.id, recordId: '2' } })).toContain('comment: Oh on B')
    expect(await filtered({ record: { tableId: table.id, recordId: '2' } })).toHaveLength(3)
    expect((await filtered({ record: { tableId: table.id, recordId: 50 } })).length).toBe(1)
    expect(await filtered({ kinds: ['comments'] })).toEqual(['comment: Oh on B', 'comment: Hm on x'])
    expect(await filtered({ kinds: ['access'] })).toEqual([expect.stringContaining('base.create')])
    expect(
      (await filtered({ kinds: ['schema'] })).every((text) => text.startsWith('did: Create table')),
    ).toBe(true)
    expect(await filtered({ kinds: [] })).toEqual([])
    expect(await filtered({ to: new Date(Date.now() - 3_600_000).toISOString() })).toEqual([])
    expect((await filtered({ from: new Date(Date.now() - 3_600_000).toISOString() })).length).toBeGreaterThan(
      5,
    )
  })

  test('hides trashed tables and links from those who may not see them', async () => {
    const own = await freshBase()
    const table = await own.table({ Title: 'SingleLineText' }, [{ Title: 'secret' }])
    await own.trpc.shares.save.mutate({ kind: 'base', targetId: own.baseId, patch: {} })
    const viewer = await bench.app.signUp()
    await bench.app.services.auth.access.setMembership(own.baseId, viewer.id, 'viewer')
    const asViewer = { trpc: bench.app.trpc(viewer.token), baseId: own.baseId }
    expect(await listed(asViewer)).toContain(`did: New record secret in ${table.title}`)
    await own.trpc.schema.deleteTable.mutate({ tableId: table.id })
    expect(await listed(asViewer)).toEqual([expect.stringContaining('base.create')])
    expect(await listed(own)).toContain(`did: Delete table ${table.title}`)
    expect((await listed(own)).join()).toContain('share.create')
  })
})

describe('activity.entry', () => {
  test('lists the records of an entry with their values, page by page, and masks passwords', async () => {
    const own = await freshBase()
    const table = await own.table({ Title: 'SingleLineText', Code: 'Password' })
    await own.rest.post(table.path, [
      { Title: 'a', Code: 'x' },
      { Title: 'b', Code: 'y' },
    ])
    await own.rest.patch(table.path, [
      { Id: 1, Title: 'A', Code: 'xx' },
      { Id: 2, Title: 'B' },
    ])
    const { items } = await own.trpc.activity.list.query({ baseId: own.baseId, limit: 1 })
    const [item] = items
    if (item?.kind !== 'change') throw new Error('No change')
    const asked = { baseId: own.baseId, entryId: item.action.id }
    const first = await own.trpc.activity.entry.query({ ...asked, limit: 1 })
    expect(first.tables).toMatchObject([{ tableId: table.id, updated: 2, inserted: 0, deleted: 0 }])
    expect(first.records).toMatchObject([{ recordId: 1, title: 'A', did: 'changed', exists: true }])
    expect(first.records[0]?.changes).toContainEqual({
      fieldId: table.field('Title').id,
      before: 'a',
      after: 'A',
    })
    expect(JSON.stringify(first)).not.toContain('$argon')
    const second = await own.trpc.activity.entry.query({ ...asked, limit: 1, cursor: first.next })
    expect(second.records).toMatchObject([{ recordId: 2, title: 'B' }])
    await own.rest.delete(table.path, [{ Id: 2 }])
    expect(
      (await own.trpc.activity.entry.query({ ...asked, limit: 1, cursor: first.next })).records,
    ).toMatchObject([{ recordId: 2, title: 'b', exists: false }])
    expect(await refusalOf(own.trpc.activity.entry.query({ ...asked, entryId: 9_999_999 }))).toMatchObject({
      status: 404,
    })
    const stranger = bench.app.trpc((await bench.app.signUp()).token)
    expect(await refusalOf(stranger.activity.entry.query(asked))).toMatchObject({ status: 403 })
  })

  test('pages through records that were added as a range', async () => {
    const own = await freshBase()
    const table = await own.table({ Title: 'SingleLineText' })
    await own.rest.post(
      table.path,
      Array.from({ length: 150 }, (_, index) => ({ Title: `r${index}` })),
    )
    const { items } = await own.trpc.activity.list.query({ baseId: own.baseId, limit: 1 })
    const entryId = items[0]?.kind === 'change' ? items[0].action.id : 0
    const first = await own.trpc.activity.entry.query({ baseId: own.baseId, entryId, limit: 100 })
    expect(first.tables).toMatchObject([{ inserted: 150 }])
    expect(first.records.at(-1)).toMatchObject({ title: 'r99', did: 'added' })
    const second = await own.trpc.activity.entry.query({
      baseId: own.baseId,
      entryId,
      limit: 100,
      cursor: first.next,
    })
    expect(second.records.length).toBe(50)
    expect(second.next).toBeNull()
  })
})

describe('GET /api/v1/db/meta/projects/{baseId}/audits', () => {
  test('rejects strangers and numbers out of range', async () => {
    const path = `/api/v1/db/meta/projects/${bench.baseId}/audits`
    const stranger = bench.app.rest((await bench.app.signUp()).token)
    expect((await stranger.get(path)).status).toBe(403)
    for (const query of [
      '?limit=0',
      '?limit=101',
      '?offset=-1',
      '?offset=x',
      '?kinds=x',
      '?rowId=1',
      '?cursor=x',
    ])
      expect([query, (await bench.rest.get(path + query)).status]).toEqual([query, 400])
  })

  test('lists entries in the form of the specification, under both addresses', async () => {
    const own = await freshBase()
    const table = await own.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    await own.rest.patch(table.path, [{ Id: 1, Title: 'b' }])
    const { status, body } = await own.rest.get(`/api/v1/db/meta/projects/${own.baseId}/audits?limit=2`)
    expect(status).toBe(200)
    expect(body.list).toMatchObject([
      {
        user: bench.owner.email,
        base_id: own.baseId,
        fk_model_id: table.id,
        op_type: 'DATA',
        op_sub_type: 'UPDATE',
        description: 'Title of b: a → b',
      },
      { op_type: 'DATA', op_sub_type: 'INSERT' },
    ])
    expect(body.pageInfo).toMatchObject({ page: 1, pageSize: 2, isFirstPage: true, isLastPage: false })
    const next = await own.rest.get(`/api/v2/meta/bases/${own.baseId}/audits?limit=2&offset=2`)
    expect(next.body.list.map((one: { op_sub_type: string }) => one.op_sub_type)).toEqual([
      'CREATE',
      'CREATE',
    ])
    const byCursor = await own.rest.get(
      `/api/v2/meta/bases/${own.baseId}/audits?limit=2&cursor=${encodeURIComponent(body.cursor)}`,
    )
    expect(byCursor.body.list).toEqual(next.body.list)
    expect(
      (await own.rest.get(`/api/v2/meta/bases/${own.baseId}/audits?tableId=${table.id}&rowId=1`)).body.list
        .length,
    ).toBe(2)
  })
})

describe('the operation types of GET /api/v1/db/meta/projects/{baseId}/audits', () => {
  test('tell links and new titles from other changes', async () => {
    const own = await freshBase()
    const films = await own.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const people = await own.table({ Title: 'SingleLineText' }, [{ Title: 'b' }, { Title: 'c' }])
    const cast = await createLink(own, films, people, 'mm', { title: 'Cast' })
    await cast.write('link', 1, [1, 2])
    await cast.write('unlink', 1, [1])
    await cast.set(1, [1, 2])
    await own.rest.patch(`/api/v2/meta/tables/${films.id}`, { title: 'Movies', table_name: 'Movies' })
    const { body } = await own.rest.get(`/api/v1/db/meta/projects/${own.baseId}/audits?limit=4`)
    const types = body.list.map((one: { op_type: string; op_sub_type: string }) => [
      one.op_type,
      one.op_sub_type,
    ])
    expect(types).toEqual([
      ['TABLE', 'RENAME'],
      ['DATA', 'LINK_RECORD'],
      ['DATA', 'UNLINK_RECORD'],
      ['DATA', 'LINK_RECORD'],
    ])
  })
})

describe('POST /api/v1/db/meta/audits/rows/{rowId}/update', () => {
  test('answers with the change of the cell that the history has', async () => {
    const own = await freshBase()
    const table = await own.table({ Title: 'SingleLineText', Note: 'SingleLineText' }, [{ Title: 'a' }])
    const path = '/api/v1/db/meta/audits/rows/1/update'
    const body = { fk_model_id: table.id, column_name: 'Title', value: 'b', prev_value: 'a' }
    expect((await own.rest.post(path, { ...body, column_name: 'None' })).status).toBe(404)
    expect((await own.rest.post(path, { fk_model_id: table.id })).status).toBe(400)
    expect((await own.rest.post(path, { ...body, column_name: 'Note' })).status).toBe(404)
    await own.rest.patch(table.path, [{ Id: 1, Title: 'b' }])
    const { status, body: audit } = await own.rest.post(path, body)
    expect(status).toBe(200)
    expect(audit).toMatchObject({
      op_type: 'DATA',
      op_sub_type: 'UPDATE',
      row_id: '1',
      user: bench.owner.email,
      description: `Title in ${table.title} was changed from “a” to “b”`,
    })
  })
})

describe('history calls over REST', () => {
  test('preview and revert an action, restore a version of a record, and a table', async () => {
    const own = await freshBase()
    const table = await own.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const history = `/api/v2/meta/bases/${own.baseId}/history`
    const [insert] = (await own.rest.get(history)).body.list
    await Bun.sleep(5)
    const at = new Date().toISOString()
    await Bun.sleep(5)
    await own.rest.patch(table.path, [{ Id: 1, Title: 'b' }])
    const [update] = (await own.rest.get(history)).body.list
    expect((await own.rest.get(`${history}/${update.id}/revert`)).body).toMatchObject({
      changed: 1,
      kept: { total: 0 },
    })
    expect((await own.rest.post(`${history}/${update.id}/revert`, {})).body).toEqual({
      kind: 'records.update',
      records: 1,
      skipped: 0,
    })
    expect((await own.rest.get(`${history}/x/revert`)).status).toBe(404)
    await own.rest.patch(table.path, [{ Id: 1, Title: 'c' }])
    const version = `${table.path}/1/versions/${insert.id}`
    expect((await own.rest.get(version)).body).toMatchObject({
      changes: [{ field: 'Title', before: 'c', after: 'a' }],
    })
    expect((await own.rest.post(version, {})).body).toMatchObject({ changed: true })
    expect(await table.titles()).toEqual(['a'])
    await own.rest.patch(table.path, [{ Id: 1, Title: 'd' }])
    const restore = `/api/v2/tables/${table.id}/restore`
    expect((await own.rest.get(`${restore}?at=${at}`)).body).toMatchObject({
      changed: 1,
      authors: [{ records: 1 }],
    })
    expect((await own.rest.get(restore)).status).toBe(400)
    expect((await own.rest.post(restore, { at })).body).toMatchObject({ records: 1 })
    expect(await table.titles()).toEqual(['a'])
  })
})
