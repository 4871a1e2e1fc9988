import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import { countRecords, type PageQuery, planPage, positionsQuery } from '../../modules/records/read/plan.ts'
import type { PlanContext } from '../../modules/records/read/plan-cache.ts'
import { summarize } from '../../modules/records/read/summaries.ts'
import { columnOf, decodeRows } from '../../modules/records/table/columns.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { DATE_OPERANDS } from '../../src/core/filters/filter.ts'
import {
  type Condition,
  checkFilter,
  type Filter,
  filterTester,
  findOperator,
  OPERATORS,
  setOf,
} from '../../src/core/filters/index.ts'
import { summariesFor } from '../../src/core/summaries.ts'
import { pick, seeded } from '../core/random.ts'
import { ENGINES, type TestEngine } from './engines.ts'
import { columnsOf, MODEL, ROWS, type Row, VALUES_OF } from './fixture-table.ts'
import { reference, rounded } from './summary-reference.ts'

/** Noon on a Thursday in a leap year. */
const NOW = new Date('2024-02-29T12:00:00Z')
const FILTERS = 1500

const byId = (id: string) => MODEL.field(id)
const userFields = MODEL.fields.filter((field) => !field.isSystem && !field.isPrimaryKey)

/** Conditions of every operator on every field that takes it, with values that are in the table and not. */
function* conditions(random: () => number): Generator<Condition> {
  for (;;) {
    const field = pick(random, userFields)
    const operator = pick(random, OPERATORS)
    if (!operator.accepts.includes(setOf(field))) continue
    const values = (VALUES_OF[field.title] ?? []).filter((value) => value !== null)
    // Lists name options one by one; only the cell itself joins them with commas.
    const listed = field.type === 'MultiSelect' ? ['red', 'blue', 'dark red'] : values
    const isDate = setOf(field) === 'date'
    const operand = isDate ? pick(random, DATE_OPERANDS) : null
    const value: Condition['value'] =
      operand && operand !== 'exactDate'
        ? pick(random, [1, 3, 40])
        : operator.arity === 'many' || operator.arity === 'two'
          ? [pick(random, listed), pick(random, listed)]
          : pick(random, values)
    const condition: Condition = { fieldId: field.id, operator: operator.key, operand, value }
    // The door lets only these through; what it refuses has tests of its own.
    if (checkFilter(condition, byId).length === 0) yield condition
  }
}

function* filters(random: () => number): Generator<Filter> {
  const source = conditions(random)
  for (;;) {
    const one = source.next().value
    if (random() < 0.6) yield one
    else
      yield {
        join: pick(random, ['and', 'or'] as const),
        not: random() < 0.3,
        children: [one, source.next().value, source.next().value],
      }
  }
}

