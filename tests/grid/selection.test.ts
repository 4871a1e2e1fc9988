import { describe, expect, test } from 'bun:test'
import {
  activeCell,
  addRange,
  allBounds,
  clampSelection,
  countCells,
  extendTo,
  focusCell,
  isSingleCell,
  lastBounds,
  rangeAt,
  selectAll,
  selectCell,
  selectColumn,
  selectRow,
  shiftRows,
  step,
  tabFrom,
  widen,
} from '../../web/grid/selection.ts'

const size = { rows: 100, columns: 10 }
const at = (row: number, column: number) => ({ row, column })
const go = { extend: false, pageRows: 20 }
const draw = { extend: true, pageRows: 20 }

describe('selecting', () => {
  test('extends from the anchor, in whichever direction', () => {
    const range = extendTo(selectCell(at(5, 5)), at(2, 7))
    expect(lastBounds(range, size)).toEqual({ top: 2, bottom: 5, start: 5, end: 7 })
    expect(activeCell(range)).toEqual(at(5, 5))
    expect(lastBounds(extendTo(range, at(9, 1)), size)).toEqual({ top: 5, bottom: 9, start: 1, end: 5 })
  })

  test('keeps a first range beside a second one', () => {
    const two = addRange(extendTo(selectCell(at(0, 0)), at(1, 1)), rangeAt(at(8, 8)))
    expect(countCells(allBounds(two, size))).toBe(5)
    expect(activeCell(two)).toEqual(at(8, 8))
    expect(isSingleCell(two)).toBe(false)
  })

  test('takes whole rows, columns and all, also when the table grows', () => {
    expect(lastBounds(selectRow(3), size)).toEqual({ top: 3, bottom: 3, start: 0, end: 9 })
    expect(lastBounds(selectColumn(2), { rows: 500, columns: 10 })).toMatchObject({
      top: 0,
      bottom: 499,
      start: 2,
    })
    expect(countCells(allBounds(selectAll(at(4, 4)), size))).toBe(1000)
    expect(activeCell(selectAll(at(4, 4)))).toEqual(at(4, 4))
  })

  test('widens cells to rows, and rows then to everything', () => {
    const cells = extendTo(selectCell(at(2, 2)), at(3, 3))
    expect(lastBounds(widen(cells, 'rows'), size)).toEqual({ top: 2, bottom: 3, start: 0, end: 9 })
    expect(countCells(allBounds(widen(widen(cells, 'rows'), 'columns'), size))).toBe(1000)
  })
})

describe('stepping', () => {
  test('stays inside the grid', () => {
    expect(activeCell(step(selectCell(at(0, 0)), 'up', size, go))).toEqual(at(0, 0))
    expect(activeCell(step(selectCell(at(99, 9)), 'end', size, go))).toEqual(at(99, 9))
    expect(activeCell(step(selectCell(at(90, 3)), 'pageDown', size, go))).toEqual(at(99, 3))
  })

  test('jumps to edges and corners', () => {
    const from = selectCell(at(50, 5))
    expect(activeCell(step(from, 'edgeDown', size, go))).toEqual(at(99, 5))
    expect(activeCell(step(from, 'rowStart', size, go))).toEqual(at(50, 0))
    expect(activeCell(step(from, 'gridEnd', size, go))).toEqual(at(99, 9))
  })

  test('extends the focus and leaves the anchor', () => {
    const drawn = step(step(selectCell(at(5, 5)), 'down', size, draw), 'rowEnd', size, draw)
    expect(activeCell(drawn)).toEqual(at(5, 5))
    expect(focusCell(drawn)).toEqual(at(6, 9))
  })

  test('drops a range when it moves on', () => {
    const moved = step(extendTo(selectCell(at(1, 1)), at(5, 5)), 'down', size, go)
    expect(moved).toEqual(selectCell(at(2, 1)))
  })
})

describe('Tab', () => {
  test('goes on in the next row and stays at the corners', () => {
    expect(tabFrom(at(3, 9), false, size)).toEqual(at(4, 0))
    expect(tabFrom(at(4, 0), true, size)).toEqual(at(3, 9))
    expect(tabFrom(at(99, 9), false, size)).toEqual(at(99, 9))
    expect(tabFrom(at(0, 0), true, size)).toEqual(at(0, 0))
  })
})

describe('a table that changes under the selection', () => {
  test('takes the ranges along', () => {
    expect(activeCell(shiftRows(selectCell(at(5, 2)), 3, size))).toEqual(at(8, 2))
    expect(activeCell(shiftRows(selectCell(at(5, 2)), -9, size))).toEqual(at(0, 2))
  })

  test('cuts them to what is left, and to nothing when nothing is', () => {
    expect(clampSelection(selectCell(at(50, 5)), { rows: 3, columns: 2 })).toEqual(selectCell(at(2, 1)))
    expect(clampSelection(selectCell(at(0, 0)), { rows: 0, columns: 4 })).toBeNull()
  })
})
