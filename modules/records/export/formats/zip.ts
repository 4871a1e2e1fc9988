import { trimCharacters } from '../../../../src/core/trim-characters.ts'
import { combineCrc, compress } from '../../../../src/record-files/index.ts'

/** A piece of an archived file, compressed on its own. */
type PackedPiece = ReturnType<typeof compress>

/** A file inside an archive that is being written. */
export interface ArchivedFile {
  /** Adds the next piece of the file and returns the bytes of the archive. */
  add(piece: PackedPiece): Iterable<Uint8Array>
  /** Adds the last piece. */
  end(piece?: PackedPiece): Iterable<Uint8Array>
}

interface Entry {
  name: Uint8Array
  /** Position of its local header. */
  offset: number
  crc: number
  /** Bytes before and after compression. */
  size: number
  packedSize: number
}

/** Sizes and counts from which a field of 32 or 16 bits refers to the ZIP64 record (APPNOTE.TXT of PKWARE, 4.4.1.4). */
const MAX_32 = 0xffff_ffff
const MAX_16 = 0xffff
const DEFLATE = 8
const VERSION = 20
const VERSION_ZIP64 = 45
/** Sizes follow the file in a data descriptor, and names are UTF-8. */
const FLAGS = 0x0808
/** 1980-01-01, the earliest date: equal content gives equal archives. */
const DATE = 0x0021

/**
 * Writes a ZIP archive while its files are made: `make` opens one file after the other and passes on what they return.
 * Files and archives above 4 GB use ZIP64. Memory does not grow with the files.
 */
export async function* zipped(
  make: (open: (path: string) => ArchivedFile) => AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const entries: Entry[] = []
  let position = 0
  const sent = (bytes: Uint8Array): Uint8Array => {
    position += bytes.length
    return bytes
  }

  function open(path: string): ArchivedFile {
    const name = new TextEncoder().encode(path)
    const entry: Entry = { name, offset: position, crc: 0, size: 0, packedSize: 0 }
    entries.push(entry)
    let header: Uint8Array | null = localHeader(name)
    const add = function* (piece: PackedPiece): Iterable<Uint8Array> {
      if (header) yield sent(header)
      header = null
      entry.crc = combineCrc(entry.crc, piece.crc, piece.size)
      entry.size += piece.size
      entry.packedSize += piece.bytes.length
      yield sent(piece.bytes)
    }
    return {
      add,
      *end(piece = compress('', true)) {
        yield* add(piece)
        yield sent(dataDescriptor(entry))
      },
    }
  }

  yield* make(open)
  const start = position
  for (const entry of entries) yield sent(centralHeader(entry))
  yield* endOfArchive({ count: entries.length, start, size: position - start })
}

/** Writes numbers of a record one after the other, little-endian. */
function record(...parts: (readonly [bytes: 2 | 4 | 8, value: number] | Uint8Array)[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + (part instanceof Uint8Array ? part.length : part[0]), 0)
  const bytes = new Uint8Array(length)
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const part of parts) {
    if (part instanceof Uint8Array) bytes.set(part, at)
    else if (part[0] === 2) view.setUint16(at, part[1], true)
    else if (part[0] === 4) view.setUint32(at, part[1], true)
    else view.setBigUint64(at, BigInt(part[1]), true)
    at += part instanceof Uint8Array ? part.length : part[0]
  }
  return bytes
}

const localHeader = (name: Uint8Array): Uint8Array =>
  record(
    [4, 0x0403_4b50],
    [2, VERSION],
    [2, FLAGS],
    [2, DEFLATE],
    [2, 0],
    [2, DATE],
    [4, 0],
    [4, 0],
    [4, 0],
    [2, name.length],
    [2, 0],
    name,
  )

const isLarge = ({ size, packedSize }: Entry): boolean => size >= MAX_32 || packedSize >= MAX_32

/** Sizes of 64 bits where they are needed, as readers expect them by the sizes of the central header. */
function dataDescriptor(entry: Entry): Uint8Array {
  const width = isLarge(entry) ? 8 : 4
  return record([4, 0x0807_4b50], [4, entry.crc], [width, entry.packedSize], [width, entry.size])
}

function centralHeader(entry: Entry): Uint8Array {
  const { name, offset, crc, size, packedSize } = entry
  const isZip64 = isLarge(entry) || offset >= MAX_32
  const extra = isZip64 ? record([2, 1], [2, 24], [8, size], [8, packedSize], [8, offset]) : new Uint8Array()
  const stored = (value: number) => (isZip64 ? MAX_32 : value)
  return record(
    [4, 0x0201_4b50],
    [2, isZip64 ? VERSION_ZIP64 : VERSION],
    [2, isZip64 ? VERSION_ZIP64 : VERSION],
    [2, FLAGS],
    [2, DEFLATE],
    [2, 0],
    [2, DATE],
    [4, crc],
    [4, stored(packedSize)],
    [4, stored(size)],
    [2, name.length],
    [2, extra.length],
    [2, 0],
    [2, 0],
    [2, 0],
    [4, 0],
    [4, stored(offset)],
    name,
    extra,
  )
}

function* endOfArchive(directory: { count: number; start: number; size: number }): Iterable<Uint8Array> {
  const { count, start, size } = directory
  const isZip64 = count >= MAX_16 || start >= MAX_32 || size >= MAX_32
  if (isZip64) {
    yield record(
      [4, 0x0606_4b50],
      [8, 44],
      [2, VERSION_ZIP64],
      [2, VERSION_ZIP64],
      [4, 0],
      [4, 0],
      [8, count],
      [8, count],
      [8, size],
      [8, start],
    )
    yield record([4, 0x0706_4b50], [4, 0], [8, start + size], [4, 1])
  }
  const [shownCount, shownSize, shownStart] = isZip64 ? [MAX_16, MAX_32, MAX_32] : [count, size, start]
  yield record(
    [4, 0x0605_4b50],
    [2, 0],
    [2, 0],
    [2, shownCount],
    [2, shownCount],
    [4, shownSize],
    [4, shownStart],
    [2, 0],
  )
}

const MAX_NAME = 100

/**
 * File names of tables in an archive: the titles without characters that file systems reject, each once whatever its
 * case.
 */
export function fileNames(titles: readonly string[], extension: string): string[] {
  const taken = new Set<string>()
  return titles.map((title) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are rejected by file systems
    const legal = title.replace(/[\u0000-\u001f\u007f<>:"/\\|?*]/g, '_')
    const plain = trimCharacters(legal, '. ').slice(0, MAX_NAME).toWellFormed() || 'table'
    for (let number = 1; ; number++) {
      const name = `${plain}${number === 1 ? '' : ` (${number})`}.${extension}`
      const key = name.normalize('NFC').toLowerCase()
      if (taken.has(key)) continue
      taken.add(key)
      return name
    }
  })
}
