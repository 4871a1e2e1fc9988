import { digitsBelowMs, fromStored, resolveZone, wallIn } from '../core/dates.ts'
import { cellFormatter } from '../core/fields/cell-text.ts'
import { shownType } from '../core/fields/field.ts'
import type { CellValue } from '../core/fields/field-type.ts'
import type { Field } from '../core/model.ts'
import { compress } from './compress.ts'
import type { PageWriter, Piece, RecordTable } from './page-writer.ts'

/** Rows per sheet, including titles; more go to another sheet (Excel’s specifications and limits). */
const MAX_ROWS = 1_048_576

/** Records per sheet. */
const MAX_RECORDS = MAX_ROWS - 1

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const SPREADSHEET = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'

/** The styles of a workbook’s cells, `xl/styles.xml`. */
export const SHEET_STYLES = `${XML}<styleSheet xmlns="${SPREADSHEET}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="2"><font/><font><b/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="4"><xf/><xf fontId="1" applyFont="1"/><xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="165" applyNumberFormat="1"/></cellXfs></styleSheet>`

/** Positions in the list `cellXfs`. */
const STYLES = { plain: 0, title: 1, date: 2, moment: 3 } as const

/** The beginning of a sheet, with a row of titles. */
export function sheetStart(fields: readonly Pick<Field, 'title'>[]): string {
  const widths =
    fields.length > 0 ? `<cols><col min="1" max="${fields.length}" width="18" customWidth="1"/></cols>` : ''
  const titles = fields.map(({ title }, at) => place(inline(title, STYLES.title), columnName(at), 1))
  return `${XML}<worksheet xmlns="${SPREADSHEET}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>${widths}<sheetData><row r="1">${titles.join('')}</row>`
}

export const SHEET_END = '</sheetData></worksheet>'

/** Rows of the sheets of a workbook (ECMA-376), compressed for its archive. Texts are never formulas. */
export function sheetPages({ fields, people, timeZone }: RecordTable): PageWriter {
  const columns = fields.map((field, at) => {
    const name = columnName(at)
    const text = cellFormatter(field, { people, timeZone })
    const typed = typedContent(field, timeZone)
    return (value: CellValue, row: number): string =>
      value === null ? '' : place(typed?.(value) ?? inline(text(value), STYLES.plain), name, row)
  })

  function rowsOf(rows: readonly CellValue[][], firstRow: number): string {
    let text = ''
    for (const [index, values] of rows.entries()) {
      const row = firstRow + index
      text += `<row r="${row}">`
      // Without an iterator: this runs for each cell of a file.
      for (let at = 0; at < columns.length; at++) text += columns[at]?.(values[at] ?? null, row)
      text += '</row>'
    }
    return text
  }

  return (rows, first) => {
    const pieces: Piece[] = []
    for (let from = 0; from < rows.length; ) {
      const sheet = Math.floor((first + from) / MAX_RECORDS)
      const before = (first + from) % MAX_RECORDS
      const ofSheet = rows.slice(from, from + MAX_RECORDS - before)
      // The first row has the titles.
      const { bytes, ...packed } = compress(rowsOf(ofSheet, before + 2))
      pieces.push({ bytes, packed: { sheet, ...packed } })
      from += ofSheet.length
    }
    return { rows: rows.length, pieces }
  }
}

/** Length limit of a cell’s text (Excel’s specifications and limits). */
const MAX_TEXT = 32_767
const DAY_MS = 86_400_000
/** Excel’s epoch; earlier dates are text. */
const EPOCH_MS = Date.UTC(1899, 11, 30)
const FIRST_DAY = 61 // 1900-03-01: before it Excel has a day that never was.

function inline(value: string, style: number): Content | null {
  if (value === '') return null
  // `escapeXml` removes a half surrogate at the end.
  const cut = value.slice(0, MAX_TEXT)
  return { type: 'inlineStr', style, inner: `<is><t xml:space="preserve">${escapeXml(cut)}</t></is>` }
}

/** Cells have their position, as empty ones are omitted. */
function place(content: Content | null, column: string, row: number): string {
  if (content === null) return ''
  const { type, style, inner } = content
  const attributes = `${style === 0 ? '' : ` s="${style}"`}${type === undefined ? '' : ` t="${type}"`}`
  return `<c r="${column}${row}"${attributes}>${inner}</c>`
}

interface Content {
  /** Absent: a number. */
  type?: 'inlineStr' | 'b'
  style: number
  inner: string
}

/** `A`, `B`, … `Z`, `AA`, … */
function columnName(at: number): string {
  const rest = Math.floor(at / 26)
  return (rest === 0 ? '' : columnName(rest - 1)) + String.fromCharCode(65 + (at % 26))
}

const numeric = (value: number, style: number = STYLES.plain): Content => ({
  style,
  inner: `<v>${value}</v>`,
})

/** Converts the values of a field that are not text; the result is null for values that are text after all. */
function typedContent(field: Field, timeZone: string): ((value: CellValue) => Content | null) | null {
  const { type, options, isList } = shownType(field)
  if (isList || type.excel === 'text') return null
  switch (type.storage) {
    case 'boolean':
      return (value) => ({
        type: 'b',
        style: STYLES.plain,
        inner: `<v>${value === true || value === 1 ? 1 : 0}</v>`,
      })
    case 'date':
      return (value) => dated(dayNumber(String(value)), STYLES.date)
    case 'datetime': {
      const own = String(options.timeZone ?? 'local')
      const zone = resolveZone(own === 'local' ? timeZone : own)
      return (value) => dated(momentNumber(String(value), zone), STYLES.moment)
    }
    case 'id':
    case 'integer':
    case 'real':
      return (value) => (typeof value === 'number' && Number.isFinite(value) ? numeric(value) : null)
    default:
      return null
  }
}

const dated = (days: number | null, style: number): Content | null =>
  days === null || days < FIRST_DAY ? null : numeric(days, style)

function dayNumber(day: string): number | null {
  const ms = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(ms) ? null : (ms - EPOCH_MS) / DAY_MS
}

/** Days since the epoch in local time: workbooks have no time zones. */
function momentNumber(stored: string, zone: string): number | null {
  const ms = fromStored(stored)
  if (ms === null) return null
  const { year, month, day, hour, minute, second, ms: rest } = wallIn(ms, zone)
  const belowMs = Number(`0.${digitsBelowMs(stored)}`)
  return (Date.UTC(year, month - 1, day, hour, minute, second, rest) + belowMs - EPOCH_MS) / DAY_MS
}

/** Escapes characters that XML cannot represent as `_x0007_` (ECMA-376, 22.4.2.4). */
export const escapeXml = (text: string): string =>
  !ESCAPED.test(text) && text.isWellFormed() ? text : escaped(text)

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are escaped
const ESCAPED = /_x|[&<>"\u0000-\u0008\u000b-\u001f\ufffe\uffff]/

const escaped = (text: string): string =>
  text
    .replace(/_x[0-9A-Fa-f]{4}_/g, (code) => `_x005F${code}`)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are escaped
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, codeOf)
    .replace(/[&<>"\r]/g, (sign) => ENTITIES[sign] ?? sign)
    .toWellFormed()

const codeOf = (sign: string) => `_x${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '_x000D_',
}
