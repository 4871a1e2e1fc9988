import { Zip, ZipDeflate } from 'fflate'
import { digitsBelowMs, fromStored, resolveZone, wallIn } from '../../../../src/core/dates.ts'
import { cellFormatter } from '../../../../src/core/fields/cell-text.ts'
import { shownType } from '../../../../src/core/fields/field.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { Field } from '../../../../src/core/model.ts'
import { trimCharacters } from '../../../../src/core/trim-characters.ts'
import type { ExportContent, ExportFormat } from './format.ts'

/** Rows per sheet, including titles; more go to another sheet (Excel’s specifications and limits). */
const MAX_ROWS = 1_048_576

/** A workbook (ECMA-376). Texts are never formulas. */
export const xlsx: ExportFormat = {
  name: 'xlsx',
  extension: 'xlsx',
  mediaType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  write(content) {
    return zipped(async function* (file) {
      const cells = sheetCells(content)
      const head = `<row r="1">${cells.titles()}</row>`
      let sheets = 1
      let row = 1
      let sheet = file(`xl/worksheets/sheet${sheets}.xml`)
      yield* sheet.write(SHEET_START(content.fields.length) + head)
      for await (const rows of content.pages()) {
        let text = ''
        for (const values of rows) {
          if (row === MAX_ROWS) {
            yield* sheet.write(text + SHEET_END)
            yield* sheet.end()
            text = ''
            sheet = file(`xl/worksheets/sheet${++sheets}.xml`)
            yield* sheet.write(SHEET_START(content.fields.length) + head)
            row = 1
          }
          text += `<row r="${++row}">${cells.row(values, row)}</row>`
        }
        yield* sheet.write(text)
      }
      yield* sheet.write(SHEET_END)
      yield* sheet.end()
      for (const [path, part] of Object.entries(WORKBOOK_PARTS)) yield* file(path).whole(part)
      for (const [path, part] of workbookPart(content.title, sheets)) yield* file(path).whole(part)
    })
  },
}

const SHEET_START = (columns: number) =>
  `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>${
    columns > 0 ? `<cols><col min="1" max="${columns}" width="18" customWidth="1"/></cols>` : ''
  }<sheetData>`
const SHEET_END = '</sheetData></worksheet>'

/** Length limit of a cell’s text (Excel’s specifications and limits). */
const MAX_TEXT = 32_767
const DAY_MS = 86_400_000
/** Excel’s epoch; earlier dates are text. */
const EPOCH_MS = Date.UTC(1899, 11, 30)
const FIRST_DAY = 61 // 1900-03-01: before it Excel has a day that never was.

/** Renders the rows of a sheet. */
function sheetCells({ fields, people, timeZone }: ExportContent) {
  const texts = fields.map((field) => cellFormatter(field, { people, timeZone }))
  const kinds = fields.map((field) => kindOf(field, timeZone))
  const columns = fields.map((_, at) => columnName(at))

  const inline = (value: string, style: number): Content | null => {
    if (value === '') return null
    // `escapeXml` removes a half surrogate at the end.
    const cut = value.slice(0, MAX_TEXT)
    return { type: 'inlineStr', style, inner: `<is><t xml:space="preserve">${escapeXml(cut)}</t></is>` }
  }

  /** Cells have their position, as empty ones are omitted. */
  const place = (content: Content | null, at: number, row: number): string => {
    if (content === null) return ''
    const { type, style, inner } = content
    const attributes = `${style === 0 ? '' : ` s="${style}"`}${type === undefined ? '' : ` t="${type}"`}`
    return `<c r="${columns[at]}${row}"${attributes}>${inner}</c>`
  }

  function contentOf(at: number, value: CellValue): Content | null {
    const text = texts[at]
    if (value === null || text === undefined) return null
    return kinds[at]?.(value) ?? inline(text(value), STYLES.plain)
  }

  return {
    titles: () => fields.map(({ title }, at) => place(inline(title, STYLES.title), at, 1)).join(''),
    row: (values: CellValue[], row: number) =>
      fields.map((_, at) => place(contentOf(at, values[at] ?? null), at, row)).join(''),
  }
}

interface Content {
  /** Absent: a number. */
  type?: 'inlineStr' | 'b'
  style: number
  inner: string
}

/** `A`, `B`, … `Z`, `AA`, … */
export function columnName(at: number): string {
  const rest = Math.floor(at / 26)
  return (rest === 0 ? '' : columnName(rest - 1)) + String.fromCharCode(65 + (at % 26))
}

