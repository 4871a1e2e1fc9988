import type { CellValue, FieldOptions } from '../../src/core/fields/field-type.ts'
import { isFieldTypeName } from '../../src/core/fields/index.ts'
import { optionsForTextOf } from '../../src/core/fields/traits.ts'
import type { Field } from '../../src/core/model.ts'
import { trimCharacters } from '../../src/core/trim-characters.ts'

/** MIME type of our own format: stored values with their field types, so that copies between tables are lossless. */
export const CLIPBOARD_MIME = 'application/x-sheaf-cells+json'

/** A copied column. */
export interface ClipboardField {
  id: string
  title: string
  type: string
  options: FieldOptions
  /** Of a computed field. */
  result?: Field['result']
}

/** Options with which a field reads the texts of a copied column, see `optionsForTextOf`. */
export function optionsForCopied(
  copied: ClipboardField | undefined,
  field: Pick<ClipboardField, 'type' | 'options'>,
): FieldOptions {
  // A newer version may have copied a type that this one lacks.
  if (!copied || !isFieldTypeName(copied.type)) return field.options
  return optionsForTextOf({ ...copied, type: copied.type }, field)
}

/** A rectangle of cells read from the clipboard. Rows are of equal length. */
export interface ClipboardBlock {
  texts: string[][]
  /** Present when the cells came from Sheaf: same shape as `texts`. */
  own: { fields: ClipboardField[]; values: CellValue[][] } | null
  /** Present when the texts came from Sheaf, whose numbers have a decimal point in every locale. */
  decimal?: '.'
}

/** The forms written to the clipboard, by MIME type. */
export interface ClipboardForms {
  'text/plain': string
  'text/html': string
  [CLIPBOARD_MIME]: string
}

/** Writes cells in all three forms. `texts[i][j]` is the text of `values[i][j]`. */
export function writeClipboard(
  texts: string[][],
  own: { fields: ClipboardField[]; values: CellValue[][] },
): ClipboardForms {
  const ownText = JSON.stringify({ version: 1, ...own })
  return {
    'text/plain': writeTsv(texts),
    'text/html': withOwn(writeHtml(texts), ownText),
    [CLIPBOARD_MIME]: ownText,
  }
}

/**
 * Parses pasted data: our own format, else an HTML table (Excel, Sheets and browsers), else TSV. `asText` uses the
 * plain text only. Null: nothing to paste.
 */
export function readClipboard(getData: (type: string) => string, asText = false): ClipboardBlock | null {
  const plain = getData('text/plain')
  const texts = rectangle(parseTsv(plain))
  const own = parseOwn(getData(CLIPBOARD_MIME) || ownInHtml(getData('text/html')))
  if (asText) return plain === '' ? null : { texts, own: null, ...(own && { decimal: '.' as const }) }
  if (own && sameShape(own.values, texts)) return { texts, own }
  const table = parseHtmlTable(getData('text/html'))
  if (table) return { texts: rectangle(table), own: null }
  return plain === '' ? null : { texts, own: null }
}

/** The texts of an item of the async clipboard, for `readClipboard`; missing ones are empty. */
export async function textsOf(item: ClipboardItem | undefined): Promise<(type: string) => string> {
  const read = async (type: string) => (item?.types.includes(type) ? (await item.getType(type)).text() : '')
  const texts = new Map([
    ['text/plain', await read('text/plain')],
    ['text/html', await read('text/html')],
  ])
  return (type) => texts.get(type) ?? ''
}

/** The HTML with our own format embedded: the async clipboard has no custom MIME types. */
const withOwn = (html: string, own: string): string =>
  html.replace('<table>', () => `<table ${OWN_ATTRIBUTE}="${encodeURIComponent(own)}">`)

const OWN_ATTRIBUTE = 'data-sheaf-cells'

function ownInHtml(html: string): string {
  const at = html.indexOf(`${OWN_ATTRIBUTE}="`)
  if (at < 0) return ''
  const from = at + OWN_ATTRIBUTE.length + 2
  try {
    return decodeURIComponent(html.slice(from, html.indexOf('"', from)))
  } catch (error) {
    // Another program's data under this name: fall back to the other formats.
    if (error instanceof URIError) return ''
    throw error
  }
}

