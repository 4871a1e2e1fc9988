import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench, type TestTable } from './support.ts'

let bench: Bench
let table: TestTable
beforeAll(async () => {
  bench = await createBench()
  table = await bench.table(
    { Title: 'SingleLineText', N: 'Number', Day: 'Date', Until: 'Date', At: 'DateTime', End: 'DateTime' },
    [
      { Title: 'a', N: 1, Day: '2024-03-05', Until: '2024-03-08', At: '2024-03-05 08:00:00+00:00' },
      { Title: 'b', N: 2, Day: '2024-02-27', Until: '2024-03-02', At: '2024-02-29 23:59:59+00:00' },
      { Title: 'c', N: 3, Day: '2024-03-31', At: '2024-03-31 23:30:00+00:00' },
      { Title: 'd', N: 4, Day: '2024-04-01', Until: '2024-04-02', At: '2024-04-01 00:00:00+00:00' },
      { Title: 'e', N: 5, Day: '2024-02-01', Until: '2024-05-01' },
      { Title: 'f', N: 6, Until: '2024-03-15' },
      { Title: 'g', N: 7, Day: '2024-03-20', Until: '2024-03-10', At: '2024-03-05 22:30:00+00:00' },
    ],
  )
})
afterAll(() => bench.stop())

const March = { from_date: '2024-03-01 00:00:00+00:00', to_date: '2024-03-31 23:59:59+00:00' }
const neighbours = { prev_date: '2024-02-29 23:59:59+00:00', next_date: '2024-04-01 00:00:00+00:00' }

/** A calendar with ranges of fields by title, and the path of its records. */
async function calendar(...ranges: [from: string, to?: string][]) {
  const { body } = await bench.rest.post(`/api/v1/db/meta/tables/${table.id}/calendars`, {
    title: `Calendar ${ranges.flat().join(' ')} ${crypto.randomUUID()}`,
    calendar_range: ranges.map(([from, to]) => ({
      fk_from_column_id: table.field(from).id,
      fk_to_column_id: to === undefined ? null : table.field(to).id,
    })),
  })
  return { viewId: body.id as string, path: pathOf(body.id) }
}
const pathOf = (view: string) =>
  `/api/v1/db/calendar-data/noco/${bench.baseId}/${table.id}/views/${encodeURIComponent(view)}`
const query = (parameters: Record<string, string>) => `?${new URLSearchParams(parameters)}`
const titles = ({ body }: { body: { list: { Title: string }[] } }) => body.list.map(({ Title }) => Title)

