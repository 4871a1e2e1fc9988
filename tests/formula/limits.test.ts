import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { checkFormula, compileFormula, evaluateFormula } from '../../src/core/formula/index.ts'
import { seeded } from '../core/random.ts'
import { ENGINES, type TestEngine } from '../dialects/engines.ts'
import { columnOf, FIELDS, FROM, makeRows, TIMES, tableStatements, timesOf } from './table.ts'

const ROWS = makeRows(seeded(3), 6)
const NOW = Date.UTC(2024, 5, 1)

/** Wraps a formula in itself as often as the check lets it be, which is found in few checks: each takes milliseconds. */
function deepest(start: string, wrap: (inner: string) => string): string {
  const wrapped = [start]
  const formulaOf = (depth: number): string => {
    while (wrapped.length <= depth) wrapped.push(wrap(wrapped.at(-1) ?? start))
    return wrapped[depth] ?? start
  }
  const isAccepted = (depth: number) => checkFormula(formulaOf(depth), CONTEXT).ok
  let [accepted, refused] = [0, 1]
  while (isAccepted(refused)) [accepted, refused] = [refused, refused * 2]
  while (refused - accepted > 1) {
    const middle = (accepted + refused) >> 1
    if (isAccepted(middle)) accepted = middle
    else refused = middle
  }
  return formulaOf(accepted)
}

const CONTEXT = { fields: FIELDS, client: 'pg' }

/** What grows fastest in one database or another. */
const DEEP: Record<string, string> = {
  'IF in IF': deepest('{Text}', (inner) => `IF({Num} > 1, {Text}, ${inner})`),
  'IF in the condition': deepest('{Flag}', (inner) => `IF(${inner}, 1, 0)`),
  ROUND: deepest('{Num}', (inner) => `ROUND(${inner}, 2)`),
  'ROUND by a field': deepest('{Num}', (inner) => `ROUND(${inner}, {Int})`),
  'numbers to text and back': deepest('{Num}', (inner) => `LEN(CONCAT(${inner} / 3))`),
  UPPER: deepest('{Text}', (inner) => `UPPER(LOWER(${inner}))`),
  REPLACE: deepest('{Text}', (inner) => `REPLACE(${inner}, "a", ${inner.length > 400 ? '"b"' : inner})`),
  DATEADD: deepest('{At}', (inner) => `DATEADD(${inner}, {Int}, "month")`),
  DATETIME_DIFF: deepest(
    '{Int}',
    (inner) => `DATETIME_DIFF({At}, DATEADD({Day}, ${inner}, "day"), "months")`,
  ),
  brackets: deepest('{Num}', (inner) => `(${inner})`),
  sum: deepest('{Num}', (inner) => `${inner} + {Int}`),
  product: deepest('{Num}', (inner) => `${inner} * {Num}`),
  remainder: deepest('{Num}', (inner) => `(${inner} % 7.5)`),
  join: deepest('{Text}', (inner) => `${inner} & {Num}`),
  comparison: deepest('{Flag}', (inner) => `(${inner} = {Flag})`),
  'AND of AND': deepest('{Flag}', (inner) => `AND(${inner}, OR({Num}, {Text}))`),
  'many arguments': deepest('{Num}', (inner) =>
    inner === '{Num}' ? 'ADD({Num})' : `${inner.slice(0, -1)}, {Int} + 1)`,
  ),
  'many means': deepest('{Num}', (inner) =>
    inner === '{Num}' ? 'AVG({Num})' : `${inner.slice(0, -1)}, {Int} + 1)`,
  ),
  'many texts': deepest('{Num}', (inner) =>
    inner === '{Num}' ? 'CONCAT({Num})' : `${inner.slice(0, -1)}, {Num})`,
  ),
  ...Object.fromEntries(
    ['MIN', 'COUNTA', 'MEDIAN'].map((name) => [
      `many arguments of ${name}`,
      deepest('{Num}', (inner) =>
        inner === '{Num}' ? `${name}({Num})` : `${inner.slice(0, -1)}, {Num}, {Int}, 3)`,
      ),
    ]),
  ),
  SWITCH: deepest('{Num}', (inner) =>
    inner === '{Num}' ? 'SWITCH({Num}, 1, 2)' : `${inner.slice(0, -1)}, ${inner.length}, {Int})`,
  ),
  MIN: deepest('{Num}', (inner) => `MIN(${inner}, {Int})`),
  COUNTA: deepest('{Num}', (inner) => `COUNTA(${inner}, {Text})`),
  DATETIME_PARSE: deepest('{Text}', (inner) => `CONCAT(DATETIME_PARSE(${inner}, "D.M.YY h:mm:ss A"))`),
  'text compared with a number': deepest('{Num}', (inner) => `IF({Text} = ${inner}, 1, 2)`),
  ARRAYSORT: deepest('{Text}', (inner) => `ARRAYSORT(SPLIT(${inner}, "a"), "desc")`),
  ARRAYUNIQUE: deepest('{List}', (inner) => `ARRAYUNIQUE(${inner})`),
  ARRAYFLATTEN: deepest('{Amounts}', (inner) => `ARRAYFLATTEN(${inner}, {List})`),
  ARRAYSLICE: deepest('{List}', (inner) => `ARRAYSLICE(${inner}, {Int}, -1)`),
  'JSON_EXTRACT with text': deepest('{Text}', (inner) => `CONCAT(JSON_EXTRACT({Doc}, ".a[0].b"), ${inner})`),
  MEDIAN: deepest('{Num}', (inner) => `MEDIAN(${inner}, {Int}, 3)`),
  STDEV: deepest('{Num}', (inner) => `STDEV(${inner}, {Int}, 3)`),
  IFERROR: deepest('{Num}', (inner) => `IFERROR(1 / ${inner}, {Int})`),
  'IFERROR of IF': deepest('{Num}', (inner) => `IFERROR(IF({Flag}, 10 % ${inner}, SQRT({Int})), 2)`),
  ENCODE_URL_COMPONENT: deepest('{Text}', (inner) => `ENCODE_URL_COMPONENT(${inner})`),
  WORKDAY: deepest('{At}', (inner) => `WORKDAY(${inner}, {Int}, "2024-03-01, 2024-03-04, 2024-12-25")`),
  WORKDAY_DIFF: deepest(
    '{Int}',
    (inner) => `WORKDAY_DIFF({At}, DATEADD({Day}, ${inner}, "day"), "2024-03-01")`,
  ),
  WEEKNUM: deepest('{Int}', (inner) => `WEEKNUM(DATEADD({At}, ${inner}, "day"))`),
  DATETIME_FORMAT: deepest(
    '{Text}',
    (inner) => `DATETIME_FORMAT(DATETIME_PARSE(${inner}, "D.M.YYYY"), "D.M.YYYY")`,
  ),
  IS_SAME: deepest('{Flag}', (inner) => `IS_SAME({At}, IF(${inner}, {Departure}, {Day}), "month")`),
  REGEX_REPLACE: deepest('{Text}', (inner) => `REGEX_REPLACE(${inner}, "[a-z]+", "x")`),
}

