import { detectEncoding } from '../csv/detect.ts'
import { isJson } from '../json-text.ts'
import { m } from '../messages.gen.ts'
import { FileError } from './file-error.ts'
import type { FileKind } from './format.ts'

/** The file has another format, so that other settings cannot help. */
export class ForeignFileError extends FileError {
  constructor(
    message: string,
    /** True for a page of a website. */
    readonly isPage = false,
  ) {
    super(message)
  }
}

/** Magic bytes of other file formats, with their names. */
const KINDS: readonly { magic: string; name: string }[] = [
  { magic: 'SQLite format 3\0', name: 'an SQLite database' },
  { magic: 'PAR1', name: 'a Parquet file' },
  { magic: 'ARROW1', name: 'an Arrow file' },
  { magic: 'Obj\x01', name: 'an Avro file' },
  { magic: 'ORC', name: 'an ORC file' },
  { magic: '\x89HDF', name: 'an HDF5 file' },
  { magic: '\0\x01\0\0Standard', name: 'an Access database' },
  { magic: '%PDF-', name: 'a PDF' },
  { magic: '{\\rtf', name: 'an RTF document' },
  { magic: '\x1f\x8b', name: 'a compressed file' },
  { magic: 'BZh', name: 'a compressed file' },
  { magic: '\xfd7zXZ\0', name: 'a compressed file' },
  { magic: '\x28\xb5\x2f\xfd', name: 'a compressed file' },
  { magic: '7z\xbc\xaf', name: 'a 7-Zip archive' },
  { magic: 'Rar!', name: 'a RAR archive' },
  { magic: '\x89PNG', name: 'a picture' },
  { magic: '\xff\xd8\xff', name: 'a picture' },
  { magic: 'GIF8', name: 'a picture' },
  { magic: '\0\0\x02\0', name: 'a Lotus 1-2-3 worksheet' },
  { magic: '\0\0\x1a\0', name: 'a Lotus 1-2-3 worksheet' },
]
/** Magic bytes that could also start a text: such a file must also contain bytes that no text has. */
const AMBIGUOUS = new Set(['BZh', 'ORC', 'PAR1', 'ARROW1', 'GIF8', 'Rar!'])

const ZIP = 'PK\x03\x04'
/** Old Office documents, which the UTF-16 names of their streams distinguish. */
const OLE = '\xd0\xcf\x11\xe0'

/**
 * Size of the sample in bytes, and the share of control characters that no text reaches; of random bytes, a
 * tenth are control characters.
 */
const SAMPLE_BYTES = 64 * 1024
const MANY_CONTROLS = 0.02
/** Begins each record of a JSON text sequence (RFC 7464). */
const RECORD_MARK = '\u001e'
/** Tab, line feed, form feed, carriage return, escape, and the mark of JSON text sequences. */
const TEXT_CONTROLS = new Set([9, 10, 12, 13, 27, 30])

/**
 * Detects the kind of a file from its beginning, whatever its name or source.
 * @throws ForeignFileError naming the actual format of a file that cannot be imported
 */
export function fileKind(head: Uint8Array, isWhole: boolean): FileKind {
  const latin = new TextDecoder('latin1').decode(head)
  const binary = binaryKind(head, latin)
  if (binary?.isWorkbook || isWorksheetStream(head)) return 'excel'
  if (binary) throw new ForeignFileError(m.file_error_foreign({ kind: binary.name }))
  if (isUtf32(head)) throw new ForeignFileError(m.file_error_utf32())
  const encoding = detectEncoding(head, isWhole)
  if (!encoding.startsWith('utf-16') && hasManyControls(head))
    throw new ForeignFileError(m.file_error_binary())
  const text = new TextDecoder(encoding).decode(head).trimStart()
  if (looksLikeJson(text, isWhole)) return 'json'
  if (isXmlWorkbook(text)) return 'excel'
  const name = textKind(text)
  if (name) throw new ForeignFileError(m.file_error_foreign({ kind: name }), name === PAGE)
  return 'csv'
}

