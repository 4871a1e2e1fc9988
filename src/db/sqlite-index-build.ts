import { Database } from 'bun:sqlite'
import { pathToFileURL } from 'node:url'
import { unfinishedTable } from '../dialects/automatic-index.ts'
import type { Engine, IndexDefinition } from '../dialects/dialect.ts'
import { sqlite } from '../dialects/sqlite.ts'
import {
  abandonedIndexes,
  addRecords,
  changeTriggers,
  countCreated,
  createUnfinished,
  type UnfinishedIndex,
  unfinishedIndexes,
} from '../dialects/sqlite-unfinished-index.ts'
import type { WorkerPool } from '../pool.ts'

/*
 * Builds an index of a large table in short transactions, between which others write. `create index` holds the lock of the
 * file for about a second per million records.
 *
 * The index begins as one of an empty table with the columns that it needs. Its entries are the values and the record's id, as
 * they will be in an index of the real table. Batches of records are inserted in the order of the index, so that it grows at its
 * end. Their rows are removed again without their entries, since rows in that order would be spread over the whole table. Triggers
 * on the real table keep the entries up to date, also those of records whose turn has not come. At the end, the index is
 * moved to the real table in the schema, and SQLite checks the table with all its indexes.
 *
 * A build that ends with its server stays in the file, where its triggers go on. The next server adds the entries of all records
 * again: one that is there is stored once, and its page is not written.
 *
 * While it is unfinished, `integrity_check` counts more entries in it than rows (`problemOf`).
 */

/** Below this, `create index` takes less than about 100 ms. */
const LARGE = 100_000

/** Records of the first batch. */
const FIRST_BATCH = 1_000
const MIN_BATCH = 500
const MAX_BATCH = 20_000
/** Duration of a batch, for which writers wait. */
const BATCH_MS = 25

/** Attempts to build an index whose table is altered meanwhile. */
const MAX_ATTEMPTS = 5

/** Messages after which a check of one table ends: SQLite takes a number only for checks of whole files. */
const CHECK_MESSAGES = 100
/** Messages of a check of the whole file that looks for those of one index. */
const MANY_MESSAGES = 1_000_000
/** Faults of a table that are reported, and their length. */
const MAX_FAULTS = 10
const MAX_FAULT_LENGTH = 200

const { quote } = sqlite

/** The build of an index that may be there already. */
interface Plan extends UnfinishedIndex {
  isBuilt: boolean
}

interface Batch extends UnfinishedIndex {
  path: string
  ids: Uint32Array | Float64Array
}

/** What a check of a table has found. */
interface Found {
  /** The first fault of the index; null if there is none. */
  own: string | null
  /** The first faults of the table and its other indexes. */
  others: string[]
}

interface StepsOptions {
  path: string
  pool: WorkerPool
  engine: Pick<Engine, 'all' | 'exclusively' | 'writeScript'>
  signal: AbortSignal | undefined
  /** Checkpoints a grown log without the lease. */
  checkpoint(): void
}

/**
 * Builds an index in steps, or goes on with a build that ended with its server.
 *
 * @returns faults of the table and its other indexes that the check has met; null if the table is small, or of a kind that
 *   Sheaf does not create, or where this cannot be done
 * @throws the signal's reason; what is built by then stays for the next build
 */
export async function buildIndexInSteps(
  index: IndexDefinition,
  options: StepsOptions,
): Promise<string[] | null> {
  const { path, pool, engine, signal } = options
  const drop = () => engine.writeScript(sqlite.dropAutomaticIndex(index.name))
  const first = await plan(index, engine)
  // Also starts a thread and loads its modules, for which writers would wait later.
  if (first === null || !(await pool.run('sqlite.index-can-build', null, 'write', path))) {
    if (await isUnfinished(index, engine)) await drop()
    return null
  }
  const checked = () => read('sqlite.index-check', index, options) as Promise<Found>
  try {
    // A server may have been killed before it had checked its index.
    const left = first.isBuilt ? await checked() : null
    if (left?.own === null) return left.others
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
      signal?.throwIfAborted()
      const isResumed = await isBegun(first, engine)
      if (!isResumed) await begin(first, engine)
      if (await fill(first, options)) {
        const { own, others } = await checked()
        if (own === null) return others
        // Another program may have written the file anew, without the entries that have no rows.
        if (!isResumed) throw new Error(`The index does not agree with its table: ${own}`)
        continue
      }
      // Its table was altered or deleted.
      const { columns } = (await plan(index, engine)) ?? { columns: [] }
      // SQLite would take the names of missing columns for texts.
      if (!Bun.deepEquals(columns, first.columns)) throw new Error('The table has lost a column of the index')
    }
    throw new Error('The table was altered again and again')
  } catch (error) {
    if (!signal?.aborted) await drop()
    throw error
  }
}

