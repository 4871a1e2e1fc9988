import type { CellValue } from '../core/fields/field-type.ts'
import type { RecordId } from '../core/model.ts'
import type { WrittenPage } from './page-writer.ts'

/*
 * Writes rows whose cells are the texts that a database sent. Most of them stand in a file as they are, so their bytes are
 * copied: several times faster than to decode, format and encode each.
 */

/** Bytes between the cells of a row, between rows, and in place of null. Texts may have them as well. */
export const SEPARATORS = { cell: 0x1f, row: 0x1d, null: 0x1e } as const

/** How the texts of a column are read. */
export interface TextColumn {
  /** The value of a text; null: the text itself. */
  read: ((text: string) => CellValue) | null
  /** True if the texts are numbers. */
  isNumeric: boolean
}

/** Rows in UTF-8 with `SEPARATORS`: a cell for each field, and the record's id. */
export interface TextRows {
  bytes: Uint8Array
  columns: readonly TextColumn[]
  rows: number
  /** The number of null cells, which tells them from texts that look like one. */
  nulls: number
}

/** How a format writes the cells of a field. */
export interface CellFormat {
  /** What stands before each cell. */
  before: string
  null: string
  write(value: CellValue): string
  /** True if `write` only quotes and escapes texts. */
  copiesTexts: boolean
  /** True if `write` gives numbers as `String` does. */
  copiesNumbers: boolean
}

/** How a format writes rows. */
export interface RowFormat {
  cells: readonly CellFormat[]
  /** What stands before each row except the first of the file. */
  between: string
  after: string
  /** Replaces a row without any characters. */
  emptyRow: string
  /** True if the texts that are copied always have quotes. */
  isQuoted: boolean
  /** The `Character` flags of each byte of a text. */
  characters: Uint8Array
}

/** How a byte of a text is written. */
export const Character = {
  /** In a quoted text; quotes in it are doubled. */
  quoted: 1,
  /** By `CellFormat.write`. */
  escaped: 2,
  /** By `CellFormat.write` if the text begins or ends with it. */
  escapedFirst: 4,
  escapedLast: 8,
} as const

const QUOTE = 0x22
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39

/** Numbers of so many characters are exact in a double. */
const MAX_EXACT = 15

/** Length limit of the texts whose cells are remembered, such as dates and words, and their number by table. */
const MAX_REMEMBERED_LENGTH = 32
const MAX_REMEMBERED = 20_000

/** A native copy is faster than a loop from about this length on. */
const LONG = 64

const encoder = new TextEncoder()

/** Bytes that grow. */
class Output {
  bytes = new Uint8Array(512_000)
  length = 0

  reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return
    const larger = new Uint8Array((this.length + count) * 2)
    larger.set(this.bytes.subarray(0, this.length))
    this.bytes = larger
  }

  add(piece: Uint8Array): void {
    this.reserve(piece.length)
    const { bytes } = this
    let to = this.length
    for (let at = 0; at < piece.length; at++) bytes[to++] = piece[at] as number
    this.length = to
  }

  copy(source: Buffer, from: number, end: number): void {
    this.reserve(end - from)
    const { bytes } = this
    let to = this.length
    if (end - from >= LONG) to += source.copy(bytes, to, from, end)
    else for (let at = from; at < end; at++) bytes[to++] = source[at] as number
    this.length = to
  }

  /** Copies a text in quotes, with the quotes in it doubled. */
  copyQuoted(source: Buffer, from: number, end: number): void {
    this.reserve(2 * (end - from) + 2)
    const { bytes } = this
    let to = this.length
    bytes[to++] = QUOTE
    for (let at = from; at < end; at++) {
      const byte = source[at] as number
      bytes[to++] = byte
      if (byte === QUOTE) bytes[to++] = byte
    }
    bytes[to++] = QUOTE
    this.length = to
  }
}

/** Reused by the pages that a thread writes one after another: a new one for each would have to be cleared. */
let output = new Output()

/** A larger one is not kept between pages. */
const MAX_KEPT = 4_000_000

/**
 * True for a number that PostgreSQL and JavaScript write alike: without an exponent, zeros at the end of a fraction, or
 * a fraction below 0.1.
 */
function isPlainNumber(bytes: Uint8Array, from: number, end: number): boolean {
  if (end - from > MAX_EXACT) return false
  const start = bytes[from] === MINUS ? from + 1 : from
  let point = -1
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    if (byte === POINT && point < 0) point = at
    else if (byte < ZERO || byte > NINE) return false
  }
  // Also `-0`, which JavaScript writes without its sign.
  if (start === end || bytes[start] === ZERO) return start === from && end === from + 1
  return point < 0 || (point > start && point < end - 1 && bytes[end - 1] !== ZERO)
}

/**
 * Writes the rows in the order of the ids; those that are missing are omitted.
 *
 * @param first the number of records in the file before the page
 * @returns null if the rows cannot be told apart, because a text has one of the separators
 */
