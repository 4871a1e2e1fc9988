import { describe, expect, test } from 'bun:test'
import {
  follow,
  MAX_HEIGHT,
  mustRealign,
  realign,
  scrollSize,
  toPhysical,
  toVirtual,
} from '../../web/grid/scroll-map.ts'

const small = scrollSize(32_000, 700)
const large = scrollSize(32_000_000, 700) // a million rows of 32 px
const huge = scrollSize(120_000_000, 700)

describe('scroll map of a table that fits', () => {
  test('is the identity', () => {
    for (const at of [0, 1, 12_345, 31_300]) {
      expect(toVirtual(small, at)).toBe(at)
      expect(follow(small, { scrollTop: 0, top: 0 }, at)).toEqual({ scrollTop: at, top: at })
    }
  })
})

describe.each([large, huge])('scroll map of %p', (size) => {
  const end = size.physical - size.viewport

  test('caps the element, and reaches both ends exactly', () => {
    expect(size.physical).toBe(MAX_HEIGHT)
    expect(toVirtual(size, 0)).toBe(0)
    expect(toVirtual(size, end)).toBe(size.virtual - size.viewport)
  })

  test('grows steadily and turns round', () => {
    let before = -1
    for (let at = 0; at <= end; at += 9973) {
      const top = toVirtual(size, at)
      expect(top).toBeGreaterThan(before)
      expect(Math.abs(toPhysical(size, top) - at)).toBeLessThanOrEqual(1)
      before = top
    }
  })

  test('moves 1:1 for a wheel, anywhere', () => {
    const from = { scrollTop: 4_000_000, top: toVirtual(size, 4_000_000) }
    expect(follow(size, from, 4_000_120).top - from.top).toBe(120)
    expect(follow(size, from, 3_999_000).top - from.top).toBe(-1000)
  })

  test('moves in proportion when the thumb is dragged', () => {
    const moved = follow(size, { scrollTop: 0, top: 0 }, end / 2)
    expect(moved.top / (size.virtual - size.viewport)).toBeCloseTo(0.5, 3)
    expect(follow(size, moved, end).top).toBe(size.virtual - size.viewport)
  })

  test('shows the last row to someone who only ever wheels', () => {
    let at = { scrollTop: end - 300_000, top: toVirtual(size, end - 300_000) }
    for (let step = 0; step < 20_000 && at.top < size.virtual - size.viewport; step++) {
      at = follow(size, at, Math.min(end, at.scrollTop + 1500))
      if (mustRealign(size, at)) at = realign(size, at)
    }
    expect(at.top).toBe(size.virtual - size.viewport)
    expect(at.scrollTop).toBe(end)
  })

  test('shows the first row likewise', () => {
    let at = { scrollTop: 300_000, top: toVirtual(size, 300_000) }
    for (let step = 0; step < 20_000 && at.top > 0; step++) {
      at = follow(size, at, Math.max(0, at.scrollTop - 1500))
      if (mustRealign(size, at)) at = realign(size, at)
    }
    expect(at).toEqual({ scrollTop: 0, top: 0 })
  })

  test('puts the scrollbar in its place at rest without moving the content', () => {
    const wheeled = { scrollTop: 2_050_000, top: toVirtual(size, 2_000_000) + 50_000 }
    const aligned = realign(size, wheeled)
    expect(aligned.top).toBe(wheeled.top)
    expect(aligned.scrollTop).toBeLessThan(wheeled.scrollTop)
  })
})
