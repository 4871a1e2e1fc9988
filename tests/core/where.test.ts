import { describe, expect, test } from 'bun:test'
import { AppError } from '../../src/core/errors.ts'
import { checkFilter } from '../../src/core/filters/index.ts'
import { parseWhere } from '../../src/wire/where.ts'
import { cpuTimeMs } from '../support/cpu-time.ts'
import { byId, byTitle } from './filter-fields.ts'
import { short } from './filter-text.ts'
import { seeded, textOf } from './random.ts'

const where = (text: string) => short(parseWhere(text, byTitle))

/** What a text is refused with. */
function refusal(text: string): unknown[] {
  try {
    return ['taken as', where(text)]
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return [error.status, error.envelope, error.message]
  }
}

describe('parseWhere', () => {
  test.each([
    ['', 'all'],
    ['  ', 'all'],
    ['(T,eq,x)', 'T eq "x"'],
    [' (T,eq,x) ', 'T eq "x"'],
    ['(T,eq,)', 'T eq ""'],
    ['(T,eq, x )', 'T eq " x "'],
    ['(T,eq,a,b,c)', 'T eq "a,b,c"'],
    ['(T,eq,f(x))', 'T eq "f(x)"'],
    ['(T,eq,a)b)', 'T eq "a)b"'],
    ['(T,eq,x~or(y)', 'T eq "x~or(y"'],
    ['(T,not,x)', 'T neq "x"'],
    ['(T,ge,x)', 'T gte "x"'],
    ['(T,like,x)', 'T like "x"'],
    ['(T,like,x%)', 'T pattern "x%"'],
    ['(T,nlike,a_b)', 'T npattern "a_b"'],
    ['(T,like,)', 'T pattern "%"'],
    ['(T,in,a,b, c)', 'T in ["a","b"," c"]'],
    ['(Ms,allof,red,blue)', 'Ms allof ["red","blue"]'],
    ['(T,null)', 'T null'],
    ['(T,isblank)', 'T blank'],
    ['(T,isnotblank,)', 'T notblank'],
    ['(T,is,null)', 'T is "null"'],
    ['(Cb,is,true)', 'Cb is "true"'],
    ['(Cb,checked)', 'Cb checked'],
    ['(Cb,eq,1)', 'Cb eq "1"'],
    ['(Sp ace,eq,1)', 'Sp ace eq "1"'],
    ['(Cost (USD),gt,5)', 'Cost (USD) gt "5"'],
    ['(D,eq,today)', 'D eq today'],
    ['(D,gt,daysAgo,3)', 'D gt daysAgo "3"'],
    ['(D,gt,daysAgo)', 'D gt daysAgo'],
    ['(D,eq,exactDate,2024-02-29)', 'D eq exactDate "2024-02-29"'],
    ['(Dt,isWithin,pastNumberOfDays,7)', 'Dt isWithin pastNumberOfDays "7"'],
    ['(D,blank)', 'D blank'],
    ['(D,is,null)', 'D is "null"'],
    ['(T,eq,a)~and(T,eq,b)', '(T eq "a" and T eq "b")'],
    ['(T,eq,a)~or(T,eq,b)~and(T,eq,c)', '(T eq "a" or (T eq "b" and T eq "c"))'],
    ['(T,eq,a)~and(T,eq,b)~or(T,eq,c)', '((T eq "a" and T eq "b") or T eq "c")'],
    ['((T,eq,a)~or(T,eq,b))~and(T,eq,c)', '((T eq "a" or T eq "b") and T eq "c")'],
    ['(T,eq,c)~and((T,eq,a)~or(T,eq,b))', '(T eq "c" and (T eq "a" or T eq "b"))'],
    ['(((T,eq,a)~or((T,eq,b)~and(T,eq,c))))', '(T eq "a" or (T eq "b" and T eq "c"))'],
    ['((T,eq,f(x))~or(T,eq,(y)))~and(T,eq,c)', '((T eq "f(x)" or T eq "(y)") and T eq "c")'],
    ['~not(T,eq,a)', 'not (T eq "a")'],
    ['(T,eq,a)~not(T,eq,b)', '(T eq "a" and not (T eq "b"))'],
    ['(T,eq,a)~and~not(T,eq,b)', '(T eq "a" and not (T eq "b"))'],
    ['(T,eq,a)~or~not(T,eq,b)', '(T eq "a" or not (T eq "b"))'],
    ['(T,eq,a)~ornot(T,eq,b)', '(T eq "a" or not (T eq "b"))'],
    ['~not((T,eq,a)~or(T,eq,b))', 'not ((T eq "a" or T eq "b"))'],
    ['(~not(T,eq,a)~or(T,eq,b))~and(T,eq,c)', '((not (T eq "a") or T eq "b") and T eq "c")'],
    // Spaces and unknown joiners are part of the value, and so match nothing.
    ['(T,eq,1) ~or (T,eq,2)', 'T eq "1) ~or (T,eq,2"'],
    ['(T,eq,1)~xor(T,eq,2)', 'T eq "1)~xor(T,eq,2"'],
    ['(T,eq,1)~OR(T,eq,2)', 'T eq "1)~OR(T,eq,2"'],
    ['(T,eq,1)(T,eq,2)', 'T eq "1)(T,eq,2"'],
  ])('reads %p as %p', (text, expected) => {
    expect(where(text)).toBe(expected)
  })

  const format = [422, 'msg', 'Invalid filter format.']
  test.each<[string, unknown[]]>([
    ['x', format],
    ['(', format],
    [')', format],
    ['()', format],
    ['(T)', format],
    ['(T,)', format],
    ['(T,eq', format],
    ['(T,eq)', format],
    ['(T,like)', format],
    ['T,eq,x', format],
    ['(T,eq,a)~and', format],
    ['~and', format],
    ['((T,eq,a)', format],
    ['(D,eq)', format],
    ['(D,eq,exactDate)', format],
    ['(x,eq,1)', [422, 'msg', "Column alias 'x' not found."]],
    ['(__proto__,eq,1)', [422, 'msg', "Column alias '__proto__' not found."]],
    ['(cT,eq,1)', [422, 'msg', "Column alias 'cT' not found."]],
    ['(x,nope,1)', [422, 'msg', "Column alias 'x' not found."]],
    ['(T,nope,1)', [422, 'msg', 'nope is not supported.']],
    ['(T,pattern,1)', [422, 'msg', 'pattern is not supported.']],
    ['(D,eq,2026-11-20)', [422, 'msg', "'2026-11-20' is not supported."]],
    ['(D,eq,pastWeek)', [422, 'msg', "'pastWeek' is not supported for 'eq'"]],
    ['(D,isWithin,today)', [422, 'msg', "'today' is not supported for 'isWithin'"]],
    [
      '(Num,eq,abc)',
      [422, 'typed', 'Filter verification failed: Value abc is not supported for type Number on column Num'],
    ],
    [
      '(Num,eq,)',
      [422, 'typed', 'Filter verification failed: Value  is not supported for type Number on column Num'],
    ],
    [
      '(Num,btw,1,5)',
      [
        422,
        'typed',
        'Filter verification failed: Operation btw is not supported for type Number on column Num',
      ],
    ],
    [
      '(D,btw,1,5)',
      [422, 'typed', 'Filter verification failed: Operation btw is not supported for type Date on column D'],
    ],
    [
      '(D,like,x)',
      [422, 'typed', 'Filter verification failed: Operation like is not supported for type Date on column D'],
    ],
    [
      '(D,eq,daysAgo,x)',
      [422, 'typed', 'Filter verification failed: Value x is not supported for type Date on column D'],
    ],
    [
      '(T,checked)',
      [
        422,
        'typed',
        'Filter verification failed: Operation checked is not supported for type SingleLineText on column T',
      ],
    ],
    ['(((((((T,eq,a)~or(T,eq,b))))))~and(T,eq,c))', [422, 'typed', 'Filters can be nested up to 5 levels']],
  ])('refuses %p', (text, expected) => {
    expect(refusal(text)).toEqual(expected)
  })

  test('answers hostile text with an AppError, and quickly', () => {
    const random = seeded(7)
    const pieces = [
      '(',
      ')',
      '((',
      '))',
      ',',
      '~and',
      '~or',
      '~not',
      '@',
      '"',
      "'",
      '\\',
      ' ',
      'T',
      'Num',
      'D',
      'Ms',
      'eq',
      'in',
      'isWithin',
      'daysAgo',
      '1',
      'x',
      '%',
      '(T,eq,x)',
      '(D,eq,today)',
      '\u0000',
      '🙂',
    ]
    const started = cpuTimeMs()
    for (let round = 0; round < 20_000; round++) {
      const text = (round % 3 === 0 ? '@' : '') + textOf(random, pieces, 24)
      try {
        const filter = parseWhere(text, byTitle)
        if (filter) expect(checkFilter(filter, byId)).toEqual([])
      } catch (error) {
        if (!(error instanceof AppError)) throw new Error(`${JSON.stringify(text)} threw ${error}`)
      }
    }
    const long = [
      '('.repeat(99_999),
      ')'.repeat(99_999),
      '(T,eq,x)~and'.repeat(8_000),
      '~not'.repeat(20_000),
      `@${'('.repeat(90_000)}`,
      `@("${'\\'.repeat(90_000)}`,
      `@${' '.repeat(90_000)}x`,
      `@(T, eq, ${'a '.repeat(40_000)}`,
      `(T,in,${'1,'.repeat(40_000)}x)`,
      'x'.repeat(200_000),
    ]
    for (const text of long) expect(() => parseWhere(text, byTitle)).toThrow(AppError)
    expect(where(`(T,eq,${'('.repeat(90_000)})`)).toContain('T eq')
    expect(cpuTimeMs() - started).toBeLessThan(20_000) // Quadratic time would be minutes.
  })
})

