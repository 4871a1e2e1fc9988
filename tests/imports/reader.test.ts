import { describe, expect, test } from 'bun:test'
import { detectDelimiter, detectEncoding } from '../../src/core/csv/detect.ts'
import { CsvError, createCsvReader, MAX_RECORD_LENGTH } from '../../src/core/csv/reader.ts'

/** Reads a text in pieces of `size` characters. */
function read(text: string, { delimiter = ',', quote = '"' as '"' | "'" | '', size = 1 << 16 } = {}) {
  const reader = createCsvReader({ delimiter, quote })
  let rows: string[][] = []
  for (let at = 0; at < text.length; at += size) rows = rows.concat(reader.push(text.slice(at, at + size)))
  rows = rows.concat(reader.end())
  return { rows, problems: reader.takeProblems(), count: reader.count }
}

describe('createCsvReader', () => {
  test.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('ends lines at %s', (_, end) => {
    const rows = read(['a,b', '1,2', ''].join(end)).rows
    expect(rows).toEqual([
      ['a', 'b'],
      ['1', '2'],
    ])
  })

  test('ends lines at a mix of CRLF, CR and LF, and keeps the line break inside a cell', () => {
    const { rows } = read('a,b\r\n1,"x\r\ny"\r3,4\n5,6')
    expect(rows).toEqual([
      ['a', 'b'],
      ['1', 'x\r\ny'],
      ['3', '4'],
      ['5', '6'],
    ])
  })

  test('keeps lone CRs in quoted cells, unless they end the lines', () => {
    const text = 'a,b\n"1\r2","3 ""\r4"\r5" x,6\n'
    const rows = [
      ['a', 'b'],
      ['1\r2', '3 "\r4'],
      ['5" x', '6'],
    ]
    for (let size = 1; size <= text.length; size++) expect(read(text, { size }).rows).toEqual(rows)
    expect(read('a,b\r"1\r2",3\r').rows).toEqual([
      ['a', 'b'],
      ['1\n2', '3'],
    ])
  })

  test('gives the same rows however the text is cut into pieces', () => {
    const text = 'é,"b ""q"""\r\n"1\n2",\r,"x,y"\n\n"last"'
    const whole = read(text)
    for (let size = 1; size < text.length; size++) expect(read(text, { size })).toEqual(whole)
    expect(whole.rows).toEqual([['é', 'b "q"'], ['1\n2', ''], ['', 'x,y'], [''], ['last']])
  })

  test('separates joined files, the first of which lacks its last line break, however they are cut into pieces', () => {
    const text = '\ufeffid,name\r\n1,Ann\ufeffid,name\r\n2,"\ufeffidle"'
    for (let size = 1; size < text.length; size++)
      expect(read(text, { size }).rows).toEqual([
        ['id', 'name'],
        ['1', 'Ann'],
        ['id', 'name'],
        ['2', '\ufeffidle'],
      ])
  })

  test('drops a byte order mark', () => {
    expect(read('\ufeffa,b\n').rows).toEqual([['a', 'b']])
  })

  test('takes the line that tells Excel the delimiter for no record', () => {
    for (const size of [1, 3, 1 << 16]) {
      expect(read('\ufeffsep=;\r\na;b\r\n', { delimiter: ';', size }).rows).toEqual([['a', 'b']])
      expect(read('"sep=;"\r\na;b\r\n', { delimiter: ';', size }).rows).toEqual([['a', 'b']])
    }
    expect(read('sep=|\na,b\n').rows).toEqual([['a', 'b']])
    expect(read('a\nsep=;\n').rows).toEqual([['a'], ['sep=;']])
  })

  test('reads nothing from nothing', () => {
    expect(read('').rows).toEqual([])
  })

  test('takes quotes for characters where the file has none', () => {
    expect(read('5" disk,"a\n', { quote: '' }).rows).toEqual([['5" disk', '"a']])
  })

  test('takes the delimiter and quote that were chosen', () => {
    expect(read("a;'b;c'\n", { delimiter: ';', quote: "'" }).rows).toEqual([['a', 'b;c']])
  })

  test('reports a quote inside a quoted cell with its row', () => {
    const { rows, problems } = read('a,b\n1,"x"y"\n2,z\n')
    expect(rows).toEqual([
      ['a', 'b'],
      ['1', 'x"y'],
      ['2', 'z'],
    ])
    expect(problems).toEqual([
      { kind: 'Quotes', row: 2, message: 'A quoted cell contains an unescaped quote' },
    ])
  })

  test('reports a quote that is never closed, and loses none of the rows after it', () => {
    const { rows, problems } = read('a,b\n1,"x\n2,y\n4,5', { size: 3 })
    expect(rows).toEqual([
      ['a', 'b'],
      ['1', '"x'],
      ['2', 'y'],
      ['4', '5'],
    ])
    expect(problems).toEqual([{ kind: 'Quotes', row: 2, message: 'Unclosed quote' }])
  })

  test('finds its way back behind an unclosed quote in a file that is longer than any record', () => {
    const after = 2_000_000
    const { count, problems } = read(`a,b\n1,"x\n${'1,2\n'.repeat(after)}`)
    expect(MAX_RECORD_LENGTH).toBeLessThan(after * 4 + 1)
    expect(count).toBe(after + 2)
    expect(problems).toHaveLength(1)
  })

  test('takes a cell of five million characters', () => {
    const cell = 'x'.repeat(5_000_000)
    expect(read(`a\n"${cell}"\n1\n`).rows).toEqual([['a'], [cell], ['1']])
  })

  test('refuses a file whose quotes have no partners, in little time', () => {
    expect(() => read('"abc"x\n'.repeat(1_500_000))).toThrow(CsvError)
  })

  test('refuses a file without line breaks', () => {
    expect(() => read('x'.repeat(MAX_RECORD_LENGTH + 300_000))).toThrow('This is not a CSV file')
  })
})

