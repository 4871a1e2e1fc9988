import { describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { fieldType, readOptions } from '../../src/core/fields/index.ts'
import { isPartial, linksIn, linkValue } from '../../web/cells/link-value.ts'
import { readClipboard, writeClipboard } from '../../web/grid/clipboard.ts'
import { carryLinks } from '../../web/grid/link-values.ts'
import { type PasteColumn, planPaste, withoutNewRows } from '../../web/grid/paste.ts'

const to = (relatedTableId: string, kind = 'mm') => ({
  type: kind === 'bt' ? 'LinkToAnotherRecord' : 'Links',
  options: readOptions('Links', { relatedTableId, kind }),
})
const TWO = linkValue([
  { id: 1, title: 'Hobbit' },
  { id: 2, title: 'Dune' },
])
const PARTIAL = '[12,[[1,"Hobbit"]]]'

describe('the value of a link', () => {
  test('is null for none, and knows when it does not name all', () => {
    expect(linkValue([])).toBeNull()
    expect(TWO).toBe('[2,[[1,"Hobbit"],[2,"Dune"]]]')
    expect([TWO, PARTIAL, '[0,[]]', null].map(isPartial)).toEqual([false, true, false, false])
    expect(linksIn(TWO)).toBe(linksIn(TWO))
  })

  test('goes to a link of the same table that has room for it, and whole or not at all', () => {
    expect(carryLinks(TWO, to('a'), to('a'))).toEqual({ ok: true, value: TWO })
    expect(carryLinks('[0,[]]', to('a'), to('a', 'bt'))).toEqual({ ok: true, value: null })
    expect(carryLinks(TWO, to('a'), to('b'))).toEqual({ ok: false })
    expect(carryLinks(TWO, to('a'), to('a', 'bt'))).toEqual({ ok: false })
    expect(carryLinks(PARTIAL, to('a'), to('a'))).toEqual({ ok: false })
  })
})

describe('pasting into a link', () => {
  const column = (relatedTableId: string, kind?: string): PasteColumn => ({
    fieldId: 'link',
    editable: true,
    type: fieldType(to(relatedTableId, kind).type),
    options: to(relatedTableId, kind).options,
  })
  const copied = (value: CellValue, text: string, relatedTableId = 'a') => ({
    texts: [[text]],
    own: { fields: [{ id: 'other', title: 'L', ...to(relatedTableId) }], values: [[value]] },
  })
  const plan = (block: Parameters<typeof planPaste>[0], target: PasteColumn, rowCount = 1) =>
    planPaste(block, {
      bounds: { top: 0, bottom: 0, start: 0, end: 0 },
      columns: [target],
      rowCount,
      recordIdOf: (row) => row + 1,
      canAddRows: true,
    })

  test('takes the records of our own form, and names of any other', () => {
    expect(plan(copied(TWO, 'Hobbit, Dune'), column('a')).cells[0]?.value).toBe(TWO)
    const other = plan(copied(TWO, 'Hobbit, Dune'), column('b'))
    expect(other.cells).toEqual([])
    expect(other.names).toEqual([
      { rowIndex: 0, recordId: 1, newRow: null, fieldId: 'link', text: 'Hobbit, Dune' },
    ])
    expect(plan({ texts: [['']], own: null }, column('a')).cells[0]?.value).toBeNull()
  })

  test('leaves out and lists what would lose links', () => {
    const single = plan(copied(TWO, 'Hobbit, Dune'), column('a', 'bt'))
    expect(single.rejected).toEqual([{ rowIndex: 0, fieldId: 'link', text: 'Hobbit, Dune' }])
    expect(plan(copied(PARTIAL, 'Hobbit'), column('a')).rejected).toHaveLength(1)
  })

  test('keeps the places of names in records that would be added', () => {
    const added = plan({ texts: [['A'], ['B'], ['C']], own: null }, column('a'))
    expect(added.names.map(({ newRow }) => newRow)).toEqual([null, 0, 1])
    expect(added.newRows).toEqual([{}, {}])
    expect(withoutNewRows(added).names.map(({ text }) => text)).toEqual(['A'])
  })
})

describe('our own form within HTML', () => {
  const forms = writeClipboard([['a "quoted" <b>']], {
    fields: [{ id: 'f', title: 'F', type: 'SingleLineText', options: {} }],
    values: [['a "quoted" <b>']],
  })

  test('is read where the clipboard takes no kind of our own', () => {
    const html = forms['text/html']
    const block = readClipboard((type) =>
      type === 'text/html' ? html : type === 'text/plain' ? forms['text/plain'] : '',
    )
    expect(block?.own?.values).toEqual([['a "quoted" <b>']])
    expect(block?.texts).toEqual([['a "quoted" <b>']])
  })

  test('is passed over where somebody else wrote it', () => {
    const html = '<table data-sheaf-cells="%E0%A4%A"><tr><td>x</td></tr></table>'
    const block = readClipboard((type) => (type === 'text/html' ? html : type === 'text/plain' ? 'x' : ''))
    expect(block).toEqual({ texts: [['x']], own: null })
  })
})