describe.each(ENGINES)('the planner on $client', ({ open }) => {
  let engine: TestEngine
  let context: PlanContext

  const ask = (query: SQL) => engine.rows(engine.dialect.render(query))

  beforeAll(async () => {
    engine = await open()
    context = {
      model: MODEL,
      view: null,
      dialect: engine.dialect,
      models: new Map([[MODEL.table.id, MODEL]]),
      moment: { now: NOW, actorId: null, people: [] },
    }
    for (const statement of engine.dialect.createTable(MODEL.table.tableName, columnsOf()))
      await engine.rows(statement)
    for (const row of ROWS) {
      const values = MODEL.fields.map((field) => sql`${row[field.id] ?? null}`)
      await ask(
        sql`insert into ${sql.identifier(MODEL.table.tableName)} (${sql.join(MODEL.fields.map(columnOf), sql`, `)})
          values (${sql.join(values, sql`, `)})`,
      )
    }
  })

  afterAll(() => engine.close())

  const pageOf = (query: Partial<PageQuery>) =>
    engine.rows(
      planPage(context, {
        fields: [],
        shape: { kind: 'rows', links: 'first' },
        limit: 1000,
        offset: 0,
        ...query,
      }).page,
    )

  const idsOf = async (query: Partial<PageQuery>): Promise<number[]> =>
    (await pageOf(query)).map(([id]) => Number(id))

  test(`answers ${FILTERS} generated filters as rows in memory do`, async () => {
    const source = filters(seeded(11))
    const differences: unknown[] = []
    for (let index = 0; index < FILTERS; index++) {
      const filter = source.next().value
      const matches = filterTester(filter, { now: NOW, field: byId, actorId: null, people: [] })
      const expected = ROWS.filter(matches).map((row) => row.cId)
      const actual = await idsOf({ filter })
      if (JSON.stringify(actual) !== JSON.stringify(expected)) {
        differences.push({
          filter,
          missing: expected.filter((id) => !actual.includes(Number(id))).length,
          extra: actual.filter((id) => !expected.includes(id)).length,
        })
      }
    }
    expect(differences.slice(0, 5)).toEqual([])
  })

  test('gives every value back as it was written', async () => {
    const fields = userFields.filter((field) => field.type !== 'Date')
    const rows = decodeRows(
      (await pageOf({ fields })).map((row) => row.slice(0, -1)),
      fields,
      engine.dialect,
    )
    expect(rows).toEqual(ROWS.map((row) => fields.map((field) => row[field.id] ?? null)))
  })

  test.each([
    ['Num', 'asc'],
    ['Num', 'desc'],
    ['T', 'asc'],
    ['T', 'desc'],
    ['Ss', 'asc'],
    ['D', 'desc'],
    ['Cb', 'asc'],
  ] as const)(
    'sorts %s %s with empty values first ascending, options as they stand',
    async (title, direction) => {
      const field = MODEL.byTitle(title)!
      const choices = (field.options.choices ?? []) as { title: string }[]
      const rank = (value: CellValue) =>
        title === 'Ss' ? choices.findIndex((choice) => choice.title === value) : value
      const expected = [...ROWS].sort((a, b) => {
        const order = compare(
          rank(a[field.id] ?? null),
          rank(b[field.id] ?? null),
          a[field.id] ?? null,
          b[field.id] ?? null,
        )
        return (direction === 'asc' ? order : -order) || Number(a.cId) - Number(b.cId)
      })
      expect(await idsOf({ sorts: [{ fieldId: field.id, direction }] })).toEqual(
        expected.map((row) => Number(row.cId)),
      )
    },
  )

  test('finds a record at the place where its page shows it, and counts what a filter means', async () => {
    const filter: Condition = { fieldId: 'cNum', operator: 'gt', value: 0 }
    const query = {
      tableId: MODEL.table.id,
      limit: 10,
      offset: 20,
      filter,
      sorts: [{ fieldId: 'cT', direction: 'desc' as const }],
    }
    const page = await idsOf(query)
    const [place] = await ask(positionsQuery(context, query, [page[3]!]))
    expect(Number(place?.[1])).toBe(23)
    const [count] = await ask(countRecords(context, { filter }).query)
    expect(Number(count?.[0])).toBe(ROWS.filter((row) => Number(row.cNum) > 0).length)
  })

  test('searches text in any case without meaning its wildcards', async () => {
    const found = async (text: string) => (await idsOf({ search: { text, fieldId: 'cT' } })).length
    const holding = (test: (text: string) => boolean) =>
      ROWS.filter((row: Row) => typeof row.cT === 'string' && test(row.cT)).length
    expect(await found('BC')).toBe(holding((text) => text.toLowerCase().includes('bc')))
    expect(await found('%')).toBe(holding((text) => text.includes('%')))
    expect(await found('_')).toBe(holding((text) => text.includes('_')))
    expect(await found('\\')).toBe(holding((text) => text.includes('\\')))
    expect(await found("'")).toBe(holding((text) => text.includes("'")))
  })

  test('finds no checkbox by the number or word that the engine stores', async () => {
    for (const text of ['1', '0', 't', 'true', 'false']) {
      expect([text, await idsOf({ search: { text, fieldId: 'cCb' } })]).toEqual([text, []])
    }
  })

  test('summarises columns as the values in memory do', async () => {
    const asEngine = { dialect: engine.dialect, values: engine.rows, all: async () => [] }
    for (const field of userFields.filter((candidate) => candidate.type !== 'Date')) {
      const wanted = summariesFor(fieldType(field.type).summaries).map(({ key }) => ({
        fieldId: field.id,
        summary: key,
      }))
      for (const request of wanted) {
        const result = await summarize(asEngine, context, {}, [request])
        const values = ROWS.map((row) => row[field.id] ?? null)
        expect([field.title, request.summary, rounded(result[field.id])]).toEqual([
          field.title,
          request.summary,
          rounded(reference(request.summary, values)),
        ])
      }
    }
  })
})

test('every operator is tried on some field', () => {
  const tried = new Set<string>()
  const source = conditions(seeded(11))
  for (let index = 0; index < FILTERS; index++) tried.add(source.next().value.operator)
  const wanted = OPERATORS.filter((operator) =>
    operator.accepts.some((set) => userFields.some((f) => setOf(f) === set)),
  )
  expect(wanted.map((operator) => operator.key).filter((key) => !tried.has(key))).toEqual([])
  expect(findOperator('nope')).toBeNull()
})

function compare(a: CellValue | number, b: CellValue | number, rawA: CellValue, rawB: CellValue): number {
  if (rawA === null || rawB === null)
    return Number(rawB === null) === Number(rawA === null) ? 0 : rawA === null ? -1 : 1
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(String(b)))
  return Number(a) - Number(b)
}
