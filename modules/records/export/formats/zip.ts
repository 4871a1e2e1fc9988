import { Zip, ZipDeflate } from 'fflate'

/** A file inside an archive, written in pieces; each call gives the archive's bytes that are ready by then. */
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
export async function* zipped(
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
