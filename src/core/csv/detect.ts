import Papa from 'papaparse'
import { createBackslashParser } from './backslash.ts'
import { CSV_DELIMITERS, type CsvEncoding, type CsvFormat } from './format.ts'
import { createLineSample, type EncodingGuess, guessEncoding } from './guess-encoding.ts'
import { createCsvReader, SEPARATOR_LINE } from './reader.ts'

/** Records in the sample. */
const SAMPLE = 50

/** Delimiters that texts often contain for other reasons, and those that hardly any text contains. */
const COMMON = [',', ';', '\t', '|']
const RARE = ['^', '~'] as const

/** The delimiter that splits the beginning of a text into the most even rows; a comma if none does. */
export function detectDelimiter(text: string): string {
  const sample = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  const declared = SEPARATOR_LINE.exec(sample)?.[1]
  const known = CSV_DELIMITERS.find((delimiter) => delimiter === declared)
  if (known !== undefined) return known
  const lines = wholeLines(sample)
  // Commas in the texts of such a file may be even, too, but are fewer.
  const rare = RARE.find((delimiter) => columnsOf(lines, delimiter) > Math.max(2, columnsOf(lines, ',')))
  if (rare !== undefined) return rare
  const { meta, data } = Papa.parse<string[]>(sample, {
    preview: SAMPLE,
    newline: '\n',
    // Otherwise the final line break counts as a row of one cell, which outweighs a few rows of two.
    skipEmptyLines: true,
    delimitersToGuess: COMMON,
  })
  if (data.every((cells) => cells.length < 2)) {
    const other = RARE.find((delimiter) => columnsOf(lines, delimiter) > 1)
    if (other !== undefined) return other
    const isOther =
      lines.every((line) => CODES_WITH_COLONS.test(line)) || lines.some((line) => OTHER_COLONS.test(line))
    if (columnsOf(lines, ':') > 1 && !isOther) return ':'
  }
  return CSV_DELIMITERS.find((delimiter) => delimiter === meta.delimiter) ?? ','
}

/** Lines of a sample, without the last one, which may be cut off. */
function wholeLines(sample: string): string[] {
  const lines = sample.split('\n', SAMPLE + 1).filter((line) => line !== '')
  return lines.length > 1 && lines.length > SAMPLE ? lines.slice(0, SAMPLE) : lines
}

/** Columns of lines that a delimiter splits evenly; 0 for others, and for a single line. */
function columnsOf(lines: readonly string[], delimiter: string): number {
  const counts = new Set(lines.map((line) => line.split(delimiter).length))
  const [count = 0] = counts
  return counts.size === 1 && lines.length > 1 ? count : 0
}

/** Times and addresses of networks. */
const CODES_WITH_COLONS = /^[\da-f:.,\s]*$/i
/** Colons that separate nothing: `Name: Ann`, addresses of pages and of Windows' files. */
const OTHER_COLONS = /: |:\/\/|:\\/

/**
 * Tells whether backslashes escape quotes in a text, as in MySQL's and Hive's exports: the text has errors without them and none
 * with them, or a cell is `\N` and all backslashes begin an escape.
 *
 * @param text the beginning of the file
 */
