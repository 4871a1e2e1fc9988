import { describe, expect, test } from 'bun:test'
import { FUNCTIONS } from '../../src/core/formula/functions/index.ts'
import { checkFormula, formulaFunctions, readsClock } from '../../src/core/formula/index.ts'
import { check, FIELDS, field, problems, value } from './formula-fields.ts'

describe('checkFormula', () => {
  test.each([
    ['NOPE(1)', 'INVALID_FUNCTION_NAME 0..7 Function NOPE is not available'],
    ['{Nope} + 1', 'INVALID_COLUMN 0..6 Invalid column name/id Nope in formula'],
    ['{{cnope}}', 'INVALID_COLUMN 0..9 Invalid column name/id cnope in formula'],
    ['Nope', 'INVALID_COLUMN 0..4 Invalid column name/id Nope in formula'],
    ['!{Done}', "NOT_SUPPORTED 0..7 Unary expression '!' is not supported"],
    ['-{Title}', 'TYPE_MISMATCH 1..8 Numeric type is expected'],
    ['2 * -"5"', 'TYPE_MISMATCH 5..8 Numeric type is expected'],
    ['-{Due}', 'TYPE_MISMATCH 1..6 Numeric type is expected'],
    ['-', 'SYNTAX_ERROR 1..1 Expected expression after - at character 1'],
    ['+1', "NOT_SUPPORTED 0..2 Unary expression '+' is not supported"],
    ['MOD(1)', 'INVALID_ARG_COUNT 0..6 Required arguments missing'],
    ['MOD(1, 2, 3)', 'INVALID_ARG_COUNT 0..12 Required arguments missing'],
    ['ROUND()', 'MIN_ARG 0..7 Minimum arguments required'],
    ['ROUND(1, 2, 3)', 'MAX_ARG 0..14 Maximum arguments missing'],
    ['ROUND("a")', 'TYPE_MISMATCH 6..9 ROUND requires a numeric at position 1'],
    ['ROUND(1, UPPER("x"))', 'TYPE_MISMATCH 9..19 ROUND requires a numeric at position 2'],
    [
      'ROUND({Title})',
      'TYPE_MISMATCH 6..13 Field Title with string type is found but numeric type is expected',
    ],
    ['{Title} + 1', 'TYPE_MISMATCH 0..7 Numeric type is expected'],
    ['1 * {Due}', 'TYPE_MISMATCH 4..9 Numeric type is expected'],
    ['DAY(5)', 'TYPE_MISMATCH 4..5 Date type is expected'],
    ['DAY({Price})', 'TYPE_MISMATCH 4..11 Field Price with numeric type is found but date type is expected'],
    ['XOR("a")', 'TYPE_MISMATCH 4..7 Boolean type is expected'],
    ['REGEX_MATCH("a", {Title})', 'INVALID_ARG_TYPE 17..24 String type is expected'],
    [
      'REGEX_MATCH("a", "(")',
      'INVALID_ARG_VALUE 17..20 The regular expression has an unmatched ('.replace(
        'an unmatched (',
        'an empty alternative',
      ),
    ],
    ['DATEADD("soon", 1, "day")', 'INVALID_ARG_TYPE 8..14 First parameter of DATEADD should be a date'],
    ['DATEADD({Due}, "x", "day")', 'INVALID_ARG_TYPE 15..18 Second parameter of DATEADD should be a number'],
    [
      'DATEADD({Due}, 1, "eons")',
      "INVALID_ARG_VALUE 18..24 Third parameter of DATEADD should be one of 'day', 'week', 'month', 'year', 'hour', 'minute', 'second'",
    ],
    ['DATETIME_DIFF(1, {Due})', 'INVALID_ARG_TYPE 14..15 First parameter of DATETIME_DIFF should be a date'],
    [
      'DATETIME_DIFF({Due}, {Title})',
      'INVALID_ARG_TYPE 21..28 Second parameter of DATETIME_DIFF should be a date',
    ],
    [
      'WEEKDAY({Due}, "someday")',
      'INVALID_ARG_VALUE 15..24 Second parameter of WEEKDAY should be day of week string',
    ],
    ['WEEKDAY(1)', 'INVALID_ARG_TYPE 8..9 First parameter of WEEKDAY should be a date'],
    [
      'DATETIME_PARSE({Title}, {Title})',
      "INVALID_ARG_VALUE 24..31 Second parameter of DATETIME_PARSE should be a date format such as 'DD.MM.YYYY' or 'YYYY-MM-DD HH:mm'",
    ],
    ['IS_BEFORE({Due}, 5)', 'INVALID_ARG_TYPE 17..18 Second parameter of IS_BEFORE should be a date'],
    ['IS_SAME({Due})', 'MIN_ARG 0..14 Minimum arguments required'],
    [
      'WORKDAY({Due}, 1, "25.12.2024")',
      "INVALID_ARG_VALUE 18..30 Third parameter of WORKDAY should be days such as '2024-12-25, 2024-12-26'",
    ],
    [
      'WORKDAY({Due}, 1, {Price})',
      "INVALID_ARG_TYPE 18..25 Third parameter of WORKDAY should be days such as '2024-12-25, 2024-12-26'",
    ],
    ['WORKDAY({Due}, {Title})', 'INVALID_ARG_TYPE 15..22 Second parameter of WORKDAY should be a number'],
    [
      'WEEKNUM({Due}, "someday")',
      'INVALID_ARG_VALUE 15..24 Second parameter of WEEKNUM should be day of week string',
    ],
    [
      'DATETIME_FORMAT({Due}, "Wo")',
      "INVALID_ARG_VALUE 23..27 Second parameter of DATETIME_FORMAT should be a date format such as 'DD.MM.YYYY' or 'dddd, MMMM D, h:mm A'",
    ],
    ['DATETIME_FORMAT(5)', 'INVALID_ARG_TYPE 16..17 First parameter of DATETIME_FORMAT should be a date'],
    [
      'SET_TIMEZONE({At}, "Mars/Base")',
      "INVALID_ARG_VALUE 19..30 Second parameter of SET_TIMEZONE should be a time zone such as 'Europe/Berlin'",
    ],
    [
      'SET_TIMEZONE({Title}, "UTC")',
      'INVALID_ARG_TYPE 13..20 First parameter of SET_TIMEZONE should be a date',
    ],
    ['YEAR({Price})', 'TYPE_MISMATCH 5..12 Field Price with numeric type is found but date type is expected'],
    [
      'MEDIAN({Title})',
      'TYPE_MISMATCH 7..14 Field Title with string type is found but numeric type is expected',
    ],
    ['1e31', 'INVALID_ARG_VALUE 0..4 The number 1e31 is too large'],
  ])('says of %p what is wrong and where', (text, expected) => {
    expect(problems(text)).toEqual([expected])
  })

  test('finds all that is wrong with types and names at once', () => {
    expect(problems('{Nope} + ROUND("a") + NOPE()')).toHaveLength(3)
  })

  test('refuses more numbers of MEDIAN than databases compute with', () => {
    const of = (count: number) => `MEDIAN(${Array.from({ length: count }, () => '1').join(', ')})`
    expect(problems(of(250))).toEqual([])
    expect(problems(of(251))).toEqual([expect.stringContaining('MAX_ARG')])
  })

  test('names the units of DATETIME_DIFF', () => {
    expect(problems('DATETIME_DIFF({Due}, {At}, "eons")')[0]).toContain(
      "Third parameter of DATETIME_DIFF should be one of 'milliseconds', 'ms', 'seconds', 's'",
    )
    for (const unit of ['ms', 's', 'm', 'h', 'd', 'w', 'M', 'Q', 'y', 'Days', 'quarters', 'year']) {
      expect(problems(`DATETIME_DIFF({Due}, {At}, "${unit}")`)).toEqual([])
    }
  })

  test('finds circles, itself among them, with their path', () => {
    const a = { ...field('A', 'real', 'ca') }
    const b = { ...field('B', 'real', 'cb') }
    const context = {
      fields: [...FIELDS, a, b],
      client: 'pg',
      selfId: 'ca',
      referencesOf: (id: string) => (id === 'cb' ? ['cprice', 'ca'] : []),
    }
    const circle = checkFormula('1 + {B}', context)
    expect(circle).toEqual({
      ok: false,
      problems: [
        {
          type: 'CIRCULAR_REFERENCE',
          message: 'Circular reference detected',
          from: 4,
          to: 7,
          path: ['A', 'B', 'A'],
        },
      ],
    })
    expect(checkFormula('{A}', context).ok).toBe(false)
    expect(checkFormula('{Price}', context).ok).toBe(true)
  })

  test('ends at formula fields that name each other', () => {
    const named = (title: string, formula: string) => ({
      ...field(title, 'text'),
      isComputed: true,
      formula,
    })
    const fields = [
      named('A', '{{cb}}'),
      named('B', 'IFERROR({{ca}}, ISERROR({{ca}}))'),
      named('C', 'ARRAYSORT({{cc}})'),
    ]
    for (const formula of ['ARRAYJOIN({A})', 'ISERROR({A})', 'IFERROR({B} & {A}, ARRAYJOIN({C}))']) {
      expect(checkFormula(formula, { fields, client: 'pg' }).ok).toBe(true)
    }
  })

  test.each([
    ['mysql2', []],
    ['mssql', ['REGEX_EXTRACT', 'REGEX_MATCH', 'REGEX_REPLACE', 'ROUNDDOWN', 'ROUNDUP', 'VALUE', 'XOR']],
    // The engine's own mathematics, and functions that we define on its connections.
    ['sqlite3', []],
    ['snowflake', ['REGEX_EXTRACT', 'REGEX_MATCH', 'REGEX_REPLACE', 'VALUE', 'XOR']],
    ['pg', []],
    ['oracledb', []],
  ])('keeps from %s the functions that it does not have', (client, missing) => {
    const offered = formulaFunctions(client).map(({ name }) => name)
    const all = FUNCTIONS.map(({ name }) => name)
    expect(all.filter((name) => !offered.includes(name)).sort()).toEqual(missing)
    for (const name of missing) {
      expect(problems(`${name}(1)`, client)[0]).toContain(
        `NOT_AVAILABLE 0..${name.length + 3} Function ${name} is not`,
      )
    }
  })

  test('knows every function of spec §5', () => {
    const listed =
      'AVG ADD DATEADD DATESTR DAY MONTH HOUR DATETIME_DIFF AND OR CONCAT TRIM UPPER LOWER LEN MIN MAX CEILING FLOOR ROUND MOD REPEAT LOG EXP POWER SQRT ABS NOW REPLACE SEARCH INT RIGHT LEFT SUBSTR MID IF SWITCH URL WEEKDAY TRUE FALSE REGEX_MATCH REGEX_EXTRACT REGEX_REPLACE BLANK XOR EVEN ODD RECORD_ID COUNTA COUNT COUNTALL ROUNDDOWN ROUNDUP VALUE'
    expect(FUNCTIONS.map(({ name }) => name)).toEqual(expect.arrayContaining(listed.split(' ')))
  })

  test.each([
    ['NOW()', true],
    ['TODAY()', true],
    ['IF({Done}, 1, YEAR(TODAY()) & "")', true],
    ['1 + LEN(FROMNOW({At}))', true],
    ['CREATED_TIME()', false],
    ['YEAR({Due})', false],
  ])('knows whether %s changes with time', (text, expected) => {
    const checked = check(text)
    expect(checked.ok && readsClock(checked.expression)).toBe(expected)
  })

  test('gives the type of the result and what the formula refers to', () => {
    const typeOf = (text: string) => {
      const checked = check(text)
      return checked.ok ? [checked.type, checked.references] : checked.problems[0]?.message
    }
    expect(typeOf('{Price} * 2 + {{cprice}}')).toEqual(['number', ['cprice']])
    expect(typeOf('{Title} & {Price}')).toEqual(['text', ['ctitle', 'cprice']])
    expect(typeOf('{Price} > 1')).toEqual(['boolean', ['cprice']])
    expect(typeOf('DATEADD({Due}, 1, "day")')).toEqual(['date', ['cdue']])
    expect(typeOf('DATEADD({Due}, 1, "hour")')).toEqual(['datetime', ['cdue']])
    expect(typeOf('IF({Done}, {Due}, {At})')).toEqual(['datetime', ['cdone', 'cdue', 'cat']])
    expect(typeOf('IF({Done}, {Due}, "2024-01-01")')).toEqual(['date', ['cdone', 'cdue']])
    expect(typeOf('IF({Done}, 1, "many")')).toEqual(['text', ['cdone']])
    expect(typeOf('IF({Done}, 1, {Done})')).toEqual(['number', ['cdone']])
    expect(typeOf('TODAY()')).toEqual(['date', []])
    expect(typeOf('WORKDAY({At}, 1)')).toEqual(['date', ['cat']])
    expect(typeOf('IS_SAME({Due}, {At}, "day")')).toEqual(['boolean', ['cdue', 'cat']])
    expect(typeOf('BLANK()')).toEqual(['null', []])
  })

  test('takes a broken field for one without values', () => {
    expect(value('{Broken} = BLANK()', { cbroken: 5 })).toBe(true)
  })
})
