import { describe, expect, test } from 'bun:test'
import { columnAt, gapAt, layoutColumns, revealColumn, visibleColumns } from '../../web/grid/layout.ts'

const layout = layoutColumns([200, 100, 300, 150], 1, 1000)

describe('layoutColumns', () => {
  test('places columns behind the row number', () => {
    expect(layout.starts).toEqual([80, 280, 380, 680, 830])
    expect(layout.frozenWidth).toBe(280)
  })

  test('freezes fewer columns where they would leave no room for the others', () => {
    expect(layoutColumns([200, 200, 200], 3, 500).frozen).toBe(1)
  })

  test('narrows the first column on a phone, where it would take more than the others', () => {
    expect(layoutColumns([300, 200], 2, 390)).toMatchObject({
      frozen: 1,
      rowNumberWidth: 44,
      frozenWidth: 175,
      starts: [44, 175, 375],
    })
    expect(layoutColumns([300, 200], 0, 390)).toMatchObject({ frozen: 0, starts: [44, 344, 544] })
    expect(layoutColumns([100, 200], 1, 390)).toMatchObject({ frozenWidth: 144 })
  })

  test('takes no columns at all', () => {
    expect(layoutColumns([], 1, 1000)).toMatchObject({ frozen: 0, width: 80 })
  })
})

describe('visibleColumns', () => {
  test('gives the scrolling columns that touch the view', () => {
    expect(visibleColumns(layout, 0, 390, 0)).toEqual({ first: 1, last: 2 })
    expect(visibleColumns(layout, 150, 400, 0)).toEqual({ first: 2, last: 2 })
    expect(visibleColumns(layout, 150, 400, 200)).toEqual({ first: 1, last: 3 })
  })

  test('is empty when every column is frozen', () => {
    const { first, last } = visibleColumns(layoutColumns([100], 1, 1000), 0, 1000, 0)
    expect(last).toBeLessThan(first)
  })
})

describe('columnAt', () => {
  test('finds frozen columns wherever the others are scrolled', () => {
    expect(columnAt(layout, 10, 400)).toBe(-1)
    expect(columnAt(layout, 100, 400)).toBe(0)
    expect(columnAt(layout, 290, 400)).toBe(3)
    expect(columnAt(layout, 900, 0)).toBe(4)
  })

  test('gives the nearest gap for a drop', () => {
    expect(gapAt(layout, 120, 0)).toBe(0)
    expect(gapAt(layout, 250, 0)).toBe(1)
    expect(gapAt(layout, 2000, 0)).toBe(4)
    expect(gapAt(layout, -50, 0)).toBe(0)
  })
})

describe('reveal', () => {
  test('scrolls as little as needed', () => {
    expect(revealColumn(layout, 1, 0, 500)).toBe(0)
    expect(revealColumn(layout, 3, 0, 500)).toBe(830 - 280 - (500 - 280))
    expect(revealColumn(layout, 1, 300, 500)).toBe(0)
    expect(revealColumn(layout, 0, 300, 500)).toBe(300)
  })
})
