import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { Expression, ValueType } from '../../src/core/formula/ast.ts'
import { FUNCTIONS } from '../../src/core/formula/functions/index.ts'
import {
  checkFormula,
  compileFormula,
  evaluateFormula,
  inlinedWords,
  readsClock,
} from '../../src/core/formula/index.ts'
import { TO_CAPITAL, TO_SMALL, toLower, toUpper } from '../../src/core/formula/letters.ts'
import { sortedElements } from '../../src/core/formula/lists.ts'
import { NotIndexedError } from '../../src/dialects/indexed-formula.ts'
import { pick, seeded } from '../core/random.ts'
import { ENGINES, type TestEngine } from '../dialects/engines.ts'
import { generateFormula, isInexact } from './generate.ts'
import {
  bareColumnOf,
  columnOf,
  FIELDS,
  FROM,
  makeRows,
  TABLE_NAME,
  TIMES,
  tableStatements,
  timesOf,
} from './table.ts'

/**
 * Another seed makes other formulas and rows: `FORMULA_SEED=7 FORMULA_COUNT=3000 bun test ./tests/formula`. That many generated
 * formulas are worth their time after a change to formulas.
 */
const SEED = Number(process.env.FORMULA_SEED ?? 1)
const COUNT = Number(process.env.FORMULA_COUNT ?? 1500)
const ROWS = makeRows(seeded(SEED))
/** A moment with milliseconds, hours before clocks are put forward in Europe. */
const NOW = Date.UTC(2024, 2, 30, 23, 59, 58, 123)
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'America/St_Johns',
]
const PER_STATEMENT = 50

interface Case {
  formula: string
  zone: string
  expression: Expression
  expected: CellValue[]
}

function makeCase(formula: string, zone: string, client: string): Case | null {
  const checked = checkFormula(formula, { fields: FIELDS, client })
  if (!checked.ok) return null
  const expected = ROWS.map((row, index) =>
    evaluateFormula(checked.expression, {
      now: NOW,
      zone,
      recordId: index + 1,
      ...timesOf(row),
      cell: (id) => row[id] ?? null,
    }),
  )
  return { formula, zone, expression: checked.expression, expected }
}

const EXAMPLES = FUNCTIONS.flatMap(({ examples }) => Object.entries(examples))

/** Patterns that match in several ways at one place, of which databases would choose differently. */
const AMBIGUOUS = [
  'a|ab',
  '(a|ab)(c|-b|bc)',
  'a?(ab)?',
  'a*(ab)?',
  '(a|ab|abc)+',
  '(ab?){0,3}b',
  'a{0,2}b|ba{0,3}',
  '.|b{2}',
  '^|b',
  '(a?|b)*',
  '(^|a|b?c){2,}',
  '(b?a?|c|-)*c?$',
  'Mon|Monday',
].flatMap((pattern) => [
  `REGEX_EXTRACT("babc-abc-aab" & {Text}, "${pattern}")`,
  `REGEX_EXTRACT({Text}, "(x|${pattern})(c|bc|$)")`,
  `REGEX_REPLACE({Text} & "aabcabba Monday", "${pattern}", "<>")`,
  `REGEX_REPLACE({Text} & "aabcabba Monday", "(?:${pattern})(c|bc|a)", "<>")`,
])

/** Holidays from texts and lists of a record. */
const HOLIDAYS = [
  '{Free days}',
  '{Days}',
  '{Departures}',
  '{Tags}',
  '{Day}',
  '{At}',
  'SPLIT({Text}, "a")',
].flatMap((days) => [
  `WORKDAY({Day}, {Int}, ${days})`,
  ...[1, 3, -1, -4].map((steps) => `WORKDAY("2024-03-02", ${steps}, ${days})`),
  `WORKDAY_DIFF({Day}, "2024-03-08", ${days})`,
  `WORKDAY_DIFF("2024-03-08", {At}, ${days})`,
])

/** Examples and generated formulas, as the check of that engine accepts them. */
function casesOf(client: string): Case[] {
  const random = seeded(SEED)
  const fixed = [...EXAMPLES.map(([formula]) => formula), ...AMBIGUOUS, ...HOLIDAYS]
  const cases = fixed.map((formula) => makeCase(formula, 'UTC', client)).filter((entry) => entry !== null)
  while (cases.length < fixed.length + COUNT) {
    const made = makeCase(generateFormula(random), pick(random, ZONES), client)
    if (made) cases.push(made)
  }
  return cases
}

