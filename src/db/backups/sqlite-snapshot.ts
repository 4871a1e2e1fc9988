import { Database } from 'bun:sqlite'
import { type BigIntStats, closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'

/*
 * Reads a snapshot of an SQLite file page by page while others write to it. A read transaction keeps SQLite from
 * overwriting what the snapshot consists of: pages of the file, and frames of its write-ahead log up to the snapshot's
 * end. Compared with `vacuum into`, a page that did not change is the same in the next backup, and nothing is written.
 *
 * Only for a process that has no other connection to the file: closing any descriptor of a file releases all locks of
 * the process on it (https://www.sqlite.org/howtocorrupt.html, 2.2).
 */

/** https://www.sqlite.org/walformat.html */
const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** The wal-index header: its two copies are equal unless a writer is at work. */
const INDEX_HEADER_BYTES = 48
const INDEX_BACKFILL_OFFSET = 96
/** The wal-index is a sequence of blocks: the page numbers of frames, then a hash table. */
const INDEX_BLOCK_BYTES = 32 * 1024
const INDEX_PAGES_BYTES = 16 * 1024
/** Where the page numbers of the first block begin. */
const INDEX_START_BYTES = 136
/** Frames of the log that are read by one call. */
const FRAMES_AT_ONCE = 64
/** Two changes within the resolution of a file system's times cannot be told apart; FAT's is the coarsest. */
const MIN_AGE_MS = 2_000
/** Attempts to begin a read between two commits. */
const MAX_ATTEMPTS = 1_000

/** A file as it was at one moment. */
export interface SqliteSnapshot {
  /** Bytes of the file. */
  readonly size: number
  readonly pageSize: number
  /**
   * Equal for two snapshots of a file with the same contents and no change in between; null if that cannot be told, as
   * the file was written just now.
   */
  readonly state: string | null
  /** The connection that reads the same snapshot by SQL. */
  readonly database: Database
  /** Copies the bytes from `offset`, a multiple of the page size, into `target`. @returns their number */
  read(offset: number, target: Uint8Array): number
  /** Lets writers overwrite what the snapshot consisted of. */
  close(): void
}

interface LogState {
  pageSize: number
  /** The last frame of the snapshot in the log; 0 if it has none. */
  lastFrame: number
  pages: number
  /** Changes when the log is overwritten from its beginning. */
  salts: Buffer
}

/**
 * Begins a snapshot of a file.
 *
 * @throws SQLITE_NOTADB, SQLITE_CORRUPT; Error if the file is not in WAL mode
 */
export function openSnapshot(path: string): SqliteSnapshot {
  const database = new Database(path, { readonly: true, strict: true })
  const opened: number[] = []
  const openFile = (name: string): number => {
    const descriptor = openSync(name, 'r')
    opened.push(descriptor)
    return descriptor
  }
  const close = () => {
    // The connection first: closing a descriptor would release its locks.
    database.close(true)
    for (const descriptor of opened) closeSync(descriptor)
  }
  try {
    database.run('pragma busy_timeout = 5000')
    const mode = database.query<{ journal_mode: string }, []>('pragma journal_mode').get()?.journal_mode
    if (mode !== 'wal') throw new Error(`${path} is not in WAL mode`)
    // The first read creates the shared index.
    database.query('select count(*) from sqlite_schema').get()
    const file = openFile(path)
    const index = openFile(`${path}-shm`)
    const state = begin(database, index, path)
    const size = state.pages > 0 ? state.pages * state.pageSize : fstatSync(file).size
    const frames = isWholeInFile(index, state) ? null : readFrames(openLog(path, openFile), index, state)
    return {
      size,
      pageSize: state.pageSize,
      state: describe(fstatSync(file, { bigint: true }), state),
      database,
      close,
      read(offset, target) {
        const length = Math.min(target.length, size - offset)
        const bytes = target.subarray(0, length)
        if (frames?.read(file, bytes, offset)) return length
        return fill(file, bytes, offset)
      },
    }
  } catch (error) {
    close()
    throw error
  }
}

/**
 * The contents are those of the file and of the frames up to the last one, which are appended only, until the log is begun
 * anew with other salts. A change of the file sets its time, which is a few milliseconds coarse.
 */
function describe(
  { ino, size, mtimeNs, ctimeNs }: BigIntStats,
  { lastFrame, salts }: LogState,
): string | null {
  const isOld = (time: bigint) => time < BigInt(Date.now() - MIN_AGE_MS) * 1_000_000n
  if (!isOld(mtimeNs) || !isOld(ctimeNs)) return null
  return [ino, size, mtimeNs, ctimeNs, lastFrame, lastFrame > 0 ? salts.toString('hex') : ''].join(' ')
}

function openLog(path: string, openFile: (name: string) => number): number | null {
  return existsSync(`${path}-wal`) ? openFile(`${path}-wal`) : null
}

/** Begins the read transaction, and finds out which commit is the last that it sees. */
function begin(database: Database, index: number, path: string): LogState {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const before = readIndexHeader(index)
    database.run('begin')
    database.query('select count(*) from sqlite_schema').get()
    const after = readIndexHeader(index)
    // The transaction began between two equal readings.
    if (before !== null && after !== null && before.equals(after)) return stateOf(after, database)
    database.run('rollback')
  }
  throw new Error(`${path} is written to without a pause`)
}

