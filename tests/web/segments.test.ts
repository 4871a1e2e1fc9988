import { describe, expect, test } from 'bun:test'
import { createSegments } from '../../web/records/layouts/segments.ts'

const upTo = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at)
const never = () => false

describe('segments', () => {
  test('say which record stands at a loaded row, and nothing about a gap', () => {
    const rows = createSegments()
    rows.put(10, [100, 101, 102])
    expect([rows.idAt(9), rows.idAt(10), rows.idAt(12), rows.idAt(13)]).toEqual([
      undefined,
      100,
      102,
      undefined,
    ])
    expect(rows.indexOf(101)).toBe(11)
    expect(rows.indexOf(7)).toBeUndefined()
    expect(rows.end).toBe(13)
  })

  test('list the rows of a range that are missing', () => {
    const rows = createSegments()
    rows.put(10, upTo(0, 5))
    rows.put(20, upTo(50, 5))
    expect(rows.gaps({ first: 0, last: 30 })).toEqual([
      { first: 0, last: 9 },
      { first: 15, last: 19 },
      { first: 25, last: 30 },
    ])
    expect(rows.gaps({ first: 11, last: 13 })).toEqual([])
  })

  test('move what follows when rows are inserted or removed in the middle', () => {
    const rows = createSegments()
    rows.put(0, [1, 2, 3])
    rows.put(100, [50, 51])
    rows.insert(1, ['new'])
    expect(upTo(0, 4).map(rows.idAt)).toEqual([1, 'new', 2, 3])
    expect(rows.indexOf(50)).toBe(101)
    rows.remove([1, 3])
    expect(upTo(0, 3).map(rows.idAt)).toEqual(['new', 2, undefined])
    expect(rows.indexOf(50)).toBe(99)
  })

  test('insert at the end of a run, in front of one, and in a gap', () => {
    const rows = createSegments()
    rows.put(0, [1, 2])
    rows.insert(2, [3])
    expect(rows.ids()).toEqual([1, 2, 3])
    rows.put(10, [20])
    rows.insert(10, ['x'])
    expect([rows.idAt(10), rows.idAt(11)]).toEqual(['x', 20])
    rows.insert(6, ['y'])
    expect([rows.indexOf('y'), rows.indexOf('x'), rows.indexOf(20)]).toEqual([6, 11, 12])
    rows.insert(0, ['first'])
    expect([rows.idAt(0), rows.idAt(1), rows.indexOf(20)]).toEqual(['first', 1, 13])
  })

  test('drop a run whose record turned up elsewhere', () => {
    const rows = createSegments()
    rows.put(0, [1, 2, 3])
    expect(rows.put(10, [2, 9])).toEqual([1, 3])
    expect(rows.idAt(0)).toBeUndefined()
    expect(rows.indexOf(2)).toBe(10)
  })

  test('put over part of a run keeps the rest of it', () => {
    const rows = createSegments()
    rows.put(0, [1, 2, 3, 4])
    expect(rows.put(1, [8, 9])).toEqual([2, 3])
    expect(upTo(0, 4).map(rows.idAt)).toEqual([1, 8, 9, 4])
    expect(rows.indexOf(4)).toBe(3)
  })

  test('forget what was out of sight longest, never what is in sight or pinned', () => {
    const rows = createSegments()
    for (let block = 0; block < 10; block++) rows.put(block * 200, upTo(block * 200, 200))
    rows.gaps({ first: 0, last: 10 })
    const dropped = rows.evict(600, { first: 1000, last: 1010 }, (id) => id === 450)
    expect(rows.size).toBe(600)
    expect(dropped.length).toBe(1400)
    expect([rows.has(5), rows.has(450), rows.has(1005), rows.has(205)]).toEqual([true, true, true, false])
    expect(rows.evict(600, { first: 0, last: 10 }, never)).toEqual([])
  })

  test('a record goes on under the id that the server gave it', () => {
    const rows = createSegments()
    rows.put(0, [1, 'local'])
    rows.rename('local', 77)
    expect([rows.idAt(1), rows.indexOf(77), rows.has('local')]).toEqual([77, 1, false])
  })
})
