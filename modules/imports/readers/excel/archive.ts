import { pipeline, type Readable } from 'node:stream'
import { createInflateRaw } from 'node:zlib'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { FileError } from '../../../../src/core/imports/file-error.ts'
import { m } from '../../../../src/messages.gen.ts'

const MAX_ENTRIES = 20_000
/** Sizes that only archives built to exhaust memory or disk have: bytes, if they are so many times the packed ones. */
const MAX_RATIO = 400
const RATIO_FROM_BYTES = 100_000_000
const MAX_ENTRY_BYTES = 16_000_000_000

/** The files in a ZIP archive, by their lower-case path. */
export interface Archive {
  /** True if programs may find other files in it: two have the same name, or something like a directory follows its directory. */
  isAmbiguous: boolean
  names(): string[]
  has(name: string): boolean
  /** Packed size of a file in bytes. */
  packedSize(name: string): number
  /** Unpacked size in bytes of a file, or of all files, as the directory says. */
  unpackedSize(name?: string): number
  /**
   * The content of a file; `onProgress` gets the packed bytes read so far, about.
   * @throws FileError for a missing, damaged or encrypted file, and for a bomb
   */
  read(name: string, onProgress?: (done: number) => void): AsyncGenerator<Uint8Array>
  /** @throws FileError as `read`, and above `maxBytes` */
  text(name: string, maxBytes: number): Promise<string>
  close(): void
}

const broken = () => new FileError(m.imports_error_archive_broken())

/** Opens a ZIP archive by its directory, whatever order its files have. @throws FileError */
export async function openArchive(path: string): Promise<Archive> {
  const zip = await explained(() => openPromise(path, { autoClose: false, strictFileNames: false }))
  const entries = await explained(() => listEntries(zip))

  function entryOf(name: string): Entry {
    const entry = entries.get(name.toLowerCase())
    if (!entry) throw broken()
    if (entry.isEncrypted()) throw new FileError(m.imports_error_workbook_encrypted())
    const isBomb =
      entry.uncompressedSize > RATIO_FROM_BYTES && entry.uncompressedSize > entry.compressedSize * MAX_RATIO
    if (isBomb || entry.uncompressedSize > MAX_ENTRY_BYTES) {
      const megabytes = Math.round(entry.uncompressedSize / 1e6)
      throw new FileError(m.imports_error_archive_bomb({ megabytes }))
    }
    return entry
  }

  async function* read(name: string, onProgress?: (done: number) => void): AsyncGenerator<Uint8Array> {
    const entry = entryOf(name)
    const stream = await explained(() => openStream(zip, entry))
    const share = entry.compressedSize / Math.max(1, entry.uncompressedSize)
    let size = 0
    const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
    try {
      for (;;) {
        const { done, value } = await explained(() => chunks.next())
        if (!done) size += value.byteLength
        // A bomb may say that it is small.
        if (done ? size < entry.uncompressedSize : size > entry.uncompressedSize) throw broken()
        if (done) return
        onProgress?.(Math.round(size * share))
        yield value
      }
    } finally {
      stream.destroy()
    }
  }

  return {
    isAmbiguous: entries.size < zip.entryCount || (await hasTrailingDirectory(path)),
    names: () => [...entries.keys()],
    has: (name) => entries.has(name.toLowerCase()),
    packedSize: (name) => entries.get(name.toLowerCase())?.compressedSize ?? 0,
    unpackedSize: (name) =>
      name === undefined
        ? [...entries.values()].reduce((sum, entry) => sum + entry.uncompressedSize, 0)
        : (entries.get(name.toLowerCase())?.uncompressedSize ?? 0),
    read,
    async text(name, maxBytes) {
      const chunks: Uint8Array[] = []
      let size = 0
      for await (const chunk of read(name)) {
        size += chunk.byteLength
        if (size > maxBytes) throw broken()
        chunks.push(chunk)
      }
      return new TextDecoder().decode(Buffer.concat(chunks))
    },
    close: () => zip.close(),
  }
}

/** Compression methods (APPNOTE 4.4.5). */
const DEFLATED = 8
/** Bytes that are inflated at a time: of the 16 KB of Node.js, handing on takes longer than inflating. */
const INFLATED_AT_ONCE = 1 << 16

/** The content of a file. Its size has to be checked. */
async function openStream(zip: ZipFile, entry: Entry): Promise<Readable> {
  if (entry.compressionMethod !== DEFLATED) return zip.openReadStreamPromise(entry)
  const packed = await zip.openReadStreamPromise(entry, { decodeFileData: false })
  const inflate = createInflateRaw({ chunkSize: INFLATED_AT_ONCE })
  return pipeline(packed, inflate, () => {})
}

/** Length of the end of a directory (APPNOTE 4.3.16); less cannot hold one. */
const END_OF_DIRECTORY = 22

/** True if the last bytes begin like the end of a directory, and are too few for one. */
async function hasTrailingDirectory(path: string): Promise<boolean> {
  const tail = await Bun.file(path)
    .slice(-(END_OF_DIRECTORY - 1))
    .bytes()
  return Buffer.from(tail).includes('PK\x05\x06', 0, 'latin1')
}

async function listEntries(zip: ZipFile): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>()
  if (zip.entryCount > MAX_ENTRIES) throw broken()
  for await (const entry of zip.eachEntry()) {
    entries.set(entry.fileName.replaceAll('\\', '/').replace(/^\//, '').toLowerCase(), entry)
  }
  return entries
}

/** Turns the errors of the archive's library into one that says what to do. */
async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof FileError || isSystemError(error)) throw error
    throw broken()
  }
}

/** Errors of the disk have a code such as `EIO`; those of the decompressor begin with `Z_`. */
const isSystemError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^E[A-Z]+$/.test(String(error.code))