export function detectEscape(
  text: string,
  { delimiter, quote = '"' }: Pick<CsvFormat, 'delimiter'> & Partial<Pick<CsvFormat, 'quote'>>,
): '' | '\\' {
  if (!text.includes('\\')) return ''
  const sample = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  const plain = createCsvReader({ delimiter, quote })
  const rows = plain.push(sample).concat(plain.end())
  const areWrong = plain.takeProblems().length > 0
  const escaped = createBackslashParser({ delimiter, quote }).parse(sample, 0, true)
  const fits = escaped.data.length > 0 && escaped.errors.every(({ row = 0 }) => row >= escaped.data.length)
  if (!fits) return ''
  if (areWrong) return sample.includes('\\"') ? '\\' : ''
  const hasNulls = rows.some((cells) => cells.includes('\\N'))
  const hasDoubled = rows.some((cells) => cells.some((cell) => cell.includes('"') && !cell.includes('\\"')))
  const others = sample.replace(/\\(?:[\\NntrbfvZ0'"\n]|[,;\t|:^~])/g, '')
  return hasNulls && !hasDoubled && !others.includes('\\') ? '\\' : ''
}

/**
 * Share of byte pairs with a zero byte on one side that indicates UTF-16. Latin letters have one each. In
 * other scripts only commas and line breaks do, but such bytes are not valid UTF-8 either.
 */
const MANY_ZEROS = 0.3
const SOME_ZEROS = 0.02

/** Escape sequences that begin Japanese text in ISO-2022-JP, whose bytes are all ASCII. */
const ISO_2022_JP = ['\u001b$B', '\u001b$@']

/** Share of damaged characters, of all beyond ASCII, from which on a text is not UTF-8. */
const MANY_DAMAGED = 0.1

/** The encoding of the first bytes of a text, the most plausible one where several are possible. */
export const detectEncoding = (bytes: Uint8Array, isWhole: boolean): CsvEncoding =>
  detectFrom([bytes], isWhole).encoding

/**
 * Detects the encoding of a text: a byte order mark, the zero bytes of Latin letters in UTF-16, valid UTF-8 or UTF-8 with
 * a few damaged characters, or else the one in which it makes sense.
 *
 * @param samples the beginning of the text, and others from anywhere
 * @param isWhole false if the text continues: the last character of each sample may then be incomplete
 */
export function detectFrom(samples: readonly Uint8Array[], isWhole: boolean): EncodingGuess {
  const [head = new Uint8Array(), ...others] = samples
  const known = knownEncoding(head, isWhole)
  if (known) return { encoding: known, readings: [] }
  const whole = [head, ...others.map(fromCharacter)]
  if (whole.every((bytes) => isUtf8(bytes, isWhole)) || isDamagedUtf8(whole))
    return { encoding: 'utf-8', readings: [] }
  return guessEncoding(
    samples.flatMap((bytes, at) => {
      const sample = createLineSample(at > 0)
      sample.push(bytes)
      return sample.lines(isWhole)
    }),
  )
}

/** An encoding that its marks, zero bytes or escape sequences prove, or null. */
export function knownEncoding(head: Uint8Array, isWhole: boolean): CsvEncoding | null {
  const mark = markOf(head)
  if (mark) return mark
  const couldBeUtf8 = isUtf8(head, isWhole)
  const utf16 = utf16Of(head, couldBeUtf8 ? MANY_ZEROS : SOME_ZEROS)
  if (utf16) return utf16
  const text = couldBeUtf8 ? new TextDecoder().decode(head) : ''
  return ISO_2022_JP.some((sequence) => text.includes(sequence)) ? 'iso-2022-jp' : null
}

/** Counts the characters beyond ASCII of a text that may be UTF-8, and the damaged ones among them. */
export function createDamageCount() {
  const decoder = new TextDecoder('utf-8')
  let foreign = 0
  let damaged = 0
  return {
    /** @param bytes the next part of the text */
    push(bytes: Uint8Array): void {
      const text = decoder.decode(bytes, { stream: true })
      foreign += text.match(/[\u0080-\uffff]/g)?.length ?? 0
      damaged += text.match(/\ufffd/g)?.length ?? 0
    },
    /** True for UTF-8 with a few damaged characters. Text in other encodings has next to no valid ones. */
    isMostlyValid: (): boolean => damaged < foreign * MANY_DAMAGED,
  }
}

function isDamagedUtf8(samples: readonly Uint8Array[]): boolean {
  const count = createDamageCount()
  for (const bytes of samples) count.push(bytes)
  return count.isMostlyValid()
}

/** Without the end of a UTF-8 character whose beginning is in front of a sample. */
function fromCharacter(bytes: Uint8Array): Uint8Array {
  let start = 0
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return bytes.subarray(start)
}

/** The encoding that a byte order mark names, or null. */
function markOf(bytes: Uint8Array): CsvEncoding | null {
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
