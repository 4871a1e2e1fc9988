import { detectEncoding } from './detect.ts'
import { CsvError } from './reader.ts'

/** The file is of another kind: reading it again, or in another way, cannot help. */
export class ForeignFileError extends CsvError {}

/** Magic bytes of other file formats, with their names. */
const KINDS: readonly { begins: string; name: string }[] = [
  { begins: 'SQLite format 3\0', name: 'an SQLite database' },
  { begins: 'PAR1', name: 'a Parquet file' },
  { begins: 'ARROW1', name: 'an Arrow file' },
  { begins: 'Obj\x01', name: 'an Avro file' },
  { begins: 'ORC', name: 'an ORC file' },
  { begins: '\x89HDF', name: 'an HDF5 file' },
  { begins: '\0\x01\0\0Standard', name: 'an Access database' },
  { begins: '%PDF-', name: 'a PDF' },
  { begins: '{\\rtf', name: 'an RTF document' },
  { begins: '\x1f\x8b', name: 'a compressed file' },
  { begins: 'BZh', name: 'a compressed file' },
  { begins: '\xfd7zXZ\0', name: 'a compressed file' },
  { begins: '\x28\xb5\x2f\xfd', name: 'a compressed file' },
  { begins: '7z\xbc\xaf', name: 'a 7-Zip archive' },
  { begins: 'Rar!', name: 'a RAR archive' },
  { begins: '\x89PNG', name: 'a picture' },
  { begins: '\xff\xd8\xff', name: 'a picture' },
  { begins: 'GIF8', name: 'a picture' },
]
/** Kinds whose first bytes could also begin a text: these must hold bytes that no text has. */
const DOUBTFUL = new Set(['BZh', 'ORC', 'PAR1', 'ARROW1', 'GIF8', 'Rar!'])

const ZIP = 'PK\x03\x04'
/** Old Office documents: the names of the streams, in UTF-16, tell which. */
const OLE = '\xd0\xcf\x11\xe0'

/** Bytes that are looked at, and the share of control characters that no text has: of random bytes it is a tenth. */
const LOOKED_AT = 64 * 1024
const MANY_CONTROLS = 0.02
/** Tab, line feed, form feed, carriage return, escape. */
const IN_TEXT = new Set([9, 10, 12, 13, 27])

const CONVERT = 'Only CSV files can be imported. Save the data as CSV and try again'
const SAVE_SHEET = 'Only CSV files can be imported. Save the sheet as CSV and try again'

/**
 * Looks at the beginning of a file that is to be read as CSV, whatever it is called and wherever it comes from.
 * @throws ForeignFileError that says what the file is, where it is no CSV
 */
export function requireCsv(head: Uint8Array, isWhole: boolean): void {
  const latin = new TextDecoder('latin1').decode(head)
  const binary = binaryKind(head, latin)
  if (binary) throw new ForeignFileError(`This is ${binary.name}. ${binary.isSheet ? SAVE_SHEET : CONVERT}.`)
  const encoding = detectEncoding(head, isWhole)
  if (!encoding.startsWith('utf-16') && hasManyControls(head))
    throw new ForeignFileError(`This is not a text file: it contains binary data. ${CONVERT}.`)
  const text = new TextDecoder(encoding).decode(head).trimStart()
  const name = textKind(text, isWhole)
  if (name) throw new ForeignFileError(`This is ${name}. ${CONVERT}.`)
}

function binaryKind(head: Uint8Array, latin: string): { name: string; isSheet?: boolean } | null {
  // TextDecoder's latin1 is Windows-1252, which has other characters for 0x80 to 0x9f.
  const start = String.fromCharCode(...head.subarray(0, 32))
  if (start.startsWith(ZIP)) return zipKind(latin)
  if (start.startsWith(OLE)) return oleKind(latin)
  const kind = KINDS.find(({ begins }) => start.startsWith(begins))
  if (!kind) return null
  return DOUBTFUL.has(kind.begins) && !hasManyControls(head) ? null : kind
}

/** The parts of a document are named in its archive, the first of them near its beginning. */
function zipKind(latin: string): { name: string; isSheet?: boolean } {
  if (/mimetypeapplication\/vnd\.oasis\.opendocument\.spreadsheet/.test(latin))
    return { name: 'an OpenDocument spreadsheet', isSheet: true }
  if (/mimetypeapplication\/vnd\.oasis/.test(latin)) return { name: 'an OpenDocument file' }
  if (/word\/(?:document|styles|_rels)/.test(latin)) return { name: 'a Word document' }
  if (/ppt\/(?:presentation|slides|_rels)/.test(latin)) return { name: 'a PowerPoint presentation' }
  if (/Index\/(?:Document|Tables)/.test(latin)) return { name: 'a Numbers spreadsheet', isSheet: true }
  if (/xl\/(?:workbook|worksheets)|\[Content_Types\]\.xml/.test(latin))
    return { name: 'an Excel workbook', isSheet: true }
  return { name: 'a ZIP archive' }
}

