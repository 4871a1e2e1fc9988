import { closeSync, openSync, readSync, statSync } from 'node:fs'

// https://sqlite.org/fileformat2.html#the_write_ahead_log
const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const PAGE_SIZE_AT = 8
const HEADER_SALTS_AT = 16
const FRAME_SALTS_AT = 8
const SALTS_BYTES = 8

/**
 * True if a write-ahead log has this many bytes since it last started over. Its file may be longer: SQLite overwrites a
 * log that it has checkpointed, and only frames with the salts of the header belong to it.
 */
export function hasLogReached(path: string, bytes: number): boolean {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < bytes) return false
  // Only the index next to the log has locks, which closing a file would release.
  const file = openSync(path, 'r')
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    const frame = Buffer.alloc(FRAME_HEADER_BYTES)
    readSync(file, header, 0, HEADER_BYTES, 0)
    const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(PAGE_SIZE_AT)
    const index = Math.floor((bytes - HEADER_BYTES) / frameBytes) - 1
    readSync(file, frame, 0, FRAME_HEADER_BYTES, HEADER_BYTES + index * frameBytes)
    const salts = header.subarray(HEADER_SALTS_AT, HEADER_SALTS_AT + SALTS_BYTES)
    return salts.equals(frame.subarray(FRAME_SALTS_AT, FRAME_SALTS_AT + SALTS_BYTES))
  } finally {
    closeSync(file)
  }
}
