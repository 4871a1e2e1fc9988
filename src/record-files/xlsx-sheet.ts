import { digitsBelowMs, fromStored, fromWall, resolveZone, utcOf, wallIn } from '../core/dates.ts'
import { cellFormatter } from '../core/fields/cell-text.ts'
import { shownType } from '../core/fields/field.ts'
import type { CellValue } from '../core/fields/field-type.ts'
import type { Field } from '../core/model.ts'
import { m } from '../messages.gen.ts'
import { compress } from './compress.ts'
import { formatCodeOf } from './number-formats.ts'
import type { PageWriter, Piece, RecordTable } from './page-writer.ts'

/** Rows per sheet, including titles; more go to another sheet (Excel’s specifications and limits). */
const MAX_ROWS = 1_048_576

/** Records per sheet. */
const MAX_RECORDS = MAX_ROWS - 1

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const SPREADSHEET = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'

/** Positions in the list `cellXfs`; number formats follow. */
const STYLES = { plain: 0, title: 1, link: 2 } as const
const FIRST_FORMAT = 3
/** Ids below are those of built-in formats (ECMA-376, 18.8.30). */
const FIRST_FORMAT_ID = 164

/**
 * The styles of a workbook’s cells.
 *
 * @param tables the fields of each sheet
 * @returns `xml`: the part `xl/styles.xml`; `styles`: for each sheet the position of each field’s style
 */
export function workbookStyles(tables: readonly (readonly Field[])[]): { xml: string; styles: number[][] } {
  const codes: string[] = []
  const styleOf = (field: Field): number => {
    const code = formatCodeOf(field)
    if (code === null) return STYLES.plain
    const known = codes.indexOf(code)
    return FIRST_FORMAT + (known >= 0 ? known : codes.push(code) - 1)
  }
  const styles = tables.map((fields) => fields.map(styleOf))
  const formats = codes.map(
    (code, at) => `<numFmt numFmtId="${FIRST_FORMAT_ID + at}" formatCode="${escapeXml(code)}"/>`,
  )
  const cells = codes.map((_, at) => `<xf numFmtId="${FIRST_FORMAT_ID + at}" applyNumberFormat="1"/>`)
  const list = codes.length > 0 ? `<numFmts count="${codes.length}">${formats.join('')}</numFmts>` : ''
  const xml = `${XML}<styleSheet xmlns="${SPREADSHEET}">${list}<fonts count="3"><font/><font><b/></font><font><u/><color rgb="FF0563C1"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="${FIRST_FORMAT + codes.length}"><xf/><xf fontId="1" applyFont="1"/><xf fontId="2" applyFont="1"/>${cells.join('')}</cellXfs></styleSheet>`
  return { xml, styles }
}

/** The beginning of a sheet, with a row of titles. */
export function sheetStart(fields: readonly Pick<Field, 'title'>[]): string {
  const widths =
    fields.length > 0 ? `<cols><col min="1" max="${fields.length}" width="18" customWidth="1"/></cols>` : ''
  const titles = fields.map(({ title }, at) => place(inline(title, STYLES.title), columnName(at), 1))
  return `${XML}<worksheet xmlns="${SPREADSHEET}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>${widths}<sheetData><row r="1">${titles.join('')}</row>`
}

export const SHEET_END = '</sheetData></worksheet>'

/**
 * Rows of the sheets of a workbook (ECMA-376), compressed for its archive. Texts are never formulas; web addresses are
 * links.
 */