/** Rows by line feed and cells by tab; a cell with tab, line break or quote is quoted, its quotes doubled. */
export function writeTsv(rows: string[][]): string {
  const cell = (text: string) => (/[\t\n\r"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  const text = rows.map((row) => row.map(cell).join('\t')).join('\n')
  // A trailing empty line would be read as the end of the previous one.
  return rows.length > 1 && text.endsWith('\n') ? `${text}\n` : text
}

/**
 * Parses tab-separated text. A quote opens a quoted cell only at its start and only if a closing quote ends the cell:
 * Sheets leaves `"so" they said` unquoted. A trailing line break, which Excel adds, is not a row.
 */
export function parseTsv(text: string): string[][] {
  const rows: string[][] = [[]]
  let at = 0
  while (at <= text.length) {
    const quoted = text[at] === '"' ? QUOTED_CELL.exec(text.slice(at)) : null
    const end = quoted ? at + quoted[0].length : endOfCell(text, at)
    const cell = quoted ? quoted[1]!.replaceAll('""', '"') : text.slice(at, end)
    rows.at(-1)!.push(cell.replaceAll('\r\n', '\n'))
    const lineBreak = text.startsWith('\r\n', end) ? 2 : text[end] === '\n' || text[end] === '\r' ? 1 : 0
    at = end + (lineBreak || 1)
    if (lineBreak > 0 && at < text.length) rows.push([])
    if (lineBreak > 0 && at >= text.length) break
  }
  return rows
}

const QUOTED_CELL = /^"((?:[^"]|"")*)"(?=\t|\r|\n|$)/

function endOfCell(text: string, from: number): number {
  let at = from
  while (at < text.length && text[at] !== '\t' && text[at] !== '\n' && text[at] !== '\r') at++
  return at
}

