import { detectEncoding } from './detect-encoding.ts'
import { CsvError } from './reader.ts'

/** What files of other kinds begin with, and what they are called. */
const KINDS: readonly { begins: readonly number[]; name: string }[] = [
  { begins: [0x50, 0x4b, 0x03, 0x04], name: 'a ZIP archive' },
  { begins: [0xd0, 0xcf, 0x11, 0xe0], name: 'an old Excel file' },
  { begins: [0x25, 0x50, 0x44, 0x46, 0x2d], name: 'a PDF' },
  { begins: [0x1f, 0x8b], name: 'a compressed file' },
  { begins: [0x89, 0x50, 0x4e, 0x47], name: 'a picture' },
  { begins: [0xff, 0xd8, 0xff], name: 'a picture' },
]
/** The parts of a workbook are named in its archive, the first of them near its beginning. */
const WORKBOOK = /xl\/(?:workbook|worksheets)|\[Content_Types\]\.xml/

/** Bytes that are looked at, and the share of control characters that no text has: of random bytes it is a tenth. */
const LOOKED_AT = 64 * 1024
const MANY_CONTROLS = 0.02
/** Tab, line feed, form feed, carriage return, escape. */
const IN_TEXT = new Set([9, 10, 12, 13, 27])

/**
 * Looks at the beginning of a file that is to be read as CSV, whatever it is called.
 * @throws CsvError that says what it is, where it is no text
 */
export function requireText(head: Uint8Array): void {
  const kind = KINDS.find(({ begins }) => begins.every((byte, at) => head[at] === byte))
  if (kind) {
    const isWorkbook =
      kind.name === 'an old Excel file' || WORKBOOK.test(new TextDecoder('latin1').decode(head))
    const advice = isWorkbook ? ': save the sheet as CSV, and import that' : ', not text'
    throw new CsvError(`This is ${isWorkbook ? 'an Excel workbook' : kind.name}${advice}`)
  }
  const looked = head.subarray(0, LOOKED_AT)
  if (detectEncoding(looked, false).startsWith('utf-16')) return
  let controls = 0
  for (const byte of looked) if (byte < 32 && !IN_TEXT.has(byte)) controls++
  if (controls > looked.length * MANY_CONTROLS && controls > 8)
    throw new CsvError('This is not a text file: it holds bytes that no text has')
}
