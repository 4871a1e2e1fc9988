import type * as SheetJs from 'xlsx'
import { FileError } from '../../../../src/core/imports/file-error.ts'
import { isXmlWorkbook } from '../../../../src/core/imports/file-kind.ts'
import { m } from '../../../../src/messages.gen.ts'
import type { OnBlocked } from '../reader.ts'
import { createAnnotations } from './annotations.ts'
import { openArchive } from './archive.ts'
import { checkArchive, checkOpenDocument } from './check-whole.ts'
import { currencyShown, GENERAL, type NumberStyle, numberStyle, showNumber } from './number-style.ts'
import { cellKey, type OpenDocumentFacts } from './open-document-facts.ts'
import {
  type Annotations,
  MAX_SHEET_COLUMNS,
  MAX_SHEET_ROWS,
  type Merge,
  type Sheet,
  type SheetRow,
  type Workbook,
} from './workbook.ts'
import { openXlsx, workbookPart } from './xlsx.ts'

/**
 * Size limit of the formats that are read into memory whole. They need 10 to 20 times their size.
 */
const MAX_WHOLE_BYTES = 40_000_000
/** Limit of the unpacked size of those in a ZIP archive. */
const MAX_UNPACKED_BYTES = 400_000_000

/** Limit of the media type in an OpenDocument archive. */
const MAX_TYPE_BYTES = 1000

/** Opens a workbook of any format. @throws FileError */
export async function openWorkbook(path: string, onBlocked: OnBlocked): Promise<Workbook> {
  const head = new Uint8Array(await Bun.file(path).slice(0, 4).arrayBuffer())
  const isArchive = head[0] === 0x50 && head[1] === 0x4b
  if (!isArchive) return openXls(path, onBlocked)
  const archive = await openArchive(path)
  let facts: OpenDocumentFacts | null
  try {
    const workbook = await workbookPart(archive)
    if (workbook !== null) return await openXlsx(path, workbook)
    if (archive.has('META-INF/manifest.xml')) {
      const manifest = await archive.text('META-INF/manifest.xml', 10_000_000)
      if (manifest.includes('encryption-data')) throw new FileError(m.imports_error_workbook_encrypted())
    }
    if (archive.has('mimetype')) {
      const type = await archive.text('mimetype', MAX_TYPE_BYTES)
      if (!type.includes('opendocument.spreadsheet')) throw new FileError(m.imports_error_workbook_unknown())
    }
    if (!['content.xml', 'xl/workbook.bin'].some((name) => archive.has(name)))
      throw new FileError(m.imports_error_workbook_unknown())
    if (archive.unpackedSize() > MAX_UNPACKED_BYTES) throw tooLarge()
    if (Bun.file(path).size > MAX_WHOLE_BYTES) throw tooLarge()
    facts = await checkArchive(archive)
  } finally {
    archive.close()
  }
  return readWhole(path, onBlocked, facts)
}

/** The beginning of a workbook that may be one XML file, as text. */
function xmlHead(bytes: Uint8Array): string {
  const head = bytes.subarray(0, XML_HEAD_BYTES)
  return new TextDecoder(xmlEncoding(head)).decode(head).trimStart()
}

/** Bytes that tell an XML workbook from others. */
const XML_HEAD_BYTES = 20_000

/** The encoding of an XML file by its byte order mark or declaration (XML 1.0, F.1). */
function xmlEncoding(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (first === 0x3c && second === 0) return 'utf-16le'
  const declaration = new TextDecoder('latin1').decode(bytes.subarray(0, 200))
  const declared =
    /^[^<]{0,3}<\?xml[^>]{0,150}encoding=["']([\w.:-]{1,40})["']/.exec(declaration)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(declared).encoding
  } catch (error) {
    if (error instanceof RangeError) throw new FileError(m.imports_error_archive_broken())
    throw error
  }
}

/** Encrypted workbooks of every version are containers of the old kind, with this stream. */
const ENCRYPTED = Buffer.from('EncryptedPackage', 'utf16le')

