import { describe, expect, test } from 'bun:test'
import {
  formatJson,
  parseJsonTree,
  scalarOf,
  typedOf,
  writeJsonTree,
} from '../../src/core/fields/json-tree.ts'
import { seeded, textOf } from './random.ts'

describe('formatJson', () => {
  test.each([
    [
      '{"b":1,"a":[1.50,12345678901234567890]}',
      '{\n  "b": 1,\n  "a": [\n    1.50,\n    12345678901234567890\n  ]\n}',
    ],
    ['[]', '[]'],
    ['{"a":{},"a":"twice"}', '{\n  "a": {},\n  "a": "twice"\n}'],
    ['"a {b}: [c], d\\""', '"a {b}: [c], d\\""'],
    [' \n 1e5 ', '1e5'],
    ['{"a":1', null],
    ['', null],
  ])('%p becomes %p', (text, formatted) => expect(formatJson(text)).toBe(formatted))

  test('changes nothing but spaces, whatever the text', () => {
    const random = seeded(7)
    const pieces = ['a', '"', '\\', '{', '}', '[', ']', ':', ',', ' ', '\n', '1', 'é', '\u2028']
    const value = (depth: number): unknown => {
      const kind = Math.floor(random() * (depth > 3 ? 3 : 5))
      if (kind === 0) return textOf(random, pieces, 12)
      if (kind === 1) return random() * 1e6
      if (kind === 2) return [null, true, false][Math.floor(random() * 3)]
      const inner = Array.from({ length: Math.floor(random() * 4) }, () => value(depth + 1))
      return kind === 3 ? inner : Object.fromEntries(inner.map((one) => [textOf(random, pieces, 6), one]))
    }
    for (let round = 0; round < 500; round++) {
      const text = JSON.stringify(value(0))
      const tree = parseJsonTree(text)
      expect(tree && writeJsonTree(tree, null)).toBe(text)
      expect(JSON.parse(formatJson(text) ?? '')).toEqual(JSON.parse(text))
    }
  })
})

describe('a value of the tree', () => {
  test.each([
    ['two words', '"two words"'],
    ['12', '12'],
    ['"12"', '"12"'],
    ['true', 'true'],
    ['', '""'],
    ['{"a": 1}', '{"a":1}'],
  ])('%p is typed for %p', (typed, raw) => expect(writeJsonTree(scalarOf(typed), null)).toBe(raw))

  test.each([
    ['"two words"', 'two words'],
    ['"12"', '"12"'],
    ['12.50', '12.50'],
    ['null', 'null'],
    ['""', '""'],
    ['" a"', '" a"'],
  ])('%p is shown as %p, and typed so is the same again', (raw, shown) => {
    expect(typedOf(raw)).toBe(shown)
    expect(writeJsonTree(scalarOf(shown), null)).toBe(raw)
  })
})
