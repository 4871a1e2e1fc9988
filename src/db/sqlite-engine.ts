import { Database } from 'bun:sqlite'
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { breathe, mapBreathing } from '../breathe.ts'
import { withoutCaller } from '../caller.ts'
import { AppError } from '../core/errors.ts'
import type {
  Engine,
  EngineStorage,
  FilePage,
  IndexDefinition,
  Statement,
  StatementResult,
  Transaction,
} from '../dialects/dialect.ts'
import { sqlite } from '../dialects/sqlite.ts'
import { defineSqliteFunctions } from '../dialects/sqlite-functions.ts'
import { bound } from '../dialects/standard-sql.ts'
import { m } from '../messages.gen.ts'
import type { WorkerPool } from '../pool.ts'
import type { WrittenPage } from '../record-files/index.ts'
import { explainStorage } from '../storage-full.ts'
import { currentWork } from '../works.ts'
import { upgradeBaseFile } from './base-file.ts'
import { CHANGES_TABLE } from './change-log/tables.ts'
import { createGroupCommit, type GroupSession } from './group-commit.ts'
import { createInsertBatches } from './insert-batches.ts'
import { createLogSync, type Disk, type LogSync } from './log-sync.ts'
import { createWriteQueue, type Turn, WRITE_PATIENCE_MS, writePatienceMs } from './mutex.ts'
import type { OpenFile, OpenFiles } from './open-files.ts'
import { watchedTransaction, watchScript } from './script-watch.ts'
import { damagedBaseFile, explainBaseFile, explainSqlite, missingBaseFile } from './sqlite-errors.ts'
import { abandonedIn, buildIndexInSteps } from './sqlite-index-build.ts'
import { isLocked, patiently } from './sqlite-lock.ts'
import { hasLogReached } from './sqlite-log.ts'
import {
  asObjects,
  createStatementCache,
  exactRows,
  exactValue,
  type NamedRows,
  type PackedNumbers,
  type StatementCache,
} from './sqlite-statements.ts'
import type { EngineWatch } from './watched-engine.ts'

const WAL_LIMIT_BYTES = 64 * 1024 * 1024

/** Reads check this often that the file still exists; writes always do. */
const LOOK_EVERY_MS = 1_000

/** Size of the write-ahead log from which it is checkpointed. Checked every `LOOK_AFTER_WRITES` writes. */
const CHECKPOINT_BYTES = 8 * 1024 ** 2
const LOOK_AFTER_WRITES = 50
/** It is checkpointed as well after so long without writes: until then, reads and backups look up every page in it. */
const IDLE_MS = 1_000

/** The log's file keeps this size, because overwriting it takes a sync half as long as extending it. */
const KEPT_LOG_BYTES = 1.5 * CHECKPOINT_BYTES

/** Reads of files up to this size finish quickly; reads of larger ones must be stoppable. */
const LARGE_BYTES = 32 * 1024 ** 2

/** The connections to a file and their prepared statements. */
interface Handles {
  reader: Database
  writer: Database
  prepareRead: StatementCache
  prepareWrite: StatementCache
  transaction: Transaction
  /** Null where SQLite syncs each commit itself. */
  sync: LogSync | null
  /** Inode of the opened file, to detect that the path was replaced. */
  inode: number
}

/** Opening and error translation of a kind of file. */
interface FileKind {
  path: string
  isExact: boolean
  /** Opens both connections. */
  connect(): { reader: Database; writer: Database }
  explain(error: unknown): unknown
  /** Syncs the log of a writer with `synchronous = normal`. */
  openSync?(): LogSync
}

/** Creates a base's file with an empty log. @throws Error if the file exists */
export function createBaseFile(path: string): void {
  // Never overwrites an existing file.
  closeSync(openSync(path, 'wx', 0o600))
  const file = new Database(path, { readwrite: true, create: false, strict: true })
  try {
    // Only effective for new files: unused pages can be freed incrementally, without rewriting the file.
    file.run('pragma auto_vacuum = incremental')
    file.run('pragma journal_mode = wal')
    configure(file)
    upgradeBaseFile(file)
  } finally {
    file.close()
  }
}