/** Null while a writer is changing it. */
function readIndexHeader(index: number): Buffer | null {
  const copies = Buffer.alloc(2 * INDEX_HEADER_BYTES)
  if (readSync(index, copies, 0, copies.length, 0) < copies.length) return null
  const [first, second] = [copies.subarray(0, INDEX_HEADER_BYTES), copies.subarray(INDEX_HEADER_BYTES)]
  return first.equals(second) ? first : null
}

/** The fields of the header are in the byte order of the machine; all that Bun runs on are little-endian. */
function stateOf(header: Buffer, database: Database): LogState {
  const pageSize = database.query<{ page_size: number }, []>('pragma page_size').get()?.page_size ?? 0
  return {
    pageSize,
    lastFrame: header.readUInt32LE(16),
    pages: header.readUInt32LE(20),
    salts: Buffer.from(header.subarray(32, 40)),
  }
}

/** True if a checkpoint has copied all frames of the snapshot into the file: later ones wait for the transaction. */
function isWholeInFile(index: number, { lastFrame }: LogState): boolean {
  if (lastFrame === 0) return true
  const backfill = Buffer.alloc(4)
  readSync(index, backfill, 0, 4, INDEX_BACKFILL_OFFSET)
  return backfill.readUInt32LE(0) >= lastFrame
}

/** The page of each frame in the log, from the shared index: the frames themselves would have to be read whole. */
function* pagesOfFrames(index: number, lastFrame: number): Generator<number> {
  const block = Buffer.alloc(INDEX_BLOCK_BYTES)
  for (let frame = 0, at = 0; frame < lastFrame; at += INDEX_BLOCK_BYTES) {
    readSync(index, block, 0, INDEX_BLOCK_BYTES, at)
    const start = at === 0 ? INDEX_START_BYTES : 0
    const count = Math.min(lastFrame - frame, (INDEX_PAGES_BYTES - start) / 4)
    for (let entry = 0; entry < count; entry++) yield block.readUInt32LE(start + entry * 4)
    frame += count
  }
}

/**
 * The frames of the snapshot in the log by page; null if the log was begun anew, which only happens when the file has
 * all of them.
 */
function readFrames(log: number | null, index: number, { pageSize, lastFrame, salts }: LogState) {
  if (log === null) return null
  const frameBytes = FRAME_HEADER_BYTES + pageSize
  const isCurrent = (): boolean => {
    const header = Buffer.alloc(LOG_HEADER_BYTES)
    return (
      readSync(log, header, 0, header.length, 0) === header.length && header.subarray(16, 24).equals(salts)
    )
  }
  if (!isCurrent()) return null
  const frames = Buffer.alloc(FRAMES_AT_ONCE * frameBytes)
  const offsets = new Map<number, number>()
  let frame = 0
  for (const page of pagesOfFrames(index, lastFrame)) {
    // Pages are counted from 1. Of two frames of a page, the later one is valid.
    offsets.set(page - 1, LOG_HEADER_BYTES + frame * frameBytes + FRAME_HEADER_BYTES)
    frame++
  }
  if (!isCurrent()) return null
  return {
    /** Reads pages from the log, and from the file those that it does not have; false if the log was begun anew meanwhile. */
    read(file: number, bytes: Uint8Array, from: number): boolean {
      const first = from / pageSize
      const pages = Math.ceil(bytes.length / pageSize)
      for (let page = 0; page < pages; ) {
        const offset = offsets.get(first + page)
        let run = 1
        if (offset === undefined) {
          while (page + run < pages && !offsets.has(first + page + run)) run++
          const part = bytes.subarray(page * pageSize, (page + run) * pageSize)
          // The page of the lock bytes is never written: at the end, the file may lack it.
          part.fill(0, readSync(file, part, 0, part.length, from + page * pageSize))
          page += run
          continue
        }
        // Pages that were written one after the other lie so in the log, too.
        while (
          run < FRAMES_AT_ONCE &&
          page + run < pages &&
          offsets.get(first + page + run) === offset + run * frameBytes
        )
          run++
        readSync(log, frames, 0, run * frameBytes - FRAME_HEADER_BYTES, offset)
        for (let at = 0; at < run; at++, page++)
          frames.copy(bytes, page * pageSize, at * frameBytes, at * frameBytes + pageSize)
      }
      return isCurrent()
    },
  }
}

/** @throws Error if the file ends early */
function fill(file: number, bytes: Uint8Array, offset: number): number {
  const read = readSync(file, bytes, 0, bytes.length, offset)
  if (read !== bytes.length) throw new Error(`A database ended at ${offset + read} bytes`)
  return read
}