/** A table for spreadsheets and documents: everything escaped, line breaks as `<br>`. */
export function writeHtml(rows: string[][]): string {
  const cell = (text: string) => `<td>${escapeHtml(text).replaceAll('\n', '<br>')}</td>`
  const body = rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`).join('')
  return `<meta charset="utf-8"><table>${body}</table>`
}

const HTML_ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
}

// Leading, trailing and repeated spaces would collapse, so they become no-break spaces.
const escapeHtml = (text: string): string =>
  text.replace(/[&<>"\t]/g, (sign) => HTML_ESCAPES[sign]!).replace(/^ | $| (?= )/gm, '&nbsp;')

/** Pads rows with empty texts to the longest. */
function rectangle(rows: string[][]): string[][] {
  const width = Math.max(1, ...rows.map((row) => row.length))
  return rows.map((row) => [...row, ...Array<string>(width - row.length).fill('')])
}

const sameShape = (a: readonly unknown[][], b: readonly unknown[][]): boolean =>
  a.length === b.length && a.every((row, index) => row.length === b[index]!.length)

function parseOwn(json: string): ClipboardBlock['own'] {
  if (json === '') return null
  try {
    const data: unknown = JSON.parse(json)
    return isOwn(data) ? { fields: data.fields, values: data.values } : null
  } catch (error) {
    // Another program's data under this name: fall back to the other formats.
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function isOwn(data: unknown): data is { version: 1; fields: ClipboardField[]; values: CellValue[][] } {
  if (typeof data !== 'object' || data === null) return false
  if (!('version' in data && data.version === 1 && 'fields' in data && 'values' in data)) return false
  return Array.isArray(data.fields) && Array.isArray(data.values) && data.values.every(Array.isArray)
}

/**
 * Parses the first table of pasted HTML; null without a table.
 *
 * Not `DOMParser`: this also runs in tests and workers, loads no images of the pasted page, and takes a tenth
 * of the time for 10,000 rows. Handles what spreadsheets write: `<br>` as a line break, merged cells (the
 * value in the first, the rest empty) and insignificant white space.
 */
export function parseHtmlTable(html: string): string[][] | null {
  const start = html.search(/<table[\s>]/i)
  if (start < 0) return null
  const table = new TableReader()
  readTokens(html, start, table)
  const rows = table.finish()
  return rows.length > 0 ? rows : null
}

/** The beginning of a tag's or comment's text. */
const OPENING = /<(?:!--|(\/?)([a-z][a-z0-9]*))/iy

/**
 * Passes texts and tags to the table in one pass. Comments, styles and scripts are skipped; an unclosed one is skipped
 * to the end.
 */
function readTokens(html: string, start: number, table: TableReader): void {
  for (let at = start; at < html.length && !table.ended; ) {
    const open = html.indexOf('<', at)
    if (open !== at) table.text(html.slice(at, open < 0 ? html.length : open))
    if (open < 0) return
    OPENING.lastIndex = open
    const [opening, slash, name] = OPENING.exec(html) ?? ['<']
    if (opening === '<!--') at = after(html, COMMENT_END, open)
    else if (name === undefined) at = open + 1
    else if (slash === '' && /^(?:style|script)$/i.test(name)) at = after(html, SKIPPED_END, open)
    else {
      const end = endOfTag(html, open + opening.length)
      if (end < 0) return
      table.tag(name.toLowerCase(), slash === '/', html.slice(open + opening.length, end))
      at = end + 1
    }
  }
}

const COMMENT_END = /-->/g
const SKIPPED_END = /<\/(?:style|script)>/gi

/** Position after the next delimiter, or the end of the text. */
function after(html: string, delimiter: RegExp, from: number): number {
  delimiter.lastIndex = from
  return delimiter.test(html) ? delimiter.lastIndex : html.length
}

/** Position of a tag's closing `>`, skipping those in attribute values; -1 if it is not closed. */
function endOfTag(html: string, from: number): number {
  let quote = ''
  for (let at = from; at < html.length; at++) {
    const sign = html[at] ?? ''
    if (quote !== '') quote = sign === quote ? '' : quote
    else if (sign === '>') return at
    else if (sign === '"' || sign === "'") quote = sign
  }
  return -1
}

class TableReader {
  ended = false
  private readonly rows: string[][] = []
  /** Cells covered by a rowspan above, by row, then column. */
  private readonly taken = new Map<number, Set<number>>()
  private cell: { text: string; columns: number; rows: number } | null = null
  private depth = 0

  text(text: string): void {
    if (this.cell) this.cell.text += decodeEntities(text.replace(/[ \t\r\n\f]+/g, ' '))
  }

  tag(name: string, closing: boolean, attributes: string): void {
    if (name === 'table') {
      this.depth += closing ? -1 : 1
      this.ended = this.depth === 0
    }
    // A table inside a cell is part of that cell's text.
    if (this.depth > 1) return
    if (name === 'tr') {
      this.endCell()
      if (!closing) this.rows.push([])
    } else if (name === 'td' || name === 'th') {
      this.endCell()
      if (!closing) this.beginCell(attributes)
    } else if (this.cell && (name === 'br' || (closing && BLOCKS.has(name)))) {
      this.cell.text += '\n'
    }
  }

  finish(): string[][] {
    this.endCell()
    return this.rows.filter((row) => row.length > 0)
  }

  private beginCell(attributes: string): void {
    if (this.rows.length === 0) this.rows.push([])
    this.cell = { text: '', columns: spanOf(attributes, COLSPAN), rows: spanOf(attributes, ROWSPAN) }
  }

  private endCell(): void {
    if (!this.cell) return
    const { text, columns, rows } = this.cell
    this.cell = null
    const rowIndex = this.rows.length - 1
    const row = this.rows[rowIndex]!
    while (this.taken.get(rowIndex)?.has(row.length)) row.push('')
    const at = row.length
    row.push(cleanText(text), ...Array<string>(columns - 1).fill(''))
    for (let below = 1; below < rows; below++) {
      const set = this.taken.get(rowIndex + below) ?? new Set<number>()
      for (let column = at; column < at + columns; column++) set.add(column)
      this.taken.set(rowIndex + below, set)
    }
  }
}

const BLOCKS = new Set(['p', 'div', 'li'])

/** Limit of colspan and rowspan: a page may claim millions. */
const MAX_SPAN = 1000

const COLSPAN = /\bcolspan\s*=\s*["']?(\d{1,9})/i
const ROWSPAN = /\browspan\s*=\s*["']?(\d{1,9})/i

function spanOf(attributes: string, pattern: RegExp): number {
  const found = pattern.exec(attributes)
  return Math.min(MAX_SPAN, Math.max(1, Number(found?.[1] ?? 1)))
}

// White space around line breaks is indentation of the source; no-break spaces are content.
const cleanText = (text: string): string =>
  trimCharacters(
    text
      .split('\n')
      .map((line) => trimCharacters(line, ' '))
      .join('\n'),
    ' \n',
  ).replaceAll('\u00a0', ' ')

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' }

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|([a-z]+));/gi, (whole, decimal, hex, name) => {
    if (name) return ENTITIES[String(name).toLowerCase()] ?? whole
    const code = decimal ? Number(decimal) : Number.parseInt(String(hex), 16)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}
