import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { linkOf } from '../../src/core/fields/link-options.ts'
import type { Work } from '../../src/core/work.ts'
import { findSent } from '../../src/db/change-log/entries.ts'
import { lastChangeId } from '../../src/db/change-log/entry.ts'
import { removeEntries } from '../../src/db/change-log/removal.ts'
import { defineJobsTable } from '../../src/db/jobs-table.ts'
import { uploadOne } from '../records/attachments-support.ts'
import { type Bench, benchOf, createBench, type TestTable, testTable } from '../records/support.ts'
import { connect, createForeign } from '../sources/support.ts'
import { createBase, createMember } from '../support/factories.ts'
import { asked } from './asked.ts'

let bench: Bench
let other: Bench
beforeAll(async () => {
  bench = await createBench()
  other = benchOf(bench.app, bench.owner, (await createBase(bench.app, bench.owner)).id)
})
afterAll(() => bench.stop())

interface Options {
  mapping?: Record<string, string | null>
  move?: boolean
}

/** Copies records over REST, as the owner. */
const copy = async (source: TestTable, target: TestTable, ids: (number | string)[], options: Options = {}) =>
  bench.rest.post(`${source.path}/copy`, { targetTableId: target.id, ids, ...options })
const undo = ({ baseId, trpc }: Bench) => trpc.records.undo.mutate({ baseId })
const reload = async (table: TestTable) =>
  testTable(bench.rest, await bench.trpc.schema.table.query({ tableId: table.id }))

async function linkTo(
  from: TestTable,
  to: TestTable,
  kind: 'mm' | 'bt' | 'hm' | 'oo' = 'mm',
  title = 'Makers',
) {
  const field = { title, type: 'Links' as const, options: { kind, relatedTableId: to.id } }
  const { id } = await bench.trpc.schema.createField.mutate({ tableId: from.id, field })
  return { id, table: await reload(from) }
}

const link = (of: Bench, table: TestTable, fieldId: string, id: number, targets: number[]) =>
  of.trpc.records.write.mutate({
    change: { baseId: of.baseId, operations: [{ kind: 'link', tableId: table.id, fieldId, id, targets }] },
  })