/**
 * The engine of a base's file, opened on first use and reopened after `files` has closed it. Readers see the last
 * commit during a write (WAL); an acknowledged commit is on disk, see `createLogSync`.
 *
 * @param name the file's name in errors: its path within the data folder
 * @param disk by default the system's
 * @param watch learns of abandoned indexes that stay; see `watchEngine` for the others
 * @throws BASE_DATA_MISSING, BASE_DATA_DAMAGED if it cannot be opened; never creates a file
 */
export function openSqliteEngine(
  { path, name }: { path: string; name: string },
  pool: WorkerPool,
  files: OpenFiles,
  disk?: Disk,
  { notDropped }: Pick<EngineWatch, 'notDropped'> = {},
): Engine {
  const explain = (error: unknown) => explainBaseFile(error, { path, name })
  const connect = () => {
    if (!existsSync(path)) throw missingBaseFile(name)
    const opened: Database[] = []
    try {
      const writer = new Database(path, { readwrite: true, create: false, strict: true })
      opened.push(writer)
      requireBaseFile(writer, path, name)
      writer.run('pragma journal_mode = wal')
      configure(writer)
      upgradeBaseFile(writer)
      const abandoned = abandonedIn(writer)
      if (abandoned.length > 0) queueMicrotask(() => dropIndexes(abandoned))
      // An automatic checkpoint would block the request thread; see `checkpointSoon`.
      writer.run('pragma wal_autocheckpoint = 0')
      // See `createLogSync`: a sync on this thread would keep all requests waiting for a slow disk.
      writer.run('pragma synchronous = normal')
      writer.run(`pragma journal_size_limit = ${KEPT_LOG_BYTES}`)
      const reader = new Database(path, { readonly: true, strict: true })
      opened.push(reader)
      configure(reader)
      return { reader, writer }
    } catch (error) {
      for (const file of opened) file.close()
      throw error
    }
  }
  /** Drops indexes in a worker. Those that stay are found when the file is opened again. */
  const dropIndexes = (names: string[]): void => {
    const drop = () => engine.writeScript(names.flatMap(sqlite.dropAutomaticIndex))
    withoutCaller(drop).catch((error) => notDropped?.(error, { file: name, indexes: names }))
  }
  const openSync = () => createLogSync(`${path}-wal`, disk)
  const engine: Engine = engineOf({ path, isExact: false, connect, explain, openSync }, pool, files)
  return { ...engine, storage: storageOf(path, engine, pool) }
}

/** The disk space of a base's file, write-ahead log included. */
function storageOf(path: string, engine: Engine, pool: WorkerPool): EngineStorage {
  const read = async (pragma: string): Promise<number> => {
    const [row] = await engine.values({ sql: `pragma ${pragma}`, params: [] })
    return Number(row?.[0] ?? 0)
  }
  return {
    async measure() {
      const pages = await read('page_count')
      const free = await read('freelist_count')
      const pageSize = await read('page_size')
      const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
      return { bytes: pages * pageSize + logBytes, freeBytes: free * pageSize + logBytes }
    },
    compact: async (whole) => {
      await engine.exclusively(() => pool.run('sqlite.compact', { path, whole }, 'write', path))
    },
  }
}

/** Rejects files that are not a complete base: opened anyway, they would look like an empty base. */
function requireBaseFile(file: Database, path: string, name: string): void {
  const [found] = file
    .query<{ hasLog: number; pages: number; pageSize: number }, []>(
      `select exists (select 1 from sqlite_schema where name = '${CHANGES_TABLE}') as hasLog,
        page_count as pages, page_size as pageSize from pragma_page_count, pragma_page_size`,
    )
    .all()
  if (!found?.hasLog) throw damagedBaseFile(name, 'it holds no base')
  const { pages, pageSize } = found
  // The write-ahead log may hold data that is not in the file yet.
  const isLogEmpty = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0
  if (isLogEmpty && statSync(path).size < pages * pageSize) throw damagedBaseFile(name, 'its end is missing')
}

/**
 * The engine of an external file. Nothing of the product's own is written into it.
 *
 * @param source its name in errors
 * @throws DATABASE_UNREACHABLE if the file is missing or no database
 */