/** Runs a task that reads the whole table, in a process of its own, which the signal ends. */
const read = (task: string, index: IndexDefinition, { path, pool, signal }: StepsOptions): Promise<unknown> =>
  pool.run(task, { path, ...index }, 'large read', path, { signal })

/** True for an index under construction that has lost nothing. */
async function isBegun(build: UnfinishedIndex, engine: Pick<Engine, 'all'>): Promise<boolean> {
  const created = createUnfinished(build)
  const [found] = await engine.all<{ n: number }>({ sql: countCreated(created), params: created })
  return found?.n === created.length
}

/** True if a file has something of an index under construction. */
async function isUnfinished({ name }: IndexDefinition, engine: Pick<Engine, 'all'>): Promise<boolean> {
  const found = await engine.all<{ name: string }>({ sql: unfinishedIndexes, params: [] })
  return found.some((index) => index.name === name)
}

/** Creates the index without entries, in place of what there is of it. */
const begin = (build: UnfinishedIndex, engine: Pick<Engine, 'writeScript'>): Promise<unknown> =>
  engine.writeScript([
    ...sqlite.dropAutomaticIndex(build.name),
    ...createUnfinished(build).map((sql) => ({ sql, params: [] })),
  ])

/** Adds the entries of all records and makes the index one of the table. @returns false if the table has been altered meanwhile */
async function fill(build: UnfinishedIndex, options: StepsOptions): Promise<boolean> {
  const { path, pool, engine, signal, checkpoint } = options
  const inWorker = (task: string, input: object) => pool.run(task, { path, ...input }, 'write', path)
  // Read after the triggers are there: later records have their entries from them.
  const ids = (await read('sqlite.index-order', build, options)) as Batch['ids']
  for (let at = 0, size = FIRST_BATCH; at < ids.length; ) {
    signal?.throwIfAborted()
    const batch = ids.slice(at, at + size)
    const work = () => inWorker('sqlite.index-batch', { ...build, ids: batch })
    const ms = (await engine.exclusively(work)) as number | null
    if (ms === null) return false
    checkpoint()
    at += batch.length
    size = nextSize(size, ms)
  }
  signal?.throwIfAborted()
  return (await engine.exclusively(() => inWorker('sqlite.index-finish', build))) as boolean
}

/** The size of the next batch. A batch that the system has paused halves it at most. */
function nextSize(size: number, ms: number): number {
  const fitting = (size * BATCH_MS) / Math.max(1, ms)
  return Math.round(Math.min(MAX_BATCH, size * 2, Math.max(MIN_BATCH, size / 2, fitting)))
}

/** What a build needs to know; null where `create index` is to be used. */
async function plan(
  { name, table, terms }: IndexDefinition,
  engine: Pick<Engine, 'all'>,
): Promise<Plan | null> {
  const [found] = await engine.all<{ sql: string; isOdd: number; isBuilt: number }>({
    sql: `select s.sql, l.wr or l.strict as isOdd,
        exists (select 1 from sqlite_schema i where i.type = 'index' and i.name = ? and i.tbl_name = s.name) as isBuilt
      from pragma_table_list(?) l join sqlite_schema s on s.type = 'table' and s.name = l.name where l.schema = 'main'`,
    params: [name, table],
  })
  // The copy has no collations of columns.
  if (!found || found.isOdd || /\bcollate\b/i.test(found.sql)) return null
  const [last] = await engine.all<{ id: number | null }>({
    sql: `select max(rowid) as id from ${quote(table)}`,
    params: [],
  })
  if ((last?.id ?? 0) < LARGE) return null
  const columns = await engine.all<{ name: string; type: string; pk: number; hidden: number }>({
    sql: 'select name, type, pk, hidden from pragma_table_xinfo(?)',
    params: [table],
  })
  const [key, ...others] = columns.filter(({ pk }) => pk > 0)
  if (key?.type.toLowerCase() !== 'integer' || others.length > 0) return null
  if (columns.some((column) => column.hidden !== 0 || column.name.toLowerCase() === 'rowid')) return null
  const text = terms.join(' ').toLowerCase()
  const isNamed = (column: string) => text.includes(column.replaceAll('"', '""').toLowerCase())
  const named = columns.filter((column) => column.pk === 0 && isNamed(column.name))
  const isBuilt = found.isBuilt === 1
  return { name, table, terms, isBuilt, key: key.name, columns: named.map(({ name, type }) => [name, type]) }
}