describe('GET /api/v1/db/calendar-data/{orgs}/{base}/{table}/views/{view}', () => {
  test('refuses what is no period of a calendar', async () => {
    const { path } = await calendar(['Day'])
    const grid = pathOf(table.schema.views[0]!.id)
    const empty = (await calendar()).path
    const refusals = [
      [path, {}, 400, 'from_date and to_date are required'],
      [path, { from_date: March.from_date }, 400, 'from_date and to_date are required'],
      [grid, March, 400, 'View is not a calendar view'],
      [empty, March, 400, 'No ranges found'],
      [path, { ...March, where: '(Nope,eq,1)' }, 422, "Column alias 'Nope' not found."],
    ] as const
    for (const [place, parameters, status, msg] of refusals) {
      for (const end of ['', '/countByDate'])
        expect(await bench.rest.get(place + end + query({ ...parameters }))).toMatchObject({
          status,
          body: { msg },
        })
    }
    expect(await bench.rest.get(path + query({ from_date: 'x', to_date: 'y' }))).toMatchObject({
      status: 422,
      body: {
        error: 'FILTER_VERIFICATION_FAILED',
        message: 'Filter verification failed: Value y is not supported for type Date on column Day',
      },
    })
    expect((await bench.rest.get(pathOf('nope') + query(March))).status).toBe(404)
    expect((await bench.app.rest().get(path + query(March))).status).toBe(401)
  })

  test('lists the records with a day in the period, in one page', async () => {
    const { path } = await calendar(['Day'])
    const answer = await bench.rest.get(path + query({ ...March, ...neighbours, limit: '1' }))
    expect([answer.status, titles(answer)]).toEqual([200, ['a', 'c', 'g']])
    expect(answer.body.list[0]).toMatchObject({ Id: 1, Title: 'a', Day: '2024-03-05' })
    const info = { totalRows: 3, page: 1, pageSize: 3000, isFirstPage: true, isLastPage: true }
    expect(answer.body.pageInfo).toEqual(info)
    const days = { from_date: '2024-03-01', to_date: '2024-03-31' }
    expect(titles(await bench.rest.get(path + query(days)))).toEqual(['a', 'c', 'g'])
    const found = (more: Record<string, string>) => bench.rest.get(path + query({ ...March, ...more }))
    expect(titles(await found({ where: '(N,gt,1)', sort: '-N' }))).toEqual(['g', 'c'])
    expect((await found({ offset: '1' })).body.pageInfo).toMatchObject({ totalRows: 3, offset: 1 })
  })

  test('lists records that last into the period, and those of every range', async () => {
    expect(titles(await bench.rest.get((await calendar(['Day', 'Until'])).path + query(March)))).toEqual([
      'a',
      'b',
      'c',
      'e',
      'g',
    ])
    const both = (await calendar(['Day'], ['At'])).path
    const fifth = { from_date: '2024-03-05', to_date: '2024-03-05' }
    expect(titles(await bench.rest.get(both + query(fifth)))).toEqual(['a', 'g'])
  })

  test('compares instants exactly, in the time zone of the period', async () => {
    const { path } = await calendar(['At'])
    expect(titles(await bench.rest.get(path + query(March)))).toEqual(['a', 'c', 'g'])
    const day = { from_date: '2024-03-05 00:00:00+02:00', to_date: '2024-03-05 23:59:59+02:00' }
    expect(titles(await bench.rest.get(path + query(day)))).toEqual(['a'])
  })

  test('keeps to the filter and the fields of the view, and of its public link', async () => {
    const { viewId, path } = await calendar(['Day'])
    const filter = { fk_column_id: table.field('N').id, comparison_op: 'neq', value: '3' }
    await bench.rest.post(`/api/v1/db/meta/views/${viewId}/filters`, filter)
    await bench.trpc.views.arrange.mutate({
      viewId,
      fields: ['N', 'Until', 'At', 'End'].map((title) => ({ fieldId: table.field(title).id, show: false })),
    })
    const rows = [
      { Id: 1, Title: 'a', Day: '2024-03-05' },
      { Id: 7, Title: 'g', Day: '2024-03-20' },
    ]
    const dates = ['2024-03-05 00:00:00+00:00', '2024-03-20 00:00:00+00:00']
    const { uuid } = (await bench.rest.post(`/api/v1/db/meta/views/${viewId}/share`)).body
    const places = [path, `/api/v1/db/public/calendar-view/${uuid}`, `/api/v2/public/calendar-view/${uuid}`]
    for (const place of places) {
      const client = place === path ? bench.rest : bench.app.rest()
      expect((await client.get(place + query(March))).body.list).toEqual(rows)
      expect((await client.get(`${place}/countByDate/${query(March)}`)).body).toEqual({ count: 2, dates })
    }
    const nobody = bench.app.rest()
    expect((await nobody.get(places[1] + query({ ...March, where: '(N,eq,1)' }))).status).toBe(422)
    const grid = (await bench.rest.post(`/api/v1/db/meta/views/${table.schema.views[0]!.id}/share`)).body
    expect((await nobody.get(`/api/v1/db/public/calendar-view/${grid.uuid}${query(March)}`)).status).toBe(404)
    expect((await nobody.get(`/api/v1/db/public/calendar-view/nope${query(March)}`)).body.error).toBe(
      'VIEW_NOT_FOUND',
    )
  })
})

describe('GET …/countByDate', () => {
  const dates = async (path: string, parameters = March) =>
    (await bench.rest.get(`${path}/countByDate${query(parameters)}`)).body

  test('names each day on which a record is', async () => {
    expect(await dates((await calendar(['At'])).path)).toEqual({
      count: 3,
      dates: ['2024-03-05 08:00:00+00:00', '2024-03-31 23:30:00+00:00', '2024-03-05 22:30:00+00:00'],
    })
    const { path } = await calendar(['Day', 'Until'])
    const days = { from_date: '2024-03-01', to_date: '2024-03-07' }
    const day = (date: number) => `2024-03-0${date} 00:00:00+00:00`
    const answer = await dates(path, days)
    expect([answer.count, answer.dates.toSorted()]).toEqual([3, [1, 2, 3, 4, 5, 6, 7].map(day)])
  })

  test('keeps the time of an event that lasts', async () => {
    const { body } = await bench.rest.post(table.path, {
      Title: 'long',
      At: '2025-01-01 22:00:00+00:00',
      End: '2025-01-03 01:00:00+00:00',
    })
    const { path } = await calendar(['At', 'End'])
    const week = { from_date: '2025-01-02 00:00:00+00:00', to_date: '2025-01-05 23:59:59+00:00' }
    expect(await dates(path, week)).toEqual({
      count: 1,
      dates: ['2025-01-02 22:00:00+00:00', '2025-01-03 22:00:00+00:00'],
    })
    await bench.rest.delete(table.path, { Id: body.Id })
  })
})