export function openExternalSqliteEngine(
  path: string,
  source: string,
  pool: WorkerPool,
  files: OpenFiles,
): Engine {
  const connect = () => {
    const opened: Database[] = []
    try {
      const writer = new Database(path, { readwrite: true, create: false, strict: true, safeIntegers: true })
      opened.push(writer)
      configure(writer, { isForeign: true })
      // The first statement that reads the file.
      writer.run('pragma schema_version')
      const reader = new Database(path, { readonly: true, strict: true, safeIntegers: true })
      opened.push(reader)
      configure(reader, { isForeign: true })
      // As servers do: no dangling references.
      writer.run('pragma foreign_keys = on')
      return { reader, writer }
    } catch (error) {
      for (const file of opened) file.close()
      if (isLocked(error)) throw error
      const reason = error instanceof Error ? error.message : String(error)
      throw new AppError('DATABASE_UNREACHABLE', m.source_error_file_unopened({ source, reason }))
    }
  }
  const explain = (error: unknown) => explainSqlite(error, source)
  const engine = engineOf({ path, isExact: true, connect, explain }, pool, files)
  try {
    engine.open()
  } catch (error) {
    // The first statement waits for the other program.
    if (!isLocked(error)) throw error
  }
  return engine
}

function engineOf(
  { path, isExact, connect, explain, openSync }: FileKind,
  pool: WorkerPool,
  files: OpenFiles,
): Engine & { open(): void } {
  const inTurn = createWriteQueue()
  let handles: Handles | null = null
  let writers = 0
  let lookedAt = 0
  let isClosed = false
  // Foreign files may hold integers beyond JavaScript's safe range.
  const shown = <T>(rows: T[]): T[] => (isExact ? exactRows(rows) : rows)

  const file: OpenFile = {
    usedAt: 0,
    isBusy: () => writers > 0,
    close: closeHandles,
  }

  function closeHandles(): void {
    const open = handles
    handles = null
    open?.prepareRead.clear()
    open?.prepareWrite.clear()
    open?.reader.close()
    open?.writer.close()
  }

  function openHandles(): Handles {
    if (isClosed) throw new Error(`${path} is closed`)
    files.admit(file, () => {
      const { reader, writer } = connect()
      const prepareWrite = createStatementCache(writer)
      handles = {
        reader,
        writer,
        prepareWrite,
        prepareRead: createStatementCache(reader),
        transaction: transactionOn(prepareWrite, shown, isExact ? plainBatches : failingBatches),
        sync: openSync?.() ?? null,
        inode: statSync(path).ino,
      }
    })
    return handles as unknown as Handles
  }

  /** The open connections. @throws the error of `explain` if the file is missing or was replaced */
  function use(isWrite: boolean): Handles {
    file.usedAt = files.tick()
    if (handles === null) return openHandles()
    const now = performance.now()
    if (isWrite || now - lookedAt > LOOK_EVERY_MS) {
      const found = statSync(path, { throwIfNoEntry: false })
      // Writes to an unlinked file would be lost with this process.
      if (!found)
        throw explain(Object.assign(new Error('unable to open database file'), { code: 'SQLITE_CANTOPEN' }))
      if (found.ino !== handles.inode && (writers === 0 || isWrite)) {
        closeHandles()
        files.forget(file)
        return openHandles()
      }
      lookedAt = now
    }
    if (isWrite && handles.sync?.failure) handles.sync = recoverSync(handles, handles.sync.failure)
    return handles
  }

  /** Brings what a failed sync has left behind to disk: a checkpoint copies it from the log into the file. @throws the failure */
  function recoverSync({ writer }: Handles, failure: Error): LogSync | null {
    const [result] = writer
      .query<{ busy: number; log: number; checkpointed: number }, []>('pragma wal_checkpoint(passive)')
      .all()
    if (result?.busy !== 0 || result.checkpointed !== result.log) throw explain(failure)
    return openSync?.() ?? null
  }

  /** Runs `work` with exclusive write access and keeps the connections open meanwhile. */
  async function exclusively<T>(work: () => Promise<T>, turn?: Turn): Promise<T> {
    writers++
    try {
      return await inTurn(async () => {
        const room = roomToOpen()
        if (room) await room
        return work()
      }, turn)
    } catch (error) {
      throw explain(error)
    } finally {
      if (--writers === 0) files.idle()
      checkpointSoon(false)
      lookWhenIdle()
    }
  }

  /** Goes on after the request that asks for it. */
  const buildInSteps = (index: IndexDefinition, signal?: AbortSignal): Promise<string[] | null> =>
    withoutCaller(() =>
      buildIndexInSteps(index, { path, pool, engine, signal, checkpoint: () => checkpointSoon(true) }),
    )

  /** Repeats an attempt while another program has locked a connected file. */
  const unlocked = <T>(attempt: () => T | Promise<T>): T | Promise<T> =>
    isExact ? patiently(attempt) : attempt()

  /** Reads on this thread. */
  async function read<T>(attempt: () => T): Promise<T> {
    try {
      return isExact ? await patiently(attempt) : attempt()
    } catch (error) {
      throw explain(error)
    }
  }

  /** Undefined if the file is open or can be opened at once. */
  const roomToOpen = () => (handles === null ? files.room() : undefined)

  let writesSinceLook = 0
  let isCheckpointing = false
  let wroteAt = 0
  let awaitsIdle = false

  /** Checkpoints what a few large writes have left in the log. */
  function lookWhenIdle(): void {
    wroteAt = performance.now()
    if (isExact || awaitsIdle) return
    awaitsIdle = true
    const look = () => {
      const rest = IDLE_MS - (performance.now() - wroteAt)
      if (rest > 0 && !isClosed) return void setTimeout(look, rest).unref()
      awaitsIdle = false
      if (writesSinceLook > 0) checkpointSoon(true)
    }
    setTimeout(look, IDLE_MS).unref()
  }

  /** Checkpoints a grown log in a worker. */
  function checkpointSoon(isLarge: boolean): void {
    if (isExact || isCheckpointing || isClosed) return
    if (!isLarge && ++writesSinceLook < LOOK_AFTER_WRITES) return
    writesSinceLook = 0
    if (!hasLogReached(`${path}-wal`, CHECKPOINT_BYTES)) return
    isCheckpointing = true
    const run = () => pool.run('sqlite.checkpoint', { path }, 'write', path)
    run()
      // Little was written in the meantime. Without a concurrent writer the log restarts.
      .then(() => exclusively(run))
      // The log keeps its content; a later write tries again.
      .catch(() => undefined)
      .finally(() => {
        isCheckpointing = false
      })
  }

  async function scan(
    task: 'sqlite.all' | 'sqlite.values' | 'sqlite.page',
    { sql, params }: Statement,
    page?: FilePage,
  ): Promise<unknown> {
    try {
      const room = roomToOpen()
      if (room) await room
      return await unlocked(() => {
        // A thread with a replaced file still open must not answer from it.
        const { inode } = use(false)
        const kind = sizeOf(path) > LARGE_BYTES ? 'large read' : 'read'
        return pool.run(task, { path, inode, sql, params, isExact, page }, kind, path)
      })
    } catch (error) {
      throw explain(error)
    }
  }

  const writeScript: Engine['writeScript'] = (script, { afterCommit, ...given } = {}) => {
    const watch = given.signal ? given : (currentWork() ?? given)
    return exclusively(
      async () => {
        await unlocked(() => use(true))
        const statements = typeof script === 'function' ? await script() : script
        const results =
          watch.signal && sizeOf(path) > LARGE_BYTES
            ? await pool.run('sqlite.script', { path, statements, shared: null }, 'large write', path, watch)
            : await watchScript(watch, (shared) =>
                pool.run('sqlite.script', { path, statements, shared }, 'write', path),
              )
        await afterCommit?.()
        checkpointSoon(true)
        return results as StatementResult[]
      },
      { isLong: true, signal: watch.signal },
    )
  }

  const engine: Engine & { open(): void } = {
    dialect: sqlite,
    location: { client: 'sqlite3', file: path },
    open: () => void use(false),
    exclusively: (work) =>
      exclusively(async () => {
        await unlocked(() => use(true))
        return work()
      }),
    async all<T>({ sql, params }: Statement, options?: { scan?: boolean }) {
      if (options?.scan) return asObjects<T>((await scan('sqlite.all', { sql, params })) as NamedRows)
      return read(() =>
        shown(
          use(false)
            .prepareRead(sql)
            .all(...bound(params)) as T[],
        ),
      )
    },
    async values(statement, options) {
      if (options?.scan) {
        const found = (await scan('sqlite.values', statement)) as unknown[][] | PackedNumbers
        return Array.isArray(found) ? found : mapBreathing<number, unknown[]>(found, (number) => [number])
      }
      const room = roomToOpen()
      if (room) await room
      const { sql, params } = statement
      return read(() =>
        shown(
          use(false)
            .prepareRead(sql)
            .values(...bound(params)) as unknown[][],
        ),
      )
    },
    async column(statement) {
      const found = (await scan('sqlite.values', statement)) as unknown[][] | PackedNumbers
      return Array.isArray(found)
        ? mapBreathing(found, ([value]) => value)
        : mapBreathing<number, unknown>(found, (number) => number)
    },
    writePage: (statement, page) => scan('sqlite.page', statement, page) as Promise<WrittenPage>,
    write: (work, afterCommit, { isFollowUp = false } = {}) => {
      const watch = isFollowUp ? undefined : currentWork()
      return exclusively(
        async () => {
          const opened = unlocked(() => use(true))
          const { writer, prepareWrite, transaction, sync } =
            opened instanceof Promise ? await opened : opened
          const locking = (sql: 'begin immediate' | 'commit') => unlocked(() => prepareWrite(sql).run())
          const begun = locking('begin immediate')
          if (begun instanceof Promise) await begun
          try {
            const result = await work(watchedTransaction(transaction, watch))
            watch?.commit()
            const committed = locking('commit')
            if (committed instanceof Promise) await committed
            sync?.now()
            await afterCommit?.(result)
            return result
          } catch (error) {
            // A failed commit may already have ended the transaction.
            if (writer.inTransaction) writer.run('rollback')
            throw error
          }
        },
        isFollowUp ? undefined : { patienceMs: writePatienceMs(), signal: watch?.signal },
      )
    },
    writeTogether: createGroupCommit(
      (work) =>
        exclusively(
          () => {
            const { writer, prepareWrite, transaction, sync } = use(true)
            return work(groupSession(writer, prepareWrite, transaction, sync))
          },
          { patienceMs: writePatienceMs() ?? WRITE_PATIENCE_MS },
        ),
      explain,
    ),
    writeScript,
    explain: (statement, table) => {
      const { sql, params } = sqlite.explain(statement)
      return read(() => {
        // `explain` uses the schema that its connection has read last, so one of its own sees every index.
        const file = new Database(path, { readonly: true, strict: true })
        try {
          configure(file, { isForeign: isExact })
          const prepared = file.prepare<Record<string, unknown>, never[]>(sql)
          const rows = prepared.all(...bound(params))
          prepared.finalize()
          return sqlite.readPlan(rows, table)
        } finally {
          file.close()
        }
      })
    },
    buildIndex: async (index, signal) => {
      const { name, table, terms } = index
      // Other programs write to a connected file, too.
      const faults = isExact ? null : await buildInSteps(index, signal)
      if (faults !== null) return faults
      const { quote } = sqlite
      const sql = `create index if not exists ${quote(name)} on ${quote(table)} (${terms.join(', ')})`
      await writeScript([{ sql, params: [] }])
      return []
    },
    dropIndex: async (_, name) => {
      await writeScript(sqlite.dropAutomaticIndex(name))
    },
    close: () =>
      exclusively(async () => {
        isClosed = true
        files.forget(file)
        try {
          if (handles) handles.writer.run('pragma wal_checkpoint(truncate)')
        } catch (error) {
          // On a full disk the write-ahead log stays, and is read when the file is opened again.
          if (!(explainStorage(error) instanceof AppError)) throw error
        } finally {
          closeHandles()
        }
      }),
  }
  return engine
}

