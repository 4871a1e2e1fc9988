import { describe, expect, test } from 'bun:test'
import { edgeFrom } from '../../web/grid/selection.ts'

/** `x` is filled, `.` empty, `?` not loaded. */
const column = (text: string) => (cell: { row: number }) =>
  text[cell.row] === '?' ? undefined : text[cell.row] === 'x'

const down = (text: string, row: number, rows = text.length) =>
  edgeFrom({ row, column: 0 }, 'edgeDown', { rows, columns: 1 }, column(text)).row

describe('Ctrl with an arrow', () => {
  test('goes to the last of the filled cells', () => expect(down('.xxx..x', 1)).toBe(3))
  test('goes from the last one to the next that is filled', () => expect(down('.xxx..x', 3)).toBe(6))
  test('goes from an empty cell to the next that is filled', () => expect(down('..x', 0)).toBe(2))
  test("goes to the grid's edge where nothing else is filled", () => expect(down('x....', 0)).toBe(4))
  test("goes to the grid's edge where rows are not loaded", () => expect(down('xx?', 0, 5000)).toBe(4999))
  test('stays at the edge', () => expect(down('xx', 1)).toBe(1))
  test('goes both ways along a row', () => {
    const filled = ({ column: at }: { column: number }) => at !== 2
    const size = { rows: 1, columns: 6 }
    expect(edgeFrom({ row: 0, column: 5 }, 'edgeStart', size, filled).column).toBe(3)
    expect(edgeFrom({ row: 0, column: 0 }, 'edgeEnd', size, filled).column).toBe(1)
  })
})