describe('detectEncoding', () => {
  const utf16 = (text: string, isBigEndian = false) => {
    const bytes = Buffer.from(text, 'utf16le')
    return isBigEndian ? bytes.swap16() : bytes
  }

  test.each([
    ['UTF-8', Buffer.from('a,ü\n'), 'utf-8'],
    ['UTF-8 with a mark', Buffer.from('\ufeffa,ü\n'), 'utf-8'],
    ['UTF-16 LE with a mark', utf16('\ufeffa,ü\n'), 'utf-16le'],
    ['UTF-16 BE with a mark', utf16('\ufeffa,ü\n', true), 'utf-16be'],
    ['UTF-16 LE without a mark', utf16('name,age\nAnn,3\n'), 'utf-16le'],
    ['UTF-16 BE without a mark', utf16('name,age\nAnn,3\n', true), 'utf-16be'],
    ['Chinese UTF-16 LE without a mark', utf16('名前,年齢\n田中太郎,三十\n山田花子,四十\n'), 'utf-16le'],
    ['Latin-1', Buffer.from('a,ü\n', 'latin1'), 'windows-1252'],
    ['UTF-8 with a NUL byte', Buffer.from(`a,ü\n${'x'.repeat(200)}\0`), 'utf-8'],
    ['nothing', Buffer.from(''), 'utf-8'],
  ])('knows %s', (_, bytes, encoding) => {
    expect(detectEncoding(bytes, true)).toBe(encoding as never)
  })

  test('is not misled by a character that is cut off at the end of a sample', () => {
    const cut = Buffer.from('a,ü').subarray(0, 3)
    expect(detectEncoding(cut, false)).toBe('utf-8')
    expect(detectEncoding(cut, true)).toBe('windows-1252')
  })
})

describe('detectDelimiter', () => {
  test.each([',', ';', '\t', '|'])('knows %j', (delimiter) => {
    const rows = ['name,age', '"Cy, the eye",3', 'Ann,4'].map((line) => line.replaceAll(/,(?! )/g, delimiter))
    expect(detectDelimiter(rows.join('\r\n'))).toBe(delimiter)
  })

  test('believes what the file says to Excel', () => {
    expect(detectDelimiter('sep=;\r\na,b;c\r\n1,2;3\r\n')).toBe(';')
    expect(detectDelimiter('"sep=;"\r\na,b;c\r\n1,2;3\r\n')).toBe(';')
  })

  test('knows it from two short rows that end in a line break', () => {
    expect(detectDelimiter('a;b\n1;2\n')).toBe(';')
    expect(detectDelimiter('a\tb\r\n1\t2\r\n\r\n')).toBe('\t')
  })

  test('takes a comma where there is one column', () => {
    expect(detectDelimiter('name\nAnn\nBen\n')).toBe(',')
  })
})