/** Size in bytes of a file and its write-ahead log. */
const sizeOf = (path: string): number =>
  ['', '-wal'].reduce((sum, end) => sum + (statSync(path + end, { throwIfNoEntry: false })?.size ?? 0), 0)

function transactionOn(
  prepare: Handles['prepareWrite'],
  shown: <T>(rows: T[]) => T[],
  batchesOf: typeof plainBatches,
): Transaction {
  return {
    run: async ({ sql, params }) => ({ changes: prepare(sql).run(...bound(params)).changes }),
    runMany: async (sql, rows) => {
      const [only] = rows
      if (only && rows.length === 1) {
        prepare(sql).run(...bound(only))
        return
      }
      // Yields to readers during a long list; they see the last commit.
      for (const { sql: text, from, size } of batchesOf(sql, rows)) {
        const pause = breathe()
        if (pause) await pause
        prepare(text).run(...bound(size === 1 ? rows[from]! : rows.slice(from, from + size).flat()))
      }
    },
    all: async <T>({ sql, params }: Statement) => shown(prepare(sql).all(...bound(params)) as T[]),
    insertOne: async ({ sql, params }, key) => {
      const returning = `${sql} returning ${sqlite.quote(key)} as key`
      const [row] = prepare(returning).all(...bound(params)) as { key: unknown }[]
      return exactValue(row?.key)
    },
    insertMany: async ({ sql, params }, key) => {
      const returning = `${sql} returning ${sqlite.quote(key)} as key`
      const rows = prepare(returning).all(...bound(params)) as { key: unknown }[]
      return rows.map((row) => exactValue(row.key))
    },
  }
}