describe('parseWhere with @', () => {
  test.each([
    ['@("Sp ace", eq, "x, y")', 'Sp ace eq "x, y"'],
    ["@('Sp ace',eq,'it\\'s \"so\"')", 'Sp ace eq "it\'s \\"so\\""'],
    ['@(Sp ace, eq, two words )', 'Sp ace eq "two words"'],
    ['@ ( T , eq , "" )', 'T eq ""'],
    ['@(T, eq,)', 'T eq ""'],
    ['@(T, blank)', 'T blank'],
    ['@("Cost (USD)", gt, 5)', 'Cost (USD) gt "5"'],
    ['@(T, in, "a", b, c)', 'T in ["a","b","c"]'],
    ['@(D, isWithin, pastNumberOfDays, 7)', 'D isWithin pastNumberOfDays "7"'],
    ['@(T, eq, a) ~or (T, eq, b) ~and (T, eq, c)', '(T eq "a" or (T eq "b" and T eq "c"))'],
    ['@((T, eq, a) ~or ~not (T, eq, b)) ~and (T, eq, "c")', '((T eq "a" or not (T eq "b")) and T eq "c")'],
    ['@~not((T,eq,a)~or(T,eq,b))', 'not ((T eq "a" or T eq "b"))'],
  ])('reads %p as %p', (text, expected) => {
    expect(where(text)).toBe(expected)
  })

  test.each([
    ['@', 'Invalid filter expression: expected "(", found the end at position 1'],
    ['@(T, eq, "x', 'Invalid filter expression: unexpected "x at position 9'],
    ['@(T, eq, x', 'Invalid filter expression: expected "," or ")", found the end at position 10'],
    ['@(T eq x)', 'Invalid filter expression: expected ",", found ) at position 8'],
    ['@(T, eq)', 'Invalid filter expression: a value is missing at position 5'],
    [
      '@(T,eq,x) (T,eq,y)',
      'Invalid filter expression: expected the end, ~and or ~or, found ( at position 10',
    ],
    ['@(x, eq, 1)', "Column alias 'x' not found."],
    [
      '@(Num, eq, abc)',
      'Filter verification failed: Value abc is not supported for type Number on column Num',
    ],
  ])('refuses %p with an explanation', (text, message) => {
    expect(refusal(text).slice(0, 1)).toEqual([422])
    expect(refusal(text)[2]).toBe(message)
    expect(refusal(text)[1]).toBe('typed')
  })
})
