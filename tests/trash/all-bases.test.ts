import { afterAll, beforeAll, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { utimesSync } from 'node:fs'
import { and, eq, inArray, isNotNull } from 'drizzle-orm'
import { defineBasesTables } from '../../modules/bases/tables.ts'
import { defineSchemaTables } from '../../modules/schema/tables.ts'
import { currentCaller } from '../../src/caller.ts'
import type { RecordId } from '../../src/core/model.ts'
import type { BaseRole } from '../../src/core/roles.ts'
import type { ListedTrashItem } from '../../src/core/trash.ts'
import { uploadOne } from '../records/attachments-support.ts'
import { type Bench, benchOf, refusalOf, type TestTable } from '../records/support.ts'
import { createTestApp, META_DATABASES, type TestApp, type TestUser } from '../support/app.ts'
import { createBase } from '../support/factories.ts'
import { until } from '../support/until.ts'
import { followWrites } from '../support/waiting-writes.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

describe.each(META_DATABASES)('the trash of all bases, on %s', (database) => {
  let app: TestApp
  let admin: TestUser
  /** Another one for each test, whose bases are those that the test creates. */
  let user: TestUser
  let trpc: ReturnType<TestApp['trpc']>
  beforeAll(async () => {
    app = await createTestApp({ database })
    admin = await app.signUp()
  })
  beforeEach(async () => {
    user = await app.signUp()
    trpc = app.trpc(user.token)
  })
  afterAll(() => app.stop())

  /** A base in which the user has a role. The admin, who created it, does everything in it. */
  async function baseAs(role: BaseRole, title?: string): Promise<Bench> {
    const { id } = await createBase(app, admin, title)
    await app.services.auth.access.setMembership(id, user.id, role)
    return benchOf(app, admin, id)
  }
  const remove = ({ baseId, trpc: by }: Bench, { id: tableId }: TestTable, ids: RecordId[]) =>
    by.records.write.mutate({ change: { baseId, operations: [{ kind: 'delete', tableId, ids }] } })
  /** A base with a deleted record of this title. */
  async function baseWith(role: BaseRole, title: string): Promise<{ base: Bench; table: TestTable }> {
    const base = await baseAs(role)
    const table = await base.table({ Title: 'SingleLineText' }, [{ Title: title }])
    await remove(base, table, [1])
    return { base, table }
  }
  async function deleteField(base: Bench, { id: tableId }: TestTable, title: string): Promise<void> {
    const field = { title, type: 'Number' as const }
    const { id } = await base.trpc.schema.createField.mutate({ tableId, field })
    await base.trpc.schema.deleteField.mutate({ fieldId: id })
  }
  async function deleteView(base: Bench, { id: tableId }: TestTable, title: string): Promise<void> {
    const { id } = await base.trpc.views.create.mutate({ tableId, title, kind: 'grid' })
    await base.trpc.views.delete.mutate({ viewId: id })
  }
  /** Makes a base, and all that was deleted in it so far, older. */
  async function age({ baseId }: Bench, at: string): Promise<void> {
    const { meta, sources } = app.kernel
    const { tables, fields } = meta.tables(defineSchemaTables)
    const engine = await sources.engine(baseId)
    await engine.writeScript([{ sql: `update sheaf_changes set at = '${at}'`, params: [] }])
    const ids = (await meta.db.select().from(tables).where(eq(tables.baseId, baseId))).map(({ id }) => id)
    await meta.db
      .update(fields)
      .set({ deletedAt: at })
      .where(and(inArray(fields.tableId, ids), isNotNull(fields.deletedAt)))
    if (database === 'postgres') return
    const path = sources.path(baseId)
    for (const file of [path, `${path}-wal`]) utimesSync(file, new Date(at), new Date(at))
  }
  /** The items of all pages, and the number of those of each. */
  async function pages(filter: Parameters<typeof trpc.trash.listAll.query>[0]) {
    const found: ListedTrashItem[] = []
    const sizes: number[] = []
    let cursor: string | null = null
    do {
      const page: { items: ListedTrashItem[]; next: string | null } = await trpc.trash.listAll.query({
        ...filter,
        cursor,
      })
      found.push(...page.items)
      sizes.push(page.items.length)
      cursor = page.next
    } while (cursor !== null)
    return { titles: titles(found), sizes }
  }
  const titles = (items: readonly ListedTrashItem[]) => items.map(({ ref, title }) => `${ref.kind} ${title}`)
  const list = async (filter: Parameters<typeof trpc.trash.listAll.query>[0] = {}) =>
    (await trpc.trash.listAll.query(filter)).items
  /** True in a request of the user. The rounds of the server and what follows writes of others open bases at any time as well. */
  const isAsked = () => currentCaller()?.key === `user ${user.id}`
  /** The bases whose logs a call opens. */
  async function opened(call: () => Promise<unknown>): Promise<string[]> {
    const { sources } = app.kernel
    const { engine } = sources
    const bases = new Set<string>()
    const engines = spyOn(sources, 'engine').mockImplementation((baseId) => {
      if (isAsked()) bases.add(baseId)
      return engine(baseId)
    })
    try {
      await call()
      return [...bases]
    } finally {
      engines.mockRestore()
    }
  }

  test('has of each base what the user may restore there, and the deleted bases of owners', async () => {
    const { base: edited, table } = await baseWith('editor', 'Ada')
    await deleteField(edited, table, 'Num')
    await deleteView(edited, table, 'Wide')
    const { base: created, table: other } = await baseWith('creator', 'Ben')
    await deleteField(created, other, 'Sum')
    await deleteView(created, other, 'Long')
    await created.trpc.schema.deleteTable.mutate({ tableId: (await created.table()).id })
    await baseWith('commenter', 'Hidden')
    await baseWith('no-access', 'Hidden as well')
    for (const [role, title] of [
      ['owner', 'Gone'],
      ['creator', 'Gone too'],
    ] as const) {
      const { baseId, trpc: by } = await baseAs(role, `${title} ${user.id}`)
      await by.bases.delete.mutate({ baseId })
    }

    const { items, people, next, unread, unreadable } = await trpc.trash.listAll.query({})
    expect({ next, unread, unreadable }).toEqual({ next: null, unread: 0, unreadable: [] })
    expect(titles(items)).toEqual([
      `base Gone ${user.id}`,
      expect.stringMatching(/^table Table/),
      'view Long',
      'field Sum',
      'record Ben',
      'record Ada',
    ])
    const record = items.at(-1)
    expect(record).toMatchObject({ table: { title: table.title }, base: { id: edited.baseId } })
    expect(items.map(({ canPurge }) => canPurge)).toEqual([true, true, true, true, true, false])
    for (const { deletedAt, deletedBy, expiresAt } of items) {
      expect(deletedBy).toBe(admin.id)
      expect(Date.parse(expiresAt ?? '')).toBe(Date.parse(deletedAt) + 30 * DAY_MS)
    }
    expect(people.map(({ id }) => id)).toEqual([admin.id])
    expect(items[0]?.base).toEqual({ id: expect.any(String), title: `Gone ${user.id}` })
    expect((await refusalOf(app.trpc().trash.listAll.query({}))).status).toBe(401)
  })

  test('is one list in the order of time, however it is cut into pages, also of items of the same moment', async () => {
    const all = [await baseWith('owner', 'A1'), await baseWith('owner', 'B1'), await baseWith('owner', 'C1')]
    for (const [at, { base, table }] of all.entries()) {
      const name = 'ABC'[at]
      await base.rest.post(
        table.path,
        ['2', '3', '4'].map((n) => ({ Title: `${name}${n}` })),
      )
      await remove(base, table, [3, 4])
      await remove(base, table, [2])
      await deleteView(base, table, `${name} view 1`)
      await deleteView(base, table, `${name} view 2`)
      await deleteField(base, table, `${name} field 1`)
      await deleteField(base, table, `${name} field 2`)
    }
    const gone = await baseAs('owner', `Gone ${user.id}`)
    await gone.trpc.bases.delete.mutate({ baseId: gone.baseId })
    const once = await list()
    expect(once.length).toBe(25)
    const times = once.map(({ deletedAt }) => deletedAt)
    expect(times).toEqual(times.toSorted().toReversed())
    for (const limit of [1, 2, 7, 24, 25]) {
      const { titles: found, sizes } = await pages({ limit })
      expect(found).toEqual(titles(once))
      expect(sizes.every((size) => size <= limit)).toBe(true)
    }

    const at = daysAgo(3)
    for (const { base } of all) await age(base, at)
    const { bases } = app.kernel.meta.tables(defineBasesTables)
    await app.kernel.meta.db.update(bases).set({ deletedAt: at }).where(eq(bases.id, gone.baseId))
    const same = await list()
    expect(new Set(same.map(({ deletedAt }) => deletedAt))).toEqual(new Set([at]))
    expect(titles(same).toSorted()).toEqual(titles(once).toSorted())
    for (const limit of [1, 2, 3, 5, 8]) expect((await pages({ limit })).titles).toEqual(titles(same))
  })

  test('is filtered by kind, person and text', async () => {
    const { base, table } = await baseWith('owner', 'Apple')
    await deleteField(base, table, 'Pear')
    const { table: other } = await baseWith('owner', 'Pearl')
    const gone = await baseAs('owner', `Pears ${user.id}`)
    await trpc.bases.delete.mutate({ baseId: gone.baseId })
    expect(titles(await list({ kinds: ['record'] }))).toEqual(['record Pearl', 'record Apple'])
    expect(titles(await list({ kinds: ['base', 'field'] }))).toEqual([`base Pears ${user.id}`, 'field Pear'])
    expect(titles(await list({ search: 'PEAR' }))).toEqual([
      `base Pears ${user.id}`,
      'record Pearl',
      'field Pear',
    ])
    expect(titles(await list({ deletedBy: user.id }))).toEqual([`base Pears ${user.id}`])
    expect(titles(await list({ deletedBy: admin.id, kinds: ['base'] }))).toEqual([])
    expect((await trpc.trash.people.query()).map(({ id }) => id).toSorted()).toEqual(
      [admin.id, user.id].toSorted(),
    )
    for (const cursor of ['x', Buffer.from('{"kind":"view","at":"a"}').toString('base64url')])
      expect(await refusalOf(trpc.trash.listAll.query({ cursor }))).toMatchObject({ status: 400 })
    expect(other.title).not.toBe(table.title)
  })

  test('opens only those bases whose items can be on the page', async () => {
    const old: Bench[] = []
    for (const title of ['Old 1', 'Old 2', 'Old 3']) {
      const { base } = await baseWith('editor', title)
      await age(base, daysAgo(10 + old.length))
      old.push(base)
    }
    const { base: recent, table } = await baseWith('editor', 'New 1')
    await recent.rest.post(table.path, [{ Title: 'New 2' }])
    await remove(recent, table, [2])
    expect(await opened(() => list({ limit: 2 }))).toEqual([recent.baseId])
    const first = await trpc.trash.listAll.query({ limit: 2 })
    expect(titles(first.items)).toEqual(['record New 2', 'record New 1'])
    const rest = async () => {
      const page = await trpc.trash.listAll.query({ limit: 2, cursor: first.next })
      expect(titles(page.items)).toEqual(['record Old 1', 'record Old 2'])
    }
    expect((await opened(rest)).toSorted()).toEqual(old.map(({ baseId }) => baseId).toSorted())
    // Tables, fields and files are in the metadata.
    expect(await opened(() => list({ kinds: ['table', 'field', 'file', 'base'] }))).toEqual([])
    // A record that is deleted later in an old base is not missed.
    const { tables } = app.kernel.meta.tables(defineSchemaTables)
    const [{ id: tableId } = { id: '' }] = await app.kernel.meta.db
      .select()
      .from(tables)
      .where(eq(tables.baseId, old[2]?.baseId ?? ''))
    const path = `/api/v2/tables/${tableId}/records`
    const { body } = await recent.rest.post(path, [{ Title: 'Late' }])
    await recent.rest.delete(path, [{ Id: body[0].Id }])
    expect(titles(await list({ limit: 2 }))).toEqual(['record Late', 'record New 2'])
  })

  test('reads on at the deletions of a page, without those of the pages before', async () => {
    const base = await baseAs('owner')
    const names = Array.from({ length: 30 }, (_, at) => `Record ${at + 1}`)
    const table = await base.table(
      { Title: 'SingleLineText' },
      names.map((Title) => ({ Title })),
    )
    for (const [at] of names.entries()) await remove(base, table, [at + 1])
    const { sources } = app.kernel
    const engine = await sources.engine(base.baseId)
    const entries = await engine.all<{ id: number }>({
      sql: `select id from sheaf_changes where kind = 'records.delete' order by id`,
      params: [],
    })
    const times = entries.map(({ id }, at) => ({
      sql: `update sheaf_changes set at = '${daysAgo(100 - at)}' where id = ${id}`,
      params: [],
    }))
    await engine.writeScript(times)
    const expected = names.map((name) => `record ${name}`).toReversed()
    for (const limit of [1, 7, 29]) expect((await pages({ limit })).titles).toEqual(expected)

    const first = await trpc.trash.listAll.query({ limit: 25 })
    const reads: { sql: string; params: unknown[] }[] = []
    const { all } = engine
    const spy = spyOn(engine, 'all').mockImplementation((statement, options) => {
      if (isAsked() && statement.sql.includes('sheaf_change_records r')) reads.push(statement)
      return all(statement, options)
    })
    try {
      const rest = await trpc.trash.listAll.query({ limit: 25, cursor: first.next })
      expect(titles(rest.items)).toEqual(expected.slice(25))
    } finally {
      spy.mockRestore()
    }
    const [page] = reads.filter(({ sql }) => sql.includes('order by at desc'))
    if (!page) throw new Error('No page of the trash was read')
    // PostgreSQL reads the few records of a test without an index.
    if (database === 'postgres') return
    const plan = await engine.all<{ detail: string }>({ ...page, sql: `explain query plan ${page.sql}` })
    expect(plan.map(({ detail }) => detail)).toContain(
      'SEARCH r USING INDEX sheaf_change_records_deleted (table_id=? AND change_id<?)',
    )
  })

  test('reads no more than some bases at once, tells how many are left, and goes on without missing any', async () => {
    const { base: oldest } = await baseWith('editor', 'Oldest')
    await age(oldest, daysAgo(20))
    // Changed since, so that their trash has to be looked at. Most have none.
    const { base: found } = await baseWith('editor', 'Older')
    for (let n = 0; n < 8; n++) await baseWith('editor', 'Other')
    const entry = `insert into sheaf_changes (at, kind, records) values ('${new Date().toISOString()}', 'records.update', 0)`
    for (let n = 0; n < 95; n++) {
      const engine = await app.kernel.sources.engine((await baseAs('editor')).baseId)
      await engine.writeScript([{ sql: entry, params: [] }])
    }
    const first = await trpc.trash.listAll.query({ search: 'Old' })
    // Of 105 bases, 100 are read at once.
    expect({ ...first, next: typeof first.next }).toMatchObject({ items: [], next: 'string', unread: 5 })
    const reads = await opened(async () => {
      const rest = await trpc.trash.listAll.query({ search: 'Old', cursor: first.next })
      expect(titles(rest.items)).toEqual(['record Older', 'record Oldest'])
      expect(rest).toMatchObject({ unread: 0, next: null })
    })
    // Those that have been searched are not opened again.
    expect(reads.length).toBe(5)
    expect(reads).toContain(found.baseId)
    expect((await pages({ search: 'Old', limit: 1 })).titles).toEqual(['record Older', 'record Oldest'])
  })

  test('orders records of several tables by time, also where the log has them in another order', async () => {
    const { base, table } = await baseWith('owner', 'First')
    const other = await base.table({ Title: 'SingleLineText' }, [{ Title: 'Moved here with its history' }])
    await remove(base, other, [1])
    const engine = await app.kernel.sources.engine(base.baseId)
    // As the entries of a table that was moved from another base.
    await engine.writeScript([
      { sql: `update sheaf_changes set at = '${daysAgo(5)}' where table_id = '${other.id}'`, params: [] },
    ])
    const expected = ['record First', 'record Moved here with its history']
    expect((await pages({ limit: 1 })).titles).toEqual(expected)
    const { baseId } = base
    expect(titles((await trpc.trash.list.query({ baseId })).items)).toEqual(expected)
    const first = await trpc.trash.list.query({ baseId, limit: 1 })
    const second = await trpc.trash.list.query({ baseId, limit: 1, cursor: first.next })
    expect(titles([...first.items, ...second.items])).toEqual(expected)
    expect(second.next).toBeNull()
    expect(table.id).not.toBe(other.id)
  })

  test('has a record that was deleted while a deletion of many waited for its turn', async () => {
    const base = await baseAs('owner')
    const rows = Array.from({ length: 60 }, (_, at) => ({ Title: at === 0 ? 'First' : 'Other' }))
    const table = await base.table({ Title: 'SingleLineText' }, rows)
    const engine = await app.kernel.sources.engine(base.baseId)
    const held = Promise.withResolvers<void>()
    const write = engine.exclusively(() => held.promise)
    const waiting = followWrites(engine)
    const many = base.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } })
    await waiting.until(1)
    // Goes ahead of the larger one.
    const one = remove(base, table, [1])
    await waiting.until(1)
    waiting.stop()
    held.resolve()
    await Promise.all([write, many, one])
    for (const limit of [10, 100]) {
      const { titles: found } = await pages({ limit })
      expect([found.length, found.at(-1)]).toEqual([60, 'record First'])
    }
  })

  test('names a base whose data are lost, and lists the others', async () => {
    const { base: lost } = await baseWith('editor', 'Lost')
    await baseWith('editor', 'Here')
    await app.kernel.sources.remove(lost.baseId)
    const { items, unreadable, next } = await trpc.trash.listAll.query({})
    expect(titles(items)).toEqual(['record Here'])
    expect(unreadable.map(({ id }) => id)).toEqual([lost.baseId])
    expect(next).toBeNull()
  })

  test('is emptied where the user may delete forever, with deleted bases, or of what matches', async () => {
    const { base: kept, table: others } = await baseWith('editor', 'Stays')
    const { base, table } = await baseWith('creator', 'Goes')
    await deleteField(base, table, 'Num')
    const gone = await baseAs('owner')
    await gone.trpc.bases.delete.mutate({ baseId: gone.baseId })
    expect(await trpc.trash.emptyAll.mutate({ kinds: ['field', 'base'], search: 'num' })).toEqual({
      deleted: 1,
      failed: [],
      next: null,
    })
    expect((await list()).length).toBe(3)
    expect(await trpc.trash.emptyAll.mutate({})).toEqual({ deleted: 2, failed: [], next: null })
    expect(titles(await list())).toEqual(['record Stays'])
    // More than a page of what the user may only restore is not walked through.
    await kept.rest.post(
      others.path,
      Array.from({ length: 101 }, (_, at) => ({ Title: `Stays ${at}` })),
    )
    await remove(
      kept,
      others,
      Array.from({ length: 101 }, (_, at) => at + 2),
    )
    const emptyAgain = async () =>
      expect(await trpc.trash.emptyAll.mutate({})).toEqual({ deleted: 0, failed: [], next: null })
    expect(await opened(emptyAgain)).not.toContain(kept.baseId)
    expect(await refusalOf(trpc.trash.restoreBase.mutate({ baseId: gone.baseId }))).toMatchObject({
      code: 'BASE_NOT_FOUND',
    })
    expect(await table.titles()).toEqual([])
  })

  test('is emptied in all other bases where one cannot be read', async () => {
    const { base } = await baseWith('creator', 'Goes')
    const { base: lost, table } = await baseWith('creator', 'Lost')
    await deleteField(lost, table, 'Num')
    await app.kernel.sources.remove(lost.baseId)
    const { deleted, failed, next } = await trpc.trash.emptyAll.mutate({})
    expect({ deleted, next }).toEqual({ deleted: 1, next: null })
    expect(failed.length).toBeGreaterThan(0)
    expect(titles((await trpc.trash.list.query({ baseId: base.baseId })).items)).toEqual([])
  })

  test('is read no further once the user has left', async () => {
    for (let n = 0; n < 12; n++) await baseWith('editor', 'Old')
    const { sources } = app.kernel
    const { engine } = sources
    const left = new AbortController()
    let count = 0
    const engines = spyOn(sources, 'engine').mockImplementation(async (baseId) => {
      if (!isAsked()) return engine(baseId)
      count++
      left.abort()
      const signal = currentCaller()?.signal
      await until(() => signal?.aborted === true, 'The server knows that the user has left')
      return engine(baseId)
    })
    try {
      const headers = { 'xc-auth': user.token }
      await fetch(`${app.url}/api/v2/meta/trash/items`, { headers, signal: left.signal }).catch(() => null)
      await Bun.sleep(1_500)
      expect(count).toBeGreaterThan(0)
      expect(count).toBeLessThan(12)
    } finally {
      engines.mockRestore()
    }
  })

  test('is listed over REST', async () => {
    const { base, table } = await baseWith('editor', 'Ada')
    await baseWith('editor', 'Ben')
    const rest = app.rest(user.token)
    const path = '/api/v2/meta/trash/items'
    for (const query of ['?limit=0', '?kinds=all', '?cursor=x', '?tableId=m1'])
      expect((await rest.get(`${path}${query}`)).status).toBe(400)
    const { body } = await rest.get(`${path}?limit=1&kinds=record,base`)
    expect(body).toMatchObject({ list: [{ title: 'Ben' }], unread: 0, unreadable: [] })
    const { body: second } = await rest.get(`${path}?limit=1&kinds=record,base&cursor=${body.cursor}`)
    expect(second.list).toEqual([
      {
        ref: { kind: 'record', tableId: table.id, recordId: 1 },
        title: 'Ada',
        base: { id: base.baseId, title: expect.any(String) },
        table: { id: table.id, title: table.title },
        deletedAt: expect.any(String),
        deletedBy: expect.objectContaining({ email: admin.email }),
        expiresAt: expect.any(String),
        canPurge: false,
        preview: [],
        deletion: { changeId: expect.any(Number), records: 1 },
      },
    ])
    expect(second.cursor).toBeNull()
    // The list of one base has no base in its items, as before.
    const { body: own } = await rest.get(`/api/v2/meta/bases/${base.baseId}/trash/items`)
    expect(own.list[0]).not.toHaveProperty('base')
  })

  test('lists files that were removed from cells of several bases', async () => {
    const names = ['one.txt', 'two.txt']
    for (const name of names) {
      const base = await baseAs('editor')
      const table = await base.table({ Title: 'SingleLineText', Files: 'Attachment' })
      const { path } = await uploadOne(base, admin.token, name, `text ${crypto.randomUUID()}`)
      const { body } = await base.rest.post(table.path, { Title: name, Files: [{ path, title: name }] })
      await base.rest.patch(table.path, { Id: body.Id, Files: null })
      const { feed } = app.services.records
      while (!feed.follows('detached-files', base.baseId)) await Bun.sleep(5)
      await feed.settled(base.baseId)
    }
    expect((await pages({ kinds: ['file'], limit: 1 })).titles).toEqual(['file two.txt', 'file one.txt'])
  })
})
