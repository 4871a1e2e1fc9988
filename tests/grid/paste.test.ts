import { describe, expect, test } from 'bun:test'
import { fieldType, readOptions } from '../../src/core/fields/index.ts'
import type { ClipboardBlock, ClipboardField } from '../../web/grid/clipboard.ts'
import {
  type PasteColumn,
  type PasteTarget,
  planPaste,
  withoutNewOptions,
  withoutNewRows,
} from '../../web/grid/paste.ts'

const column = (type: string, options: object = {}, over: Partial<PasteColumn> = {}): PasteColumn => ({
  fieldId: `c${type}`,
  type: fieldType(type),
  options: readOptions(type, options),
  editable: true,
  ...over,
})
const STATUS = {
  choices: [
    { id: 's1', title: 'To do' },
    { id: 's2', title: 'Done' },
  ],
}
const COLUMNS = [
  column('SingleLineText'),
  column('Number'),
  column('SingleSelect', STATUS),
  column('MultiSelect', STATUS),
  column('Checkbox'),
  column('CreatedTime', {}, { editable: false }),
]
const texts = (...rows: string[][]): ClipboardBlock => ({ texts: rows, own: null })
const at = (
  top: number,
  start: number,
  bottom = top,
  end = start,
  over: Partial<PasteTarget> = {},
): PasteTarget => ({
  bounds: { top, bottom, start, end },
  columns: COLUMNS,
  rowCount: 10,
  recordIdOf: (row) => row + 100,
  canAddRows: true,
  ...over,
})

