import type { CellValue, FieldOptions } from '../../src/core/fields/field-type.ts'
import { parseHtmlTable } from './clipboard-html.ts'

/** The forms in which cells travel through the clipboard. All pure: text in, text out. */

/** Our own form: values as stored, with the types of their fields, so that nothing is lost between tables. */
export const CLIPBOARD_MIME = 'application/x-sheaf-cells+json'

/** A column as it was copied. */
export interface ClipboardField {
  id: string
  title: string
  type: string
  options: FieldOptions
}

/** A rectangle of cells read from the clipboard. Rows are of equal length. */
export interface ClipboardBlock {
  texts: string[][]
  /** Present when the cells came from Sheaf: same shape as `texts`. */
  own: { fields: ClipboardField[]; values: CellValue[][] } | null
}

/** What is put on the clipboard. */
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
  return {
    'text/plain': writeTsv(texts),
    'text/html': writeHtml(texts),
    [CLIPBOARD_MIME]: JSON.stringify({ version: 1, ...own }),
  }
}

/**
 * Reads what was pasted: our own form, else a table in HTML (Excel, Sheets and browsers put one
 * there), else TSV. `asText` looks at the plain text alone. Null: nothing to paste.
 */
export function readClipboard(getData: (type: string) => string, asText = false): ClipboardBlock | null {
  const plain = getData('text/plain')
  if (asText) return plain === '' ? null : { texts: rectangle(parseTsv(plain)), own: null }
  const texts = rectangle(parseTsv(plain))
  const own = parseOwn(getData(CLIPBOARD_MIME) || ownInHtml(getData('text/html')))
  if (own && sameShape(own.values, texts)) return { texts, own }
  const table = parseHtmlTable(getData('text/html'))
  if (table) return { texts: rectangle(table), own: null }
  return plain === '' ? null : { texts, own: null }
}

/**
 * The HTML with our own form within it: for a clipboard that is written without an event, which takes no
 * kinds of our own.
 */
export const withOwnInHtml = (forms: ClipboardForms): string =>
  forms['text/html'].replace(
    '<table>',
    () => `<table ${OWN_ATTRIBUTE}="${encodeURIComponent(forms[CLIPBOARD_MIME])}">`,
  )

const OWN_ATTRIBUTE = 'data-sheaf-cells'

function ownInHtml(html: string): string {
  const at = html.indexOf(`${OWN_ATTRIBUTE}="`)
  if (at < 0) return ''
  const from = at + OWN_ATTRIBUTE.length + 2
  try {
    return decodeURIComponent(html.slice(from, html.indexOf('"', from)))
  } catch (error) {
    // Something else of that name; the plain forms are still there.
    if (error instanceof URIError) return ''
    throw error
  }
}

/** Rows by line feed and cells by tab; a cell with tab, line break or quote is quoted, its quotes doubled. */
export function writeTsv(rows: string[][]): string {
  const cell = (text: string) => (/[\t\n\r"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  const text = rows.map((row) => row.map(cell).join('\t')).join('\n')
  // An empty last line would be taken for the end of the one before.
  return rows.length > 1 && text.endsWith('\n') ? `${text}\n` : text
}

/**
 * Reads tab-separated text. A quote opens a quoted cell only at the cell's start, and only if a
 * closing one ends the cell: Sheets leaves `"so" they said` unquoted. A line break at the very end,
 * which Excel adds, is no further row.
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

// Blanks at either end and runs of them would collapse, so they are written as no-break spaces.
const escapeHtml = (text: string): string =>
  text.replace(/[&<>"\t]/g, (sign) => HTML_ESCAPES[sign]!).replace(/^ | $| (?= )/gm, '&nbsp;')

/** Rows filled up with empty texts to the length of the longest. */
export function rectangle(rows: string[][]): string[][] {
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
    // Another program wrote under our name; the plain forms are still there.
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function isOwn(data: unknown): data is { version: 1; fields: ClipboardField[]; values: CellValue[][] } {
  if (typeof data !== 'object' || data === null) return false
  if (!('version' in data && data.version === 1 && 'fields' in data && 'values' in data)) return false
  return Array.isArray(data.fields) && Array.isArray(data.values) && data.values.every(Array.isArray)
}
