/** A stored file. */
export interface StoredFile {
  /** Bytes. */
  size: number
  /** The bytes from `from` up to, not including, `to`; all of them where neither is given. */
  read(from?: number, to?: number): ReadableStream<Uint8Array> | Blob
  /** The whole content in memory, for small files only. */
  bytes(): Promise<Uint8Array>
}

/**
 * Storage of uploaded files, implemented by the other files of this folder. Files are written once, under an
 * unguessable key that passes `isKey`, and never changed.
 */
export interface FileStore {
  /**
   * Creates the storage location if missing.
   *
   * @param isUnused true if no file was ever stored
   * @throws STORAGE_MISSING if the location and its files are gone
   */
  prepare(isUnused: () => Promise<boolean>): Promise<void>
  /** Moves a complete local file into the storage, atomically. */
  keep(key: string, file: string, mimetype: string): Promise<void>
  /** The file under the key, or null. */
  find(key: string): Promise<StoredFile | null>
  /** Removes the file under the key, if any. */
  remove(key: string): Promise<void>
}

/** Segments of letters, digits, `_`, `.` and `-` that do not start with `.` or `-`. */
const KEY = /^[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/
const MAX_KEY = 900 // S3 takes 1024 bytes

/** True for a key that is safe in every store: no `..`, no absolute path, no NUL. */
export const isKey = (key: string): boolean => key.length <= MAX_KEY && KEY.test(key)

/** @throws Error for an invalid key, which callers must have rejected before */
export function requireKey(key: string): string {
  if (!isKey(key)) throw new Error(`"${key.slice(0, 100)}" is no key of a file`)
  return key
}
