import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
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
import { createFilterTable, type FilterTable, randomCondition } from './filter-table.ts'
import { type Bench, createBench, refusalOf } from './support.ts'

const FILTERS = 500

let bench: Bench
let table: FilterTable['table']
let rows: FilterTable['rows']
let fields: FilterTable['fields']

beforeAll(async () => {
  bench = await createBench()
  ;({ table, rows, fields } = await createFilterTable(bench))
})
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

const conditionOf = (random: () => number, field: Field, operator: (typeof OPERATORS)[number]): Condition =>
  randomCondition(random, field, operator, bench.owner)

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
  })

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
  })

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