describe.each(ENGINES)('the deepest formulas on $client', ({ open }) => {
  let engine: TestEngine

  beforeAll(async () => {
    engine = await open()
    for (const statement of tableStatements(engine.dialect, ROWS)) await engine.rows(statement)
  })

  afterAll(() => engine.close())

  test.each(Object.keys(DEEP))('%s', async (name) => {
    const formula = DEEP[name] ?? ''
    if (formula.includes('REGEX') && engine.dialect.client === 'sqlite3') return
    for (const zone of ['UTC', 'Europe/Berlin']) {
      const checked = checkFormula(formula, CONTEXT)
      if (!checked.ok) throw new Error(checked.problems[0]?.message)
      const value = compileFormula(checked.expression, {
        words: engine.dialect.formula,
        column: columnOf,
        recordId: sql`t.id`,
        ...TIMES,
        now: NOW,
        zone,
      })
      const rows = await engine.rows(engine.dialect.render(sql`select ${value}, 1 ${FROM}`))
      const expected = ROWS.map((row, index) =>
        evaluateFormula(checked.expression, {
          now: NOW,
          zone,
          recordId: index + 1,
          ...timesOf(row),
          cell: (id) => row[id] ?? null,
        }),
      )
      const given = rows.map(([cell]) => {
        if (typeof cell !== 'number') return cell
        return checked.type === 'boolean' ? cell === 1 : cell + 0
      })
      expect(given).toEqual(expected)
    }
  })
})

test('the check lets formulas be as deep as people write them', () => {
  const depth = (name: string, word: RegExp) => DEEP[name]?.match(word)?.length ?? 0
  expect(depth('IF in IF', /IF/g)).toBeGreaterThanOrEqual(50)
  expect(depth('ROUND', /ROUND/g)).toBeGreaterThanOrEqual(15)
  expect(depth('sum', /\+/g)).toBeGreaterThanOrEqual(100)
  expect(depth('join', /&/g)).toBeGreaterThanOrEqual(50)
  expect(depth('DATEADD', /DATEADD/g)).toBeGreaterThanOrEqual(5)
  expect(depth('UPPER', /UPPER/g)).toBeGreaterThanOrEqual(1)
  expect(depth('numbers to text and back', /LEN/g)).toBeGreaterThanOrEqual(5)
  console.log(Object.fromEntries(Object.entries(DEEP).map(([name, formula]) => [name, formula.length])))
})