async function openXls(path: string, onBlocked: OnBlocked): Promise<Workbook> {
  let rest = Buffer.alloc(0)
  for await (const chunk of Bun.file(path).stream()) {
    const bytes = Buffer.concat([rest, chunk])
    if (bytes.includes(ENCRYPTED)) throw new FileError(m.imports_error_workbook_encrypted())
    rest = bytes.subarray(Math.max(0, bytes.length - ENCRYPTED.length))
  }
  return readWhole(path, onBlocked)
}

/** The root of an OpenDocument file without an archive, or of UOF, which the library also reads. */
const FLAT = /<(?:[^\s<>/:"]*:)?(?:document|uof)[\s_/>]/i

/** True if the library may read a workbook of one XML file as an OpenDocument file. */
const isFlat = (bytes: Buffer): boolean => FLAT.test(new TextDecoder(xmlEncoding(bytes)).decode(bytes))

/** True for cells in places that no sheet has. */
function isBeyondLimits(sheet: SheetJs.WorkSheet): boolean {
  const data: unknown[][] = sheet['!data'] ?? []
  return data.length > MAX_SHEET_ROWS || data.some((cells) => cells.length > MAX_SHEET_COLUMNS)
}

const tooLarge = () => new FileError(m.imports_error_workbook_large({ megabytes: MAX_WHOLE_BYTES / 1e6 }))

/** @param found of an OpenDocument archive */
async function readWhole(
  path: string,
  onBlocked: OnBlocked,
  found: OpenDocumentFacts | null = null,
): Promise<Workbook> {
  const file = Bun.file(path)
  if (file.size > MAX_WHOLE_BYTES) throw tooLarge()
  const bytes = Buffer.from(await file.arrayBuffer())
  const isFlatFile = isXmlWorkbook(xmlHead(bytes)) && isFlat(bytes)
  const facts = isFlatFile ? await checkOpenDocument(file.stream(), 'office:document') : found
  const book = await parseWorkbook(bytes, { hasTexts: facts !== null, onBlocked })
  if (Object.values(book.Sheets).some(isBeyondLimits)) throw new FileError(m.imports_error_archive_broken())
  const is1904 = book.Workbook?.WBProps?.date1904 === true
  const isOpenDocument = book.bookType === 'ods' || book.bookType === 'fods'
  const hasDays = isOpenDocument || book.bookType === 'xlml'
  return {
    close() {},
    sheets: book.SheetNames.map((name, at): Sheet => {
      const sheet = book.Sheets[name]
      return {
        name,
        isHidden: (book.Workbook?.Sheets?.[at]?.Hidden ?? 0) !== 0 || facts?.hiddenSheets.has(name) === true,
        size: sheet?.['!data']?.length ?? 0,
        merges: async () => mergesOf(sheet),
        annotations: async () => annotationsOf(sheet),
        rows: () =>
          rowsOf(sheet, {
            is1904,
            isOpenDocument,
            hasDays,
            texts: facts?.texts.get(name),
            currencies: facts?.currencies.get(name),
          }),
      }
    }),
  }
}

interface ParseOptions {
  /** True for OpenDocument files, of which the shown texts of numbers tell what the library loses. */
  hasTexts: boolean
  onBlocked: OnBlocked
}

async function parseWorkbook(
  bytes: Buffer,
  { hasTexts, onBlocked }: ParseOptions,
): Promise<SheetJs.WorkBook> {
  // Only these formats need the library, which takes a third of a second to load.
  const [XLSX, codepages] = await Promise.all([import('xlsx'), import('xlsx/dist/cpexcel.full.mjs')])
  XLSX.set_cptable(codepages)
  const isXml = isXmlWorkbook(xmlHead(bytes))
  onBlocked(true)
  try {
    return XLSX.read(isXml ? new TextDecoder(xmlEncoding(bytes)).decode(bytes) : bytes, {
      // Of an array, the library copies each record: seven times the memory, and twice the time.
      type: isXml ? 'string' : 'buffer',
      dense: true,
      cellNF: true,
      cellText: hasTexts,
      cellHTML: false,
      cellFormula: false,
    })
  } catch (error) {
    const isEncrypted = error instanceof Error && /password|encrypt/i.test(error.message)
    throw new FileError(isEncrypted ? m.imports_error_workbook_encrypted() : m.imports_error_archive_broken())
  } finally {
    onBlocked(false)
  }
}

const mergesOf = (sheet: SheetJs.WorkSheet | undefined): Merge[] =>
  (sheet?.['!merges'] ?? []).map(({ s, e }) => ({
    firstRow: s.r,
    lastRow: e.r,
    column: s.c,
    lastColumn: e.c,
  }))

function annotationsOf(sheet: SheetJs.WorkSheet | undefined): Annotations {
  const annotations = createAnnotations()
  const data = (sheet?.['!data'] ?? []) as (SheetJs.CellObject[] | undefined)[]
  for (const [row, cells = []] of data.entries()) {
    for (const [column, cell] of cells.entries()) {
      const target = cell?.l?.Target
      // Links within the workbook begin with a number sign.
      if (target && !target.startsWith('#'))
        annotations.addLink({ firstRow: row, lastRow: row, column, lastColumn: column }, target)
      if (cell?.c && cell.c.length > 0)
        annotations.addComment(row + 1, column, cell.c.map(({ t }) => t).join('\n'))
    }
  }
  return annotations
}

/** Rows per batch, as a person's wait for a cancelled import depends on it. */
const BATCH = 500

interface RowsOptions extends Omit<CellOptions, 'styleOf' | 'currency'> {
  /** By `cellKey`, as `OpenDocumentFacts`. */
  texts: ReadonlyMap<number, string> | undefined
  currencies: ReadonlyMap<number, string> | undefined
}

async function* rowsOf(sheet: SheetJs.WorkSheet | undefined, { texts, currencies, ...options }: RowsOptions) {
  const data = (sheet?.['!data'] ?? []) as (SheetJs.CellObject[] | undefined)[]
  const styles = new Map<string, NumberStyle>()
  function styleOf(code: string): NumberStyle {
    const known = styles.get(code) ?? numberStyle(code)
    styles.set(code, known)
    return known
  }
  let rows: SheetRow[] = []
  for (const [at, cells] of data.entries()) {
    if (cells === undefined || cells.length === 0) continue
    const row: SheetRow = { number: at + 1, cells: [], kinds: [] }
    for (const [column, cell] of cells.entries()) {
      if (!cell) continue
      const key = cellKey(at, column)
      addCell(row, column, cell, { styleOf, currency: currencies?.get(key), ...options })
      const text = texts?.get(key)
      if (text !== undefined && cell.t === 's' && isSpaced(text, row.cells[column] ?? ''))
        row.cells[column] = text
    }
    if (row.cells.length > 0) rows.push(row)
    if (rows.length < BATCH) continue
    yield { rows, done: at + 1 }
    rows = []
  }
  yield { rows, done: data.length }
}

const ERRORS: Record<number, string> = {
  0: '#NULL!',
  7: '#DIV/0!',
  15: '#VALUE!',
  23: '#REF!',
  29: '#NAME?',
  36: '#NUM!',
  42: '#N/A',
  43: '#GETTING_DATA',
}

/** True if two texts differ in spaces around their lines only. */
const isSpaced = (text: string, other: string): boolean => trimLines(text) === trimLines(other)

const trimLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .join('\n')

interface CellOptions {
  styleOf(code: string): NumberStyle
  is1904: boolean
  isOpenDocument: boolean
  /** The code of the cell's currency, where the file names it beside the format. */
  currency: string | undefined
  /** True if the file has days, not numbers of days. */
  hasDays: boolean
}

/** Days between the beginnings of the two date systems. */
const DAYS_BEFORE_1904 = 1462

/**
 * A day of a file that has days. Of those before March 1900, the library gives one less than their distance from the beginning of the
 * date system, as if there had been a 29 February 1900.
 */
function showDay(value: number, style: NumberStyle, is1904: boolean): string {
  const isEarly = value < (is1904 ? 59 - DAYS_BEFORE_1904 : 59)
  if (!isEarly) return showNumber(value, style, is1904)
  return showNumber(is1904 ? value + 1 : value + 1 - DAYS_BEFORE_1904, style, true)
}

function addCell(
  row: SheetRow,
  column: number,
  { t, v, z, w }: SheetJs.CellObject,
  { styleOf, is1904, isOpenDocument, hasDays, currency }: CellOptions,
) {
  const put = (text: string, kind: SheetRow['kinds'][number]) => {
    row.cells[column] = text
    row.kinds[column] = kind
  }
  if (t === 'z' || v === undefined || v === null) return
  if (t === 'b') return put(v ? 'true' : 'false', 'boolean')
  if (t === 'e') return put(ERRORS[Number(v)] ?? String(v), 'error')
  if (t === 'd' || v instanceof Date)
    return put(
      new Date(v as Date)
        .toISOString()
        .replace('T', ' ')
        .replace(/(?:\.000)?Z$/, ''),
      'text',
    )
  if (t !== 'n') return put(String(v), 'text')
  const given = typeof z === 'string' ? styleOf(z) : GENERAL
  const show = (value: number, style: NumberStyle) => {
    const isDay = hasDays && (style.kind === 'date' || style.kind === 'dateTime')
    put(isDay ? showDay(value, style, is1904) : showNumber(value, style, is1904), style)
  }
  if (!isOpenDocument) return show(Number(v), given)
  // LibreOffice has a format for texts where Excel's has one, as in `dd/mm/yyyy;@`, and the library may take it for that of numbers.
  const isLost = typeof z === 'string' && z.endsWith('@') && !z.includes(';')
  const { value, style } = asShown(Number(v), w ?? '', isLost ? styleShown(Number(v), w ?? '') : given)
  const isPlain = style.kind === 'number' && style.currency === null && style.code === null
  show(value, isPlain ? { ...style, currency: currency ?? currencyShown(w ?? '') } : style)
}

const SECONDS_OF_DAY = 86_400
const [DAY, MOMENT, TIME, DURATION] = ['yyyy-mm-dd', 'yyyy-mm-dd hh:mm:ss', 'hh:mm:ss', '[h]:mm:ss'].map(
  numberStyle,
) as [NumberStyle, NumberStyle, NumberStyle, NumberStyle]

/** A time of an OpenDocument file with its sign and the fraction of its last second, which the library leaves out, by the text of the cell. */
function asShown(value: number, shown: string, style: NumberStyle): { value: number; style: NumberStyle } {
  if (style.kind !== 'time' && style.kind !== 'duration') return { value, style }
  const [, fraction = '0'] = /:\d\d[.,](\d{1,3})$/.exec(shown) ?? []
  const seconds = value * SECONDS_OF_DAY
  const isCut = Math.abs(seconds - Math.round(seconds)) < 1e-4
  const whole = isCut ? value + Number(`0.${fraction}`) / SECONDS_OF_DAY : value
  return /^[-−]/.test(shown) ? { value: -Math.abs(whole), style: DURATION } : { value: whole, style }
}

/** Before this day, a number with a unit may look like its day: `1 kg`. */
const FIRST_SURE_DAY = 61

/** The style of a number by the text of its cell: a day has no other numbers than those of its parts, a time has a colon. */
function styleShown(value: number, shown: string): NumberStyle {
  const hasTime = /\d:\d\d/.test(shown)
  const groups = shown.replace(/(:\d\d)[.,]\d+/, '$1').match(/\d+/g) ?? []
  const found = groups.map(Number)
  // Three digits are those of thousands: `12,000`.
  const mayBeDay = found.length > 0 && !groups.some(({ length }) => length === 3)
  if (value >= FIRST_SURE_DAY && mayBeDay && !found.includes(Math.trunc(value))) {
    const parts = Array.from(showNumber(value, MOMENT, false).match(/\d+/g) ?? [], Number)
    const [year = 0, month, day, hour = 0] = parts
    const known = [year, year % 100, month, day, ...(hasTime ? [...parts.slice(3), hour % 12, 12] : [])]
    if (found.every((number) => known.includes(number))) return Number.isInteger(value) ? DAY : MOMENT
  }
  if (!hasTime) return GENERAL
  return value < 1 ? TIME : DURATION
}
