import { describe, expect, test } from 'bun:test'
import { createSpillMap } from '../../src/db/spill-map.ts'

describe('createSpillMap', () => {
  test.each([
    ['in memory', 1000],
    ['in a file', 2],
  ])('keeps values %s, null included, and their order', (_, maxInMemory) => {
    const map = createSpillMap<string | number | null>(maxInMemory)
    const entries = [
      ['b', 1],
      ['a', null],
      ['ä', 'x'],
      ['', 2 ** 53 - 1],
      ['a\0b', 0],
      ['A', '007'],
    ] as const
    for (const [key, value] of entries) map.set(key, value)
    expect(entries.map(([key]) => map.get(key))).toEqual(entries.map(([, value]) => value))
    expect([map.get('c'), map.get('a\0'), map.size]).toEqual([undefined, undefined, 6])
    expect([...map.keys()]).toEqual(entries.map(([key]) => key))
    map.close()
  })

  test('replaces a value in memory and in the file, and counts it once', () => {
    const map = createSpillMap<number | null>(1)
    for (const key of ['a', 'b', 'c']) map.set(key, 1)
    for (const key of ['a', 'b', 'c']) map.set(key, key === 'b' ? null : 2)
    expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([2, null, 2])
    expect(map.size).toBe(3)
    map.close()
  })

  test('goes through thousands of entries in their order', () => {
    const map = createSpillMap<number>(10)
    const keys = Array.from({ length: 5000 }, (_, at) => `name ${(at * 7919) % 5000}`)
    for (const [at, key] of keys.entries()) map.set(key, at)
    expect([...map.keys()]).toEqual(keys)
    expect(map.get('name 4999')).toBe(keys.indexOf('name 4999'))
    map.close()
  })
})
