/** A stored file. */
export interface StoredFile {
  /** Bytes. */
  size: number
  /** The bytes from `from` up to, not including, `to`; all of them where neither is given. */
  read(from?: number, to?: number): ReadableStream<Uint8Array> | Blob
  /** All of it in memory: for what is small, or must be looked at as a whole. */
  bytes(): Promise<Uint8Array>
}

/**
 * Where people's files lie. A channel is a file of this folder. Files are written once, under a key that
 * nobody can guess, and never altered; a key is one that `isKey` passes.
 */
export interface FileStore {
  /**
   * Makes the place of the files where there is none yet.
   *
   * @param isUnused true where no file was ever kept
   * @throws STORAGE_MISSING where the place is gone, with the files in it
   */
  prepare(isUnused: () => Promise<boolean>): Promise<void>
  /**
   * Keeps a finished file of this disk under the key; the file itself is then gone. Under the key it is
   * there whole or not at all.
   */
  keep(key: string, file: string, mimetype: string): Promise<void>
  /** The file of that key, or null. */
  find(key: string): Promise<StoredFile | null>
  /** Removes the file of that key, if there is one. */
  remove(key: string): Promise<void>
}

/** Parts that begin with a letter, a digit or `_` and hold nothing else than those, `.` and `-`. */
const KEY = /^[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/
const MAX_KEY = 900 // S3 takes 1024 bytes

/** True for a key that no channel could take for something else: no `..`, no absolute path, no NUL. */
export const isKey = (key: string): boolean => key.length <= MAX_KEY && KEY.test(key)

/** @throws Error for a key that a caller has let pass: a mistake of ours, never answered with a file */
export function requireKey(key: string): string {
  if (!isKey(key)) throw new Error(`"${key.slice(0, 100)}" is no key of a file`)
  return key
}