/** In a connected file, tables decide what a conflict does (`on conflict ignore`), which an insert that says so would override. */
const plainBatches = createInsertBatches({ placeholder: sqlite.placeholder })

/**
 * If a row of several fails, those before it stay until the transaction is rolled back: to take them back by itself, SQLite
 * would first copy every page that the statement changes, which costs more than the insert.
 */
const failingBatches = createInsertBatches({ placeholder: sqlite.placeholder, head: 'insert or fail into' })

/**
 * A group of short writes in a file. SQLite is synchronous: nothing interleaves between a commit and its follow-up.
 *
 * @param sync null if a commit is on disk at once
 */
export function groupSession(
  file: Database,
  prepare: (sql: string) => Pick<ReturnType<StatementCache>, 'run' | 'values'>,
  transaction: Transaction,
  sync: LogSync | null = null,
): GroupSession {
  let isSaved = false
  const now = (statement: string) => (): undefined => {
    prepare(statement).run()
  }
  return {
    transaction,
    begin: now('begin immediate'),
    commit: now('commit'),
    synced: () => sync?.soon(),
    rollback(): undefined {
      if (file.inTransaction) prepare('rollback').run()
      isSaved = false
    },
    save(): undefined {
      if (isSaved) prepare('release member').run()
      prepare('savepoint member').run()
      isSaved = true
    },
    rollBackToSaved: now('rollback to member'),
    isOpen: () => file.inTransaction,
    changes: () => Number(prepare('select total_changes()').values()[0]?.[0]),
  }
}

