import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { AppError } from '../../../../src/core/errors.ts'
import { m } from '../../../../src/messages.gen.ts'
import { isStorageFull } from '../../../../src/storage-full.ts'
import { copyText } from '../copy-text.ts'

/** Characters kept in memory; the strings after them are in a temporary file. */
const MAX_IN_MEMORY = 4_000_000
const PAGE = 64 * 1024
const CACHED_PAGES = 256
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
  const pages = new LRUCache<number, Buffer>({ max: CACHED_PAGES })
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

  function read(start: number, length: number): Buffer {
    const bytes = Buffer.alloc(length)
    let done = 0
    while (done < length) {
      const more = readSync(file, bytes, done, length - done, start + done)
      if (more === 0) break
      done += more
    }
    return bytes.subarray(0, done)
  }

  function page(number: number): Buffer {
    const known = pages.get(number)
    if (known) return known
    const loaded = read(number * PAGE, PAGE)
    pages.set(number, loaded)
    return loaded
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
      const number = Math.floor(start / PAGE)
      const offset = start - number * PAGE
      const isWithinPage = offset + end - start <= PAGE
      if (!isWithinPage) return read(start, end - start).toString()
      return page(number).toString('utf8', offset, offset + end - start)
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