const numeric = (value: number, style: number = STYLES.plain): Content => ({
  style,
  inner: `<v>${value}</v>`,
})

/** Converts the values of a field that are not text; the result is null for values that are text after all. */
function kindOf(field: Field, timeZone: string): ((value: CellValue) => Content | null) | null {
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

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const SPREADSHEET = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships'
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const TYPES = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/** Indexes of the styles below. */
const STYLES = { plain: 0, title: 1, date: 2, moment: 3 } as const

/** Constant parts of a workbook. */
const WORKBOOK_PARTS: Record<string, string> = {
  '_rels/.rels': `${HEAD}<Relationships xmlns="${RELATIONS}"><Relationship Id="rId1" Type="${DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/styles.xml': `${HEAD}<styleSheet xmlns="${SPREADSHEET}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="2"><font/><font><b/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="4"><xf/><xf fontId="1" applyFont="1"/><xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="165" applyNumberFormat="1"/></cellXfs></styleSheet>`,
}

/** The parts that name the sheets. */
function workbookPart(title: string, sheets: number): [string, string][] {
  const numbers = Array.from({ length: sheets }, (_, at) => at + 1)
  const names = numbers.map((number) => sheetName(title, number))
  const list = numbers
    .map(
      (number, at) => `<sheet name="${escapeXml(names[at] ?? '')}" sheetId="${number}" r:id="rId${number}"/>`,
    )
    .join('')
  const relations = numbers
    .map((n) => `<Relationship Id="rId${n}" Type="${DOCUMENT}/worksheet" Target="worksheets/sheet${n}.xml"/>`)
    .join('')
  const overrides = numbers
    .map((n) => `<Override PartName="/xl/worksheets/sheet${n}.xml" ContentType="${TYPES}.worksheet+xml"/>`)
    .join('')
  return [
    [
      'xl/workbook.xml',
      `${HEAD}<workbook xmlns="${SPREADSHEET}" xmlns:r="${DOCUMENT}"><sheets>${list}</sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `${HEAD}<Relationships xmlns="${RELATIONS}">${relations}<Relationship Id="rId${sheets + 1}" Type="${DOCUMENT}/styles" Target="styles.xml"/></Relationships>`,
    ],
    [
      '[Content_Types].xml',
      `${HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPES}.sheet.main+xml"/>${overrides}<Override PartName="/xl/styles.xml" ContentType="${TYPES}.styles+xml"/></Types>`,
    ],
  ]
}

/** At most 31 characters, without those that Excel rejects, and not its reserved name. */
function sheetName(title: string, number: number): string {
  const suffix = number === 1 ? '' : ` (${number})`
  const plain = trimCharacters(title.replace(/[\\/?*[\]:]/g, ' '), "'").trim()
  const name = plain
    .slice(0, 31 - suffix.length)
    .trim()
    .toWellFormed()
  return `${name === '' || name.toLowerCase() === 'history' ? 'Sheet' : name}${suffix}`
}

/** Escapes characters that XML cannot represent as `_x0007_` (ECMA-376, 22.4.2.4). */
const escapeXml = (text: string): string =>
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

/** A file inside an archive, written in chunks; each call returns the archive’s bytes that are ready. */
export interface ZipFile {
  write(text: string): Iterable<Uint8Array>
  end(): Iterable<Uint8Array>
  /** All of it at once. */
  whole(text: string): Iterable<Uint8Array>
}

/** Little to compress with, as most of the time goes there: sheets shrink to a tenth all the same. */
const LEVEL = 3

/**
 * An archive as it is made: `make` opens one file after the other and passes on what they give. Nothing is
 * kept but what was not yet taken.
 *
 * @throws what the archive or `make` throws
 */
async function* zipped(
  make: (open: (path: string) => ZipFile) => AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const encoder = new TextEncoder()
  const ready: Uint8Array[] = []
  let failure: Error | null = null
  const zip = new Zip((error, bytes) => {
    if (error) failure = error
    else if (bytes.length > 0) ready.push(bytes)
  })
  const take = (): Uint8Array[] => {
    if (failure) throw failure
    return ready.splice(0)
  }
  const open = (path: string): ZipFile => {
    const file = new ZipDeflate(path, { level: LEVEL })
    zip.add(file)
    const push = (text: string, isLast: boolean) => {
      file.push(encoder.encode(text), isLast)
      return take()
    }
    return {
      write: (text) => push(text, false),
      end: () => push('', true),
      whole: (text) => push(text, true),
    }
  }
  yield* make(open)
  zip.end()
  yield* take()
}