/** The ids of a table's records in the order of an index. */
function readOrder({ path, table, terms }: IndexDefinition & { path: string }): Batch['ids'] {
  const file = new Database(path, { readonly: true, strict: true })
  try {
    file.run('pragma busy_timeout = 5000')
    // The sort grows with the table.
    file.run('pragma temp_store = file')
    const [count] = file.query<{ n: number }, []>(`select count(*) as n from ${quote(table)}`).all()
    let ids = new Float64Array(count?.n ?? 0)
    let length = 0
    let isShort = true
    const rows = file.prepare<{ id: number }, []>(
      `select rowid as id from ${quote(table)} order by ${[...terms, 'rowid'].join(', ')}`,
    )
    for (const { id } of rows.iterate()) {
      if (length === ids.length) {
        // Inserted after they were counted.
        const longer = new Float64Array(length + 1000)
        longer.set(ids)
        ids = longer
      }
      ids[length++] = id
      isShort &&= id >= 0 && id <= 0xffffffff
    }
    rows.finalize()
    return isShort ? new Uint32Array(ids.subarray(0, length)) : ids.slice(0, length)
  } finally {
    file.close()
  }
}

/**
 * Whether both modules use the same SQLite. Two copies in one process end each other's locks on files
 * (https://sqlite.org/howtocorrupt.html); on some systems `bun:sqlite` uses that of the system.
 */
async function isOneLibrary(): Promise<boolean> {
  const { DatabaseSync } = await import('node:sqlite')
  const [own, other] = [new Database(':memory:'), new DatabaseSync(':memory:')]
  const source = 'select sqlite_source_id() as id'
  try {
    return Bun.deepEquals(own.query(source).get(), { ...other.prepare(source).get() })
  } finally {
    own.close()
    other.close()
  }
}

/** Opens a file whose schema can be written as text, which connections of `bun:sqlite` refuse. Never creates a file. */
async function openWithSchema(path: string) {
  // Loaded only where it is used.
  const { DatabaseSync } = await import('node:sqlite')
  const url = pathToFileURL(path)
  url.searchParams.set('mode', 'rw')
  const file = new DatabaseSync(url, { defensive: false, timeout: 5000 })
  // Checkpoints are made elsewhere, without the lock.
  file.exec('pragma wal_autocheckpoint = 0')
  return file
}

type SchemaFile = Awaited<ReturnType<typeof openWithSchema>>

/** True if a build has lost nothing: whoever alters its table drops its index or triggers. */
function isWhole(file: SchemaFile, build: UnfinishedIndex): boolean {
  const created = createUnfinished(build)
  const found = file.prepare(countCreated(created)).get(...created) as { n: number }
  return found.n === created.length
}

/**
 * Adds the entries of records; the caller holds the file's write lease. Other connections keep their schema: at the commit it
 * is what it was before.
 *
 * @returns its duration in milliseconds; null if the build cannot go on
 */
async function addEntries({ path, ids, ...build }: Batch): Promise<number | null> {
  const { name } = build
  const startedAt = performance.now()
  const file = await openWithSchema(path)
  try {
    file.exec('pragma synchronous = normal')
    file.exec('begin immediate')
    if (!isWhole(file, build)) return null
    const copy = quote(unfinishedTable(name))
    const index = file
      .prepare('select rowid as id, type, name, tbl_name, rootpage, sql from sqlite_schema where name = ?')
      .get(name) as Record<string, string | number>
    // Without its index, the table loses the rows of the last batch, and the index keeps their entries.
    alterSchema(file, 'delete from sqlite_schema where rowid = ?', index.id ?? 0)
    file.exec(`delete from ${copy}`)
    alterSchema(
      file,
      'insert into sqlite_schema (rowid, type, name, tbl_name, rootpage, sql) values (?, ?, ?, ?, ?, ?)',
      ...Object.values(index),
    )
    file.prepare(addRecords(build)).run(`[${ids.join(',')}]`)
    file.exec('commit')
    return performance.now() - startedAt
  } finally {
    file.close()
  }
}

