import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { dayIn, fromStored } from '../../src/core/dates.ts'
import { NOW } from '../../src/core/fields/default-value.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { RecordId } from '../../src/core/model.ts'
import { TIME_ZONE_HEADER } from '../../src/core/shares.ts'
import { doorOf, ended, formatOf, upload } from '../imports/support.ts'
import { byLink } from '../shares/world.ts'
import { type Bench, changesNothing, createBench, refusalOf, type TestTable } from './support.ts'

const M = '/api/v1/db/meta'
/** Where it is never the same day: 25 hours lie between them. */
const [AHEAD, BEHIND] = ['Pacific/Kiritimati', 'Pacific/Niue'] as const

let bench: Bench
let table: TestTable

beforeAll(async () => {
  bench = await createBench()
  table = await bench.table({
    Title: 'SingleLineText',
    Day: { type: 'Date', defaultValue: NOW },
    At: { type: 'DateTime', defaultValue: NOW, options: { timeZone: 'Asia/Tokyo' } },
    Hour: { type: 'Time', defaultValue: NOW },
  })
})
afterAll(() => bench.stop())

/** What a record has in the three fields. */
async function momentsOf(recordId: RecordId, from = table): Promise<[day: string, at: string, hour: string]> {
  const { values } = await bench.trpc.records.get.query({ tableId: from.id, recordId })
  const [day, at, hour] = ['Day', 'At', 'Hour'].map((title) => String(values[from.field(title).id]))
  return [day!, at!, hour!]
}

/** Holds a new record against the moment at which it was made, in the zone whose clock it goes by. */
async function expectNow(make: () => Promise<RecordId>, zone = 'UTC'): Promise<void> {
  const before = Math.floor(Date.now() / 1000) * 1000
  const id = await make()
  const after = Date.now()
  const [day, at, hour] = await momentsOf(id)
  const ms = fromStored(at) ?? 0
  expect(ms).toBeGreaterThanOrEqual(before)
  expect(ms).toBeLessThanOrEqual(after)
  expect(day).toBe(dayIn(ms, zone))
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeStyle: 'medium' })
  expect(hour).toBe(clock.format(ms))
}

const insert = (values: Record<string, CellValue>, timeZone?: string) => ({
  change: {
    baseId: bench.baseId,
    operations: [{ kind: 'insert' as const, tableId: table.id, rows: [{ values: table.values(values) }] }],
    timeZone,
  },
})

const columnOf = async (id: string) => (await bench.rest.get(`${M}/columns/${id}`)).body

/** Makes a column by REST and gives it as the answer shows it. */
async function postColumn(column: object) {
  const { status, body } = await bench.rest.post(`${M}/tables/${table.id}/columns`, column)
  return { status, body, column: status === 200 ? body.columns.at(-1) : null }
}