describe('POST /api/v2/tables/{tableId}/records/copy', () => {
  test('rejects wrong requests, which change nothing', async () => {
    const source = await bench.table({ Title: 'SingleLineText', Price: 'Number' }, [{ Title: 'a', Price: 1 }])
    const target = await other.table({ Title: 'SingleLineText', Files: 'Attachment', Sum: 'Number' })
    const field = { title: 'Twice', type: 'Formula', options: { formula: '{Sum} * 2' } } as never
    await bench.trpc.schema.createField.mutate({ tableId: target.id, field })
    for (const [body, status] of [
      [{ ids: [] }, 400],
      [{ ids: Array.from({ length: 100_001 }, (_, at) => at + 1) }, 400],
      [{ ids: [{}] }, 400],
      [{ ids: ['x'] }, 422],
      [{ ids: [1, 99] }, 404],
      [{ wrong: 1 }, 400],
      [{ targetTableId: 'm00000000000000' }, 404],
      [{ targetTableId: source.id }, 400],
      [{ mapping: { Nothing: 'Title' } }, 404],
      [{ mapping: { Title: 'Nothing' } }, 404],
      [{ mapping: { Twice: 'Price' } }, 400],
      [{ mapping: { Id: 'Price' } }, 400],
      [{ mapping: { Files: 'Title' } }, 400],
    ] as const) {
      const request = { targetTableId: target.id, ids: [1], move: true, ...body }
      const answer = await bench.rest.post(`${source.path}/copy`, request)
      expect([body, answer.status]).toEqual([body, status])
    }
    const tooMany = await copy(
      source,
      target,
      Array.from({ length: 100_001 }, (_, at) => at + 1),
    )
    expect(JSON.stringify(tooMany.body)).toContain('100000')
    expect(await target.total()).toBe(0)
    expect(await source.total()).toBe(1)
  })

  test('is for viewers of the source who may add records to the target, a move for editors of both', async () => {
    const source = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const target = await other.table({ Title: 'SingleLineText' })
    const request = { targetTableId: target.id, ids: [1] }
    const tryAs = async (
      roles: { source?: 'viewer' | 'editor'; target?: 'viewer' | 'editor' },
      move = false,
    ) => {
      const [first, second] = roles.source ? [bench, other] : [other, bench]
      const [role, added] = roles.source ? [roles.source, roles.target] : [roles.target, roles.source]
      const member = await createMember(bench.app, first.baseId, role ?? 'viewer')
      if (added)
        await bench.trpc.bases.invite.mutate({ baseId: second.baseId, emails: [member.email], role: added })
      const client = bench.app.rest(member.token)
      const preview = await client.post(`${source.path}/copy/preview`, { ...request, move })
      const { status } = await client.post(`${source.path}/copy`, { ...request, move })
      expect(preview.status).toBe(status)
      return status
    }
    expect(await tryAs({ target: 'editor' })).toBe(403)
    expect(await tryAs({ source: 'editor' })).toBe(403)
    expect(await tryAs({ source: 'editor', target: 'viewer' })).toBe(403)
    expect(await tryAs({ source: 'viewer', target: 'editor' }, true)).toBe(403)
    expect(await target.total()).toBe(0)
    expect(await tryAs({ source: 'viewer', target: 'editor' })).toBe(200)
    expect(await target.total()).toBe(1)
    expect(await tryAs({ source: 'editor', target: 'editor' }, true)).toBe(200)
    expect([await source.total(), await target.total()]).toEqual([0, 2])
  })

  test('matches fields by title and converts values as a paste does; those that do not fit are reported', async () => {
    const source = await bench.table(
      {
        Title: 'SingleLineText',
        Price: 'SingleLineText',
        State: 'SingleLineText',
        Due: 'SingleLineText',
        Only: 'LongText',
      },
      [
        { Title: ' =Lid "x" ', Price: '2.5', State: 'done', Due: '2026-11-05', Only: 'here' },
        { Title: 'Leg', Price: 'cheap', State: 'lost', Due: null },
      ],
    )
    const target = await other.table({
      title: 'SingleLineText',
      PRICE: { type: 'Decimal', options: { precision: 2 } },
      State: {
        type: 'SingleSelect',
        options: { choices: [{ title: 'open' }, { title: 'done' }] },
        defaultValue: 'open',
      },
      Due: 'Date',
      New: { type: 'SingleLineText', defaultValue: 'fresh' },
    })
    const request = { tableId: source.id, recordIds: [2, 1], targetTableId: target.id }
    const preview = await bench.trpc.copies.previewRecords.mutate(request)
    expect(preview.targets.find(({ title }) => title === 'PRICE')?.sourceId).toBe(source.field('Price').id)
    expect(preview.targets.find(({ title }) => title === 'New')?.sourceId).toBeNull()
    expect(preview).toMatchObject({ missing: [], left: ['Only'] })
    const overRest = { targetTableId: target.id, ids: [2, 1] }
    expect(await bench.rest.post(`${source.path}/copy/preview`, overRest)).toMatchObject({
      status: 200,
      body: preview,
    })
    expect(await target.total()).toBe(0)
    const { status, body } = await copy(source, target, [2, 1, 2])
    expect(status).toBe(200)
    expect(body).toMatchObject({ ids: [1, 2], deleted: 0, kept: null })
    expect(body.refused).toEqual(preview.refused)
    expect(body.refused).toMatchObject([
      { title: 'PRICE', count: 1, examples: [{ value: 'cheap' }] },
      { title: 'State', count: 1, examples: [{ value: 'lost', reason: 'Not one of the options' }] },
    ])
    expect(await target.list()).toMatchObject([
      { title: 'Leg', PRICE: null, State: null, Due: null, New: 'fresh' },
      { title: ' =Lid "x" ', PRICE: 2.5, State: 'done', Due: '2026-11-05', New: 'fresh' },
    ])
  })

  test('keeps days, times and durations, whatever the formats and zones of the fields', async () => {
    const values = { Title: 'a', Day: '2025-04-03', At: '2025-04-03 10:00:00+00:00', Took: 5400 }
    const source = await bench.table(
      {
        Title: 'SingleLineText',
        Day: { type: 'Date', options: { format: 'DD/MM/YYYY' } },
        At: { type: 'DateTime', options: { format: 'DD/MM/YYYY', timeZone: 'Asia/Tokyo' } },
        Took: { type: 'Duration', options: { format: 'h:mm' } },
      },
      [values],
    )
    const target = await other.table({
      Title: 'SingleLineText',
      Day: 'Date',
      At: 'DateTime',
      Took: { type: 'Duration', options: { format: 'h:mm:ss' } },
    })
    expect((await copy(source, target, [1])).body.refused).toEqual([])
    expect(await target.list()).toMatchObject([values])
  })

  test('converts days and times in the time zone of whoever copies them', async () => {
    const source = await bench.table(
      { Title: 'SingleLineText', Day: 'Date', At: 'DateTime', Begin: 'DateTime', Same: 'DateTime' },
      [
        {
          Title: 'a',
          Day: '2024-03-05',
          At: '2024-03-05 23:30:00+00:00',
          Begin: '2024-03-05 05:00:00+00:00',
          // The hour that occurs twice.
          Same: '2024-11-03 06:30:00+00:00',
        },
      ],
    )
    const target = await other.table({
      Title: 'SingleLineText',
      Day: 'DateTime',
      At: 'SingleLineText',
      Begin: 'Date',
      Same: 'DateTime',
    })
    const timeZone = 'America/New_York'
    const request = { tableId: source.id, recordIds: [1], targetTableId: target.id, timeZone }
    expect((await bench.trpc.copies.previewRecords.mutate(request)).refused).toEqual([])
    expect((await bench.trpc.copies.records.mutate(request)).refused).toEqual([])
    expect(await target.list()).toMatchObject([
      {
        Day: '2024-03-05 05:00:00+00:00',
        At: '2024-03-05 18:30',
        Begin: '2024-03-05',
        Same: '2024-11-03 06:30:00+00:00',
      },
    ])
  })

  test('takes the given mapping, by ids or titles, and computed values', async () => {
    const source = await bench.table({ Title: 'SingleLineText', Price: 'Number' }, [{ Title: 'a', Price: 4 }])
    const field = { title: 'Twice', type: 'Formula', options: { formula: '{Price} * 2' } } as never
    await bench.trpc.schema.createField.mutate({ tableId: source.id, field })
    const target = await bench.table({ Title: 'SingleLineText', Sum: 'Number', Price: 'Number' })
    const mapping = { [target.field('Sum').id]: 'Twice', Title: null }
    expect((await copy(source, target, [1], { mapping })).status).toBe(200)
    expect(await target.list()).toMatchObject([{ Title: null, Sum: 8, Price: null }])
  })

  test('refuses records without a value for a required field, and writes nothing', async () => {
    const source = await bench.table({ Title: 'SingleLineText', Code: 'SingleLineText' }, [
      { Title: 'a', Code: 'x' },
      { Title: 'b' },
    ])
    const target = await other.table({
      Title: 'SingleLineText',
      Code: { type: 'SingleLineText', required: true },
      State: { type: 'SingleLineText', required: true, defaultValue: 'open' },
    })
    const request = { tableId: source.id, recordIds: [1, 2], targetTableId: target.id }
    expect(await bench.trpc.copies.previewRecords.mutate(request)).toMatchObject({
      missing: [{ title: 'Code', count: 1 }],
    })
    const { status, body } = await copy(source, target, [1, 2], { move: true })
    expect([status, body.error]).toEqual([422, 'REQUIRED_FIELD_MISSING'])
    expect(JSON.stringify(body)).toContain('Records without a value for it: 1')
    expect([await source.total(), await target.total()]).toEqual([2, 0])
    expect((await copy(source, target, [1])).status).toBe(200)
    expect(await target.list()).toMatchObject([{ Code: 'x', State: 'open' }])
  })

  test('finds links by names in another base, and reports names that are not there', async () => {
    const makers = await bench.table({ Title: 'SingleLineText' }, [
      { Title: 'Acme' },
      { Title: 'Bolt, Inc.' },
    ])
    const own = await linkTo(await bench.table({ Title: 'SingleLineText' }, [{ Title: 'Lid' }]), makers)
    await link(bench, own.table, own.id, 1, [1, 2])
    const theirs = await other.table({ Title: 'SingleLineText' }, [{ Title: 'x' }, { Title: 'Bolt, Inc.' }])
    const target = await linkTo(await other.table({ Title: 'SingleLineText' }), theirs)
    const { body } = await copy(own.table, target.table, [1])
    expect(body.refused).toMatchObject([{ title: 'Makers', count: 1 }])
    expect(body.refused[0].examples[0].reason).toContain('Acme')
    const linked = `/api/v2/tables/${target.table.id}/links/${target.id}/records/1`
    expect((await bench.rest.get(linked)).body.list).toMatchObject([{ Title: 'Bolt, Inc.' }])
  })

  test('keeps links to the same records within a base, and takes none from other records', async () => {
    const makers = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'same' }, { Title: 'same' }])
    const source = await linkTo(await bench.table({ Title: 'SingleLineText' }, [{ Title: 'Lid' }]), makers)
    await link(bench, source.table, source.id, 1, [2])
    const target = await linkTo(await bench.table({ Title: 'SingleLineText' }), makers)
    await copy(source.table, target.table, [1])
    const linked = `/api/v2/tables/${target.table.id}/links/${target.id}/records/1`
    expect((await bench.rest.get(linked)).body.list.map(({ Id }: { Id: number }) => Id)).toEqual([2])
  })

  test('fills one-to-many links, and takes no record from the one that has it', async () => {
    // More than a cell lists.
    const many = Array.from({ length: 12 }, (_, at) => `part ${at}`)
    const parts = await bench.table(
      { Title: 'SingleLineText' },
      ['free', 'of source', 'of target', 'shared', ...many].map((Title) => ({ Title })),
    )
    const source = await linkTo(
      await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }, { Title: 'b' }]),
      parts,
      'hm',
      'Parts',
    )
    await link(bench, source.table, source.id, 1, [1, 2, 3, ...many.map((_, at) => 5 + at)])
    const target = await linkTo(
      await bench.table({ Title: 'SingleLineText' }, [{ Title: 'x' }]),
      parts,
      'hm',
      'Parts',
    )
    await link(bench, target.table, target.id, 1, [3])
    const refused = [
      {
        title: 'Parts',
        count: 1,
        examples: [{ reason: expect.stringContaining('1 linked record belongs') }],
      },
    ]
    const request = { tableId: source.table.id, recordIds: [1, 2], targetTableId: target.table.id }
    expect(await bench.trpc.copies.previewRecords.mutate(request)).toMatchObject({ refused, left: [] })
    const { body } = await copy(source.table, target.table, [1, 2], { move: true })
    expect(body).toMatchObject({ ids: [2, 3], deleted: 2, refused })
    const linkedTo = async (table: TestTable, fieldId: string, id: number) => {
      const { list } = (await bench.rest.get(`/api/v2/tables/${table.id}/links/${fieldId}/records/${id}`))
        .body
      return list.map(({ Title }: { Title: string }) => Title)
    }
    expect(await linkedTo(target.table, target.id, 2)).toEqual(['free', 'of source', ...many])
    expect(await linkedTo(target.table, target.id, 1)).toEqual(['of target'])
    await undo(bench)
    expect(await linkedTo(source.table, source.id, 1)).toEqual(['free', 'of source', 'of target', ...many])
    // Of several copies that name a record, the first has it.
    const names = await bench.table({ Title: 'SingleLineText', Parts: 'LongText' }, [
      { Title: 'c', Parts: 'free, shared' },
      { Title: 'd', Parts: 'shared' },
    ])
    const named = (await copy(names, target.table, [1, 2])).body
    expect(named.refused).toMatchObject([{ title: 'Parts', count: 1, examples: [{ value: 'shared' }] }])
    expect(await linkedTo(target.table, target.id, named.ids[0])).toEqual(['free', 'shared'])
    expect(await linkedTo(target.table, target.id, named.ids[1])).toEqual([])
  })

  test('fills one-to-many links between the copies, each of which belongs to one', async () => {
    const source = await bench.table({ Title: 'SingleLineText', Parts: 'SingleLineText' }, [
      { Title: 'a', Parts: 'b, c' },
      { Title: 'b', Parts: 'c' },
      { Title: 'c' },
    ])
    const plain = await bench.table({ Title: 'SingleLineText' })
    const target = await linkTo(plain, plain, 'hm', 'Parts')
    const { body } = await copy(source, target.table, [1, 2, 3])
    expect(body.refused).toMatchObject([{ title: 'Parts', count: 1, examples: [{ value: 'c' }] }])
    const path = `/api/v2/tables/${target.table.id}/links/${target.id}/records`
    const titles = await Promise.all(
      [1, 2].map(async (id) =>
        (await bench.rest.get(`${path}/${id}`)).body.list.map(({ Title }: { Title: string }) => Title),
      ),
    )
    expect(titles).toEqual([['b', 'c'], []])
  })

  test('fills one-to-one links from both sides with records that have no partner', async () => {
    const people = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'Ann' }, { Title: 'Bob' }])
    const seats = await linkTo(
      await bench.table({ Title: 'SingleLineText' }, [{ Title: 'x' }]),
      people,
      'oo',
      'Who',
    )
    await link(bench, seats.table, seats.id, 1, [1])
    const names = await bench.table({ Title: 'SingleLineText', Who: 'SingleLineText' }, [
      { Title: 'y', Who: 'Ann' },
      { Title: 'z', Who: 'Bob' },
    ])
    const { body } = await copy(names, seats.table, [1, 2])
    expect(body.refused).toMatchObject([{ title: 'Who', count: 1, examples: [{ value: 'Ann' }] }])
    const rows = await seats.table.list()
    expect(rows.map(({ Title, Who }) => [Title, (Who as { Title: string } | null)?.Title])).toEqual([
      ['x', 'Ann'],
      ['y', undefined],
      ['z', 'Bob'],
    ])
    // From the side of the people, whose partners are the seats.
    const other = (await reload(people)).schema.fields.find((field) => linkOf(field)?.kind === 'oo')!
    const further = await bench.table({ Title: 'SingleLineText', Seat: 'SingleLineText' }, [
      { Title: 'Cid', Seat: 'y' },
      { Title: 'Dan', Seat: 'z' },
    ])
    const mapping = { Title: 'Title', [other.title]: 'Seat' }
    const answer = (await copy(further, people, [1, 2], { mapping })).body
    expect(answer.refused).toMatchObject([{ title: other.title, count: 1, examples: [{ value: 'z' }] }])
    expect((await seats.table.list()).map(({ Who }) => (Who as { Title: string } | null)?.Title)).toEqual([
      'Ann',
      'Cid',
      'Bob',
    ])
  })

  test('keeps files, which stay when the original is deleted forever, and people who are members', async () => {
    const { path } = await uploadOne(bench, bench.owner.token, 'plan.txt', `plan ${crypto.randomUUID()}`)
    const guest = await createMember(bench.app, bench.baseId, 'editor')
    const fields = { Title: 'SingleLineText', Files: 'Attachment', Who: 'User' } as const
    const source = await bench.table(fields, [
      { Title: 'a', Files: [{ path, title: 'plan.txt' }], Who: bench.owner.email },
      { Title: 'b', Who: guest.email },
    ])
    const target = await other.table(fields)
    const { body } = await copy(source, target, [1, 2], { move: true })
    expect(body).toMatchObject({ deleted: 2, refused: [{ title: 'Who', count: 1 }] })
    const [first] = await target.list()
    expect(first).toMatchObject({ Files: [{ path, title: 'plan.txt' }], Who: [{ email: bench.owner.email }] })
    // Members of the target alone may read the file.
    const reader = await createMember(bench.app, other.baseId, 'viewer')
    expect((await bench.app.rest(reader.token).get(`/${path}`)).status).toBe(200)
    const limited = await other.table({
      Title: 'SingleLineText',
      Files: { type: 'Attachment', options: { kinds: ['image'] } },
    })
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect((await copy(source, limited, [1])).body.refused).toMatchObject([{ title: 'Files', count: 1 }])
  })
})

