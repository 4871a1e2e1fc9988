import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { type CellForm, checkFormula, compileFormula } from '../../src/core/formula/index.ts'
import { ENGINES, type TestEngine } from '../dialects/engines.ts'

/** Columns of databases that are not ours: what they may hold that no field of ours would. */
const COLUMNS: Record<string, [type: string, form: CellForm, values: string[]][]> = {
  pg: [
    ['numeric', 'real', ["'NaN'", '1e300', '1e-300', '-12.5']],
    ['float8', 'real', ["'NaN'", "'Infinity'", "'-Infinity'", '5e-324']],
    ['real', 'real', ['1.5', "'NaN'", '3e38', '1e-45']],
    ['smallint', 'boolean', ['0', '1', '7']],
    ['bigint', 'integer', ['9223372036854775807', '-9223372036854775808', '0']],
    ['date', 'date', ["'infinity'", "'-infinity'", "'0044-03-15 BC'", "'2024-02-29'"]],
    ['timestamp', 'datetime', ["'infinity'", "'12000-01-01'", "'2024-02-29 12:00:00.123456'"]],
    ['timestamptz', 'datetime', ["'-infinity'", "'9999-12-31 23:59:59.9999+00'", "'0001-01-01 00:00+00'"]],
    ['varchar(20)', 'text', ["'abc'", "''"]],
    ['char(5)', 'text', ["'ab'"]],
    ['uuid', 'text', ['gen_random_uuid()']],
    ['jsonb', 'text', [`'{"a": [1, 2]}'`]],
    ['time', 'text', ["'12:30:00'"]],
    ['bytea', 'text', [`'\\x00ff'`]],
    ['interval', 'text', ["'1 day'"]],
  ],
  mysql2: [
    ['decimal(40,10)', 'real', ['123456789012345678901234567890.5', '-0.0000000001']],
    ['float', 'real', ['1.5', '3e38', '1e-40']],
    ['bigint unsigned', 'integer', ['18446744073709551615', '0']],
    ['bit(1)', 'boolean', ["b'1'", "b'0'"]],
    ['tinyint(1)', 'boolean', ['0', '1', '7']],
    ['date', 'date', ["'0000-00-00'", "'2024-00-00'", "'9999-12-31'", "'0001-01-01'"]],
    [
      'datetime(6)',
      'datetime',
      ["'0000-00-00 00:00:00'", "'2024-02-29 12:00:00.123456'", "'9999-12-31 23:59:59.999999'"],
    ],
    ['timestamp', 'datetime', ["'2024-02-29 12:00:00'"]],
    ['year', 'integer', ['2024', '0']],
    ['varchar(20) character set latin1', 'text', ["'abc'", "'é'"]],
    ['char(5)', 'text', ["'ab'"]],
    ["enum('x','y')", 'text', ["'y'"]],
    ['blob', 'text', ["x'00ff41'"]],
    ['json', 'text', [`'{"a": 1}'`]],
    ['time', 'text', ["'-12:30:00'"]],
  ],
  sqlite3: [
    ['real', 'real', ["'abc'", "x'00ff'", '9e999', '-9e999', '1']],
    ['integer', 'integer', ['9223372036854775807', '-9223372036854775808', "'x'", '1.5']],
    ['boolean', 'boolean', ['7', "'yes'", '0']],
    ['date', 'date', ["'soon'", '5', "'2024-02-30'", "'2024-02-29T10:00:00Z'", '1e300', "''"]],
    ['datetime', 'datetime', ["'soon'", '1e300', "'2024-02-29T12:00:00.123456+02:00'", "'now'"]],
    ['text', 'text', ['5', "x'00ff41'", "'a' || char(0) || 'b'"]],
  ],
}

/** Every way in which a formula looks at a column, by the column's form. */
const FORMULAS: Record<string, string[]> = {
  number: [
    '{X}',
    '{X} * 1e20 * 1e20',
    '{X} / 3',
    'ROUND({X}, {X})',
    'MOD({X}, 7)',
    'EVEN({X})',
    'SQRT({X})',
    'INT({X})',
    'MEDIAN({X}, 1, {X} * 2)',
    'STDEV({X}, 1, {X} * {X})',
    'IFERROR(1 / {X}, {X})',
    'WORKDAY("2024-01-01", {X})',
  ],
  text: [
    '{X}',
    'UPPER({X})',
    'ENCODE_URL_COMPONENT({X})',
    'FIND("a", {X}, 2)',
    'IFERROR(VALUE({X}), 0)',
    'LEN({X})',
    'RIGHT({X}, 1)',
    'REPLACE({X}, "a", {X})',
    'TRIM({X})',
    'REPEAT({X}, 3)',
  ],
  boolean: ['{X}', '{X} = 1', '{X} + 1', 'IF({X}, 1, 2)'],
  date: [
    '{X}',
    'DATEADD({X}, 1, "month")',
    'DATEADD({X}, 1e9, "day")',
    'DATETIME_DIFF({X}, "2024-01-01", "M")',
    'WEEKNUM({X})',
    'DATETIME_FORMAT({X}, "dddd, D MMM YYYY HH:mm:ss.SSS A Z")',
    'FROMNOW({X})',
    'WORKDAY({X}, 5)',
    'WORKDAY_DIFF({X}, "2024-01-01")',
    'IS_SAME({X}, "2024-01-01", "week")',
    'WEEKDAY({X})',
    'DATESTR({X})',
    'HOUR({X})',
    'MONTH({X})',
    '{X} > "2024-01-01"',
  ],
  any: [
    'ISBLANK({X})',
    'ISERROR({X})',
    '{X} & "!"',
    'CONCAT({X}, {X})',
    '{X} = ""',
    'LEN({X} & "")',
    'AND({X})',
  ],
}

describe.each(ENGINES)('formulas over columns of foreign databases on $client', ({ client, open }) => {
  let engine: TestEngine
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())

  test.each(COLUMNS[client] ?? [])('%s as %s fails for no value', async (type, form, values) => {
    const run = (text: string) => engine.rows({ sql: text, params: [] })
    if (client === 'mysql2') await run("set session sql_mode = 'STRICT_TRANS_TABLES'")
    await run('drop table if exists odd')
    await run(`create table odd (id integer primary key, x ${type})`)
    await run(`insert into odd values (0, null)`)
    for (const [index, value] of values.entries())
      await run(`insert into odd values (${index + 1}, ${value})`)
    const field = { id: 'cx', title: 'X', type: form, form, isComputed: false, isBroken: false }
    for (const isComputed of [false, true]) {
      const fields = [{ ...field, isComputed }]
      for (const formula of Object.values(FORMULAS).flat()) {
        const checked = checkFormula(formula, { fields, client })
        if (!checked.ok) continue
        for (const zone of ['UTC', 'Asia/Tokyo', 'America/New_York']) {
          const value = compileFormula(checked.expression, {
            words: engine.dialect.formula,
            column: () => sql`t.x`,
            recordId: sql`t.id`,
            now: 0,
            zone,
          })
          const statement = engine.dialect.render(sql`select ${value}, 1 from odd t order by id`)
          const rows = await engine.rows(statement).catch((error: unknown) => {
            throw new Error(`${formula}: ${error}`)
          })
          expect([formula, rows.length]).toEqual([formula, values.length + 1])
        }
      }
    }
  })
})
