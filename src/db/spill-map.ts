import { Database } from 'bun:sqlite'

/** Entries kept in memory; those after them are in a temporary file. */
const MAX_IN_MEMORY = 100_000
/** Entries of the file that are kept after they were looked up: names in a file repeat. */
const MAX_RECENT = 2000
/** Memory that SQLite uses for the file. */
const CACHE_KIB = 16_000
const PAGE = 1000

/** Values of a `SpillMap`. Null is a value like the others. */
type Spilled = string | number | null

/** A map by text whose memory is bounded, in the order of insertion. Must be closed. */
export interface SpillMap<Value extends Spilled> {
  readonly size: number
  /** Undefined if there is no entry. */
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  keys(): Iterable<string>
  /** Deletes the file, if there is one. */
  close(): void
}

/**
 * An empty `SpillMap`. A look-up in the file takes microseconds, so that the caller need not wait. The file has no name
 * and goes with the process; SQLite chooses the folder (`SQLITE_TMPDIR`, `/var/tmp`).
 *
 * @param maxInMemory for tests
 */
export function createSpillMap<Value extends Spilled>(maxInMemory = MAX_IN_MEMORY): SpillMap<Value> {
  const memory = new Map<string, Value>()
  let file: SpillFile<Value> | null = null
  return {
    get size() {
      return memory.size + (file?.size ?? 0)
    },
    get: (key) => (memory.has(key) ? memory.get(key) : file?.get(key)),
    set(key, value) {
      if (memory.size < maxInMemory || memory.has(key)) {
        memory.set(key, value)
        return
      }
      file ??= openSpillFile<Value>()
      file.set(key, value)
    },
    *keys() {
      yield* memory.keys()
      if (file) yield* file.keys()
    },
    close() {
      memory.clear()
      file?.close()
      file = null
    },
  }
}

type SpillFile<Value extends Spilled> = ReturnType<typeof openSpillFile<Value>>

function openSpillFile<Value extends Spilled>() {
  const database = new Database(':memory:')
  // An empty name is a temporary file, which SQLite deletes when it is closed (https://sqlite.org/inmemorydb.html).
  database.run("attach database '' as spill")
  database.run('pragma spill.journal_mode = off')
  database.run(`pragma spill.cache_size = -${CACHE_KIB}`)
  database.run('create table spill.entries (at integer primary key, key text not null unique, value)')
  // Never committed: a commit would write the cached pages.
  database.run('begin')
  const find = database.prepare<{ value: Value }, [string]>('select value from spill.entries where key = ?')
  const insert = database.prepare<unknown, [string, Spilled]>(
    'insert into spill.entries (key, value) values (?, ?) on conflict (key) do update set value = excluded.value',
  )
  const page = database.prepare<{ at: number; key: string }, [number, number]>(
    'select at, key from spill.entries where at > ? order by at limit ?',
  )
  const recent = new Map<string, Value | undefined>()
  let size = 0

  function get(key: string): Value | undefined {
    if (recent.has(key)) return recent.get(key)
    const found = find.get(key)?.value
    if (recent.size >= MAX_RECENT) recent.clear()
    recent.set(key, found)
    return found
  }

  return {
    get size() {
      return size
    },
    get,
    set(key: string, value: Value): void {
      if (get(key) === undefined) size++
      insert.run(key, value)
      recent.set(key, value)
    },
    *keys(): Iterable<string> {
      for (let last = 0; ; ) {
        const rows = page.all(last, PAGE)
        for (const { key } of rows) yield key
        if (rows.length < PAGE) return
        last = rows.at(-1)?.at ?? last
      }
    },
    close: () => database.close(),
  }
}