export type TextRowsWriter = (
  rows: Pick<TextRows, 'bytes' | 'rows' | 'nulls'>,
  recordIds: readonly RecordId[],
  first: number,
) => WrittenPage | null

/** Writes what `CellFormat.write` does for each value. */
export function createTextRowsWriter(format: RowFormat, columns: readonly TextColumn[]): TextRowsWriter {
  const { isQuoted, characters } = format
  const maxRemembered = MAX_REMEMBERED / format.cells.length
  const cells = format.cells.map((cell, at) =>
    cellWriter(cell, columns[at] ?? { read: null, isNumeric: false }, maxRemembered),
  )
  const between = encoder.encode(format.between)
  const after = encoder.encode(format.after)
  const emptyRow = encoder.encode(format.emptyRow)

  /** True if a text has characters that its format has to escape, as `seen` flags tell, or at its ends. */
  const isEscaped = (source: Buffer, from: number, end: number, seen: number): boolean =>
    (seen & Character.escaped) !== 0 ||
    (end > from &&
      ((flagsOf(source, from) & Character.escapedFirst) !== 0 ||
        (flagsOf(source, end - 1) & Character.escapedLast) !== 0))

  const flagsOf = (source: Buffer, at: number): number => characters[source[at] as number] as number

  /** @param seen the flags of all bytes of the text */
  function writeCell(cell: CellWriter, source: Buffer, from: number, end: number, seen: number): void {
    if (cell.copiesTexts && !isEscaped(source, from, end, seen)) {
      if (isQuoted || (seen & Character.quoted) !== 0) output.copyQuoted(source, from, end)
      else output.copy(source, from, end)
    } else if (cell.copiesNumbers && isPlainNumber(source, from, end)) {
      output.copy(source, from, end)
    } else {
      output.add(cell.write(source.toString('utf8', from, end)))
    }
  }

  return ({ bytes, rows, nulls }, recordIds, first) => {
    const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const ids: number[] = []
    const starts: number[] = []
    let foundNulls = 0
    let at = 0
    output.length = 0
    for (let row = 0; row < rows; row++) {
      starts.push(output.length)
      output.add(between)
      const start = output.length
      for (const cell of cells) {
        const from = at
        let seen = 0
        for (let byte = source[at]; byte !== SEPARATORS.cell; byte = source[++at]) {
          if (byte === undefined || byte === SEPARATORS.row) return null
          seen |= characters[byte] as number
        }
        output.add(cell.before)
        if (at === from + 1 && source[from] === SEPARATORS.null) {
          output.add(cell.null)
          foundNulls++
        } else {
          writeCell(cell, source, from, at, seen)
        }
        at++
      }
      if (output.length === start) output.add(emptyRow)
      output.add(after)
      const found = source.indexOf(SEPARATORS.row, at)
      const end = found < 0 ? source.length : found
      const id = Number(source.toString('latin1', at, end))
      if (!Number.isSafeInteger(id)) return null
      ids.push(id)
      at = end + 1
    }
    if (foundNulls !== nulls || at !== source.length + 1) return null
    const page = inOrder(output.bytes.subarray(0, output.length), { ids, starts }, recordIds)
    if (output.bytes.length > MAX_KEPT) output = new Output()
    // A copy, because other pages use the same bytes.
    const written = page.slice(first === 0 ? between.length : 0)
    return { rows: ids.length, pieces: [{ bytes: written }] }
  }
}

type CellWriter = ReturnType<typeof cellWriter>

function cellWriter(
  { before, null: empty, write, copiesTexts, copiesNumbers }: CellFormat,
  { read, isNumeric }: TextColumn,
  maxRemembered: number,
) {
  const remembered = new Map<string, Uint8Array>()
  return {
    before: encoder.encode(before),
    null: encoder.encode(empty),
    copiesTexts: copiesTexts && read === null,
    copiesNumbers: copiesNumbers && isNumeric,
    write(text: string): Uint8Array {
      const known = remembered.get(text)
      if (known) return known
      const written = encoder.encode(write(read ? read(text) : text))
      if (text.length > MAX_REMEMBERED_LENGTH) return written
      if (remembered.size >= maxRemembered) remembered.clear()
      remembered.set(text, written)
      return written
    },
  }
}

/** The rows that begin at `starts`, in the order of `recordIds`. */
function inOrder(
  bytes: Uint8Array<ArrayBuffer>,
  { ids, starts }: { ids: readonly number[]; starts: readonly number[] },
  recordIds: readonly RecordId[],
): Uint8Array<ArrayBuffer> {
  const isSorted = ids.length === recordIds.length && ids.every((id, at) => id === recordIds[at])
  if (isSorted) return bytes
  const rowOf = new Map<RecordId, number>(ids.map((id, row) => [id, row]))
  const sorted = new Uint8Array(bytes.length)
  let to = 0
  for (const id of recordIds) {
    const row = rowOf.get(id)
    if (row === undefined) continue
    const slice = bytes.subarray(starts[row], starts[row + 1] ?? bytes.length)
    sorted.set(slice, to)
    to += slice.length
  }
  return sorted.subarray(0, to)
}
