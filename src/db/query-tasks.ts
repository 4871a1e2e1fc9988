import { Database } from 'bun:sqlite'
import { LRUCache } from 'lru-cache'
import type { CellValue } from '../core/fields/field-type.ts'
import type { FilePage, Statement, StatementResult } from '../dialects/dialect.ts'
import { sqlite } from '../dialects/sqlite.ts'
import { bound } from '../dialects/standard-sql.ts'
import type { Supervisor } from '../pool-runner.ts'
import { createPageWriter, type RowsPage, type WrittenPage } from '../record-files/index.ts'
import type { PostgresPage } from './postgres/page-task.ts'
import { lowerThreadPriority } from './priority.ts'
import { claimCommit, reportTo } from './script-watch.ts'
import { configure } from './sqlite-engine.ts'
import { indexTasks } from './sqlite-index-build.ts'
import type { NamedRows, PackedNumbers } from './sqlite-statements.ts'
import { createStatementCache, exactRows } from './sqlite-statements.ts'
import { writePage } from './write-page.ts'

/** `inode`: the file that the caller expects under the path. */
type Input = Statement & { path: string; inode?: number; isExact?: boolean }

lowerThreadPriority()

/** Prepared statements per connection: preparing a page with hundreds of fields takes as long as reading it. */
const KEPT_STATEMENTS = 50

type Connection = { file: Database; prepare: ReturnType<typeof createStatementCache> }

/** Read connections that a worker thread keeps open between tasks. */
const connections = new LRUCache<string, Connection>({ max: 8, dispose: close })

function close({ file, prepare }: Connection): void {
  prepare.clear()
  file.close()
}

function connect({ path, inode, isExact = false }: Input): Connection {
  const name = `${isExact} ${inode} ${path}`
  const known = connections.get(name)
  if (known) return known
  const file = new Database(path, { readonly: true, strict: true, safeIntegers: isExact })
  try {
    configure(file, { isForeign: isExact })
  } catch (error) {
    file.close()
    throw error
  }
  const connection = { file, prepare: createStatementCache(file, KEPT_STATEMENTS) }
  connections.set(name, connection)
  return connection
}

interface Script {
  path: string
  statements: Statement[]
  /** Shared memory for progress, see `watchScript`. */
  shared: SharedArrayBuffer | null
}

/** Runs the statements in one transaction; the caller holds the file's write lease. */
async function runScript(
  { path, statements, shared }: Script,
  supervisor?: Supervisor,
): Promise<StatementResult[]> {
  const file = new Database(path, { readwrite: true, create: false, strict: true })
  const report = reportTo(shared)
  const results: StatementResult[] = []
  let written = 0
  try {
    configure(file)
    // What a statement collects before it writes grows with its records: the rows of an `update … from`, sorted groups.
    file.run('pragma temp_store = file')
    file.run('pragma mmap_size = 0')
    file.run('begin immediate')
    try {
      for (const { sql, params } of statements) {
        const prepared = file.prepare<Record<string, unknown>, never[]>(sql)
        if (prepared.columnNames.length > 0) {
          results.push({ changes: 0, rows: prepared.all(...bound(params)) })
          continue
        }
        const { changes } = prepared.run(...bound(params))
        report(changes)
        written += changes
        await supervisor?.progress(written)
        results.push({ changes, rows: [] })
      }
      await supervisor?.mayCommit()
      claimCommit(shared)
      file.run('commit')
      return results
    } catch (error) {
      // A failed commit may already have ended the transaction.
      if (file.inTransaction) file.run('rollback')
      throw error
    }
  } finally {
    file.close()
  }
}

/** Checkpoints the write-ahead log as far as no reader needs it. */
function checkpoint({ path }: { path: string }): void {
  const file = new Database(path, { readwrite: true, create: false, strict: true })
  try {
    file.run('pragma busy_timeout = 1000')
    file.run('pragma wal_checkpoint(passive)')
  } finally {
    file.close()
  }
}

const prepare = (input: Input) => connect(input).prepare(input.sql)

function shown<T>({ isExact }: Input, rows: T[]): T[] {
  return isExact ? exactRows(rows) : rows
}

/** Rows as arrays with their column names: objects with hundreds of keys are slow to pass between threads. */
function readRows(input: Input): NamedRows {
  const prepared = prepare(input)
  const rows = shown(input, prepared.values(...bound(input.params)) as unknown[][])
  return { names: prepared.columnNames, rows }
}

/** Reads records as they stand in a file. */
const readPage = ({ page, ...input }: Input & { page: FilePage }): WrittenPage =>
  writePage(shown(input, prepare(input).values(...bound(input.params)) as unknown[][]), page, sqlite)

/** Writes records that the main thread has read. */
const writeRows = ({ table, rows, first }: RowsPage): WrittenPage =>
  createPageWriter(table)(JSON.parse(rows) as CellValue[][], first)

/**
 * Packs a list of ids: the server takes half a second to receive a million ids as rows from a process, and 30 ms as a
 * typed array, which grows with its bytes.
 */
function packed(rows: unknown[][]): unknown[][] | PackedNumbers {
  if (rows.length < PACKED_FROM || rows[0]?.length !== 1) return rows
  const numbers = new Float64Array(rows.length)
  let isShort = true
  for (const [at, [value]] of rows.entries()) {
    if (typeof value !== 'number') return rows
    numbers[at] = value
    isShort &&= value >>> 0 === value && !Object.is(value, -0)
  }
  return isShort ? new Uint32Array(numbers) : numbers
}

const PACKED_FROM = 1_000

/** Frees a bounded number of pages, so that other writers do not wait long. */
const INCREMENTAL_VACUUM = 'pragma incremental_vacuum(20000)'

/** Returns unused pages to the system; the caller holds the file's write lease. */
function compact({ path, whole }: { path: string; whole: boolean }): void {
  const file = new Database(path, { readwrite: true, create: false, strict: true })
  try {
    configure(file)
    const mode = file.query<{ auto_vacuum: number }, []>('pragma auto_vacuum').get()?.auto_vacuum
    // Files of versions before 0.2.0 are converted when their space is reclaimed.
    if (whole && mode !== 2) {
      file.run('pragma auto_vacuum = incremental')
      file.run('vacuum')
    } else {
      file.query(INCREMENTAL_VACUUM).all()
      while (
        whole &&
        Number(
          file.query<{ n: number }, []>('select freelist_count as n from pragma_freelist_count()').get()?.n,
        ) > 0
      )
        file.query(INCREMENTAL_VACUUM).all()
    }
    file.query('pragma wal_checkpoint(truncate)').all()
  } finally {
    file.close()
  }
}

/** Tasks whose cost grows with a table. */
export const queryTasks = {
  'sqlite.all': readRows,
  'sqlite.values': (input: Input) =>
    packed(shown(input, prepare(input).values(...bound(input.params)) as unknown[][])),
  'sqlite.page': readPage,
  'page.write': writeRows,
  // The driver is only loaded where it is used.
  'postgres.page': async (input: PostgresPage) =>
    (await import('./postgres/page-task.ts')).readPostgresPage(input),
  'sqlite.script': runScript,
  'sqlite.compact': compact,
  'sqlite.checkpoint': checkpoint,
  ...indexTasks,
}
