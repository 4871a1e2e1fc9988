import Papa from 'papaparse'
import { CSV_DELIMITERS, type CsvEncoding } from './format.ts'
import { SEPARATOR_LINE } from './reader.ts'

/** Records in the sample. */
const SAMPLE = 50

/** The delimiter that splits the beginning of a text into the most even rows; a comma if none does. */
export function detectDelimiter(text: string): string {
  const sample = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  const declared = SEPARATOR_LINE.exec(sample)?.[1]
  const known = CSV_DELIMITERS.find((delimiter) => delimiter === declared)
  if (known !== undefined) return known
  const { meta } = Papa.parse(sample, {
    preview: SAMPLE,
    newline: '\n',
    // Otherwise the final line break counts as a row of one cell, which outweighs a few rows of two.
    skipEmptyLines: true,
    delimitersToGuess: [...CSV_DELIMITERS],
  })
  return CSV_DELIMITERS.find((delimiter) => delimiter === meta.delimiter) ?? ','
}

/**
 * Share of byte pairs with a zero byte on one side that indicates UTF-16. Latin letters have one each. In
 * other scripts only commas and line breaks do, but such bytes are not valid UTF-8 either.
 */
const MANY_ZEROS = 0.3
const SOME_ZEROS = 0.02

/**
 * Detects the encoding from the first bytes of a text: a byte order mark, the zero bytes of Latin letters in
 * UTF-16, or valid UTF-8. The fallback is Windows-1252, in which every byte sequence is text.
 *
 * @param isWhole false if the text continues: its last character may then be incomplete
 */
export function detectEncoding(bytes: Uint8Array, isWhole: boolean): CsvEncoding {
  const mark = markOf(bytes)
  if (mark) return mark
  const couldBeUtf8 = isUtf8(bytes, isWhole)
  return utf16Of(bytes, couldBeUtf8 ? MANY_ZEROS : SOME_ZEROS) ?? (couldBeUtf8 ? 'utf-8' : 'windows-1252')
}

/** The encoding that a byte order mark names, or null. */
export function markOf(bytes: Uint8Array): CsvEncoding | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return null
}

/** UTF-16 without a byte order mark, or null. */
function utf16Of(bytes: Uint8Array, share: number): CsvEncoding | null {
  const pairs = bytes.length >> 1
  let even = 0
  let odd = 0
  for (let at = 0; at < pairs * 2; at += 2) {
    if (bytes[at] === 0) even++
    if (bytes[at + 1] === 0) odd++
  }
  if (odd > pairs * share && odd > even * 9) return 'utf-16le'
  if (even > pairs * share && even > odd * 9) return 'utf-16be'
  return null
}

function isUtf8(bytes: Uint8Array, isWhole: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole })
    return true
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}