describe('moving records', () => {
  test('within a base is one action, which one undo reverts', async () => {
    const source = await bench.table({ Title: 'SingleLineText' }, [
      { Title: 'a' },
      { Title: 'b' },
      { Title: 'c' },
    ])
    const target = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'x' }])
    expect((await copy(source, target, [3, 1], { move: true })).body).toMatchObject({
      ids: [2, 3],
      deleted: 2,
    })
    expect([await source.titles(), await target.titles()]).toEqual([['b'], ['x', 'c', 'a']])
    await undo(bench)
    expect([await source.titles(), await target.titles()]).toEqual([['a', 'b', 'c'], ['x']])
    await bench.trpc.records.redo.mutate({ baseId: bench.baseId })
    expect([await source.titles(), await target.titles()]).toEqual([['b'], ['x', 'c', 'a']])
  })

  test('keeps their creation time and author, also of people who cannot open the other base', async () => {
    const guest = await createMember(bench.app, bench.baseId, 'editor')
    const source = await bench.table({ Title: 'SingleLineText' })
    const theirs = bench.app.rest(guest.token)
    expect((await theirs.post(source.path, [{ Title: 'a' }, { Title: 'b' }])).status).toBe(200)
    await bench.rest.patch(source.path, { Id: 1, Title: 'changed' })
    const stamps = async (of: Bench, table: TestTable) => {
      const engine = await of.app.kernel.sources.engine(of.baseId)
      const sql = `select created_at, created_by from ${engine.dialect.quote(table.schema.table.tableName)} order by id`
      return engine.all<{ created_at: string; created_by: string }>({ sql, params: [] })
    }
    const before = await stamps(bench, source)
    expect(before.map(({ created_by }) => created_by)).toEqual([guest.id, guest.id])
    await Bun.sleep(1_100)
    for (const of of [other, bench]) {
      const target = await of.table({ Title: 'SingleLineText' })
      expect((await copy(source, target, [1, 2], { move: true })).body).toMatchObject({ deleted: 2 })
      expect(await stamps(of, target)).toEqual(before)
      await undo(of)
      if (of === other) await undo(bench)
      // A copy is a new record.
      await copy(source, target, [1])
      const [copied] = await stamps(of, target)
      expect(copied?.created_by).toBe(bench.owner.id)
      expect(copied?.created_at).not.toBe(before[0]?.created_at ?? '')
    }
  })

  test('brings their comments along: threads, reactions, authors, times, cells and mentions of members', async () => {
    const guest = await createMember(bench.app, bench.baseId, 'commenter')
    const source = await bench.table({ Title: 'SingleLineText', Price: 'Number' }, [
      { Title: 'a' },
      { Title: 'b' },
    ])
    const target = await other.table({ Title: 'SingleLineText', Cost: 'Number' }, [{ Title: 'x' }])
    const { comments } = bench.trpc
    const theirs = bench.app.trpc(guest.token).comments
    const on = { tableId: source.id, recordId: 1 }
    const mention = `@(${guest.id})`
    const first = await theirs.create.mutate({ ...on, fieldId: source.field('Price').id, text: 'Too much' })
    await comments.create.mutate({ ...on, text: `Why? ${mention}`, parentId: first.id })
    await comments.react.mutate({ commentId: first.id, emoji: '👍', isOn: true })
    await comments.resolve.mutate({ commentId: first.id, isResolved: true })
    await theirs.create.mutate({ tableId: source.id, recordId: 2, text: 'Second' })
    const before = (await comments.list.query(on)).comments
    const mapping = { Title: 'Title', Cost: 'Price' }
    expect((await copy(source, target, [1], { mapping })).body).toMatchObject({ ids: [2] })
    const { body } = await copy(source, target, [2, 1], { move: true, mapping })
    expect(body).toMatchObject({ ids: [3, 4], deleted: 2 })

    const of = async (recordId: number) =>
      (await comments.list.query({ tableId: target.id, recordId })).comments
    // A copy is a new record.
    expect(await of(2)).toEqual([])
    expect((await of(3)).map(({ text }) => text)).toEqual(['Second'])
    const after = await of(4)
    expect(after).toHaveLength(2)
    expect(after[0]).toMatchObject({
      fieldId: target.field('Cost').id,
      parentId: null,
      text: 'Too much',
      createdBy: guest.id,
      createdAt: before[0]!.createdAt,
      resolvedBy: bench.owner.id,
      reactions: [{ emoji: '👍', userIds: [bench.owner.id] }],
    })
    expect(after[1]).toMatchObject({ parentId: after[0]!.id, createdBy: bench.owner.id })
    expect(after[1]!.text).not.toContain(guest.id)
    // The originals come back with theirs.
    await undo(bench)
    expect((await comments.list.query(on)).comments).toEqual(before)
    await undo(other)
    expect(await of(4)).toEqual([])
    await other.trpc.records.redo.mutate({ baseId: other.baseId })
    expect(await of(4)).toEqual(after)
  })

  test('brings their history along, below their creation in the other table', async () => {
    const guest = await createMember(bench.app, bench.baseId, 'editor')
    const { path } = await uploadOne(bench, bench.owner.token, 'old.txt', `old ${crypto.randomUUID()}`)
    const source = await bench.table({
      Title: 'SingleLineText',
      Price: 'Number',
      Files: 'Attachment',
      Size: 'SingleLineText',
    })
    const theirs = bench.app.rest(guest.token)
    await theirs.post(source.path, [{ Title: 'first', Price: 1, Size: '7' }, { Title: 'other' }])
    await bench.rest.patch(source.path, { Id: 1, Title: 'second', Size: '8' })
    await bench.rest.patch(source.path, { Id: 1, Files: [{ path, title: 'old.txt' }] })
    await bench.rest.patch(source.path, { Id: 1, Files: [] })
    await bench.rest.delete(source.path, { Id: 1 })
    await undo(bench)
    await theirs.patch(source.path, { Id: 1, Price: 2 })
    const historyIn = (of: Bench, table: TestTable, recordId: number) =>
      of.trpc.records.history.query({ tableId: table.id, recordId })
    for (const of of [other, bench]) {
      const before = (await historyIn(bench, source, 1)).entries
      const target = await of.table({
        Title: 'SingleLineText',
        Price: 'Number',
        Files: 'Attachment',
        Size: 'Number',
      })
      expect((await copy(source, target, [2, 1], { move: true })).body).toMatchObject({ deleted: 2 })
      const [created, ...after] = (await historyIn(of, target, 2)).entries
      expect(created).toMatchObject({ actorId: bench.owner.id, isNew: true })
      const asTarget = (entries: typeof before) =>
        entries.map(({ at, actorId, isNew, changes }) => ({
          at,
          actorId,
          isNew,
          changes: changes
            .filter(({ fieldId }) => fieldId !== source.field('Size').id)
            .map(({ fieldId, ...values }) => ({
              ...values,
              title: source.schema.fields.find(({ id }) => id === fieldId)?.title,
            })),
        }))
      expect(
        after.map(({ at, actorId, isNew, changes }) => ({
          at,
          actorId,
          isNew,
          changes: changes.map(({ fieldId, ...values }) => ({
            ...values,
            title: target.schema.fields.find(({ id }) => id === fieldId)?.title,
          })),
        })),
      ).toEqual(asTarget(before))
      expect(after.map(({ actorId }) => actorId)).toContain(guest.id)
      // The activity of the base has the new table and the move alone.
      const { items } = await of.trpc.activity.list.query({
        baseId: of.baseId,
        filter: { tableId: target.id },
      })
      expect(items.map(({ kind }) => kind)).toEqual(['change', 'change'])
      await undo(of)
      if (of === other) await undo(bench)
      expect((await historyIn(bench, source, 1)).entries.slice(-before.length)).toEqual(before)
    }
  })

  test('does not take what a record was in another table for what it was in this one', async () => {
    const guest = await createMember(bench.app, bench.baseId, 'editor')
    const source = await bench.table({ Title: 'SingleLineText', Price: 'Number' }, [{ Title: 'a', Price: 1 }])
    const target = await bench.table({ Title: 'SingleLineText', Price: 'Number' }, [{ Title: 'b', Price: 2 }])
    await bench.app.rest(guest.token).patch(source.path, { Id: 1, Price: 3 })
    // Of the history of the source, the creation of the record is gone.
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    await removeEntries(engine, (await lastChangeId(engine)) - 1)
    const at = new Date().toISOString()
    await Bun.sleep(5)
    const filled = async () =>
      (await bench.rest.get(`${target.path}/count?where=(Price,notblank)`)).body.count
    for (let time = 0; time < 3; time++) expect(await filled()).toBe(1)
    expect((await copy(source, target, [1], { move: true })).body).toMatchObject({ deleted: 1 })
    expect(await filled()).toBe(2)
    const moment = { tableId: target.id, at }
    const { authors } = await bench.trpc.records.previewTableRestore.query(moment)
    expect(authors).toEqual([{ actorId: bench.owner.id, records: 1 }])
    await bench.trpc.records.restoreTable.mutate(moment)
    expect(await target.titles()).toEqual(['b'])
  })

  test('keeps nothing of the history where nothing can be moved', async () => {
    const source = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'same' }])
    const target = await other.table({ Title: { type: 'SingleLineText', unique: true } }, [{ Title: 'same' }])
    const engine = await other.app.kernel.sources.engine(other.baseId)
    for (const Title of ['b', 'same']) await bench.rest.patch(source.path, { Id: 1, Title })
    const before = await lastChangeId(engine)
    const after = () =>
      engine.all({ sql: `select kind, table_id from sheaf_changes where id > ${before}`, params: [] })
    expect((await copy(source, target, [1], { move: true })).status).toBe(400)
    expect((await after()).length).toBeLessThanOrEqual(1)
    // Those who follow the log may have read the three entries: the next ones get other ids.
    await bench.rest.post(target.path, [{ Title: 'next' }])
    expect(await lastChangeId(engine)).toBe(before + 4)
    const history = other.trpc.records.history.query({ tableId: target.id, recordId: 1 })
    expect((await history).entries).toHaveLength(1)
  })

  test('leaves what others have undone in the other base to be redone', async () => {
    const mover = await createMember(bench.app, bench.baseId, 'editor')
    await bench.app.services.auth.access.setMembership(other.baseId, mover.id, 'editor')
    const source = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const target = await other.table({ Title: 'SingleLineText' }, [{ Title: 'b' }])
    await other.rest.patch(target.path, { Id: 1, Title: 'redone' })
    await undo(other)
    const request = { targetTableId: target.id, ids: [1], move: true }
    const { body } = await bench.app.rest(mover.token).post(`${source.path}/copy`, request)
    expect(body).toMatchObject({ deleted: 1 })
    await other.trpc.records.redo.mutate({ baseId: other.baseId })
    expect(await target.titles()).toEqual(['redone', 'a'])
  })

  test('to another base is undone in each of both, and the originals are in the trash', async () => {
    const rows = Array.from({ length: 150 }, (_, at) => ({ Title: `row ${at}` }))
    const source = await bench.table({ Title: 'SingleLineText' }, rows)
    const target = await other.table({ Title: 'SingleLineText' })
    const ids = rows.map((_, at) => at + 1)
    expect((await copy(source, target, ids, { move: true })).body).toMatchObject({ deleted: 150, kept: null })
    expect([await source.total(), await target.total()]).toEqual([0, 150])
    expect(await target.titles()).toEqual(rows.map(({ Title }) => Title))
    await undo(other)
    expect([await source.total(), await target.total()]).toEqual([0, 0])
    await undo(bench)
    expect(await source.titles()).toEqual(rows.map(({ Title }) => Title))
  })

  test('leaves originals in place that somebody changes meanwhile', async () => {
    const source = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }, { Title: 'b' }])
    const target = await other.table({ Title: 'SingleLineText' })
    const engine = await other.app.kernel.sources.engine(other.baseId)
    let moving: ReturnType<typeof copy> | undefined
    // Somebody else writes to the target: the copy has read its records, and waits.
    await engine.exclusively(async () => {
      await asked(other.app, other.baseId, () => {
        moving = copy(source, target, [1, 2], { move: true })
      })
      await bench.rest.patch(source.path, { Id: 2, Title: 'changed' })
    })
    expect((await moving)?.body).toMatchObject({ ids: [1, 2], deleted: 1, kept: { count: 1 } })
    expect([await source.titles(), await target.titles()]).toEqual([['changed'], ['a', 'b']])
  })

  test('keeps the copies and says why where the originals cannot be deleted', async () => {
    const database = await createForeign('postgres', [
      `create table customer (id serial primary key, name varchar(40) not null);
       create table purchase (id serial primary key, customer_id integer not null references customer (id));
       insert into customer (name) values ('Ann'), ('Ben');
       insert into purchase (customer_id) values (1)`,
    ])
    try {
      await connect(bench, database.sent)
      const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
      const { id: tableId } = tables.find(({ title }) => title.toLowerCase() === 'customer')!
      const customers = testTable(bench.rest, await bench.trpc.schema.table.query({ tableId }))
      const target = await other.table({ Name: 'SingleLineText' })
      const { status, body } = await copy(customers, target, [1, 2], { move: true })
      expect([status, body]).toMatchObject([200, { ids: [1, 2], deleted: 0, kept: { count: 2 } }])
      expect(body.kept.reason).toBeString()
      expect((await target.list()).map(({ Name }) => Name)).toEqual(['Ann', 'Ben'])
      expect((await customers.list()).length).toBe(2)
      // Into the connected database.
      const back = await copy(target, customers, [2])
      expect([back.status, back.body.ids]).toEqual([200, [3]])
    } finally {
      await database.stop()
    }
  })

  test('writes records that must name each other one after the other, whatever their order, or none of them', async () => {
    const database = await createForeign('postgres', [
      `create table folder (id serial primary key, name varchar(40) not null unique,
         parent_id integer not null references folder (id));
       insert into folder (name, parent_id) values ('root', 1)`,
    ])
    try {
      await connect(bench, database.sent)
      const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
      const { id: tableId } = tables.find(({ title }) => title.toLowerCase() === 'folder')!
      const folders = testTable(bench.rest, await bench.trpc.schema.table.query({ tableId }))
      const parent = folders.schema.fields.find((field) => linkOf(field)?.kind === 'bt')!.title
      const name = folders.schema.fields.find(({ title }) => title.toLowerCase() === 'name')!.title
      const chain = Array.from({ length: 5 }, (_, n) => ({
        Title: `f${5 - n}`,
        Above: n === 4 ? 'root' : `f${4 - n}`,
      }))
      const source = await other.table({ Title: 'SingleLineText', Above: 'SingleLineText' }, [
        ...chain,
        { Title: 'own', Above: 'own' },
        { Title: 'c1', Above: 'c2' },
        { Title: 'c2', Above: 'c1' },
        { Title: 'lost', Above: 'nowhere' },
        { Title: 'root', Above: 'f1' },
      ])
      const mapping = { [name]: 'Title', [parent]: 'Above' }
      for (const [ids, text] of [
        [[1, 2, 3, 4, 5, 6], 'circle'],
        [[7, 8], 'circle'],
        [[1, 2, 3, 4, 5, 9], 'value'],
        // Its name is taken, after others have been written.
        [[1, 2, 3, 4, 5, 10], name],
      ] as const) {
        const { status, body } = await copy(source, folders, [...ids], { mapping })
        expect([ids, status >= 400 && status < 500]).toEqual([ids, true])
        expect(JSON.stringify(body)).toContain(text)
        expect((await folders.list()).length).toBe(1)
      }
      const { status, body } = await copy(source, folders, [1, 2, 3, 4, 5], { mapping })
      expect([status, body.refused]).toEqual([200, []])
      expect(body.ids).toHaveLength(5)
      const rows = await folders.list()
      const named = rows.map((row) => [row[name], (row[parent] as Record<string, unknown>)[name]])
      expect(named).toEqual([
        ['root', 'root'],
        ['f1', 'root'],
        ...[2, 3, 4, 5].map((n) => [`f${n}`, `f${n - 1}`]),
      ])
      // The ids are in the order of the originals.
      const byId = new Map(rows.map((row) => [row.Id ?? row.id, row[name]]))
      expect(body.ids.map((id: number) => byId.get(id))).toEqual(['f5', 'f4', 'f3', 'f2', 'f1'])
    } finally {
      await database.stop()
    }
  })

  test('links the copies of records that name each other', async () => {
    const source = await bench.table({ Title: 'SingleLineText', Next: 'SingleLineText' }, [
      { Title: 'a', Next: 'b' },
      { Title: 'b', Next: 'a' },
      { Title: 'c', Next: 'c, nobody' },
    ])
    const plain = await bench.table({ Title: 'SingleLineText' })
    const { table: target } = await linkTo(plain, plain, 'mm', 'Next')
    const { body } = await copy(source, target, [1, 2, 3])
    expect(body).toMatchObject({ ids: [1, 2, 3], refused: [{ title: 'Next', count: 1 }] })
    const related = await Promise.all(
      [1, 2, 3].map(async (id) => {
        const fieldId = target.field('Next').id
        const answer = await bench.rest.get(`/api/v2/tables/${target.id}/links/${fieldId}/records/${id}`)
        return answer.body.list.map(({ Title }: { Title: string }) => Title)
      }),
    )
    expect(related).toEqual([['b'], ['a'], ['c']])
    await undo(bench)
    expect(await target.titles()).toEqual([])
  })

  test('leaves the copies in place when the originals are restored from the trash', async () => {
    const source = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }, { Title: 'b' }])
    const target = await bench.table({ Title: 'SingleLineText' })
    await copy(source, target, [1], { move: true })
    await bench.rest.patch(target.path, { Id: 1, Title: 'edited' })
    const answer = await bench.trpc.records.restoreTrashed.mutate({ tableId: source.id, recordIds: [1] })
    expect(answer).toMatchObject({ restored: 1 })
    expect([await source.titles(), await target.titles()]).toEqual([['a', 'b'], ['edited']])
  })
})

