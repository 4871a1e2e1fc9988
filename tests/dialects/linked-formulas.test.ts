import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { rootScope } from '../../modules/records/read/expression/expression-of.ts'
import { formulaExpression } from '../../modules/records/read/expression/formula.ts'
import type { ReadContext } from '../../modules/records/read/expression/scope.ts'
import { checkFormula, evaluateFormula, formulaField } from '../../src/core/formula/index.ts'
import { ENGINES, type TestEngine } from './engines.ts'
import { CELLS, idOf } from './linked-cells.ts'
import { fillLinked } from './linked-database.ts'
import { LINKED_MODELS, modelOf } from './linked-tables.ts'
import { rounded } from './summary-reference.ts'

const NOW = new Date('2024-02-29T12:00:00Z')

/** Formulas over what is computed, by table. */
const FORMULAS: [table: string, formula: string][] = [
  ['Author', '{{cAuthorBookCount}} * 10 + {{cAuthorPrice sum}}'],
  ['Author', 'CONCAT({{cAuthorTitle}}, ": ", {{cAuthorBookTitles}})'],
  ['Author', 'IF({{cAuthorPrice avg}} > 5, "dear", "cheap")'],
  ['Author', '{{cAuthorBooks}} + {{cAuthorTagSum}}'],
  ['Author', 'LEN({{cAuthorTagTitles}})'],
  ['Author', 'DATEADD({{cAuthorFirst}}, 1, "month")'],
  ['Book', 'UPPER({{cBookAuthorName}})'],
  ['Book', '{{cBookAuthorTotal}} - {{cBookTagWeight}}'],
  ['Book', 'AND({{cBookAuthorActive}}, {{cBookTags}} > 1)'],
  ['Book', 'CONCAT({{cBookAuthor}}, "/", {{cBookSequel}})'],
  ['Book', 'MAX({{cBookPrice}}, {{cBookAuthorScore}}, {{cBookTagMean}})'],
]

describe.each(ENGINES)('formulas over links, lookups and rollups on $client', ({ client, open }) => {
  let engine: TestEngine

  beforeAll(async () => {
    engine = await open()
    await fillLinked(engine)
  })

  afterAll(() => engine.close())

  test.each(FORMULAS)('%s: %s', async (table, formula) => {
    const model = modelOf(table)
    const checked = checkFormula(formula, { fields: model.fields.map(formulaField), client })
    if (!checked.ok) throw new Error(JSON.stringify(checked.problems))
    const context: ReadContext = {
      model,
      models: LINKED_MODELS,
      dialect: engine.dialect,
      moment: { now: NOW },
    }
    const field = { ...model.displayField, options: { formula } }
    const expression = formulaExpression(field, rootScope(context), 'cell')
    if (!expression) throw new Error('The formula gives nothing')
    const table_ = sql.identifier(model.table.tableName)
    const query = sql`select ${expression} as x, ${sql.identifier('Id')} from ${table_}`
    const found = new Map(
      (await engine.rows(engine.dialect.render(query))).map(([value, id]) => [Number(id), value]),
    )
    for (const cells of CELLS[table] ?? []) {
      const expected = evaluateFormula(checked.expression, {
        cell: (fieldId) => cells[fieldId] ?? null,
        now: NOW.getTime(),
        zone: 'UTC',
        recordId: String(idOf(table, cells)),
      })
      const actual = found.get(idOf(table, cells))
      const plain = checked.type === 'boolean' && actual !== null ? Boolean(actual) : actual
      expect([idOf(table, cells), rounded(plain as never)]).toEqual([idOf(table, cells), rounded(expected)])
    }
  })
})