describe('the present as a default value', () => {
  test('is refused for all but days and times', async () => {
    await changesNothing(bench, async () => {
      for (const type of ['Number', 'Checkbox', 'Year', 'SingleSelect'] as const) {
        const field = { title: 'No', type, defaultValue: NOW }
        const refused = await refusalOf(bench.trpc.schema.createField.mutate({ tableId: table.id, field }))
        expect([type, refused.status]).toEqual([type, 400])
      }
      for (const column of [
        { title: 'No', uidt: 'SingleLineText', cdf: 'CURRENT_TIMESTAMP' },
        { title: 'No', uidt: 'Number', cdf: 'now()' },
        { title: 'No', uidt: 'DateTime', cdf: 'CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP' },
        { title: 'No', uidt: 'Date', cdf: 'tomorrow()' },
        { title: 'No', uidt: 'Date', cdf: 'now' },
      ]) {
        const { status, body } = await postColumn(column)
        expect([column.cdf, status]).toEqual([column.cdf, 400])
        expect(body.msg).toContain(column.cdf)
      }
    })
  })

  test('is a word like others in a text', async () => {
    const { column } = await postColumn({ title: 'When', uidt: 'SingleLineText', cdf: 'now' })
    expect(column.cdf).toBe('now')
    const { body } = await bench.rest.post(table.path, {})
    expect((await bench.rest.get(`${table.path}/${body.Id}`)).body.When).toBe('now')
    await bench.rest.delete(`${M}/columns/${column.id}`)
  })

  test('is refused where a change names no time zone that there is', async () => {
    const refused = await changesNothing(bench, () =>
      refusalOf(bench.trpc.records.write.mutate(insert({ Title: 'x' }, 'Mars/Olympus'))),
    )
    expect(refused.status).toBe(400)
  })

  test('is CURRENT_TIMESTAMP to REST clients, whatever its engine calls it', async () => {
    for (const cdf of [
      'CURRENT_TIMESTAMP',
      'current_timestamp()',
      'now()',
      'GETDATE()',
      'current_timestamp(6)',
    ])
      for (const uidt of ['Date', 'DateTime', 'Time']) {
        const { column } = await postColumn({ title: `${uidt} ${cdf}`, uidt, cdf })
        expect([cdf, column.cdf]).toEqual([cdf, 'CURRENT_TIMESTAMP'])
        await bench.rest.delete(`${M}/columns/${column.id}`)
      }
  })

  test('is taken back as it was given, and gives way to a fixed value and to none', async () => {
    const { column } = await postColumn({ title: 'When', uidt: 'DateTime', cdf: 'CURRENT_TIMESTAMP' })
    const patched = async (patch: object) => {
      const { status } = await bench.rest.patch(`${M}/columns/${column.id}`, patch)
      expect(status).toBe(200)
      return (await columnOf(column.id)).cdf
    }
    expect(await patched({ ...column, title: 'When it was' })).toBe('CURRENT_TIMESTAMP')
    expect(await patched({ cdf: '2024-03-05 08:20' })).toBe('2024-03-05 08:20:00+00:00')
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect((await columnOf(column.id)).cdf).toBe('CURRENT_TIMESTAMP')
    expect(await patched({ cdf: null })).toBeNull()
    await bench.rest.delete(`${M}/columns/${column.id}`)
  })

  test('outlives a change between days and instants, and no other', async () => {
    const { column } = await postColumn({ title: 'Due', uidt: 'Date', cdf: 'CURRENT_TIMESTAMP' })
    const become = async (uidt: string) => {
      expect((await bench.rest.patch(`${M}/columns/${column.id}`, { uidt })).status).toBe(200)
      return (await columnOf(column.id)).cdf
    }
    expect(await become('DateTime')).toBe('CURRENT_TIMESTAMP')
    expect(await become('Date')).toBe('CURRENT_TIMESTAMP')
    expect(await become('Time')).toBeNull()
    await bench.rest.patch(`${M}/columns/${column.id}`, { cdf: 'now()' })
    expect(await become('SingleLineText')).toBeNull()
    await bench.rest.delete(`${M}/columns/${column.id}`)
  })
})

