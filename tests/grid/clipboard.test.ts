import { describe, expect, test } from 'bun:test'
import {
  CLIPBOARD_MIME,
  parseHtmlTable,
  parseTsv,
  readClipboard,
  writeClipboard,
  writeHtml,
  writeTsv,
} from '../../web/grid/clipboard.ts'
import { cpuTimeMs } from '../support/cpu-time.ts'

const ROWS = [
  ['plain', 'with\ttab', 'two\nlines'],
  ['"quoted"', '', 'a "b" c'],
  ['<b>&amp;</b>', ' spaced  out ', '🎉 عنوان'],
]

describe('TSV', () => {
  test('brings every cell back', () => {
    expect(parseTsv(writeTsv(ROWS))).toEqual(ROWS)
  })

  test('quotes only what needs it', () => {
    expect(writeTsv([['a b', 'c\td']])).toBe('a b\t"c\td"')
  })

  test('reads what Excel writes: CRLF, and one at the end', () => {
    expect(parseTsv('a\tb\r\n"x\r\ny"\tz\r\n')).toEqual([
      ['a', 'b'],
      ['x\ny', 'z'],
    ])
  })

  test('leaves quotes alone that are part of a text', () => {
    expect(parseTsv('"so" they said\t5" pipe\n"')).toEqual([['"so" they said', '5" pipe'], ['"']])
  })

  test('keeps empty cells and rows', () => {
    expect(parseTsv('\t\n\nx')).toEqual([['', ''], [''], ['x']])
    expect(parseTsv('')).toEqual([['']])
  })

  test('reads 10,000 × 20 cells within a second', () => {
    const text = writeTsv(
      Array.from({ length: 10_000 }, (_, row) => Array.from({ length: 20 }, (__, at) => `${row}"${at}`)),
    )
    const start = cpuTimeMs()
    expect(parseTsv(text)).toHaveLength(10_000)
    expect(cpuTimeMs() - start).toBeLessThan(2000)
  })
})

describe('HTML tables', () => {
  test('bring every cell back', () => {
    expect(parseHtmlTable(writeHtml(ROWS))).toEqual(ROWS)
  })

  test('are read as Excel writes them', () => {
    const html = `<html><head><style>td {mso-x: "<tr>"}</style></head><body><!--StartFragment--><table border=0>
      <col width=64><tr height=20><td class=xl65 style='a:b'>Name</td>
      <td>1&nbsp;234,50&#8364;</td></tr>
      <tr><td>two<br style='mso-data-placement:same-cell'>
      lines</td><td></td></tr></table>`
    expect(parseHtmlTable(html)).toEqual([
      ['Name', '1 234,50€'],
      ['two\nlines', ''],
    ])
  })

  test('give merged cells their room', () => {
    const html =
      '<table><tr><td rowspan="2">a</td><td colspan="2">b</td></tr><tr><td>c</td><td>d</td></tr></table>'
    expect(parseHtmlTable(html)).toEqual([
      ['a', 'b', ''],
      ['', 'c', 'd'],
    ])
  })

  test('are found among other things, and missed where there is none', () => {
    expect(parseHtmlTable('<p>x</p><table><thead><tr><th>h</th></tr></thead></table><p>y')).toEqual([['h']])
    expect(parseHtmlTable('<p>no table</p>')).toBeNull()
  })
})

describe('readClipboard', () => {
  const own = {
    fields: [{ id: 'c1', title: 'Count', type: 'Number', options: {} }],
    values: [[1], [null]],
  }
  const forms = writeClipboard([['1'], ['']], own)
  const from = (data: Record<string, string>) => (type: string) => data[type] ?? ''

  test('prefers our own form', () => {
    expect(readClipboard(from({ ...forms }))).toEqual({ texts: [['1'], ['']], own })
  })

  test('reads text alone when asked to', () => {
    expect(readClipboard(from({ ...forms }), true)?.own).toBeNull()
  })

  test('does not trust a form of ours that does not fit the text', () => {
    expect(
      readClipboard(from({ 'text/plain': 'x', [CLIPBOARD_MIME]: forms[CLIPBOARD_MIME] }))?.own,
    ).toBeNull()
    expect(readClipboard(from({ 'text/plain': 'x', [CLIPBOARD_MIME]: '{' }))?.texts).toEqual([['x']])
  })

  test('prefers a table to its text, and fills short rows up', () => {
    const data = { 'text/plain': 'a b', 'text/html': '<table><tr><td>a<td>b</tr><tr><td>c</tr></table>' }
    expect(readClipboard(from(data))?.texts).toEqual([
      ['a', 'b'],
      ['c', ''],
    ])
  })

  test('finds nothing on an empty clipboard', () => {
    expect(readClipboard(from({}))).toBeNull()
  })
})
