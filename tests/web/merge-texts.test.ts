import { describe, expect, test } from 'bun:test'
import { hasOverlap, mergedText, mergeTexts } from '../../web/records/merge-texts.ts'
import { cpuTimeMs } from '../support/cpu-time.ts'

const merge = (base: string, mine: string, theirs: string) => {
  const parts = mergeTexts(base, mine, theirs)
  return hasOverlap(parts) ? parts : mergedText(parts, 'mine')
}

describe('merging two edits of a text', () => {
  test.each<[what: string, base: string, mine: string, theirs: string, merged: string]>([
    ['different lines', 'a\nb\nc', 'A\nb\nc', 'a\nb\nC', 'A\nb\nC'],
    ['words of one line', 'The cat sat', 'The black cat sat', 'The cat sat down', 'The black cat sat down'],
    ['a line at the end and one at the start', 'a\nb', 'a\nb\nc', 'z\na\nb', 'z\na\nb\nc'],
    ['different line breaks', 'a\r\nb\r\nc', 'A\nb\nc', 'a\r\nb\r\nC', 'A\nb\nC'],
    ['the same edit of both', 'a b', 'a c', 'a c', 'a c'],
    ['a deletion and an addition', 'a\nb\nc\nd\ne', 'a\nc\nd\ne', 'a\nb\nc\nd\ne\nf', 'a\nc\nd\ne\nf'],
    [
      'names of object members',
      'constructor\nx\n__proto__',
      'constructor\ny\n__proto__',
      'constructor\nx\n__proto__\nz',
      'constructor\ny\n__proto__\nz',
    ],
    ['line breaks at the end', 'a\n\n', 'a\n\n', 'a\n', 'a\n'],
    ['a text that becomes empty', 'a', 'a', '', ''],
  ])('keeps both: %s', (_what, base, mine, theirs, merged) => {
    expect(merge(base, mine, theirs)).toBe(merged)
    expect(merge(base, theirs, mine)).toBe(merged)
  })

  test('names the places that both changed, and keeps the other changes', () => {
    const parts = mergeTexts('one\ntwo\nthree', 'one\n2\nthree!', '1\nzwei\nthree')
    expect(hasOverlap(parts)).toBe(true)
    expect(mergedText(parts, 'mine')).toBe('1\n2\nthree!')
    expect(mergedText(parts, 'theirs')).toBe('1\nzwei\nthree!')
    expect(mergedText(parts, 'both')).toContain('2 zwei')
  })

  test('overlaps where both write into an empty text', () => {
    const parts = mergeTexts('', 'mine', 'theirs')
    expect(parts).toEqual([{ mine: 'mine', theirs: 'theirs' }])
  })

  test('takes little time for long texts, however they differ', () => {
    const line = (at: number) => (at % 2 === 0 ? '' : `word ${at} of many`)
    const lines = Array.from({ length: 20_000 }, (_, at) => line(at))
    const changed = (at: number, text: string) => lines.with(at, text).join('\n')
    const before = cpuTimeMs()
    expect(merge(lines.join('\n'), changed(10, 'mine'), changed(19_000, 'theirs'))).not.toBeString()
    expect(merge(lines.join('\n'), changed(10, 'mine'), changed(900, 'theirs'))).toBeString()
    const words = Array.from({ length: 200_000 }, () => 'a').join(' ')
    mergeTexts(words, `x ${words} y`, `${words} z`)
    expect(cpuTimeMs() - before).toBeLessThan(2000)
  })
})