test.each(ENGINES)('every example holds on $client', ({ client }) => {
  for (const [formula, result] of EXAMPLES) {
    expect([formula, makeCase(formula, 'UTC', client)?.expected[0]]).toEqual([formula, result])
  }
})

describe.each(ENGINES)('formulas on $client', ({ open }) => {
  let engine: TestEngine

  beforeAll(async () => {
    engine = await open()
    for (const statement of tableStatements(engine.dialect, ROWS)) await engine.rows(statement)
  })

  afterAll(() => engine.close())

  const compile = ({ expression, zone }: Case, index: number): SQL =>
    compileFormula(expression, {
      words: engine.dialect.formula,
      column: columnOf,
      recordId: sql`t.id`,
      ...TIMES,
      now: NOW,
      zone,
      prefix: `f${index}_`,
    })

  /** A formula as an index could hold it; null if it has no such form. */
  function compileIndexed({ expression, zone }: Case): SQL | null {
    const words = engine.dialect.indexedFormula
    if (!words || readsClock(expression) || inlinedWords(expression, zone, () => 1) > 600) return null
    const [createdTime, modifiedTime] = [bareColumnOf('cAt'), bareColumnOf('cDeparture')]
    const [recordId, now] = [sql`id`, 0]
    try {
      return compileFormula(expression, {
        words,
        column: bareColumnOf,
        recordId,
        createdTime,
        modifiedTime,
        now,
        zone,
      })
    } catch (error) {
      if (error instanceof NotIndexedError) return null
      throw error
    }
  }

  /** The rows' values of each case; a statement that fails is taken apart to find the formula at fault. */
  async function answers(
    cases: Case[],
    compiled: (entry: Case, index: number) => SQL = compile,
  ): Promise<unknown[][]> {
    const columns = cases.map((entry, index) => sql`${compiled(entry, index)} as ${sql.raw(`c${index}`)}`)
    const statement = engine.dialect.render(sql`select ${sql.join(columns, sql`, `)} ${FROM}`)
    try {
      const rows = await engine.rows(statement)
      return cases.map((_, index) => rows.map((row) => row[index]))
    } catch (error) {
      if (cases.length === 1) return [[`${cases[0]?.formula}: ${error}`.slice(0, 2000)]]
      const middle = cases.length >> 1
      const [first, second] = [cases.slice(0, middle), cases.slice(middle)]
      return [...(await answers(first, compiled)), ...(await answers(second, compiled))]
    }
  }

  test('give what the evaluator gives', () => compare(casesOf(engine.dialect.client), compile), 600_000)

  test('give the same as an index holds them', async () => {
    const cases = casesOf(engine.dialect.client).filter((entry) => compileIndexed(entry) !== null)
    expect(cases.length > 100).toBe(engine.dialect.indexedFormula !== undefined)
    await compare(cases, (entry) => compileIndexed(entry) ?? sql`null`)
  }, 600_000)

  test('are taken by an index, and any values are written', async () => {
    const { dialect } = engine
    const refused: string[] = []
    let built = 0
    for (const [at, entry] of casesOf(dialect.client).entries()) {
      const expression = compileIndexed(entry)
      const written = expression && dialect.render(expression)
      if (!written?.sql.includes('col "') || dialect.fitIndex?.([written.sql]) === false) continue
      expect(written.params).toEqual([])
      const name = dialect.quote(`formula ${at}`)
      const create = `create index ${name} on ${dialect.quote(TABLE_NAME)} ((${written.sql}))`
      const statements = [create, `update ${dialect.quote(TABLE_NAME)} set id = id`, `drop index ${name}`]
      try {
        for (const text of statements) await engine.rows({ sql: text, params: [] })
        built++
      } catch (error) {
        // The engine drops an index for which a text is too long.
        if (!String(error).includes('index row')) refused.push(`${entry.formula}: ${error}`.slice(0, 2000))
        await engine.rows({ sql: `drop index if exists ${name}`, params: [] }).catch(() => [])
      }
    }
    expect(refused.slice(0, 5)).toEqual([])
    expect(built > 40).toBe(dialect.indexedFormula !== undefined)
  }, 600_000)

  async function compare(cases: Case[], compiled: (entry: Case, index: number) => SQL): Promise<void> {
    const differences: unknown[] = []
    let compared = 0
    const began = performance.now()
    for (let start = 0; start < cases.length; start += PER_STATEMENT) {
      const batch = cases.slice(start, start + PER_STATEMENT)
      const given = await answers(batch, compiled)
      batch.forEach((entry, index) => {
        entry.expected.forEach((expected, row) => {
          compared++
          const actual = read(given[index]?.[row], entry.expression.type)
          if (!isEqual(actual, expected, entry.formula)) {
            differences.push({ formula: entry.formula, zone: entry.zone, row: ROWS[row], expected, actual })
          }
        })
      })
    }
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    console.log(
      `${engine.dialect.client}: ${cases.length} formulas × ${ROWS.length} rows, ${compared} comparisons, ` +
        `${differences.length} differences, seed ${SEED}, ${seconds} s`,
    )
    const wrong = new Map(differences.map((entry) => [(entry as { formula: string }).formula, entry]))
    expect([...wrong.values()].slice(0, Number(process.env.FORMULA_SHOW ?? 5))).toEqual([])
  }
})