/**
 * How long SQLite waits for a lock, which stops the thread. Leases keep the writers of a base's file apart: only another
 * thread's chunk can hold the lock, for milliseconds.
 */
const BUSY_MS = 5_000

/**
 * Most of a file that is mapped, which is the most that SQLite can map. Mapped pages are the system's cache, whose size follows the
 * machine: reading one takes no call and no memory of the process.
 */
const MMAP_BYTES = 2_147_418_112

/**
 * Own copies of pages that a connection keeps: those it has changed and those beyond `MMAP_BYTES`. More gains nothing, since the
 * system's cache has them as well: with 128 MiB, scans of a table that is not mapped took twice as long.
 */
const CACHE_KIB = 32_768

/**
 * Pragmas of every connection to a base's file or a connected one, in worker threads as well.
 *
 * @param options `isForeign`: another program may hold the lock for long, so no thread waits for it, see `patiently`
 */
export function configure(file: Database, { isForeign = false } = {}): void {
  defineSqliteFunctions(file)
  // First, because the others may read the file.
  file.run(`pragma busy_timeout = ${isForeign ? 0 : BUSY_MS}`)
  file.run('pragma synchronous = full')
  file.run(`pragma cache_size = -${CACHE_KIB}`)
  file.run(`pragma mmap_size = ${MMAP_BYTES}`)
  // Sorts as well: a page in the middle of four million records sorted without an index takes 9 s and 100 MB,
  // and 34 s where the sorter spills to a file.
  file.run('pragma temp_store = memory')
  // The next checkpoint after a large write shrinks the log file to this size.
  file.run(`pragma journal_size_limit = ${WAL_LIMIT_BYTES}`)
}