function oleKind(latin: string): { name: string; isSheet?: boolean } {
  const holds = (stream: string) => latin.includes([...stream].join('\0'))
  if (holds('WordDocument')) return { name: 'a Word document' }
  if (holds('PowerPoint')) return { name: 'a PowerPoint presentation' }
  return { name: 'an Excel workbook', isSheet: true }
}

function hasManyControls(head: Uint8Array): boolean {
  const looked = head.subarray(0, LOOKED_AT)
  let controls = 0
  for (const byte of looked) if (byte < 32 && !IN_TEXT.has(byte)) controls++
  return controls > looked.length * MANY_CONTROLS && controls > 8
}

/** Tags that a page or a document begins with. */
const HTML = /^<(?:!doctype html|html|head|body|table|div|script|style|meta|p|br|span)[\s>/]/i
/** A declaration, or the beginning of a tag. */
const XML_DECLARATION = /^<(?:\?xml\s|!doctype\s|!--)/i
const XML_TAG = /^<[a-z_][\w.:-]{0,100}(?=[\s/>])/i
/** Characters that the first tag may have. */
const MAX_TAG = 2_200

const SQL =
  /^(?:create (?:table|database|schema|type|extension)|insert into|drop table|pragma |begin transaction|begin;|use `)/i

/** A declaration, or a tag that has another one or its end behind it: no heading `<id>,<name>`. */
function isXml(text: string): boolean {
  if (XML_DECLARATION.test(text)) return true
  const head = text.slice(0, MAX_TAG)
  const end = XML_TAG.test(head) ? head.indexOf('>') : -1
  if (end < 0 || head.slice(1, end).includes('<')) return false
  const rest = text.slice(end + 1).trimStart()
  return rest === '' || rest.startsWith('<')
}

/** The format of a text that is not CSV; null if it may be CSV. */
function textKind(text: string, isWhole: boolean): string | null {
  if (HTML.test(text)) return 'an HTML page'
  if (isXml(text)) return 'an XML file'
  if (looksLikeJson(text, isWhole)) return 'a JSON file'
  if (text.startsWith('BEGIN:VCARD')) return 'a file of contacts (vCard)'
  if (text.startsWith('BEGIN:VCALENDAR')) return 'a calendar file (iCalendar)'
  const statement = text
    .slice(0, LOOKED_AT)
    .split('\n')
    .find((line) => line.trim() !== '' && !/^(?:--|\/\*|\*)/.test(line.trimStart()))
  return statement !== undefined && SQL.test(statement.trimStart()) ? 'an SQL script' : null
}

/**
 * True for a text that begins as JSON: one object or list, or several of them on lines of their own (JSON Lines).
 * A CSV file with JSON, or with `[x]`, in its first cell goes on behind it, and is none.
 *
 * @param text without blanks in front
 * @param isWhole false where the text goes on
 */
function looksLikeJson(text: string, isWhole: boolean): boolean {
  if (text[0] !== '{' && text[0] !== '[') return false
  // An object with a name in quotes is meant as one, even where it breaks off or a comma is too many.
  const isClear = /^(?:\{\s{0,1000}"(?:[^"\\\r\n]|\\.){0,1000}"\s{0,1000}:|\[\s{0,1000}[{[])/.test(text)
  let at = 0
  let values = 0
  while (at < text.length) {
    const end = endOfValue(text, at)
    if (end === null) return isClear || (values > 0 && !isWhole)
    const next = end + (/^\s*/.exec(text.slice(end, end + 1000))?.[0].length ?? 0)
    const isLast = next >= text.length
    // On one line with something else: a cell among others.
    if (!isLast && !text.slice(end, next).includes('\n')) return false
    const value = text.slice(at, end)
    if (!isJson(value)) return isClear
    // Ticks and footnotes on lines of their own: `[ ]`, `[1]`.
    if (!isLast && text[at] === '[' && !value.includes(',')) return false
    if (!isLast && text[next] !== '{' && text[next] !== '[') return false
    values++
    at = next
  }
  return true
}

/** Where the object or list ends that begins at `start`; null where the text ends first. */
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

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    // A RangeError: an engine's own limit of nesting.
    if (error instanceof SyntaxError || error instanceof RangeError) return false
    throw error
  }
}
