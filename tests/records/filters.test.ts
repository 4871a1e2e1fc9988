import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { DATE_OPERANDS } from '../../src/core/filters/filter.ts'
import {
  arityFor,
  type Condition,
  checkFilter,
  type Filter,
  filterTester,
  MAX_LIST,
  OPERATORS,
  setOf,
} from '../../src/core/filters/index.ts'
import type { Field } from '../../src/core/model.ts'
import { pick, seeded } from '../core/random.ts'
import { EVERY_TYPE, STORED_VALUES } from './every-type.ts'
import { type Bench, createBench, refusalOf, type TestTable } from './support.ts'

const ROWS = 400
const FILTERS = 500

type Row = Record<string, CellValue>

let bench: Bench
let table: TestTable
/** The records as tRPC gives them, by field id: what the memory is asked about. */
let rows: { id: number; values: Row }[]
let fields: Field[]

beforeAll(async () => {
  bench = await createBench()
  const random = seeded(5)
  const value = (title: string) => pick(random, STORED_VALUES[title as keyof typeof STORED_VALUES])
  const today = new Date().toISOString().slice(0, 10)
  table = await bench.table(
    { ...EVERY_TYPE, Made: 'CreatedTime', By: 'CreatedBy' },
    Array.from({ length: ROWS }, (_, index) => ({
      ...Object.fromEntries(Object.keys(EVERY_TYPE).map((title) => [title, value(title)])),
      ...(index % 9 === 0 && { D: today, Dt: `${today} 12:00:00+00:00` }),
    })),
  )
  fields = table.schema.fields.filter((field) => !field.isSystem)
  const page = await bench.trpc.records.list.query({
    query: { tableId: table.id, fieldIds: fields.map(({ id }) => id), limit: 1000, offset: 0 },
  })
  rows = page.rows.map((cells, index) => ({
    id: Number(page.ids[index]),
    values: Object.fromEntries(page.fieldIds.map((fieldId, at) => [fieldId, cells[at] ?? null])),
  }))
}, 60_000)

afterAll(() => bench.stop())

const byId = (id: string) => fields.find((field) => field.id === id)
const moment = () => ({
  now: new Date(),
  field: byId,
  actorId: bench.owner.id,
  people: [{ id: bench.owner.id, email: bench.owner.email, displayName: null }],
})

function idsInMemory(filter: Filter): number[] {
  const matches = filterTester(filter, moment())
  return rows.filter(({ values }) => matches(values)).map(({ id }) => id)
}

async function idsFromServer(filter: Filter): Promise<number[]> {
  const { ids } = await bench.trpc.records.list.query({
    query: { tableId: table.id, filter, fieldIds: [], limit: 1000, offset: 0 },
  })
  return ids.map(Number)
}

function conditionOf(random: () => number, field: Field, operator: (typeof OPERATORS)[number]): Condition {
  const others =
    field.type === 'ID' ? [1, 5, 100, 399] : [bench.owner.id, bench.owner.email, '@me', '2024-02-29']
  const known = STORED_VALUES[field.title as keyof typeof STORED_VALUES] ?? others
  // A multi select is asked for its options, of which a stored value may hold several.
  const listed = field.type === 'MultiSelect' ? ['red', 'blue', 'dark red'] : known
  const values = listed.filter((value): value is string | number | boolean => value !== null && value !== '')
  const operand = arityFor(operator, setOf(field)) === 'date' ? pick(random, DATE_OPERANDS) : null
  const part = (value: CellValue): CellValue => {
    const text = String(value)
    return operator.comparesText && random() < 0.6
      ? text.slice(Math.floor(random() * text.length)).toLowerCase()
      : value
  }
  const value: Condition['value'] =
    operand && operand !== 'exactDate'
      ? pick(random, [1, 3, 40])
      : operator.arity === 'many' || operator.arity === 'two'
        ? [pick(random, values), pick(random, values)]
        : operator.arity === 'word'
          ? pick(random, ['null', 'notnull', 'empty', 'notempty', 'blank', 'notblank', 'true', 'false'])
          : part(pick(random, values))
  return { fieldId: field.id, operator: operator.key, operand, value }
}