describe('a new record starts with the present', () => {
  const v1 = () => `/api/v1/db/data/noco/${bench.baseId}/${encodeURIComponent(table.title)}`
  const bulk = () => `/api/v1/db/data/bulk/noco/${bench.baseId}/${encodeURIComponent(table.title)}`

  test.each<[string, () => Promise<RecordId>]>([
    ['the v2 call', async () => (await bench.rest.post(table.path, { Title: 'a' })).body.Id],
    ['a v2 list', async () => (await bench.rest.post(table.path, [{ Title: 'a' }, {}])).body[1].Id],
    ['the v1 call', async () => (await bench.rest.post(v1(), { Title: 'a' })).body.Id],
    ['a v1 list', async () => (await bench.rest.post(bulk(), [{ Title: 'a' }])).body[0].Id],
  ])('by %s, in UTC', async (_, make) => {
    await expectNow(make)
  })

  test.each([AHEAD, BEHIND])("by the clock of the app's user in %s", async (zone) => {
    const make = async () =>
      (await bench.trpc.records.write.mutate(insert({ Title: 'a' }, zone))).inserted[0]!
    await expectNow(make, zone)
  })

  test('by a link to the base, for who may write there', async () => {
    const { baseId } = bench
    const { id } = await bench.trpc.shares.save.mutate({
      kind: 'base' as const,
      targetId: baseId,
      patch: { role: 'editor' as const },
    })
    const visitor = bench.app.trpc(byLink('base', id))
    await expectNow(async () => (await visitor.records.write.mutate(insert({}, AHEAD))).inserted[0]!, AHEAD)
  })

  test('by a form that does not ask for it', async () => {
    const view = await bench.trpc.views.create.mutate({ tableId: table.id, title: 'Ask', kind: 'form' })
    await bench.trpc.views.arrange.mutate({
      viewId: view.id,
      fields: table.schema.fields.map(({ id, title }, order) => ({
        fieldId: id,
        show: title === 'Title',
        order,
      })),
    })
    const { id } = await bench.trpc.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} })
    const answer = (headers: Record<string, string>) => async () => {
      const submitted = bench.app.trpc({ ...byLink('view', id), ...headers }).shares.submit
      return (await submitted.mutate({ values: table.values({ Title: 'answer' }) })).recordId
    }
    await expectNow(answer({ [TIME_ZONE_HEADER]: BEHIND }), BEHIND)
    await expectNow(answer({ [TIME_ZONE_HEADER]: 'Mars/Olympus' }))
    await expectNow(answer({}))
  })

  test('in an import, where no column goes to it; an empty cell stays empty', async () => {
    const file = 'Title,Day\na,\nb,2020-02-03\n'
    const door = doorOf(bench.app, bench.owner)
    const [title, day] = [table.field('Title').id, table.field('Day').id]
    const { jobId } = await bench.trpc.imports.start.mutate({
      baseId: bench.baseId,
      tableId: table.id,
      uploadId: await upload(door, file),
      format: formatOf(file),
      width: 2,
      timeZone: AHEAD,
      columns: [title, day].map((fieldId, index) => ({ index, fieldId })),
    })
    expect((await ended(door, jobId)).status).toBe('completed')
    const { ids } = await bench.trpc.records.list.query({
      query: { tableId: table.id, limit: 1000, offset: 0 },
    })
    const [empty, given] = await Promise.all(ids.slice(-2).map((id) => momentsOf(id)))
    const ms = fromStored(empty![1]) ?? 0
    expect(Date.now() - ms).toBeLessThan(60_000)
    expect(empty![0]).toBe('null')
    expect(given).toEqual(['2020-02-03', empty![1], empty![2]])
  })

  test('and not where a value or nothing is given, nor later', async () => {
    const given = { Day: '2020-02-03', At: '2020-02-03 04:05:06', Hour: '07:08:09' }
    const { body } = await bench.rest.post(table.path, given)
    const kept: [string, string, string] = ['2020-02-03', '2020-02-03 04:05:06+00:00', '07:08:09']
    expect(await momentsOf(body.Id)).toEqual(kept)
    await bench.rest.patch(table.path, { Id: body.Id, Title: 'later' })
    expect(await momentsOf(body.Id)).toEqual(kept)
    const none = await bench.rest.post(table.path, { Day: null, At: '', Hour: null })
    expect(await momentsOf(none.body.Id)).toEqual(['null', 'null', 'null'])
  })

  test('of a required field, which is then never missing; undo and redo bring the same back', async () => {
    const other = await bench.table({
      Title: 'SingleLineText',
      Day: 'Date',
      At: { type: 'DateTime', defaultValue: NOW, required: true },
      Hour: 'Time',
    })
    const change = {
      baseId: bench.baseId,
      operations: [{ kind: 'insert' as const, tableId: other.id, rows: [{ values: {} }] }],
    }
    const { inserted } = await bench.trpc.records.write.mutate({ change })
    const [, at] = await momentsOf(inserted[0]!, other)
    expect(fromStored(at)).not.toBeNull()
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect(await other.total()).toBe(0)
    await Bun.sleep(1100)
    await bench.trpc.records.redo.mutate({ baseId: bench.baseId })
    expect((await momentsOf(inserted[0]!, other))[1]).toBe(at)
  })
})