describe('planPaste', () => {
  test('lays a block from the anchor and reads each text by its field', () => {
    const plan = planPaste(texts(['a', '1,234', 'done', 'Done, To do', 'yes']), at(3, 0))
    expect(plan.cells.map(({ value }) => value)).toEqual(['a', 1234, 'Done', 'Done,To do', true])
    expect(plan.cells[0]).toMatchObject({ rowIndex: 3, recordId: 103, fieldId: 'cSingleLineText' })
    expect(plan.covers).toEqual({ top: 3, bottom: 3, start: 0, end: 4 })
  })

  test('fills a range from one cell, and repeats a block in a multiple of it', () => {
    expect(planPaste(texts(['7']), at(0, 1, 3, 1)).cells).toHaveLength(4)
    const plan = planPaste(texts(['a'], ['b']), at(0, 0, 5, 0))
    expect(plan.cells.map(({ value }) => value)).toEqual(['a', 'b', 'a', 'b', 'a', 'b'])
    expect(planPaste(texts(['a'], ['b']), at(0, 0, 4, 0)).cells).toHaveLength(2)
  })

  test('lists what does not fit and leaves those cells alone', () => {
    const plan = planPaste(texts(['x', '1.9'], ['y', '2']), at(0, 0))
    expect(plan.rejected).toEqual([{ rowIndex: 0, fieldId: 'cNumber', text: '1.9' }])
    expect(plan.cells).toHaveLength(3)
  })

  test('empties cells for empty texts, a check box to off', () => {
    const plan = planPaste(texts(['', '', '', '', '']), at(0, 0))
    expect(plan.cells.map(({ value }) => value)).toEqual([null, null, null, null, false])
  })

  test('offers rows beyond the last', () => {
    const plan = planPaste(texts(['a'], ['b'], ['c']), at(9, 0))
    expect(plan.cells).toHaveLength(1)
    expect(plan.newRows).toEqual([{ cSingleLineText: 'b' }, { cSingleLineText: 'c' }])
    expect(withoutNewRows(plan).newRows).toEqual([])
    expect(planPaste(texts(['a'], ['b']), at(9, 0, 9, 0, { canAddRows: false })).newRows).toEqual([])
  })

  test('offers columns beyond the last and passes over those that cannot be written', () => {
    const plan = planPaste(texts(['true', 'now', 'x', 'y']), at(0, 4))
    expect(plan.cells.map(({ value }) => value)).toEqual([true])
    expect(plan.skipped).toBe(1)
    expect(plan.extraColumns).toEqual([['x'], ['y']])
  })

  test('gathers unknown options, once each', () => {
    const plan = planPaste(texts(['New', 'Done,Fresh'], ['New', 'To do']), at(0, 2))
    expect(plan.newOptions).toEqual([
      { fieldId: 'cSingleSelect', titles: ['New'] },
      { fieldId: 'cMultiSelect', titles: ['Fresh'] },
    ])
    expect(plan.cells.map(({ needsOption }) => needsOption)).toEqual([true, true, true, false])
    expect(withoutNewOptions(plan).cells.map(({ value }) => value)).toEqual(['To do'])
  })

  test('writes known options as the field does beside new ones', () => {
    expect(planPaste(texts(['done, Fresh,DONE']), at(0, 3)).cells[0]?.value).toBe('Done,Fresh')
  })

  test('leaves declined options out of new rows, also those with commas', () => {
    const plan = planPaste(texts(['a', '1', 'Smith, John']), at(10, 0))
    expect(plan.newOptions).toEqual([{ fieldId: 'cSingleSelect', titles: ['Smith, John'] }])
    expect(withoutNewOptions(plan).newRows).toEqual([{ cSingleLineText: 'a', cNumber: 1 }])
  })

  test('takes values as they are between fields of a kind', () => {
    const own = { fields: [{ id: 'cOther', title: 'N', type: 'Number', options: {} }], values: [[1234.5]] }
    const plan = planPaste({ texts: [['1.234,5']], own }, at(0, 1))
    expect(plan.cells[0]?.value).toBe(1234.5)
  })

  test('reads the text where the fields differ', () => {
    const own = { fields: [{ id: 'cX', title: 'T', type: 'SingleLineText', options: {} }], values: [['42']] }
    expect(planPaste({ texts: [['42']], own }, at(0, 1)).cells[0]?.value).toBe(42)
  })

  test('reads days of ours as the copied field writes them', () => {
    const columns = [column('DateTime', { timeZone: 'UTC' })]
    const format = 'DD/MM/YYYY' as const
    const read = (field: Pick<ClipboardField, 'type' | 'result'>, text: string) => {
      const { type, result } = field
      const options = result ? {} : readOptions(type, { format, timeZone: 'Asia/Tokyo' })
      const own = { fields: [{ id: 'cX', title: 'X', options, ...field }], values: [[text]] }
      return planPaste({ texts: [[text]], own }, at(0, 0, 0, 0, { columns })).cells[0]?.value
    }
    expect(read({ type: 'Date' }, '03/04/2025')).toBe('2025-04-03 00:00:00+00:00')
    expect(read({ type: 'CreatedTime' }, '03/04/2025 19:00')).toBe('2025-04-03 10:00:00+00:00')
    const result = { type: 'Date' as const, options: { format }, isList: false }
    expect(read({ type: 'Formula', result }, '03/04/2025')).toBe('2025-04-03 00:00:00+00:00')
  })

  test('says which rows the columns beyond the last are of, hidden and new ones considered', () => {
    const rowOf = (place: number) => [0, 1, 5][place] ?? place + 3
    const block = texts(['1', '-', 'x'], ['1', '-', 'y'], ['1', '-', 'z'], ['1', '-', 'n'])
    expect(planPaste(block, at(0, 4, 0, 4, { rowCount: 3, rowOf })).extraRows).toEqual([
      { rowIndex: 0, recordId: 100, newRow: null },
      { rowIndex: 1, recordId: 101, newRow: null },
      { rowIndex: 5, recordId: 105, newRow: null },
      { rowIndex: 6, recordId: undefined, newRow: 0 },
    ])
  })

  test('reads numbers from elsewhere with the decimal mark of the reader, and ours with a point', () => {
    const columns = [column('Currency', { code: 'EUR', locale: 'de-DE' }), column('Decimal')]
    const read = (block: ClipboardBlock, decimal: '.' | ',') =>
      planPaste(block, at(0, 0, 0, 0, { columns, decimal })).cells.map(({ value }) => value)
    expect(read(texts(['12.500 €', '1,125']), ',')).toEqual([12_500, 1.125])
    expect(read(texts(['12.500 €', '1,125']), '.')).toEqual([12.5, 1125])
    const own = { fields: [{ id: 'x', title: 'D', type: 'Decimal', options: {} }], values: [[1.125]] }
    expect(read({ texts: [['1.125']], own } as ClipboardBlock, ',')).toEqual([1.125])
    expect(read({ texts: [['1.125']], own: null, decimal: '.' }, ',')).toEqual([1.125])
  })
})