export function sheetPages(
  { fields, people, timeZone }: RecordTable,
  { styles }: { styles: readonly number[] },
): PageWriter {
  let textsCut = 0
  const columns = fields.map((field, at) => {
    const name = columnName(at)
    const text = cellFormatter(field, { people, timeZone })
    const typed = typedContent(field, timeZone, styles[at] ?? STYLES.plain)
    return (value: CellValue, row: number): string => {
      if (value === null) return ''
      const content = typed?.(value) ?? null
      if (content !== null) return place(content, name, row)
      const shown = text(value)
      if (shown.length > MAX_TEXT) textsCut++
      return place(inline(shown, STYLES.plain), name, row)
    }
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
    textsCut = 0
    for (let from = 0; from < rows.length; ) {
      const sheet = Math.floor((first + from) / MAX_RECORDS)
      const before = (first + from) % MAX_RECORDS
      const ofSheet = rows.slice(from, from + MAX_RECORDS - before)
      // The first row has the titles.
      const { bytes, ...packed } = compress(rowsOf(ofSheet, before + 2))
      pieces.push({ bytes, packed: { sheet, ...packed } })
      from += ofSheet.length
    }
    return { rows: rows.length, pieces, textsCut }
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
  const kept = value.length > MAX_TEXT ? cutText(value) : value
  return { type: 'inlineStr', style, inner: `<is><t xml:space="preserve">${escapeXml(kept)}</t></is>` }
}

/** As much of a text as a cell holds, with a note at its end, which those see as well who get the file without a report. */
function cutText(text: string): string {
  const note = m.exports_text_cut()
  // `escapeXml` removes a half surrogate.
  return text.slice(0, MAX_TEXT - note.length) + note
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
  type?: 'inlineStr' | 'b' | 'str'
  style: number
  inner: string
}

/** `A`, `B`, … `Z`, `AA`, … */
function columnName(at: number): string {
  const rest = Math.floor(at / 26)
  return (rest === 0 ? '' : columnName(rest - 1)) + String.fromCharCode(65 + (at % 26))
}

const numeric = (value: number, style: number): Content => ({ style, inner: `<v>${value}</v>` })

/** Converts the values of a field that are not text; the result is null for values that are text after all. */
function typedContent(
  field: Field,
  timeZone: string,
  style: number,
): ((value: CellValue) => Content | null) | null {
  const { type, options, isList } = shownType(field)
  if (isList || type.excel === 'text') return null
  switch (type.storage) {
    case 'boolean':
      return (value) => ({ type: 'b', style, inner: `<v>${value === true || value === 1 ? 1 : 0}</v>` })
    case 'date':
      return (value) => dated(dayNumber(String(value)), style)
    case 'datetime': {
      const own = String(options.timeZone ?? 'local')
      const zone = resolveZone(own === 'local' ? timeZone : own)
      return (value) => dated(momentNumber(String(value), zone), style)
    }
    case 'id':
    case 'integer':
    case 'real': {
      const isShare = formatCodeOf(field)?.endsWith('%')
      return (value) => {
        if (typeof value !== 'number' || !Number.isFinite(value)) return null
        return isShare ? share(value, style) : numeric(value, style)
      }
    }
    case 'text':
      return type.excel === 'link' ? (value) => link(String(value)) : null
    default:
      return null
  }
}

/** A percentage as a fraction of one; null if 15 digits, which spreadsheets keep, are too few for it. */
function share(value: number, style: number): Content | null {
  const fraction = Number(`${value}e-2`)
  return Number((fraction * 100).toPrecision(15)) === value ? numeric(fraction, style) : null
}

/** Length limit of a text in a formula (Excel’s specifications and limits). */
const MAX_LINK = 255
const WEB_ADDRESS = /^https?:\/\/[^\s"]+$/i

/** A web address as a link, with itself as the text; null for other texts. */
const link = (address: string): Content | null =>
  address.length > MAX_LINK || !WEB_ADDRESS.test(address)
    ? null
    : {
        type: 'str',
        style: STYLES.link,
        inner: `<f>HYPERLINK("${escapeXml(address)}")</f><v>${escapeXml(address)}</v>`,
      }

const dated = (days: number | null, style: number): Content | null =>
  days === null || days < FIRST_DAY ? null : numeric(days, style)

function dayNumber(day: string): number | null {
  const ms = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(ms) ? null : (ms - EPOCH_MS) / DAY_MS
}

/**
 * Days since the epoch in local time: workbooks have no time zones. Null for the second of two equal times
 * at the end of summer time, whose text has its offset.
 */
function momentNumber(stored: string, zone: string): number | null {
  const ms = fromStored(stored)
  if (ms === null) return null
  const wall = wallIn(ms, zone)
  if (fromWall(wall, zone) !== ms) return null
  const belowMs = Number(`0.${digitsBelowMs(stored)}`)
  return (utcOf(wall) + belowMs - EPOCH_MS) / DAY_MS
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
