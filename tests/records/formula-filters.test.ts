import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { checkFilter, filterTester, OPERATORS, setOf } from '../../src/core/filters/index.ts'
import type { Field } from '../../src/core/model.ts'
import { seeded } from '../core/random.ts'
import { generateFormula, isInexact } from '../formula/generate.ts'
import { conditionWith, createFilterTable, type FilterTable } from './filter-table.ts'
import { type Bench, createBench } from './support.ts'

/** Another seed makes other formulas: `FORMULA_SEED=7`. */
const SEED = Number(process.env.FORMULA_SEED ?? 1)
const FORMULAS = 60
/** What generated formulas name, by the title of a field of this table with such values. */
const FIELDS: Record<string, string> = {
  Int: 'Yr',
  Links: 'Rat',
  Sum: 'Dec',
  Text: 'Title',
  'Other \\{text\\}': 'Em',
  List: 'Ms',
  Linked: 'Ss',
  Flag: 'Cb',
  Day: 'D',
  At: 'Dt',
  Departure: 'Dt',
  Amounts: 'Ms',
  Tags: 'Ms',
  Doc: 'Js',
}

let bench: Bench
let world: FilterTable
/** Formulas whose values stay the same, with what records have there. */
const formulas: { field: Field; formula: string; values: CellValue[] }[] = []

beforeAll(async () => {
  bench = await createBench()
  world = await createFilterTable(bench)
  const random = seeded(SEED)
  const { table, rows } = world
  while (formulas.length < FORMULAS) {
    const formula = Object.entries(FIELDS).reduce(
      (text, [name, title]) => text.replaceAll(`{${name}}`, `{${title}}`),
      generateFormula(random),
    )
    if (isInexact(formula) || /NOW|TODAY|_TIME\(/.test(formula)) continue
    const { ok } = await bench.trpc.schema.checkFormula.query({ tableId: table.id, formula })
    if (!ok) continue
    const field = await bench.trpc.schema.createField.mutate({
      tableId: table.id,
      field: { title: `F${formulas.length}`, type: 'Formula', options: { formula } },
    })
    formulas.push({ field, formula, values: [] })
  }
  const page = await bench.trpc.records.list.query({
    query: { tableId: table.id, fieldIds: formulas.map(({ field }) => field.id), limit: 1000, offset: 0 },
  })
  expect(page.ids.map(Number)).toEqual(rows.map(({ id }) => id))
  formulas.forEach((each, at) => {
    each.values = page.rows.map((cells) => cells[at] ?? null)
  })
})
afterAll(() => bench.stop())

const idsWhere = async (query: object): Promise<number[]> =>
  (
    await bench.trpc.records.list.query({
      query: { tableId: world.table.id, fieldIds: [], limit: 1000, offset: 0, ...query },
    })
  ).ids.map(Number)

test('a filter of every operator on generated formulas finds the records with such values', async () => {
  const random = seeded(SEED + 1)
  const differences: unknown[] = []
  let tried = 0
  for (const { field, formula, values } of formulas) {
    const byId = (id: string) => (id === field.id ? field : undefined)
    const moment = { now: new Date(), field: byId, actorId: bench.owner.id, people: [] }
    for (const operator of OPERATORS.filter(({ accepts }) => accepts.includes(setOf(field)))) {
      // The last digits of a number as text are the database's own.
      if (operator.comparesText && setOf(field) === 'number') continue
      for (let attempt = 0; attempt < 2; attempt++) {
        const known = [...new Set(values)].filter((value) => value !== null && value !== '')
        const condition = conditionWith(random, field, operator, known.length > 0 ? known : ['x', '1'])
        if (checkFilter(condition, byId).length > 0) continue
        tried++
        const matches = filterTester(condition, moment)
        const memory = world.rows
          .filter((_, row) => matches({ [field.id]: values[row] ?? null }))
          .map(({ id }) => id)
        const server = await idsWhere({ filter: condition })
        if (!Bun.deepEquals(memory, server))
          differences.push({ formula, ...condition, memory: memory.length, server: server.length })
      }
    }
  }
  expect(differences.slice(0, 5)).toEqual([])
  expect(tried).toBeGreaterThan(FORMULAS * 8)
})

test('groups by generated formulas have each record once, and as many as they say', async () => {
  const differences: unknown[] = []
  for (const { field, formula } of formulas) {
    const { groups } = await bench.trpc.records.groups.query({
      request: {
        selection: { tableId: world.table.id },
        groups: [{ fieldId: field.id, direction: 'asc' }],
        summaries: [],
        limit: 500,
        offset: 0,
      },
    })
    const seen: number[] = []
    for (const { keys, count } of groups) {
      const ids = await idsWhere({ group: [{ fieldId: field.id, value: keys[0] ?? null }] })
      if (ids.length !== count) differences.push({ formula, key: keys[0], count, found: ids.length })
      seen.push(...ids)
    }
    if (seen.length !== world.rows.length || new Set(seen).size !== seen.length)
      differences.push({ formula, records: seen.length, different: new Set(seen).size })
  }
  expect(differences.slice(0, 5)).toEqual([])
})

test('records are sorted by generated formulas in one direction as in the other', async () => {
  const differences: unknown[] = []
  for (const { field, formula, values } of formulas) {
    const valueById = new Map(world.rows.map(({ id }, row) => [id, values[row] ?? null]))
    const sorted = async (direction: 'asc' | 'desc') => {
      const ids = await idsWhere({ sorts: [{ fieldId: field.id, direction }] })
      // Records with the same value stay together.
      return ids.map((id) => valueById.get(id)).filter((value, at, all) => at === 0 || value !== all[at - 1])
    }
    const [up, down] = [await sorted('asc'), await sorted('desc')]
    const filled = (list: typeof up) => list.filter((value) => value !== null && value !== undefined)
    const [rising, falling] = [filled(up), filled(down).toReversed()]
    if (new Set(rising).size !== rising.length) differences.push({ formula, apart: rising.length })
    if (!Bun.deepEquals(rising, falling)) differences.push({ formula, rising: rising.length })
  }
  expect(differences.slice(0, 5)).toEqual([])
})
