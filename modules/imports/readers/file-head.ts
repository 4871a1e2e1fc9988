import { open } from 'node:fs/promises'
import { FileError } from '../../../src/core/imports/file-error.ts'
import { fileKind } from '../../../src/core/imports/file-kind.ts'
import type { FileKind } from '../../../src/core/imports/format.ts'
import { m } from '../../../src/messages.gen.ts'

/** Bytes at the beginning of a file that tell its kind. */
const HEAD = 256 * 1024

export const isWholeFile = (path: string): boolean => Bun.file(path).size <= HEAD

/** The first 256 KB of a file. */
export async function readHead(path: string): Promise<Uint8Array> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(HEAD), 0, HEAD, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** @throws ForeignFileError naming the kind of a file that cannot be imported */
export const kindOfFile = async (path: string): Promise<FileKind> =>
  fileKind(await readHead(path), isWholeFile(path))

/** @throws FileError unless the file has this kind, whatever its name */
export async function requireKind(path: string, expected: FileKind): Promise<void> {
  const kind = await kindOfFile(path)
  if (kind !== expected) throw new FileError(m.imports_error_other_kind({ kind: NAMES[kind]() }))
}

const NAMES: Record<FileKind, () => string> = {
  csv: m.imports_kind_csv,
  excel: m.imports_kind_excel,
  json: m.imports_kind_json,
}