describe('copying and moving more records than in a call', () => {
  const idsOf = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

  async function many(count: number): Promise<TestTable> {
    const source = await bench.table({ Title: 'SingleLineText', Note: 'SingleLineText' })
    for (let from = 0; from < count; from += 1_000) {
      const rows = idsOf(Math.min(1_000, count - from)).map((id) => ({
        Title: `row ${from + id}`,
        // Of the last one only.
        ...(from + id !== count && { Note: 'x' }),
      }))
      expect((await bench.rest.post(source.path, rows)).status).toBe(200)
    }
    return source
  }

  async function ended(jobId: string) {
    for (;;) {
      const job = await bench.trpc.jobs.get.query({ jobId })
      if (job.status !== 'waiting' && job.status !== 'active') return job
      await Bun.sleep(20)
    }
  }

  const COUNT = 1_250

  test('is a job that brings everything along, and one undo in each base reverts', async () => {
    const source = await many(COUNT)
    const { comments } = bench.trpc
    await comments.create.mutate({ tableId: source.id, recordId: 1_200, text: 'Late' })
    await bench.rest.patch(source.path, { Id: 1_200, Title: 'changed' })
    for (const of of [other, bench]) {
      const target = await of.table({ Title: 'SingleLineText' })
      const { status, body } = await copy(source, target, [...idsOf(COUNT), 99_999], { move: true })
      expect([status, Object.keys(body)]).toEqual([200, ['jobId']])
      expect(await ended(body.jobId)).toMatchObject({
        status: 'completed',
        subject: target.schema.table.title,
        progress: { done: COUNT + 1, total: COUNT + 1 },
        result: {
          tableId: target.id,
          copied: COUNT,
          deleted: COUNT,
          kept: null,
          refused: [],
          left: 0,
        },
      })
      expect([await source.total(), await target.total()]).toEqual([0, COUNT])
      const on = { tableId: target.id, recordId: 1_200 }
      expect((await comments.list.query(on)).comments.map(({ text }) => text)).toEqual(['Late'])
      const { entries } = await of.trpc.records.history.query(on)
      expect(entries.map(({ isNew }) => isNew)).toContain(true)
      expect(entries.flatMap(({ changes }) => changes)).toContainEqual(
        expect.objectContaining({ before: 'row 1200', after: 'changed' }),
      )
      await undo(of)
      if (of === other) await undo(bench)
      expect([await source.total(), await target.total()]).toEqual([COUNT, 0])
    }
  })

  test('is undone with its progress as one work, which goes on without its client', async () => {
    const source = await many(COUNT)
    const target = await bench.table({ Title: 'SingleLineText' })
    await ended((await copy(source, target, idsOf(COUNT))).body.jobId)
    const { kernel } = bench.app
    const announced = Promise.withResolvers<Work>()
    const done = Promise.withResolvers<Work>()
    const off = kernel.events.on('work.changed', (work) => {
      if (work.kind !== 'undo' || work.tableId !== target.id) return
      if (work.hasEnded) done.resolve(work)
      else announced.resolve(work)
    })
    const engine = await kernel.sources.engine(bench.baseId)
    const [client, held, gate] = [
      new AbortController(),
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
    ]
    const other = engine.exclusively(async () => {
      held.resolve()
      await gate.promise
    })
    await held.promise
    const undoing = bench.trpc.records.undo
      .mutate({ baseId: bench.baseId }, { signal: client.signal })
      .catch(() => null)
    const work = await announced.promise
    expect(work).toMatchObject({ records: COUNT, canCancel: false })
    client.abort()
    gate.resolve()
    await Promise.all([other, undoing])
    expect((await done.promise).id).toBe(work.id)
    off()
    expect([await target.total(), await source.total()]).toEqual([0, COUNT])
  })

  /**
   * Goes on with a job as if its server had been killed when its last two copies were written to a connected database.
   *
   * @param ids that the database was about to commit; absent before
   */
  async function killedInSecondPortion(jobId: string, tableId: string, ids?: number[]) {
    const { meta, jobs, sources } = bench.app.kernel
    const home = await sources.engine(bench.baseId)
    const table = meta.tables(defineJobsTable)
    const result = { tableId, copied: 1_000, refused: [], deleted: 0, kept: null, left: 2 }
    const portion = { from: 1_000, originals: '', copied: 2, refused: [], ...(ids && { ids }) }
    const sent = { actorId: bench.owner.id, clientId: `${jobId} insert 1000` }
    const entry = await findSent(home, home.dialect, sent)
    const params = [entry?.id ?? 0]
    const mark = home.dialect.placeholder(0)
    await home.writeScript([
      { sql: `delete from sheaf_change_records where change_id = ${mark}`, params },
      { sql: `delete from sheaf_changes where id = ${mark}`, params },
    ])
    expect(await findSent(home, home.dialect, sent)).toBeNull()
    await meta.db
      .update(table)
      .set({ status: 'active', result: { result, portion }, error: null })
      .where(eq(table.id, jobId))
    await jobs.recover()
    return ended(jobId)
  }

  test('does not take a record for a copy with an empty cell that has a value there', async () => {
    const database = await createForeign('postgres', [
      'create table piece (id serial primary key, name varchar(40), note varchar(40))',
    ])
    try {
      await connect(bench, database.sent)
      const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
      const { id: tableId } = tables.find(({ title }) => title.toLowerCase() === 'piece')!
      const pieces = testTable(bench.rest, await bench.trpc.schema.table.query({ tableId }))
      const named = (name: string) =>
        pieces.schema.fields.find(({ title }) => title.toLowerCase() === name)!.title
      const mapping = { [named('name')]: 'Title', [named('note')]: 'Note' }
      const source = await many(1_002)
      const { jobId } = (await copy(source, pieces, idsOf(1_002), { mapping })).body
      expect(await ended(jobId)).toMatchObject({ status: 'completed', result: { copied: 1_002 } })
      // With an id that the database has given again.
      await database.ask(`delete from piece where id = 1002`)
      await database.ask(`insert into piece (id, name, note) values (1002, 'row 1002', 'of another program')`)
      expect(await killedInSecondPortion(jobId, tableId, [1_001, 1_002])).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('They were not written again. Records copied before: 1000.'),
      })
      await undo(bench)
      expect(await database.ask('select id, note from piece order by id')).toEqual([
        { id: 1001, note: 'x' },
        { id: 1002, note: 'of another program' },
      ])
    } finally {
      await database.stop()
    }
  })

  test('recognizes copies in a connected database that are there without their entry in the log', async () => {
    const database = await createForeign('postgres', [
      'create table part (id serial primary key, name varchar(40), stock integer default 7)',
    ])
    try {
      await connect(bench, database.sent)
      const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
      const { id: tableId } = tables.find(({ title }) => title.toLowerCase() === 'part')!
      const parts = testTable(bench.rest, await bench.trpc.schema.table.query({ tableId }))
      const name = parts.schema.fields.find(({ title }) => title.toLowerCase() === 'name')!.title
      const source = await many(1_002)
      const { jobId } = (await copy(source, parts, idsOf(1_002), { mapping: { [name]: 'Title' } })).body
      expect(await ended(jobId)).toMatchObject({ status: 'completed', result: { copied: 1_002 } })
      const killed = async (...ids: number[]) => killedInSecondPortion(jobId, tableId, ids)
      // Of somebody else.
      await database.ask(`insert into part (name) values ('other')`)
      expect(await killed(1_001, 1_002)).toMatchObject({
        status: 'completed',
        result: { copied: 1_002, left: 0 },
      })
      expect(await parts.total()).toBe(1_003)
      await undo(bench)
      expect(await parts.total()).toBe(1)
      await bench.trpc.records.redo.mutate({ baseId: bench.baseId })
      expect(await parts.total()).toBe(1_003)
      // The portion was not written.
      await database.ask(`delete from part where name in ('row 1001', 'row 1002')`)
      expect(await killed(1_001, 1_002)).toMatchObject({ status: 'completed', result: { copied: 1_002 } })
      expect(await parts.total()).toBe(1_003)
      const again = await database.ask<{ id: number }>(
        `select id from part where name in ('row 1001', 'row 1002') order by name`,
      )
      const [first = 0, second = 0] = again.map(({ id }) => id)
      await database.ask(`update part set name = 'changed' where name = 'row 1002'`)
      expect(await killed(first, second)).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('They were not written again. Records copied before: 1000.'),
      })
      expect(await parts.total()).toBe(1_003)
      const refused = { status: 'failed', error: expect.stringContaining('They were not written again.') }
      // Somebody has deleted one of the copies, or of the originals.
      await database.ask(`delete from part where name in ('other', 'changed')`)
      expect(await killed(first, second)).toMatchObject(refused)
      expect(await parts.total()).toBe(1_001)
      await database.ask(`insert into part (id, name) values (${second}, 'row 1002')`)
      await bench.rest.delete(source.path, { Id: 1_002 })
      expect(await killed(first, second)).toMatchObject(refused)
      expect(await parts.total()).toBe(1_002)
    } finally {
      await database.stop()
    }
  })

  test('writes nothing again to a table of a connected database that cannot roll back', async () => {
    const database = await createForeign('mariadb', [
      'create table kept (id int auto_increment primary key, name varchar(40)) engine = MyISAM',
    ])
    try {
      await connect(bench, database.sent)
      const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
      const { id: tableId } = tables.find(({ title }) => title.toLowerCase() === 'kept')!
      const kept = testTable(bench.rest, await bench.trpc.schema.table.query({ tableId }))
      const name = kept.schema.fields.find(({ title }) => title.toLowerCase() === 'name')!.title
      const source = await many(1_002)
      const { jobId } = (await copy(source, kept, idsOf(1_002), { mapping: { [name]: 'Title' } })).body
      expect(await ended(jobId)).toMatchObject({ status: 'completed', result: { copied: 1_002 } })
      expect(await killedInSecondPortion(jobId, tableId)).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('They were not written again. Records copied before: 1000.'),
      })
      expect(await kept.total()).toBe(1_002)
    } finally {
      await database.stop()
    }
  })

  test('goes on with texts that PostgreSQL cannot store, which it reports', async () => {
    const numbers = Array.from({ length: 1_001 }, (_, at) => `(${at + 1}, '7', 'x')`)
    const database = await createForeign('mariadb', [
      'create table odd (id int primary key, number varchar(20), note varchar(20))',
      `insert into odd values ${numbers.join(', ')}`,
      "update odd set number = concat('a', char(0), 'b'), note = concat('c', char(0), 'd') where id = 2",
    ])
    try {
      await connect(bench, database.sent)
      const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
      const { id: tableId } = tables.find(({ title }) => title.toLowerCase() === 'odd')!
      const odd = testTable(bench.rest, await bench.trpc.schema.table.query({ tableId }))
      const named = (name: string) =>
        odd.schema.fields.find(({ title }) => title.toLowerCase() === name)!.title
      const target = await bench.table({ Number: 'Number', Note: 'LongText' })
      const mapping = { Number: named('number'), Note: named('note') }
      const { jobId } = (await copy(odd, target, idsOf(1_001), { mapping })).body
      expect(await ended(jobId)).toMatchObject({
        status: 'completed',
        result: {
          copied: 1_001,
          refused: [
            { title: 'Number', count: 1 },
            { title: 'Note', count: 1 },
          ],
        },
      })
      expect(await target.total()).toBe(1_001)
    } finally {
      await database.stop()
    }
  })

  test('tells how many are copied where the server has stopped too often', async () => {
    const source = await many(1_001)
    const target = await bench.table({ Title: 'SingleLineText' })
    const { jobId } = (await copy(source, target, idsOf(1_001))).body
    expect((await ended(jobId)).status).toBe('completed')
    // As if the last of many runs had been interrupted after it wrote the second portion.
    const { meta, jobs } = bench.app.kernel
    const table = meta.tables(defineJobsTable)
    const result = { tableId: target.id, copied: 1_000, refused: [], deleted: 0, kept: null, left: 1 }
    const interrupted = (remembered: unknown, input = {}) =>
      meta.db
        .update(table)
        .set({
          status: 'active',
          progress: { done: 1_000, total: 1_001, unit: 'rows', restarts: 9, furthest: 1_000, fruitless: 5 },
          result: remembered,
          error: null,
          ...input,
        })
        .where(eq(table.id, jobId))
    await interrupted({ result, portion: { from: 1_000, originals: '', copied: 1, refused: [] } })
    await jobs.recover()
    expect(await ended(jobId)).toMatchObject({
      status: 'failed',
      error:
        'The server stopped repeatedly while this was running. Records copied before: 1001. Undo takes them back.',
    })
    expect(await target.total()).toBe(1_001)
    // A job of a server that could not go on with it.
    const [stored] = await meta.db.select().from(table).where(eq(table.id, jobId))
    await interrupted(null, { input: { ...(stored?.input as object), resumes: undefined } })
    await jobs.recover()
    expect((await ended(jobId)).error).toContain('Records that were copied before are there')
  })

  test('writes nothing if one of them has no value for a required field', async () => {
    const source = await many(COUNT)
    const target = await other.table({
      Title: 'SingleLineText',
      Note: { type: 'SingleLineText', required: true },
    })
    const { jobId } = (await copy(source, target, idsOf(COUNT), { move: true })).body
    expect(await ended(jobId)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('Records without a value for it: 1'),
    })
    expect([await source.total(), await target.total()]).toEqual([COUNT, 0])
  })

  test('can be cancelled: what was moved stays there, the rest is where it was', async () => {
    const MORE = 2_500
    const source = await many(MORE)
    const target = await other.table({ Title: 'SingleLineText' })
    const { jobId } = (await copy(source, target, idsOf(MORE), { move: true })).body
    while ((await bench.trpc.jobs.get.query({ jobId })).progress.done === 0) await Bun.sleep(5)
    await bench.trpc.jobs.cancel.mutate({ jobId })
    const { status, result } = await ended(jobId)
    const [here, there] = [await source.total(), await target.total()]
    expect([status, result]).toMatchObject(['completed', { copied: there, deleted: there, left: here }])
    expect(here + there).toBe(MORE)
    expect(there).toBeGreaterThan(0)
  })
})
