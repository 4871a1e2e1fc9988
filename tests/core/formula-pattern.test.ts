import { describe, expect, test } from 'bun:test'
import { containsPattern, firstMatch, replaceMatches } from '../../src/core/formula/match-pattern.ts'
import { matchesEmpty, readPattern } from '../../src/core/formula/pattern.ts'
import { seeded, textOf } from './random.ts'

describe('readPattern', () => {
  test.each([
    ['', 'is empty'],
    ['(', 'has an empty alternative'],
    ['(a', 'has an unmatched ('],
    ['a)', 'has an unmatched )'],
    ['a|', 'has an empty alternative'],
    ['*a', 'has * with nothing to repeat'],
    ['a**', 'has two quantifiers in a row'],
    ['a+?', 'has two quantifiers in a row'],
    ['(a+)+', 'has nested quantifiers'],
    ['((a*b)c){2,}', 'has nested quantifiers'],
    ['((a{200}){200})', 'is too large after expanding its counts'],
    ['a{300}', 'can repeat up to 255 times'],
    ['a{3,2}', 'has a count in reverse order'],
    ['a{x', 'has an invalid count: write \\{ for a literal brace'],
    ['[', 'ends unexpectedly'],
    ['[]', 'has an empty class'],
    ['[z-a]', 'has a range in reverse order'],
    ['[a-\\d]', 'has a class as the end of a range'],
    ['[[:alpha:]]', 'has an unescaped [ in a class: write \\['],
    ['(?=a)', 'does not support groups that start with (?'],
    ['\\bword', 'does not support \\b'],
    ['a\\', 'ends unexpectedly'],
  ])('refuses %p', (pattern, why) => {
    expect(readPattern(pattern)).toEqual({ ok: false, message: `The regular expression ${why}` })
  })

  test.each([
    ['\\d+', 'a12b', '12'],
    ['[\\w-]+', '..a-b_1..', 'a-b_1'],
    ['\\W', 'ab é', ' '],
    ['a.c', 'a\nc abc', 'abc'],
    ['^(ab|cd){2}$', 'abcd', 'abcd'],
    ['[^\\s]+', ' \t xy', 'xy'],
    ['\\(\\)\\[\\]\\{\\}\\/\\.', '()[]{}/.', '()[]{}/.'],
    ['[\\]\\[\\^-]+', 'x]^[-y', ']^[-'],
    ['😀+', 'a😀😀b', '😀😀'],
    ['(?:a|b)?c', 'bc', 'bc'],
  ])('reads %p', (pattern, text, found) => {
    const read = readPattern(pattern)
    if (!read.ok) throw new Error(read.message)
    expect(new RegExp(read.source, 'u').exec(text)?.[0]).toBe(found)
  })

  test('never throws, and gives JavaScript only what it takes', () => {
    const random = seeded(4)
    const pieces = [
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      '|',
      '*',
      '+',
      '?',
      '^',
      '$',
      '\\',
      '-',
      ',',
      '1',
      'a',
      'd',
      '.',
      '😀',
      ':',
    ]
    for (let index = 0; index < 30_000; index++) {
      const read = readPattern(textOf(random, pieces, 12))
      if (read.ok) new RegExp(read.source, 'u')
    }
  })

  test('knows which patterns match nothing at all', () => {
    expect(['a*', '^', 'a?b*', '$', 'a|b*'].map(matchesEmpty)).toEqual([true, true, true, true, true])
    expect(['a+', '^a', 'a|b'].map(matchesEmpty)).toEqual([false, false, false])
  })
})

describe('matching in bounded time', () => {
  test('finds and replaces what a backtracking engine does', () => {
    const random = seeded(11)
    const pieces = [
      'a',
      'b',
      '.',
      '[ab]',
      '[^a]',
      '\\d',
      '(',
      ')',
      '|',
      '*',
      '+',
      '?',
      '{2}',
      '{1,3}',
      '^',
      '$',
      '😀',
    ]
    let compared = 0
    while (compared < 20_000) {
      const pattern = textOf(random, pieces, 9)
      const read = readPattern(pattern)
      if (!read.ok) continue
      compared++
      const text = textOf(random, ['a', 'b', 'ab', '1', '\n', '😀'], 12)
      const first = new RegExp(read.source, 'u').exec(text)?.[0] ?? null
      expect([pattern, text, firstMatch(text, read.source)]).toEqual([pattern, text, first])
      expect(containsPattern(text, read.source)).toBe(first !== null)
      if (matchesEmpty(pattern)) continue
      const replaced = text.replace(new RegExp(read.source, 'gu'), () => '$&')
      expect([pattern, text, replaceMatches(text, read.source, '$&')]).toEqual([pattern, text, replaced])
    }
  })

  test('gives nothing where a pattern takes too many steps', () => {
    const text = 'a'.repeat(100_000)
    expect(firstMatch(text, 'a*a*[bd]')).toBeNull()
    expect(containsPattern(text, 'a*a*[bd]')).toBe(false)
    expect(containsPattern(text, 'a{0,255}b')).toBeNull()
    expect(replaceMatches(text, 'a*b|a', '-')).toBeNull()
    expect(replaceMatches(text, 'a', '-')).toBe('-'.repeat(100_000))
  })
})
