import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { eq, isNotNull } from 'drizzle-orm'
import { defineBasesTables } from '../../modules/bases/tables.ts'
import { defineRecordsTables } from '../../modules/records/tables.ts'
import { defineSchemaTables } from '../../modules/schema/tables.ts'
import { defineTrashTables } from '../../modules/trash/tables.ts'
import type { RecordId } from '../../src/core/model.ts'
import { MAX_COUNTED_RECORDS, type TrashItem, type TrashKind, type TrashRef } from '../../src/core/trash.ts'
import type { Statement } from '../../src/dialects/dialect.ts'
import { uploadOne } from '../records/attachments-support.ts'
import { type Bench, benchOf, refusalOf, type TestTable } from '../records/support.ts'
import { createTestApp, META_DATABASES } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'

const DAY_MS = 24 * 60 * 60 * 1000

describe.each(META_DATABASES)('the trash of a base, on %s', (database) => {
  let bench: Bench
  beforeAll(async () => {
    const app = await createTestApp({ database })
    const owner = await app.signUp()
    bench = benchOf(app, owner, (await createBase(app, owner)).id)
  })
  afterAll(() => bench.stop())

  const memberOf = async (role: 'viewer' | 'editor' | 'creator', baseId = bench.baseId) => {
    const member = await createMember(bench.app, baseId, role)
    return { ...member, trpc: bench.app.trpc(member.token), rest: bench.app.rest(member.token) }
  }
  /** A base of its own, so that a test sees only what it deleted. */
  const ownBase = async () => benchOf(bench.app, bench.owner, (await createBase(bench.app, bench.owner)).id)
  const list = async (of: Bench, filter: object = {}) =>
    (await of.trpc.trash.list.query({ baseId: of.baseId, ...filter })).items
  const titles = (items: readonly TrashItem[]) => items.map(({ ref, title }) => `${ref.kind} ${title}`)
  const find = async (of: Bench, kind: TrashKind, title: string): Promise<TrashRef> => {
    const item = (await list(of, { kinds: [kind] })).find((one) => one.title === title)
    if (!item) throw new Error(`There is no ${kind} ${title} in the trash`)
    return item.ref
  }
  const restore = (of: Bench, ...items: TrashRef[]) =>
    of.trpc.trash.restore.mutate({ baseId: of.baseId, items })
  const purge = (of: Bench, ...items: TrashRef[]) => of.trpc.trash.purge.mutate({ baseId: of.baseId, items })
  const remove = (of: Bench, { id: tableId }: TestTable, ids: RecordId[], trpc = of.trpc) =>
    trpc.records.write.mutate({
      change: { baseId: of.baseId, operations: [{ kind: 'delete', tableId, ids }] },
    })
  const settled = (of: Bench) => of.app.services.records.feed.settled(of.baseId)
  /** A record with a file, which its cell then loses. */
  async function detach(of: Bench, table: TestTable, name: string): Promise<{ id: number; path: string }> {
    const { path } = await uploadOne(of, of.owner.token, name, `text ${crypto.randomUUID()}`)
    const { body } = await of.rest.post(table.path, { Title: name, Files: [{ path, title: name }] })
    await of.rest.patch(table.path, { Id: body.Id, Files: null })
    // A base is followed in the background once it has a field for files; `settled` waits for those followed already.
    while (!of.app.services.records.feed.follows('detached-files', of.baseId)) await Bun.sleep(5)
    await settled(of)
    return { id: body.Id, path }
  }
  /** A base with one deleted item of each kind, deleted in this order. */
  async function filled() {
    const own = await ownBase()
    const table = await own.table({ Title: 'SingleLineText', Num: 'Number', Files: 'Attachment' }, [
      { Title: 'Ada', Num: 7 },
      { Title: 'Ben', Num: 8 },
    ])
    const gone = await own.table()
    await detach(own, table, 'plan.txt')
    await remove(own, table, [1])
    await own.trpc.schema.deleteField.mutate({ fieldId: table.field('Num').id })
    const view = await own.trpc.views.create.mutate({ tableId: table.id, title: 'Wide', kind: 'grid' })
    await own.trpc.views.delete.mutate({ viewId: view.id })
    await own.trpc.schema.deleteTable.mutate({ tableId: gone.id })
    return { own, table, gone }
  }

  describe('its list', () => {
    test('is for editors, who see records and files only; a broken cursor is rejected', async () => {
      const { own } = await filled()
      const { baseId } = own
      const viewer = await memberOf('viewer', baseId)
      expect(await refusalOf(viewer.trpc.trash.list.query({ baseId }))).toMatchObject({ status: 403 })
      const editor = await memberOf('editor', baseId)
      const seen = (await editor.trpc.trash.list.query({ baseId })).items
      expect(titles(seen)).toEqual(['record Ada', 'file plan.txt'])
      expect(seen.map(({ canPurge }) => canPurge)).toEqual([false, false])
      for (const ref of [await find(own, 'field', 'Num'), await find(own, 'view', 'Wide')]) {
        const call = editor.trpc.trash.restore.mutate({ baseId, items: [ref] })
        expect(await refusalOf(call)).toMatchObject({ status: 403 })
      }
      for (const cursor of ['x', Buffer.from('{"view":"a"}').toString('base64url')])
        expect(await refusalOf(own.trpc.trash.list.query({ baseId, cursor }))).toMatchObject({ status: 400 })
    })

    test('tells of each item where it was, who deleted it, when, and until when it stays', async () => {
      const { own, table, gone } = await filled()
      const { items, people } = await own.trpc.trash.list.query({ baseId: own.baseId })
      expect(titles(items)).toEqual([
        `table ${gone.title}`,
        'view Wide',
        'field Num',
        'record Ada',
        'file plan.txt',
      ])
      expect(items.map((item) => item.table?.title ?? null)).toEqual([
        null,
        table.title,
        table.title,
        table.title,
        table.title,
      ])
      expect(people.map(({ id }) => id)).toEqual([own.owner.id])
      for (const { deletedAt, deletedBy, expiresAt, canPurge } of items) {
        expect(deletedBy).toBe(own.owner.id)
        expect(Date.parse(expiresAt ?? '')).toBe(Date.parse(deletedAt) + 30 * DAY_MS)
        expect(canPurge).toBe(true)
      }
      expect(items.find(({ ref }) => ref.kind === 'file')?.file).toMatchObject({ field: 'Files' })
    })

    test('shows times in the time zone of its reader, in UTC if that is not given', async () => {
      const own = await ownBase()
      const table = await own.table({ At: 'DateTime', Due: 'DateTime' }, [
        { At: '2026-01-05 23:30:00+00:00', Due: '2026-01-05 22:20:00+00:00' },
      ])
      await remove(own, table, [1])
      const due = (text: string) => [{ title: 'Due', text }]
      const shown = { title: '2026-01-06 08:30', preview: due('2026-01-06 07:20') }
      expect(await list(own, { timeZone: 'Asia/Tokyo' })).toMatchObject([shown])
      const path = `/api/v2/meta/bases/${own.baseId}/trash/items`
      expect((await own.rest.get(`${path}?timeZone=Asia/Tokyo`)).body.list).toMatchObject([shown])
      expect((await own.rest.get(`${path}?timeZone=Mars`)).status).toBe(400)
      const inUtc = { title: '2026-01-05 23:30', preview: due('2026-01-05 22:20') }
      expect((await own.rest.get(path)).body.list).toMatchObject([inUtc])
    })

    test('finds days and times as its reader sees them, and empties just those', async () => {
      const own = await ownBase()
      const table = await own.table({ Title: 'SingleLineText', At: 'DateTime' }, [
        { Title: 'Late', At: '2026-01-05 23:30:00+00:00' },
        { Title: 'Early', At: '2026-01-05 08:00:00+00:00' },
        { Title: 'Next', At: '2026-01-06 20:00:00+00:00' },
        { Title: 'About 2026-01-06', At: null },
      ])
      await remove(own, table, [1, 2, 3, 4])
      const found = async (search: string, timeZone?: string) =>
        titles(await list(own, { search, timeZone })).toSorted()
      expect(await found('2026-01-06', 'Asia/Tokyo')).toEqual(['record About 2026-01-06', 'record Late'])
      expect(await found('2026-01-06')).toEqual(['record About 2026-01-06', 'record Next'])
      expect(await found('2026-01-05', 'Asia/Tokyo')).toEqual(['record Early'])
      expect(await found('2026-01-06 08:30', 'Asia/Tokyo')).toEqual(['record Late'])
      expect(await found('2026-01-05 23:30')).toEqual(['record Late'])
      expect(await found('2026-01')).toHaveLength(4)
      const all = await own.trpc.trash.listAll.query({ search: '2026-01-05', timeZone: 'Asia/Tokyo' })
      expect(all.items.filter(({ base }) => base.id === own.baseId).map(({ title }) => title)).toEqual([
        'Early',
      ])
      const inUtc = await own.trpc.trash.listAll.query({ search: '2026-01-05' })
      expect(inUtc.items.filter(({ base }) => base.id === own.baseId)).toHaveLength(2)
      const which = { baseId: own.baseId, search: '2026-01-05', timeZone: 'Asia/Tokyo' }
      expect(await own.trpc.trash.empty.mutate(which)).toEqual({ deleted: 1, failed: [] })
      expect(await found('2026-01')).toHaveLength(3)
    })

    test('finds times of a day and months as its reader sees them', async () => {
      const own = await ownBase()
      const month = { type: 'DateTime', options: { format: 'YYYY-MM', timeZone: 'local' } } as const
      const half = { type: 'DateTime', options: { time12h: true } } as const
      const exact = { type: 'DateTime', options: { seconds: true } } as const
      const fields = {
        Title: 'SingleLineText',
        At: 'DateTime',
        Month: month,
        Half: half,
        Exact: exact,
      } as const
      const table = await own.table(fields, [
        { Title: 'Winter', At: '2024-01-31 16:30:00+00:00' },
        { Title: 'Summer', At: '2024-07-05 00:30:59+00:00' },
        { Title: 'First', Month: '2024-03-01 12:00:00+00:00' },
        { Title: 'Last', Month: '2024-03-31 20:15:00+00:00' },
        { Title: 'Next', Month: '2024-04-01 02:00:00+00:00' },
        { Title: 'Afternoon', Half: '2024-05-01 18:45:00+00:00' },
        { Title: 'Noon', At: '2024-05-02 12:45:00+00:00', Half: '2024-05-02 00:15:00+00:00' },
        { Title: 'Exact', Exact: '2024-05-03 20:12:25+00:00' },
      ])
      await remove(own, table, [1, 2, 3, 4, 5, 6, 7, 8])
      const found = async (search: string, timeZone?: string) =>
        titles(await list(own, { search, timeZone }))
          .map((title) => title.replace('record ', ''))
          .toSorted()
      // 01:30 of the next day in Tokyo.
      expect(await found('01:30', 'Asia/Tokyo')).toEqual(['Winter'])
      expect(await found('16:30', 'Asia/Tokyo')).toEqual([])
      expect(await found('16:30')).toEqual(['Winter'])
      // Summer time counts.
      expect(await found('17:30', 'Europe/Berlin')).toEqual(['Winter'])
      expect(await found('2:30', 'Europe/Berlin')).toEqual(['Summer'])
      expect(await found('02:30:59', 'Europe/Berlin')).toEqual(['Summer'])
      expect(await found('30:59', 'Europe/Berlin')).toEqual(['Summer'])
      expect(await found('07-05 02', 'Europe/Berlin')).toEqual(['Summer'])
      expect(await found('2024-01', 'Asia/Tokyo')).toEqual([])
      expect(await found('2024-02', 'Asia/Tokyo')).toEqual(['Winter'])
      expect(await found('2024-03')).toEqual(['First', 'Last'])
      expect(await found('2024 3')).toEqual(['First', 'Last'])
      expect(await found('2024-03', 'Asia/Tokyo')).toEqual(['First'])
      expect(await found('2024-04', 'Asia/Tokyo')).toEqual(['Last', 'Next'])
      expect(await found('2024-04 05:15', 'Asia/Tokyo')).toEqual(['Last'])
      expect(await found('6:45 pm')).toEqual(['Afternoon'])
      expect(await found('06:45')).toEqual(['Afternoon'])
      expect(await found('6:45 am')).toEqual([])
      expect(await found('3:45 AM', 'Asia/Tokyo')).toEqual(['Afternoon'])
      // Part of what is shown: 12:45, and 12:15 am.
      expect(await found('2:45')).toEqual(['Noon'])
      expect(await found('02:45')).toEqual([])
      expect(await found('2:15')).toEqual(['Noon'])
      expect(await found('2:15 am')).toEqual(['Noon'])
      expect(await found('2:15 pm')).toEqual([])
      expect(await found('2:25')).toEqual(['Exact'])
      expect(await found('12:25')).toEqual(['Exact'])
    })

    test('tells that a deletion has more records than are counted', async () => {
      const own = await ownBase()
      const table = await own.table({ Title: 'SingleLineText' }, [{ Title: 'One' }])
      await remove(own, table, [1])
      const [item] = await list(own)
      const changeId = item?.deletion?.changeId ?? 0
      const engine = await own.app.kernel.sources.engine(own.baseId)
      const addUpTo = (last: number, first: number) =>
        engine.writeScript([
          {
            sql: `insert into sheaf_change_records (change_id, table_id, record_id, before)
              with recursive numbers(n) as (select ${first} union all select n + 1 from numbers where n < ${last})
              select ${changeId}, '${table.id}', ${database === 'postgres' ? 'cast(n as text)' : 'n'}, '{}' from numbers`,
            params: [],
          },
        ])
      await addUpTo(100_000, 2)
      expect((await list(own, { limit: 1 }))[0]?.deletion?.records).toBe(100_000)
      // The next page goes on in the deletion: it does not sort it, nor reads its beginning again.
      const { next } = await own.trpc.trash.list.query({ baseId: own.baseId, limit: 2 })
      const { all } = engine
      const reads: Statement[] = []
      const spy = spyOn(engine, 'all').mockImplementation((statement, options) => {
        if (statement.sql.startsWith('select r.table_id')) reads.push(statement)
        return all(statement, options)
      })
      const page = await list(own, { limit: 2, cursor: next }).finally(() => spy.mockRestore())
      expect(page).toEqual((await list(own, { limit: 4 })).slice(2))
      expect(reads).toHaveLength(1)
      if (database === 'sqlite') {
        const plan = await engine.all({ ...reads[0]!, sql: `explain query plan ${reads[0]!.sql}` })
        expect(JSON.stringify(plan)).not.toContain('TEMP B-TREE')
      }
      await addUpTo(100_005, 100_001)
      expect((await list(own, { limit: 1 }))[0]?.deletion?.records).toBe(MAX_COUNTED_RECORDS + 1)
    })

    test('is filtered by kind, table, person and text, and read page by page', async () => {
      const own = await ownBase()
      const [one, two] = [
        await own.table(
          { Title: 'SingleLineText', Note: 'SingleLineText' },
          Array.from({ length: 7 }, (_, at) => ({ Title: `One ${at}`, Note: `n${at}` })),
        ),
        await own.table({ Title: 'SingleLineText' }, [{ Title: 'Two 0' }, { Title: 'Two 1' }]),
      ]
      const editor = await memberOf('editor', own.baseId)
      await remove(own, one, [1, 2, 3])
      await remove(own, two, [1, 2], editor.trpc)
      await remove(own, one, [4])
      for (const title of ['A', 'B', 'C']) {
        const tableId = title === 'C' ? two.id : one.id
        const view = await own.trpc.views.create.mutate({ tableId, title, kind: 'grid' })
        await own.trpc.views.delete.mutate({ viewId: view.id })
      }
      await own.trpc.schema.deleteField.mutate({ fieldId: one.field('Note').id })
      const all = titles(await list(own))
      expect(all).toEqual([
        'field Note',
        'view C',
        'view B',
        'view A',
        'record One 3',
        'record Two 0',
        'record Two 1',
        'record One 0',
        'record One 1',
        'record One 2',
      ])
      for (const limit of [1, 3, 4]) {
        const seen: string[] = []
        let cursor: string | null = null
        do {
          const page = await own.trpc.trash.list.query({ baseId: own.baseId, limit, cursor })
          expect(page.items.length).toBeLessThanOrEqual(limit)
          seen.push(...titles(page.items))
          cursor = page.next
        } while (cursor !== null)
        expect(seen).toEqual(all)
      }
      expect(titles(await list(own, { kinds: ['view', 'field'] }))).toEqual(all.slice(0, 4))
      expect(titles(await list(own, { tableId: two.id }))).toEqual(['view C', 'record Two 0', 'record Two 1'])
      expect(titles(await list(own, { deletedBy: editor.id }))).toEqual(['record Two 0', 'record Two 1'])
      expect(titles(await list(own, { search: 'ONE' }))).toEqual([
        'record One 3',
        'record One 0',
        'record One 1',
        'record One 2',
      ])
      expect(titles(await list(own, { search: 'b' }))).toEqual(['view B'])
    })

    test('leaves out the links that a deleted table takes with it', async () => {
      const own = await ownBase()
      const [people, firms] = [await own.table(), await own.table()]
      await own.trpc.schema.createField.mutate({
        tableId: people.id,
        field: { title: 'Firm', type: 'Links', options: { kind: 'mm', relatedTableId: firms.id } },
      })
      await own.trpc.schema.deleteTable.mutate({ tableId: firms.id })
      expect(titles(await list(own))).toEqual([`table ${firms.title}`])
    })
  })

  describe('restoring', () => {
    test('brings back one item of each kind at once, and tells what could not be restored', async () => {
      const { own, table, gone } = await filled()
      const refs = (await list(own)).map(({ ref }) => ref)
      const missing = { kind: 'field' as const, fieldId: table.field('Title').id }
      const result = await restore(own, ...refs, missing)
      expect(result).toMatchObject({ restored: 5, renamed: [], failed: [{ ref: missing }] })
      expect(await list(own)).toEqual([])
      expect(await table.list()).toContainEqual(expect.objectContaining({ Title: 'Ada', Num: 7 }))
      expect(await gone.total()).toBe(0)
      await settled(own)
      const files = (await table.list()).flatMap((row) => (row.Files as { title: string }[] | null) ?? [])
      expect(files.map(({ title }) => title)).toEqual(['plan.txt'])
      expect(await refusalOf(restore(own, missing))).toMatchObject({ code: 'FIELD_NOT_FOUND' })
    })

    test('rejects items of another base and too many items', async () => {
      const { own, table } = await filled()
      const ref = { kind: 'record' as const, tableId: table.id, recordId: 1 }
      expect(await refusalOf(restore(bench, ref))).toMatchObject({ code: 'TABLE_NOT_FOUND' })
      expect(await refusalOf(restore(bench, await find(own, 'field', 'Num')))).toMatchObject({
        code: 'FIELD_NOT_FOUND',
      })
      expect(await refusalOf(restore(bench, await find(own, 'file', 'plan.txt')))).toMatchObject({
        status: 404,
      })
      expect(await refusalOf(restore(own, ...Array(501).fill(ref)))).toMatchObject({ status: 400 })
      expect(await refusalOf(restore(own))).toMatchObject({ status: 400 })
    })

    test('brings a link back of which both sides are selected, as deleting both forever deletes it', async () => {
      const own = await ownBase()
      const [people, firms] = [await own.table(), await own.table()]
      const { id: fieldId } = await own.trpc.schema.createField.mutate({
        tableId: people.id,
        field: { title: 'Firm', type: 'Links', options: { kind: 'mm', relatedTableId: firms.id } },
      })
      const bothSides = async () => {
        await own.trpc.schema.deleteField.mutate({ fieldId })
        const sides = (await list(own)).map(({ ref }) => ref)
        expect(sides.map(({ kind }) => kind)).toEqual(['field', 'field'])
        return sides
      }
      expect(await restore(own, ...(await bothSides()))).toMatchObject({ restored: 2, failed: [] })
      expect(await list(own)).toEqual([])
      expect(await purge(own, ...(await bothSides()))).toEqual({ deleted: 2, failed: [] })
      expect(await list(own)).toEqual([])
    })

    test('gives names that are in use a suffix, and tells them', async () => {
      const own = await ownBase()
      const table = await own.table({ Title: 'SingleLineText', Num: 'Number' })
      const { trpc, baseId } = own
      const view = await trpc.views.create.mutate({ tableId: table.id, title: 'Wide', kind: 'grid' })
      await trpc.views.delete.mutate({ viewId: view.id })
      await trpc.views.create.mutate({ tableId: table.id, title: 'Wide', kind: 'grid' })
      await trpc.schema.deleteField.mutate({ fieldId: table.field('Num').id })
      await trpc.schema.createField.mutate({ tableId: table.id, field: { title: 'num', type: 'Number' } })
      const other = await own.table()
      await trpc.schema.deleteTable.mutate({ tableId: other.id })
      await trpc.schema.createTable.mutate({ baseId, title: other.title, fields: [] })
      const { renamed, restored } = await restore(own, ...(await list(own)).map(({ ref }) => ref))
      expect(restored).toBe(3)
      expect(renamed).toEqual([
        { from: other.title, to: `${other.title}_1` },
        { from: 'Num', to: 'Num_1' },
        { from: 'Wide', to: 'Wide_1' },
      ])
    })

    test('brings a table back with links in both directions, computed fields, views, comments and webhooks', async () => {
      const own = await ownBase()
      const { trpc, baseId } = own
      const firms = await own.table({ Title: 'SingleLineText', Size: 'Number' }, [
        { Title: 'Acme', Size: 5 },
        { Title: 'Bolt', Size: 9 },
      ])
      const people = await own.table({ Title: 'SingleLineText' }, [{ Title: 'Ada' }, { Title: 'Ben' }])
      const link = await trpc.schema.createField.mutate({
        tableId: people.id,
        field: { title: 'Firms', type: 'Links', options: { kind: 'mm', relatedTableId: firms.id } },
      })
      await trpc.records.write.mutate({
        change: {
          baseId,
          operations: [{ kind: 'link', tableId: people.id, fieldId: link.id, id: 1, targets: [1, 2] }],
        },
      })
      await trpc.schema.createField.mutate({
        tableId: people.id,
        field: {
          title: 'Sizes',
          type: 'Rollup',
          options: { relationFieldId: link.id, targetFieldId: firms.field('Size').id, function: 'sum' },
        },
      })
      await trpc.schema.createField.mutate({
        tableId: people.id,
        field: { title: 'Double', type: 'Formula', options: { formula: '{Sizes} * 2' } },
      })
      const view = await trpc.views.create.mutate({ tableId: firms.id, title: 'Big', kind: 'grid' })
      const sorts = [{ fieldId: firms.field('Size').id, direction: 'desc' as const }]
      await trpc.views.update.mutate({ viewId: view.id, patch: { sorts } })
      const share = await trpc.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} })
      await trpc.comments.create.mutate({ tableId: firms.id, recordId: 1, text: 'Call them' })
      await own.rest.post(`/api/v2/meta/tables/${firms.id}/hooks`, {
        title: 'Tell',
        event: 'after',
        operation: 'insert',
        notification: { type: 'URL', payload: { method: 'POST', path: 'https://example.com/hook' } },
      })
      const state = async () => ({
        people: await people.list(),
        firms: await firms.list(),
        fields: (await trpc.schema.table.query({ tableId: people.id })).fields.map(({ title, error }) => [
          title,
          error,
        ]),
        sorts: (await trpc.schema.table.query({ tableId: firms.id })).views.find(({ id }) => id === view.id)
          ?.sorts,
        comments: (await trpc.comments.list.query({ tableId: firms.id, recordId: 1 })).comments.map(
          ({ text }: { text: string }) => text,
        ),
        hooks: (await trpc.hooks.list.query({ tableId: firms.id })).map(({ title }) => title),
      })
      const before = await state()
      await trpc.schema.deleteTable.mutate({ tableId: firms.id })
      expect((await people.list())[0]).not.toHaveProperty('Firms')
      const opened = () => own.app.rest().get(`/api/v2/public/shared-view/${share.id}/meta`)
      expect((await opened()).status).toBe(404)

      const result = await restore(own, await find(own, 'table', firms.title))
      expect(result).toMatchObject({ restored: 1, renamed: [], closedLinks: 1 })
      expect(await state()).toEqual(before)
      // Nobody finds it public again without having opened the link.
      expect((await opened()).status).not.toBe(200)
      await trpc.shares.save.mutate({ kind: 'view', targetId: view.id, patch: { expiresAt: null } })
      expect((await opened()).status).toBe(200)
    })

    test('brings a field back to its place in views, with the filters and sorts that used it', async () => {
      const own = await ownBase()
      const { trpc } = own
      const table = await own.table({ Title: 'SingleLineText', Num: 'Number', More: 'Number' }, [
        { Title: 'a', Num: 1 },
        { Title: 'b', Num: 2 },
      ])
      const view = await trpc.views.create.mutate({ tableId: table.id, title: 'Big', kind: 'grid' })
      const fieldId = table.field('Num').id
      await trpc.views.update.mutate({
        viewId: view.id,
        patch: {
          sorts: [{ fieldId, direction: 'desc' }],
          filter: { join: 'and', children: [{ fieldId, operator: 'gt', value: '1' }] },
        },
      })
      const state = async () => {
        const { views } = await trpc.schema.table.query({ tableId: table.id })
        const { fields, sorts, filter } = views.find(({ id }) => id === view.id)!
        return { fields, sorts, filter, rows: await table.list(`?viewId=${view.id}`) }
      }
      const before = await state()
      await trpc.schema.deleteField.mutate({ fieldId })
      expect((await state()).sorts).toEqual([])
      await restore(own, await find(own, 'field', 'Num'))
      expect(await state()).toEqual(before)
      expect(before.rows.map(({ Title }) => Title)).toEqual(['b'])
    })

    test('brings a view back with its order, filter and closed public link', async () => {
      const own = await ownBase()
      const { trpc } = own
      const table = await own.table()
      const made = await trpc.views.create.mutate({ tableId: table.id, title: 'Form', kind: 'form' })
      const share = await trpc.shares.save.mutate({ kind: 'view', targetId: made.id, patch: {} })
      const find1 = async () =>
        (await trpc.schema.table.query({ tableId: table.id })).views.find(({ id }) => id === made.id)
      const before = await find1()
      await trpc.views.delete.mutate({ viewId: made.id })
      expect(await restore(own, await find(own, 'view', 'Form'))).toMatchObject({ closedLinks: 1 })
      expect(await find1()).toMatchObject({ order: before!.order, fields: before!.fields })
      expect((await trpc.shares.get.query({ kind: 'view', targetId: made.id }))?.id).toBe(share.id)
      const opened = await own.app.rest().get(`/api/v2/public/shared-view/${share.id}/meta`)
      expect(opened.status).not.toBe(200)
    })

    test('puts a file behind those that its cell has now; a record that is gone is told', async () => {
      const own = await ownBase()
      const table = await own.table({ Title: 'SingleLineText', Files: 'Attachment' })
      const { id } = await detach(own, table, 'first.txt')
      const { path } = await uploadOne(own, own.owner.token, 'second.txt', 'second')
      await own.rest.patch(table.path, { Id: id, Files: [{ path, title: 'second.txt' }] })
      await restore(own, await find(own, 'file', 'first.txt'))
      const row = (await table.list())[0] as { Files: { title: string }[] }
      expect(row.Files.map(({ title }) => title)).toEqual(['second.txt', 'first.txt'])
      await settled(own)
      expect(await list(own)).toEqual([])

      const lost = await detach(own, table, 'lost.txt')
      await remove(own, table, [lost.id])
      expect(await refusalOf(restore(own, await find(own, 'file', 'lost.txt')))).toMatchObject({
        code: 'RECORD_NOT_FOUND',
      })
      // Undo of the edit that removed it takes it out of the trash as well.
      const undone = await detach(own, table, 'undone.txt')
      await own.trpc.records.undo.mutate({ baseId: own.baseId })
      await settled(own)
      expect(titles(await list(own, { kinds: ['file'] }))).toEqual(['file lost.txt'])
      expect(undone.id).toBeGreaterThan(lost.id)
    })
  })

  describe('deleting forever', () => {
    test('is for creators; a file is erased from the history of its record, and its bytes go', async () => {
      const own = await ownBase()
      const table = await own.table({ Title: 'SingleLineText', Files: 'Attachment' })
      const { id, path } = await detach(own, table, 'secret.txt')
      const ref = await find(own, 'file', 'secret.txt')
      const editor = await memberOf('editor', own.baseId)
      expect(
        await refusalOf(editor.trpc.trash.purge.mutate({ baseId: own.baseId, items: [ref] })),
      ).toMatchObject({ status: 403 })
      const logged = async () => {
        const engine = await own.app.kernel.sources.engine(own.baseId)
        return JSON.stringify(
          await engine.values({ sql: 'select before, after from sheaf_change_records', params: [] }),
        )
      }
      expect(await logged()).toContain(path)
      const { attachmentFiles, attachmentUses } = own.app.kernel.meta.tables(defineRecordsTables)
      const { db } = own.app.kernel.meta
      await db
        .update(attachmentFiles)
        .set({ createdAt: new Date(Date.now() - 5 * DAY_MS).toISOString() })
        .where(eq(attachmentFiles.path, path))
      await purge(own, ref)
      expect(await logged()).not.toContain(path)
      expect(await list(own)).toEqual([])
      expect((await table.list())[0]).toMatchObject({ Id: id, Files: null })
      const { attachments } = own.app.services.records
      await attachments.sweepBase(own.baseId)
      await db
        .update(attachmentUses)
        .set({ unusedSince: new Date(Date.now() - 2 * DAY_MS).toISOString() })
        .where(isNotNull(attachmentUses.unusedSince))
      await attachments.sweepBase(own.baseId)
      await attachments.sweep()
      expect(await db.select().from(attachmentFiles).where(eq(attachmentFiles.path, path))).toEqual([])
    })

    test('erases two files of one record at once', async () => {
      const own = await ownBase()
      const table = await own.table({ Title: 'SingleLineText', Files: 'Attachment' })
      const { id, path: first } = await detach(own, table, 'first.txt')
      const { path: second } = await uploadOne(own, own.owner.token, 'second.txt', 'second')
      const both = [
        { path: first, title: 'first.txt' },
        { path: second, title: 'second.txt' },
      ]
      await own.rest.patch(table.path, { Id: id, Files: both })
      await own.rest.patch(table.path, { Id: id, Files: null })
      await settled(own)
      const refs = [await find(own, 'file', 'first.txt'), await find(own, 'file', 'second.txt')]
      const engine = await own.app.kernel.sources.engine(own.baseId)
      const scripts = spyOn(engine, 'writeScript')
      try {
        let purged: Promise<unknown> = Promise.resolve()
        await engine.exclusively(async () => {
          purged = Promise.all(refs.map((ref) => purge(own, ref)))
          while (scripts.mock.calls.length < refs.length) await Bun.sleep(5)
        })
        await purged
      } finally {
        scripts.mockRestore()
      }
      const logged = JSON.stringify(
        await engine.values({ sql: 'select before, after from sheaf_change_records', params: [] }),
      )
      for (const path of [first, second]) expect(logged).not.toContain(path)
      expect(await list(own)).toEqual([])
    })

    test('empties the trash, or what matches; the rest stays', async () => {
      const { own, table } = await filled()
      await remove(own, table, [2])
      const { baseId } = own
      const editor = await memberOf('editor', baseId)
      expect(await refusalOf(editor.trpc.trash.empty.mutate({ baseId }))).toMatchObject({ status: 403 })
      expect(await own.trpc.trash.empty.mutate({ baseId, kinds: ['record'], search: 'ben' })).toEqual({
        deleted: 1,
        failed: [],
      })
      expect(await own.trpc.trash.empty.mutate({ baseId, kinds: ['view', 'table'] })).toMatchObject({
        deleted: 2,
      })
      expect(titles(await list(own))).toEqual(['field Num', 'record Ada', 'file plan.txt'])
      expect(await own.trpc.trash.empty.mutate({ baseId })).toEqual({ deleted: 3, failed: [] })
      expect(await list(own)).toEqual([])
      expect(await table.titles()).toEqual(['plan.txt'])
    })
  })

  test('two people empty the trash at once: neither gets an error, and each is told what they deleted', async () => {
    const own = await ownBase()
    const { baseId, trpc } = own
    const tables = [await own.table({ Title: 'SingleLineText' }, [{ Title: 'a' }]), await own.table()]
    await remove(own, tables[0]!, [1])
    const view = await trpc.views.create.mutate({ tableId: tables[1]!.id, title: 'Wide', kind: 'grid' })
    await trpc.views.delete.mutate({ viewId: view.id })
    const outcomes = await Promise.all([1, 2].map(() => trpc.trash.empty.mutate({ baseId })))
    expect(outcomes.reduce((sum, { deleted }) => sum + deleted, 0)).toBe(2)
    expect(await list(own)).toEqual([])
  })

  describe('retention', () => {
    /** Makes all deletions so far older. */
    async function age(own: Bench, days: number) {
      const at = new Date(Date.now() - days * DAY_MS).toISOString()
      const { meta, sources } = own.app.kernel
      const engine = await sources.engine(own.baseId)
      await engine.writeScript([{ sql: `update sheaf_changes set at = '${at}'`, params: [] }])
      const { tables, fields } = meta.tables(defineSchemaTables)
      const { detachedFiles } = meta.tables(defineTrashTables)
      await meta.db.update(tables).set({ deletedAt: at }).where(isNotNull(tables.deletedAt))
      await meta.db.update(fields).set({ deletedAt: at }).where(isNotNull(fields.deletedAt))
      await meta.db.update(detachedFiles).set({ detachedAt: at })
    }
    const cleanUp = async (own: Bench) =>
      own.app.services.storage.purge(
        (await own.app.services.bases.all()).find(({ id }) => id === own.baseId)!,
      )

    test('is chosen by owners, 0 to 36,500 days; null is the server’s default', async () => {
      const own = await ownBase()
      const { baseId, trpc } = own
      const creator = await memberOf('creator', baseId)
      const call = creator.trpc.trash.setRetention.mutate({ baseId, days: 7 })
      expect(await refusalOf(call)).toMatchObject({ status: 403 })
      for (const days of [-1, 1.5, 40_000])
        expect(await refusalOf(trpc.trash.setRetention.mutate({ baseId, days }))).toMatchObject({
          status: 400,
        })
      expect(await trpc.trash.retention.query({ baseId })).toEqual({
        days: null,
        defaultDays: 30,
        keptDays: 30,
      })
      await trpc.trash.setRetention.mutate({ baseId, days: 0 })
      // No longer than the change log, which holds the records.
      expect(await trpc.trash.retention.query({ baseId })).toMatchObject({ days: 0, keptDays: 365 })
      await trpc.storage.setHistoryDays.mutate({ baseId, days: 0 })
      expect(await trpc.trash.retention.query({ baseId })).toMatchObject({ keptDays: 0 })
    })

    test('removes every kind of item once it is older, and keeps the history of what stays', async () => {
      const { own, table } = await filled()
      await own.rest.patch(table.path, { Id: 2, Title: 'Bea' })
      await age(own, 29)
      await cleanUp(own)
      expect((await list(own)).length).toBe(5)
      await age(own, 31)
      await cleanUp(own)
      expect(await list(own)).toEqual([])
      expect(await table.titles()).toEqual(['Bea', 'plan.txt'])
      const history = await own.trpc.records.history.query({ tableId: table.id, recordId: 2 })
      expect(history.entries.some(({ changes }) => changes.length > 0)).toBe(true)
      expect(await refusalOf(restore(own, { kind: 'record', tableId: table.id, recordId: 1 }))).toMatchObject(
        {
          code: 'RECORD_NOT_FOUND',
        },
      )
      const engine = await own.app.kernel.sources.engine(own.baseId)
      const columns = await engine.all<{ name: string }>(
        engine.dialect.listColumns(table.schema.table.tableName),
      )
      expect(columns.map(({ name }) => name)).not.toContain(table.field('Num').columnName)
      // The log still tells that something was deleted, and the purge is told as one of nobody.
      const { actions } = await own.trpc.records.actions.query({ baseId: own.baseId, limit: 1 })
      expect(actions[0]).toMatchObject({ kind: 'records.purge', actorId: null, state: 'final' })
    })

    test('never touches what was restored meanwhile', async () => {
      const { own, table, gone } = await filled()
      await age(own, 31)
      await restore(own, ...(await list(own)).map(({ ref }) => ref))
      await cleanUp(own)
      expect(await table.total()).toBe(3)
      expect(await gone.total()).toBe(0)
      expect(await table.list()).toContainEqual(expect.objectContaining({ Title: 'Ada', Num: 7 }))
    })

    test('0 keeps everything as long as the change log', async () => {
      const { own } = await filled()
      await own.trpc.trash.setRetention.mutate({ baseId: own.baseId, days: 0 })
      await age(own, 300)
      await cleanUp(own)
      expect((await list(own)).length).toBe(5)
      expect((await list(own))[0]?.expiresAt).not.toBeNull()
    })

    test('removes old bases, but none that was restored or deleted again meanwhile', async () => {
      const [old, back, again] = [await ownBase(), await ownBase(), await ownBase()]
      const { bases: service, storage, trash } = bench.app.services
      const { bases } = bench.app.kernel.meta.tables(defineBasesTables)
      for (const { baseId, trpc } of [old, back, again]) {
        await trpc.bases.delete.mutate({ baseId })
        await bench.app.kernel.meta.db
          .update(bases)
          .set({ deletedAt: new Date(Date.now() - 31 * DAY_MS).toISOString() })
          .where(eq(bases.id, baseId))
      }
      const seen = await service.trashed()
      await bench.trpc.trash.restoreBase.mutate({ baseId: back.baseId })
      await bench.trpc.trash.restoreBase.mutate({ baseId: again.baseId })
      await bench.trpc.bases.delete.mutate({ baseId: again.baseId })
      for (const { baseId } of [back, again])
        expect(await trash.removeBase(seen.find(({ id }) => id === baseId)!)).toBe(false)
      await storage.purgeDue()
      const left = (await bench.trpc.trash.bases.query()).bases.map(({ base }) => base.id)
      expect(left).toContain(again.baseId)
      expect(left).not.toContain(old.baseId)
      expect((await bench.trpc.bases.get.query({ baseId: back.baseId })).id).toBe(back.baseId)
    })
  })

  describe('deleted bases', () => {
    test('are listed for owners and restored with members and records; public links stay closed', async () => {
      const own = await ownBase()
      const { baseId, trpc } = own
      const table = await own.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
      const creator = await memberOf('creator', baseId)
      const share = await trpc.shares.save.mutate({ kind: 'base', targetId: baseId, patch: {} })
      const { title } = await trpc.bases.get.query({ baseId })
      await trpc.bases.delete.mutate({ baseId })
      const namesake = await createBase(bench.app, bench.owner, title)
      const { bases, people } = await trpc.trash.bases.query()
      const listed = bases.find(({ base }) => base.id === baseId)
      expect(listed).toMatchObject({ deletedBy: bench.owner.id, base: { title } })
      expect(Date.parse(listed?.expiresAt ?? '')).toBe(Date.parse(listed?.base.deletedAt ?? '') + 30 * DAY_MS)
      expect(people.map(({ id }) => id)).toContain(bench.owner.id)
      expect((await creator.trpc.trash.bases.query()).bases).toEqual([])
      expect(await refusalOf(creator.trpc.trash.restoreBase.mutate({ baseId }))).toMatchObject({
        status: 403,
      })

      expect(await trpc.trash.restoreBase.mutate({ baseId })).toMatchObject({
        base: { id: baseId, title: `${title}_1` },
        renamed: [{ from: title, to: `${title}_1` }],
        closedLinks: 1,
      })
      expect(await table.titles()).toEqual(['a'])
      expect((await creator.trpc.bases.get.query({ baseId })).role).toBe('creator')
      const opened = await bench.app.rest().get(`/api/v2/public/shared-base/${share.id}/meta`)
      expect(opened.status).not.toBe(200)
      expect(await refusalOf(trpc.trash.restoreBase.mutate({ baseId: namesake.id }))).toMatchObject({
        code: 'BASE_NOT_FOUND',
      })
    })
  })

  describe('over REST', () => {
    const address = (own: Bench) => `/api/v2/meta/bases/${own.baseId}/trash`

    test('is listed with filters and pages, restored, purged and emptied', async () => {
      const { own, table } = await filled()
      for (const query of ['?limit=0', '?limit=x', '?kinds=all', '?cursor=x', '?wrong=1'])
        expect((await own.rest.get(`${address(own)}/items${query}`)).status).toBe(400)
      const first = (await own.rest.get(`${address(own)}/items?limit=2&kinds=record,field,view`)).body
      expect(first.list.map(({ title }: { title: string }) => title)).toEqual(['Wide', 'Num'])
      expect(first).toMatchObject({ keptDays: 30, list: [{ deletedBy: { email: own.owner.email } }, {}] })
      const query = `?limit=2&kinds=record,field,view&cursor=${first.cursor}`
      const rest = (await own.rest.get(`${address(own)}/items${query}`)).body
      expect(rest).toMatchObject({
        cursor: null,
        list: [
          {
            ref: { kind: 'record', tableId: table.id, recordId: 1 },
            title: 'Ada',
            table: { title: table.title },
          },
        ],
      })
      const items = [rest.list[0].ref]
      expect((await own.rest.post(`${address(own)}/restore`, { items })).body).toMatchObject({ restored: 1 })
      expect((await own.rest.post(`${address(own)}/purge`, { items })).status).toBe(404)
      const { ref } = first.list[1]
      expect((await own.rest.post(`${address(own)}/purge`, { items: [ref] })).body).toEqual({
        deleted: 1,
        failed: [],
      })
      expect((await own.rest.post(`${address(own)}/empty`, {})).body).toMatchObject({ deleted: 3 })
      expect((await own.rest.get(`${address(own)}/items`)).body.list).toEqual([])
    })

    test('owners set the retention', async () => {
      const own = await ownBase()
      expect((await own.rest.patch(`${address(own)}/settings`, { days: 7 })).body).toEqual({
        days: 7,
        defaultDays: 30,
        keptDays: 7,
      })
      expect((await own.rest.patch(`${address(own)}/settings`, { days: -7 })).status).toBe(400)
      expect((await own.rest.get(`${address(own)}/settings`)).body).toMatchObject({ days: 7 })
    })

    test('deleted bases are listed and restored', async () => {
      const own = await ownBase()
      await own.trpc.bases.delete.mutate({ baseId: own.baseId })
      const { list: found } = (await own.rest.get('/api/v2/meta/trash/bases')).body
      expect(found).toContainEqual(expect.objectContaining({ id: own.baseId }))
      const answer = await own.rest.post(`/api/v2/meta/trash/bases/${own.baseId}/restore`, {})
      expect(answer.body).toMatchObject({ id: own.baseId, renamed: [], closedLinks: 0 })
    })
  })
})
