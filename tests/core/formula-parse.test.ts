import { describe, expect, test } from 'bun:test'
import { parseFormula } from '../../src/core/formula/index.ts'
import { cpuTimeMs } from '../support/cpu-time.ts'
import { check, problems, value } from './formula-fields.ts'
import { pick, seeded, textOf } from './random.ts'

describe('parseFormula', () => {
  test.each([
    ['', 'NOT_SUPPORTED 0..0 Compound statement is not supported'],
    ['   ', 'NOT_SUPPORTED 0..3 Compound statement is not supported'],
    ['1 2', 'NOT_SUPPORTED 2..3 Compound statement is not supported'],
    ['1, 2', 'NOT_SUPPORTED 1..2 Compound statement is not supported'],
    ['UPPER({Title}', 'SYNTAX_ERROR 13..13 Expected ) at character 13'],
    ['(1 + 2', 'SYNTAX_ERROR 6..6 Expected ) at character 6'],
    ['UPPER({Title} {Price})', 'SYNTAX_ERROR 14..21 Expected ) at character 14'],
    ['1+', 'SYNTAX_ERROR 2..2 Expected expression after + at character 2'],
    ['1 + * 2', 'SYNTAX_ERROR 4..5 Expected expression after + at character 4'],
    ['ROUND(1, )', 'SYNTAX_ERROR 9..10 Expected expression after , at character 9'],
    ['1)', 'SYNTAX_ERROR 1..2 Unexpected ) at character 1'],
    [')', 'SYNTAX_ERROR 0..1 Unexpected ) at character 0'],
    ['"abc', 'SYNTAX_ERROR 0..4 Unclosed quote at character 0'],
    ['1 + {Title', 'SYNTAX_ERROR 4..10 Expected } at character 10'],
    ['1 # 2', 'SYNTAX_ERROR 2..3 Unexpected # at character 2'],
  ])('says of %p what is wrong and where', (text, expected) => {
    expect(problems(text)).toEqual([expected])
  })

  test.each([
    ['1 + 2 * 3 - 4', 3],
    ['2 * (3 + 4) % 5', 4],
    ['"a" & 1 + 2 & "b"', 'a3b'],
    ['1 + 1 = 2', true],
    ['1 < 2 = true', true],
    ['10 - 2 - 3', 5],
    ['-2 * -3', 6],
    ['.5 + 1. + 1e3 + 1E-1', 1001.6],
    ['"a\\"b\\\\" & \'c\\\'\' & "\\n\\d"', 'a"b\\c\'\n\\d'],
    ['upper("a") & TrUe', 'Atrue'],
    ['1 <> 2', true],
    ['null', null],
  ])('reads %p as people mean it', (text, expected) => {
    expect(value(text)).toBe(expected)
  })

  test('never throws, and is quick, whatever the text', () => {
    const pieces = [
      '(',
      ')',
      '{',
      '}',
      '{{',
      '"',
      "'",
      '\\',
      'IF(',
      'ROUND(',
      ',',
      '+',
      '-',
      '!',
      '=',
      '<',
      '>',
      '&',
      '%',
    ]
    const more = [
      '1',
      '1e',
      '.',
      '..5',
      'é',
      '😀',
      '\ud800',
      ' ',
      '\n',
      'null',
      'true',
      '{Title}',
      '{{cprice}}',
      'X',
      '\0',
    ]
    const random = seeded(5)
    for (let index = 0; index < 20_000; index++) check(textOf(random, [...pieces, ...more], 14))
    for (const piece of [...pieces, ...more, '1+', 'IF(1,', '((', '"a"&', '-']) {
      const began = cpuTimeMs()
      const long = piece.repeat(Math.ceil(100_000 / piece.length))
      const half = piece.repeat(Math.floor(19_000 / piece.length))
      expect([piece, check(long).ok]).toEqual([piece, false])
      check(half)
      parseFormula(half + pick(random, pieces))
      expect([piece, cpuTimeMs() - began < 2000]).toEqual([piece, true])
    }
  })

  test('reads many arguments, and brackets as deep as its limit', () => {
    expect(value(`ADD(${Array.from({ length: 200 }, () => '1').join(', ')})`)).toBe(200)
    expect(value(`${'('.repeat(64)}1${')'.repeat(64)}`)).toBe(1)
    expect(problems(`${'('.repeat(65)}1${')'.repeat(65)}`)[0]).toContain('nested up to 64 levels')
  })
})
