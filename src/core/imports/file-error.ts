/** A file cannot be read; the message tells the user why, where, and what to do. */
export class FileError extends Error {
  override readonly name: string = 'FileError'
}
