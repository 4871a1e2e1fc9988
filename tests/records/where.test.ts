import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { Filter } from '../../src/core/filters/index.ts'
import { createFilterTable, type FilterTable, ROWS } from './filter-table.ts'
import { type Bench, createBench, refusalOf } from './support.ts'

let bench: Bench
let table: FilterTable['table']
let rows: FilterTable['rows']

beforeAll(async () => {
  bench = await createBench()
  ;({ table, rows } = await createFilterTable(bench))
})
afterAll(() => bench.stop())

/** Works again if the day has changed meanwhile, in any of the zones. */
async function onOneDay<T>(zones: readonly string[], work: () => Promise<T>): Promise<T> {
  const days = () =>
    zones.map((timeZone) => new Intl.DateTimeFormat('sv-SE', { timeZone }).format(new Date())).join()
  for (;;) {
    const before = days()
    const result = await work()
    if (days() === before) return result
  }
}

describe('the where parameter', () => {
  const count = async (where: string) =>
    (await table.list(`?limit=1000&where=${encodeURIComponent(where)}`)).length
  const holding = (title: string, test: (value: CellValue) => boolean) =>
    rows.filter(({ values }) => test(values[table.field(title).id] ?? null)).length

  test('means what the wire reference says', async () => {
    expect(await count('(Num,eq,5)')).toBe(holding('Num', (value) => value === 5))
    expect(await count('(Num,neq,5)')).toBe(holding('Num', (value) => value !== 5))
    expect(await count('(Title,eq,)')).toBe(holding('Title', (value) => value === ''))
    expect(await count('(Title,like,AB%)')).toBe(
      holding('Title', (value) => /^ab/i.test(String(value ?? ''))),
    )
    expect(await count('(Title,like,aBc)')).toBe(
      holding('Title', (value) => /abc/i.test(String(value ?? ''))),
    )
    expect(await count('(Title,nlike,abc)')).toBe(
      holding('Title', (value) => !/abc/i.test(String(value ?? ''))),
    )
    expect(await count('(Title,blank)')).toBe(holding('Title', (value) => value === null || value === ''))
    expect(await count('(Cb,checked)')).toBe(holding('Cb', (value) => value === true))
    expect(await count('(Cb,notchecked)')).toBe(holding('Cb', (value) => value !== true))
    expect(await count('(Cb,eq,1)')).toBe(await count('(Cb,is,true)'))
    expect(await count('(D,eq,exactDate,2024-02-29)')).toBe(holding('D', (value) => value === '2024-02-29'))
    const [within, today] = await onOneDay(['UTC'], async () => [
      await count('(D,isWithin,pastNumberOfDays,1)'),
      await count('(D,eq,today)'),
    ])
    expect(within).toBe(today)
    expect(await count('(Ms,allof,red,blue)')).toBe(holding('Ms', (value) => value === 'red,blue'))
    expect(await count('(Title,in,abc,ABC)')).toBe(
      holding('Title', (value) => value === 'abc' || value === 'ABC'),
    )
    expect(await count('~not(Num,eq,5)')).toBe(holding('Num', (value) => value !== null && value !== 5))
    expect(await count('(Num,eq,1)~or(Num,eq,2)~and(Rat,eq,3)')).toBe(
      rows.filter(({ values }) => {
        const [num, rat] = [values[table.field('Num').id], values[table.field('Rat').id]]
        return num === 1 || (num === 2 && rat === 3)
      }).length,
    )
    expect(await count('@("Title", eq, "a,b")')).toBe(holding('Title', (value) => value === 'a,b'))
    expect(await count('(Title,eq,(x))')).toBe(holding('Title', (value) => value === '(x)'))
    expect(await count('')).toBe(ROWS)
  })

  test.each([
    ['(Nope,eq,1)', { msg: "Column alias 'Nope' not found." }],
    ['(Num,eq', { msg: 'Invalid filter format.' }],
    ['(Num,nope,1)', { msg: 'nope is not supported.' }],
    [
      '(Num,eq,abc)',
      {
        error: 'FILTER_VERIFICATION_FAILED',
        message: 'Filter verification failed: Value abc is not supported for type Number on column Num',
      },
    ],
    [
      '(Num,btw,1,2)',
      {
        error: 'FILTER_VERIFICATION_FAILED',
        message: 'Filter verification failed: Operation btw is not supported for type Number on column Num',
      },
    ],
    ['(D,eq,2026-11-20)', { msg: "'2026-11-20' is not supported." }],
  ])('refuses %s with 422', async (where, body) => {
    const answer = await bench.rest.get(`${table.path}?where=${encodeURIComponent(where)}`)
    expect([answer.status, answer.body]).toMatchObject([422, body])
  })
})

describe('records.count with a time zone', () => {
  test('means the day of the person who asks by "today"', async () => {
    // UTC+14 and UTC-11: it is never the same day in both.
    const zones = ['Pacific/Kiritimati', 'Pacific/Niue'] as const
    const todayIn = (timeZone: string) => new Intl.DateTimeFormat('sv-SE', { timeZone }).format(new Date())
    const found = await onOneDay(zones, async () => {
      const days = await bench.table(
        { D: 'Date' },
        zones.map((zone) => ({ D: todayIn(zone) })),
      )
      const filter: Filter = { fieldId: days.field('D').id, operator: 'eq', operand: 'today', value: null }
      const answers = zones.map(async (timeZone) => {
        const selection = { tableId: days.id, filter, timeZone }
        const { count } = await bench.trpc.records.count.query({ selection })
        const { rows } = await bench.trpc.records.list.query({ query: { ...selection, limit: 9, offset: 0 } })
        return { count, row: rows[0], today: todayIn(timeZone) }
      })
      return Promise.all(answers)
    })
    for (const { count, row, today } of found) {
      expect(count).toBe(1)
      expect(row).toContain(today)
    }
  })

  test('refuses a zone that does not exist', async () => {
    const selection = { tableId: table.id, timeZone: 'Mars/Olympus' }
    expect(await refusalOf(bench.trpc.records.count.query({ selection }))).toMatchObject({ status: 400 })
  })
})
