import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../../../src/core/errors.ts'
import { m } from '../../../../src/messages.gen.ts'
import { isStorageFull } from '../../../../src/storage-full.ts'
import { copyText } from '../copy-text.ts'

/** Characters kept in memory; the strings after them are in a temporary file. */
const MAX_IN_MEMORY = 4_000_000
/** Bytes that are read at a time. Cells may name strings in any order, of which each would read a page. */
const PAGE = 4096
const CACHED_PAGES = 4096
const WRITE_AT = 1 << 20

/** Strings by their position, with a bound on memory: 8 bytes for each beyond the first 4 million characters. */
export interface StringStore {
  /** @throws STORAGE_FULL if the folder for temporary files is full */
  add(text: string): void
  /**
   * Undefined beyond the last string.
   * @throws STORAGE_FULL
   */
  get(at: number): string | undefined
  close(): void
}

export function createStringStore(maxInMemory = MAX_IN_MEMORY): StringStore {
  const memory: string[] = []
  let characters = 0
  let spilled: SpilledStrings | null = null
  return {
    add(text) {
      characters += text.length
      if (characters <= maxInMemory) memory.push(copyText(text))
      else {
        spilled ??= createSpilledStrings()
        spilled.add(text)
      }
    },
    get: (at) => memory[at] ?? spilled?.get(at - memory.length),
    close: () => spilled?.close(),
  }
}

type SpilledStrings = ReturnType<typeof createSpilledStrings>

function createSpilledStrings() {
  const path = join(tmpdir(), `sheaf-strings-${crypto.randomUUID()}`)
  const file = explained(() => openSync(path, 'wx+', 0o600))
  // Without a name, the file goes with the process.
  unlinkSync(path)
  /** A page of the file has one place in the cache, which the next page with this place takes. */
  const cache = Buffer.allocUnsafe(CACHED_PAGES * PAGE)
  const cached = new Float64Array(CACHED_PAGES).fill(-1)
  let ends = new Float64Array(1 << 16)
  let count = 0
  let size = 0
  let pending = ''

  function flush(): void {
    if (pending === '') return
    const bytes = Buffer.from(pending)
    for (let done = 0; done < bytes.length; ) done += explained(() => writeSync(file, bytes, done))
    pending = ''
  }

  /** Reads bytes of the file, up to its end. */
  function read(into: Buffer, start: number): void {
    for (let done = 0; done < into.length; ) {
      const more = readSync(file, into, done, into.length - done, start + done)
      if (more === 0) return
      done += more
    }
  }

  /** Position in the cache of a page of the file. */
  function load(page: number): number {
    const place = page % CACHED_PAGES
    const at = place * PAGE
    if (cached[place] !== page) read(cache.subarray(at, at + PAGE), page * PAGE)
    cached[place] = page
    return at
  }

  return {
    add(text: string): void {
      // A lone surrogate would take other bytes next to its neighbours.
      const whole = text.toWellFormed()
      size += Buffer.byteLength(whole)
      if (count === ends.length) {
        const larger = new Float64Array(count * 2)
        larger.set(ends)
        ends = larger
      }
      ends[count++] = size
      pending += whole
      if (pending.length > WRITE_AT) flush()
    },
    get(at: number): string | undefined {
      if (at < 0 || at >= count) return undefined
      flush()
      const start = at === 0 ? 0 : (ends[at - 1] ?? 0)
      const end = ends[at] ?? 0
      const page = Math.floor(start / PAGE)
      const offset = start - page * PAGE
      const length = end - start
      if (offset + length > PAGE) {
        const bytes = Buffer.allocUnsafe(length)
        read(bytes, start)
        return bytes.toString()
      }
      const from = load(page) + offset
      return cache.toString('utf8', from, from + length)
    },
    close: () => closeSync(file),
  }
}

/** Names the folder that is full: it may be on another disk than the data. */
function explained<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw isStorageFull(error) ? new AppError('STORAGE_FULL', m.imports_error_temporary_full()) : error
  }
}