/** Makes the finished index one of the real table. @returns false if the build cannot go on */
async function finish({ path, ...build }: UnfinishedIndex & { path: string }): Promise<boolean> {
  const { name, table, terms } = build
  const file = await openWithSchema(path)
  try {
    file.exec('begin immediate')
    if (!isWhole(file, build)) return false
    // Also makes other connections read the schema again.
    for (const trigger of changeTriggers(name)) file.exec(`drop trigger ${quote(trigger)}`)
    const sql = `CREATE INDEX ${quote(name)} on ${quote(table)} (${terms.join(', ')})`
    alterSchema(file, 'update sqlite_schema set tbl_name = ?, sql = ? where name = ?', table, sql, name)
    file.exec(`drop table ${quote(unfinishedTable(name))}`)
    file.exec('commit')
    return true
  } finally {
    file.close()
  }
}

/** Writes the schema, and reads it again. */
function alterSchema(file: SchemaFile, sql: string, ...params: (string | number)[]): void {
  file.exec('pragma writable_schema = on')
  file.prepare(sql).run(...params)
  file.exec('pragma writable_schema = reset')
}

/** Checks an index with its table. The table may have had faults before. */
function check({ path, table, name }: IndexDefinition & { path: string }): Found {
  const file = new Database(path, { readonly: true, strict: true })
  try {
    file.run('pragma busy_timeout = 5000')
    const [index] = file
      .query<{ root: number }, [string]>(
        "select rootpage as root from sqlite_schema where type = 'index' and name = ?",
      )
      .all(name)
    const isOwn = (message: string) =>
      message.endsWith(` index ${name}`) || message.startsWith(`Tree ${index?.root} `)
    const others: string[] = []
    let count = 0
    for (const message of messagesOf(file, `integrity_check(${quote(table)})`)) {
      if (isOwn(message)) return { own: message, others }
      if (++count <= MAX_FAULTS) others.push(message.slice(0, MAX_FAULT_LENGTH))
    }
    if (count < CHECK_MESSAGES) return { own: null, others }
    const all = messagesOf(file, `integrity_check(${MANY_MESSAGES})`)
    return { own: all.find(isOwn) ?? null, others }
  } finally {
    file.close()
  }
}

/** The messages of a check, each as soon as SQLite has found it. */
function* messagesOf(file: Database, pragma: string): Generator<string, undefined> {
  const statement = file.prepare<Record<string, unknown>, []>(`pragma ${pragma}`)
  try {
    for (const row of statement.iterate()) {
      // Those about pages come together, under the name of the database.
      const messages = Object.values(row).join().split('\n')
      for (const message of messages) if (message !== 'ok' && !message.startsWith('***')) yield message
    }
  } finally {
    statement.finalize()
  }
}

/**
 * The first problem that a check finds in a file; null if there is none. The excess of entries in unfinished indexes is none.
 *
 * @param pragma `quick_check` or `integrity_check`
 */
export function problemOf(file: Database, pragma: string): string | null {
  const expected = namesIn(file, unfinishedIndexes).map((name) => `wrong # of entries in index ${name}`)
  const found = file.query<unknown, []>(`pragma ${pragma}`).values().flat().map(String)
  return found.find((text) => text !== 'ok' && !expected.includes(text)) ?? null
}

/** The names of indexes under construction in a file whose tables are gone. */
export const abandonedIn = (file: Database): string[] => namesIn(file, abandonedIndexes)

const namesIn = (file: Database, indexes: string): string[] =>
  file
    .query<{ name: string }, []>(indexes)
    .all()
    .map(({ name }) => name)

export const indexTasks = {
  'sqlite.index-can-build': isOneLibrary,
  'sqlite.index-order': readOrder,
  'sqlite.index-batch': addEntries,
  'sqlite.index-finish': finish,
  'sqlite.index-check': check,
}