describe.each(ENGINES)('letters on $client', ({ open }) => {
  test('change their case as the evaluator changes it', async () => {
    const engine = await open()
    try {
      const letters = [...new Set([...TO_CAPITAL, ...TO_SMALL].flat())]
      const { upper, lower, text } = engine.dialect.formula
      for (let from = 0; from < letters.length; from += 100) {
        // Apart from each other: among letters a Σ may end a word.
        const some = letters.slice(from, from + 100).join(' ')
        const query = sql`select ${upper(text(some))}, ${lower(text(some))}`
        const [row] = await engine.rows(engine.dialect.render(query))
        expect(row).toEqual([toUpper(some), toLower(some)])
      }
    } finally {
      await engine.close()
    }
  })
})

describe.each(ENGINES)('lists on $client', ({ open }) => {
  const listed = (dialect: TestEngine['dialect'], parts: readonly string[], separator = ';') =>
    dialect.formula.split(dialect.formula.text(parts.join(separator)), dialect.formula.text(separator))

  test('sort numbers by all of their digits', async () => {
    const engine = await open()
    try {
      const { joinList, sortedElements: sorted, text } = engine.dialect.formula
      for (const isDescending of [false, true]) {
        const list = sorted(listed(engine.dialect, LONG_NUMBERS), true, isDescending)
        const [row] = await engine.rows(engine.dialect.render(sql`select ${joinList(list, text(' '))}`))
        const expected = isDescending ? IN_ORDER.toReversed() : IN_ORDER
        expect(row).toEqual([expected.join(' ')])
        expect(sortedElements(LONG_NUMBERS, true, isDescending)).toEqual(expected)
      }
    } finally {
      await engine.close()
    }
  })

  test('split texts of any characters', async () => {
    const engine = await open()
    try {
      const { elementCount, joinList, text } = engine.dialect.formula
      for (const separator of [';', '\ufdd1', 'n', '"', '\\', '\ufdd0;']) {
        const parts = ['a\ufdd0', 'b', '', '\ufdd0\ufdd0c', '\n\\', '\u{1f600}']
        const list = listed(engine.dialect, parts, separator)
        const query = sql`select ${joinList(list, text('|'))}, ${elementCount(list)}`
        const [row] = await engine.rows(engine.dialect.render(query))
        const expected = parts.join(separator).split(separator)
        expect(row).toEqual([expected.join('|'), expected.length])
      }
    } finally {
      await engine.close()
    }
  })
})

/** Numbers that differ behind the digits of a double. */
const IN_ORDER = [
  '-1e+21',
  '-9007199254740993',
  '-9007199254740992',
  '-0.5',
  '0.1234567890123456788',
  '0.1234567890123456789',
  '9',
  '10',
  '9007199254740992',
  '9007199254740992.5',
  '9007199254740993',
  '12345678901234567890123456788',
  '12345678901234567890123456789',
  '1e+300',
]
const LONG_NUMBERS = IN_ORDER.toSorted()

/** A value of the driver in the form of `CellValue`. */
function read(value: unknown, type: ValueType): unknown {
  if (value === null || value === undefined) return null
  if (type === 'number') return typeof value === 'number' ? value + 0 : value
  return type === 'boolean' && typeof value === 'number' ? value === 1 : value
}

function isEqual(actual: unknown, expected: CellValue, formula: string): boolean {
  if (actual === expected) return true
  if (typeof actual !== 'number' || typeof expected !== 'number' || !isInexact(formula)) return false
  return Math.abs(actual - expected) <= 1e-9 * Math.max(Math.abs(actual), Math.abs(expected))
}