/** True for a worksheet of Excel 2 to 5 that is not in a container: it begins with a BOF record ([MS-XLS] 2.4.21). */
function isWorksheetStream(head: Uint8Array): boolean {
  const [record, version = -1, size = 0, sizeHigh] = head
  const substream = (head[6] ?? 0) + 256 * (head[7] ?? 0)
  return (
    record === 9 &&
    [0, 2, 4, 8].includes(version) &&
    size >= 4 &&
    size <= 16 &&
    sizeHigh === 0 &&
    [0x05, 0x10, 0x100].includes(substream)
  )
}

/** Header of a dBase table: a version, the day of its last change, and where its records begin. */
function isDbase(head: Uint8Array): boolean {
  const [version = 0, , month = 0, day = 0] = head
  const start = (head[8] ?? 0) + 256 * (head[9] ?? 0)
  const isVersion = [0x02, 0x03, 0x30, 0x31, 0x32, 0x43, 0x83, 0x8b, 0xcb, 0xf5].includes(version)
  return (
    isVersion && month >= 1 && month <= 12 && day >= 1 && day <= 31 && start >= 65 && head[start - 1] === 13
  )
}

/** Longest prolog and root tag of an XML workbook. */
const XML_HEAD = 10_000

/** True for workbooks that are one XML file: “XML Spreadsheet 2003” of Excel, and flat OpenDocument. */
export function isXmlWorkbook(text: string): boolean {
  const head = text.slice(0, XML_HEAD)
  if (!/^<[?!a-z]/i.test(head)) return false
  return (
    (/<(?:\w+:)?Workbook\s/.test(head) && head.includes('urn:schemas-microsoft-com:office:spreadsheet')) ||
    head.includes('office:mimetype="application/vnd.oasis.opendocument.spreadsheet"')
  )
}

interface BinaryKind {
  name: string
  /** True for workbooks that can be imported. */
  isWorkbook?: boolean
}

function binaryKind(head: Uint8Array, latin: string): BinaryKind | null {
  // TextDecoder's latin1 is Windows-1252, which maps 0x80 to 0x9f to other characters.
  const start = String.fromCharCode(...head.subarray(0, 32))
  if (start.startsWith(ZIP)) return zipKind(latin)
  if (start.startsWith(OLE)) return oleKind(latin)
  const kind = KINDS.find(({ magic }) => start.startsWith(magic))
  if (!kind) return isDbase(head) ? { name: 'a dBase table' } : null
  return AMBIGUOUS.has(kind.magic) && !hasManyControls(head) ? null : kind
}

/** Files in an OpenDocument archive that can be the first, if `mimetype` is compressed or the archive was packed again. */
const OPEN_DOCUMENT =
  /^(?:mimetype|META-INF\/manifest\.xml|Configurations2\/|(?:content|meta|settings|styles)\.xml)/
/** Length of the header before the first file name in a ZIP archive. */
const ZIP_HEADER = 30

