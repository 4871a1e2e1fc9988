import { describe, expect, test } from 'bun:test'
import { matchesEmpty, readPattern } from '../../src/core/formula/pattern.ts'
import { seeded, textOf } from './random.ts'

describe('readPattern', () => {
  test.each([
    ['', 'is empty'],
    ['(', 'has an empty alternative'],
    ['(a', 'has a ( without its )'],
    ['a)', 'has a ) without its ('],
    ['a|', 'has an empty alternative'],
    ['*a', 'repeats nothing with *'],
    ['a**', 'has two signs of repetition in a row'],
    ['a+?', 'has two signs of repetition in a row'],
    ['(a+)+', 'repeats what repeats already'],
    ['((a*b)c){2,}', 'repeats what repeats already'],
    ['((a{200}){200})', 'is too large with its counts'],
    ['a{300}', 'may repeat 255 times at most'],
    ['a{3,2}', 'has a count backwards'],
    ['a{x', 'has a { that is no count: write \\{'],
    ['[', 'ends in the middle'],
    ['[]', 'has an empty class'],
    ['[z-a]', 'has a range backwards'],
    ['[a-\\d]', 'has a range of classes'],
    ['[[:alpha:]]', 'has a [ in a class: write \\['],
    ['(?=a)', 'knows no groups that begin with (?'],
    ['\\bword', 'knows no \\b'],
    ['a\\', 'ends in the middle'],
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