describe('a filter', () => {
  test('of every operator on every field type finds the records that the memory finds', async () => {
    const random = seeded(3)
    const differences: unknown[] = []
    const tried = new Set<string>()
    for (const field of fields) {
      for (const operator of OPERATORS.filter(({ accepts }) => accepts.includes(setOf(field)))) {
        for (let attempt = 0, done = 0; attempt < 60 && done < 4; attempt++) {
          const condition = conditionOf(random, field, operator)
          if (checkFilter(condition, byId).length > 0) continue
          done++
          tried.add(`${field.type} ${operator.key}`)
          const [memory, server] = [idsInMemory(condition), await idsFromServer(condition)]
          if (!Bun.deepEquals(memory, server)) {
            differences.push({
              field: field.title,
              ...condition,
              memory: memory.length,
              server: server.length,
            })
          }
        }
      }
    }
    expect(differences).toEqual([])
    const possible = fields.flatMap((field) =>
      OPERATORS.filter(({ accepts }) => accepts.includes(setOf(field))).map(
        ({ key }) => `${field.type} ${key}`,
      ),
    )
    expect(possible.filter((combination) => !tried.has(combination))).toEqual([])
  }, 60_000)

  test(`of ${FILTERS} generated groups finds the records that the memory finds`, async () => {
    const random = seeded(17)
    const condition = (): Condition => {
      for (;;) {
        const field = pick(random, fields)
        const operator = pick(random, OPERATORS)
        if (!operator.accepts.includes(setOf(field))) continue
        const made = conditionOf(random, field, operator)
        if (checkFilter(made, byId).length === 0) return made
      }
    }
    const group = (depth: number): Filter => ({
      join: pick(random, ['and', 'or'] as const),
      not: random() < 0.3,
      children: Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
        depth > 0 && random() < 0.4 ? group(depth - 1) : condition(),
      ),
    })
    const differences: unknown[] = []
    for (let index = 0; index < FILTERS; index++) {
      const filter = group(3)
      const [memory, server] = [idsInMemory(filter), await idsFromServer(filter)]
      if (!Bun.deepEquals(memory, server))
        differences.push({ filter, memory: memory.length, server: server.length })
    }
    expect(differences.slice(0, 3)).toEqual([])
  }, 60_000)

  test('may list a thousand values, and be of hundreds of conditions', async () => {
    const many = Array.from({ length: MAX_LIST }, (_, index) => `option ${index}`)
    const choice = table.field('Ms').id
    for (const operator of ['anyof', 'allof', 'nanyof', 'nallof']) {
      const filter: Filter = { fieldId: choice, operator, value: many }
      expect(await idsFromServer(filter)).toEqual(idsInMemory(filter))
    }
    const children = Array.from({ length: 490 }, (_, index) => ({
      fieldId: table.field('Num').id,
      operator: 'eq',
      value: index,
    }))
    for (const join of ['and', 'or'] as const) {
      const filter: Filter = { join, children }
      expect(await idsFromServer(filter)).toEqual(idsInMemory(filter))
    }
  })

  test('that no engine could take is refused and says so', async () => {
    const ask = (filter: Filter) =>
      refusalOf(bench.trpc.records.list.query({ query: { tableId: table.id, filter, limit: 1, offset: 0 } }))
    const text = table.field('Title').id
    const values = Array.from({ length: 1000 }, (_, index) => `value ${index}`)
    const children = Array.from({ length: 200 }, () => ({
      fieldId: table.field('Ms').id,
      operator: 'anyof',
      value: values,
    }))
    expect((await ask({ join: 'or', children })).status).toBeOneOf([400, 422])
    expect((await ask({ fieldId: text, operator: 'like', value: 'x'.repeat(200_000) })).status).toBeOneOf([
      400, 422,
    ])
    expect((await ask({ fieldId: text, operator: 'nope', value: 'x' })).code).toBe(
      'FILTER_VERIFICATION_FAILED',
    )
    expect((await ask({ fieldId: 'cnope', operator: 'eq', value: 'x' })).code).toBe('FIELD_NOT_FOUND')
  })

  test('by search finds text in any case of any alphabet, and no field that shows something else', async () => {
    const search = async (text: string, fieldId: string | null = null) =>
      (
        await bench.trpc.records.list.query({
          query: { tableId: table.id, search: { text, fieldId }, fieldIds: [], limit: 1000, offset: 0 },
        })
      ).ids.length
    const holding = (text: string, title: string) =>
      rows.filter(({ values }) =>
        String(values[table.field(title).id] ?? '')
          .toLowerCase()
          .includes(text.toLowerCase()),
      ).length
    for (const text of [
      'abc',
      'ünï',
      'ÜNÏ',
      '日本',
      '%',
      '_',
      "it's",
      'a\\b',
      '👩‍🚀',
      '(x)',
      '[',
      '*',
      '?',
    ]) {
      expect([text, await search(text, table.field('Title').id)]).toEqual([text, holding(text, 'Title')])
    }
    expect(await search('.0', table.field('Dec').id)).toBe(0)
    expect(await search('2.25', table.field('Dec').id)).toBe(holding('2.25', 'Dec'))
    expect(await search('1', table.field('Cb').id)).toBe(0)
    expect(
      await refusalOf(
        bench.trpc.records.list.query({
          query: { tableId: table.id, search: { text: '', fieldId: null }, limit: 1, offset: 0 },
        }),
      ),
    ).toMatchObject({ status: 400 })
  })
})

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
    expect(await count('(D,isWithin,pastNumberOfDays,1)')).toBe(await count('(D,eq,today)'))
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
    const days = await bench.table(
      { D: 'Date' },
      zones.map((zone) => ({ D: todayIn(zone) })),
    )
    const filter: Filter = { fieldId: days.field('D').id, operator: 'eq', operand: 'today', value: null }
    for (const timeZone of zones) {
      const selection = { tableId: days.id, filter, timeZone }
      expect(await bench.trpc.records.count.query({ selection })).toEqual({ count: 1 })
      const [row] = (await bench.trpc.records.list.query({ query: { ...selection, limit: 9, offset: 0 } }))
        .rows
      expect(row).toContain(todayIn(timeZone))
    }
  })

  test('refuses a zone that does not exist', async () => {
    const selection = { tableId: table.id, timeZone: 'Mars/Olympus' }
    expect(await refusalOf(bench.trpc.records.count.query({ selection }))).toMatchObject({ status: 400 })
  })
})