/** Recognizes a document by the file names in its archive; the first is near the start. */
function zipKind(latin: string): BinaryKind {
  if (/mimetypeapplication\/vnd\.oasis\.opendocument\.spreadsheet/.test(latin))
    return { name: 'an OpenDocument spreadsheet', isWorkbook: true }
  if (/mimetypeapplication\/vnd\.oasis/.test(latin)) return { name: 'an OpenDocument file' }
  if (/word\/(?:document|styles|_rels)/.test(latin)) return { name: 'a Word document' }
  if (/ppt\/(?:presentation|slides|_rels)/.test(latin)) return { name: 'a PowerPoint presentation' }
  if (/Index\/(?:Document|Tables)/.test(latin)) return { name: 'a Numbers spreadsheet' }
  // Many writers begin with the properties; the archive's directory tells the rest.
  if (/xl\/(?:workbook|worksheets)|\[Content_Types\]\.xml|docProps\//.test(latin))
    return { name: 'an Excel workbook', isWorkbook: true }
  // Only the unpacked files tell a spreadsheet from a text document: the reader checks them.
  if (OPEN_DOCUMENT.test(latin.slice(ZIP_HEADER))) return { name: 'an OpenDocument file', isWorkbook: true }
  return { name: 'a ZIP archive' }
}

function oleKind(latin: string): BinaryKind {
  const holds = (stream: string) => latin.includes([...stream].join('\0'))
  if (holds('WordDocument')) return { name: 'a Word document' }
  if (holds('PowerPoint')) return { name: 'a PowerPoint presentation' }
  return { name: 'an Excel workbook', isWorkbook: true }
}

function hasManyControls(head: Uint8Array): boolean {
  const sample = head.subarray(0, SAMPLE_BYTES)
  let controls = 0
  for (const byte of sample) if (byte < 32 && !TEXT_CONTROLS.has(byte)) controls++
  return controls > sample.length * MANY_CONTROLS && controls > 8
}

/** Characters that show UTF-32. */
const UTF32_SAMPLE = 64

/** True for text in UTF-32, with or without a byte order mark: in UTF-16, half of its characters would be controls. */
function isUtf32(head: Uint8Array): boolean {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  const count = Math.min(head.byteLength >> 2, UTF32_SAMPLE)
  const isText = (isLittle: boolean) => {
    for (let at = 0; at < count; at++) if (!isCharacter(view.getUint32(at * 4, isLittle))) return false
    return true
  }
  return count > 0 && (isText(true) || isText(false))
}

/** The planes of characters in use end here, but for tags and private characters: `1` and a line break in UTF-16 are a code beyond. */
const LAST_CHARACTER = 0x3_ffff

const isCharacter = (code: number): boolean =>
  (code >= 32 || TEXT_CONTROLS.has(code)) && code <= LAST_CHARACTER && (code < 0xd800 || code > 0xdfff)

const PAGE = 'an HTML page'
/** Tags that an HTML page starts with. */
const HTML = /^<(?:!doctype html|html|head|body|table|div|script|style|meta|p|br|span)[\s>/]/i
const XML_DECLARATION = /^<(?:\?xml\s|!doctype\s|!--)/i
const XML_TAG = /^<[a-z_][\w.:-]{0,100}(?=[\s/>])/i
/** Maximum length of the first tag. */
const MAX_TAG = 2_200

const SQL =
  /^(?:create (?:table|database|schema|type|extension)|insert into|drop table|pragma |begin transaction|begin;|use `)/i

/** True for a declaration, or a tag followed by another tag or the end. A CSV header `<id>,<name>` is not XML. */
function isXml(text: string): boolean {
  if (XML_DECLARATION.test(text)) return true
  const head = text.slice(0, MAX_TAG)
  const end = XML_TAG.test(head) ? head.indexOf('>') : -1
  if (end < 0 || head.slice(1, end).includes('<')) return false
  const rest = text.slice(end + 1).trimStart()
  return rest === '' || rest.startsWith('<')
}

/** Records of a SYLK worksheet, one per line. Titles of a CSV file may begin with `ID;P` as well. */
const SYLK = /^ID;P[^\r\n]{0,200}\r?\n(?:[BCFOP]|N[ENU]);[A-Z]/
const DIF = /^TABLE\s*\r?\n0,1\r?\n"[^\r\n]{0,200}\r?\nVECTORS\r?\n/

/** Bytes at the beginning of a message that have its headers. */
const MAX_HEADERS = 8_192
const HEADER = /^(?:[A-Za-z][\w-]*:|[ \t])/

/** True for a web page and its pictures in one file (RFC 2557), as Excel and browsers save it, and for an e-mail. */
function isMessage(text: string): boolean {
  const lines = text.slice(0, MAX_HEADERS).split(/\r?\n/)
  const headers = lines.slice(0, Math.max(1, lines.indexOf('')))
  return headers.every((line) => HEADER.test(line)) && headers.some((line) => /^MIME-Version:/i.test(line))
}

/** The format of a text that is neither CSV nor JSON; null if it may be CSV. */
function textKind(text: string): string | null {
  if (HTML.test(text)) return PAGE
  if (isMessage(text)) return 'a web page or e-mail in one file (MHTML)'
  if (isXml(text)) return 'an XML file'
  if (text.startsWith('BEGIN:VCARD')) return 'a file of contacts (vCard)'
  if (SYLK.test(text)) return 'a SYLK worksheet'
  if (DIF.test(text)) return 'a worksheet in the Data Interchange Format (DIF)'
  if (text.startsWith('socialcalc:version:')) return 'a SocialCalc worksheet'
  if (text.startsWith('BEGIN:VCALENDAR')) return 'a calendar file (iCalendar)'
  const statement = text
    .slice(0, SAMPLE_BYTES)
    .split('\n')
    .find((line) => line.trim() !== '' && !/^(?:--|\/\*|\*)/.test(line.trimStart()))
  return statement !== undefined && SQL.test(statement.trimStart()) ? 'an SQL script' : null
}

/** Lines of comments before a value. */
const COMMENTS = /^(?:\/\/[^\n]*\n\s*)+/

/**
 * True if the text starts as JSON, perhaps behind comments: one object or list, one per line (JSON Lines, with or without the marks of RFC 7464), or objects with
 * a comma or nothing between them. A CSV file whose first cell is JSON or `[x]` has a delimiter after it.
 *
 * @param start without leading whitespace
 * @param isWhole false if the text continues
 */
function looksLikeJson(start: string, isWhole: boolean): boolean {
  if (start.startsWith(RECORD_MARK))
    return looksLikeJson(start.replaceAll(RECORD_MARK, ' ').trimStart(), isWhole)
  const text = start.replace(COMMENTS, '')
  if (text[0] !== '{' && text[0] !== '[') return false
  // An object with a quoted name counts as JSON even if it is cut off or has a superfluous comma.
  const isClear = /^(?:\{\s{0,1000}"(?:[^"\\\r\n]|\\.){0,1000}"\s{0,1000}:|\[\s{0,1000}[{[])/.test(text)
  let at = 0
  let values = 0
  let separator: JsonSeparator | null = null
  while (at < text.length) {
    const end = endOfValue(text, at)
    if (end === null) return isClear || (values > 0 && !isWhole)
    const between = /^\s*,?\s*/.exec(text.slice(end, end + 1000))?.[0] ?? ''
    const next = end + between.length
    const isLast = next >= text.length
    const found = separatorOf(between)
    // A comma may end the last object, and follow the only value.
    const isOther = separator !== null && separator !== found && !(isLast && separator === 'comma')
    // More text on the same line, or a comma only sometimes: a cell of a CSV row.
    if (
      !(isLast && (found !== 'comma' || (isClear && values === 0))) &&
      (isOther || (found !== 'line' && text[at] !== '{'))
    )
      return false
    if (!isLast && found !== 'line' && text[next] !== '{') return false
    separator ??= found
    const value = text.slice(at, end)
    if (!isJson(value)) return isClear
    // Check boxes and footnote numbers on separate lines: `[ ]`, `[1]`.
    if (!isLast && text[at] === '[' && !value.includes(',')) return false
    if (!isLast && text[next] !== '{' && text[next] !== '[') return false
    values++
    at = next
  }
  return true
}

type JsonSeparator = 'line' | 'comma' | 'nothing'

function separatorOf(between: string): JsonSeparator {
  if (between.includes(',')) return 'comma'
  return between.includes('\n') ? 'line' : 'nothing'
}

/** End of the object or list that starts at `start`; null if the text ends first. */
function endOfValue(text: string, start: number): number | null {
  let depth = 0
  let isText = false
  for (let at = start; at < text.length; at++) {
    const sign = text[at]
    if (isText && sign === '\\') at++
    else if (sign === '"') isText = !isText
    else if (isText) continue
    else if (sign === '{' || sign === '[') depth++
    else if ((sign === '}' || sign === ']') && --depth === 0) return at + 1
  }
  return null
}
