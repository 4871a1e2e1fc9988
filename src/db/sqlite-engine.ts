import { Database } from 'bun:sqlite'
import { AppError } from '../core/errors.ts'
import type { Engine, Statement, StatementResult, Transaction } from '../dialects/dialect.ts'
import { sqlite } from '../dialects/sqlite.ts'
import type { WorkerPool } from '../pool.ts'
import { upgradeBaseFile } from './base-file.ts'
import { exactRows, exactValue } from './exact-rows.ts'
import { createGroupCommit, type GroupSession } from './group-commit.ts'
import { createMutex } from './mutex.ts'
import { asObjects, type NamedRows } from './named-rows.ts'
import { watchScript } from './script-watch.ts'
import { explainSqlite } from './sqlite-errors.ts'
import { createStatementCache } from './statement-cache.ts'

/** Rows written in one go on the thread that answers requests: about two milliseconds. */
const YIELD_AFTER = 500

/**
 * Opens a base's own file, making it where it does not exist. Readers see the last commit while a
 * write runs (WAL); a commit is on the disk when it is acknowledged (`synchronous = full`).
 */
export function openSqliteEngine(path: string, pool: WorkerPool): Engine {
  const writer = new Database(path, { create: true, strict: true })
  writer.run('pragma journal_mode = wal')
  configure(writer)
  upgradeBaseFile(writer)
  const reader = new Database(path, { readonly: true, strict: true })
  configure(reader)
  return engineOf(path, { reader, writer, isExact: false }, pool)
}

/**
 * Opens a file that is not ours, as it is: nothing of ours is written into it.
 *
 * @param source what errors call it
 * @throws DATABASE_UNREACHABLE where there is no such file, or it is no database
 */
export function openExternalSqliteEngine(path: string, source: string, pool: WorkerPool): Engine {
  try {
    const writer = new Database(path, { readwrite: true, create: false, strict: true, safeIntegers: true })
    configure(writer)
    // The first thing that looks into the file.
    writer.run('pragma schema_version')
    const reader = new Database(path, { readonly: true, strict: true, safeIntegers: true })
    configure(reader)
    // As servers do: what refers to a record is not left behind.
    writer.run('pragma foreign_keys = on')
    return explained(engineOf(path, { reader, writer, isExact: true }, pool), source)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new AppError('DATABASE_UNREACHABLE', `The file of ${source} cannot be opened: ${reason}`)
  }
}

/** The engine with what its file refuses told in words. */
function explained(engine: Engine, source: string): Engine {
  const worded = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error) => {
      throw explainSqlite(error, source)
    })
  return {
    ...engine,
    all: (statement, options) => worded(engine.all(statement, options)),
    values: (statement, options) => worded(engine.values(statement, options)),
    write: (work, afterCommit) => worded(engine.write(work, afterCommit)),
    writeTogether: (work, onCommit) => worded(engine.writeTogether(work, onCommit)),
    writeScript: (script, options) => worded(engine.writeScript(script, options)),
  }
}

function engineOf(
  path: string,
  { reader, writer, isExact }: { reader: Database; writer: Database; isExact: boolean },
  pool: WorkerPool,
): Engine {
  const prepareRead = createStatementCache(reader)
  const prepareWrite = createStatementCache(writer)
  const exclusively = createMutex()
  // Numbers that we have not written ourselves may be greater than JavaScript has them.
  const shown = <T>(rows: T[]): T[] => (isExact ? exactRows(rows) : rows)

  const transaction: Transaction = {
    run: async ({ sql, params }) => ({ changes: prepareWrite(sql).run(...(params as never[])).changes }),
    runMany: async (sql, rows) => {
      const prepared = prepareWrite(sql)
      for (let index = 0; index < rows.length; index++) {
        // A long list lets readers in between; they see the last commit meanwhile.
        if (index > 0 && index % YIELD_AFTER === 0) await Bun.sleep(0)
        prepared.run(...(rows[index] as never[]))
      }
    },
    all: async <T>({ sql, params }: Statement) => shown(prepareWrite(sql).all(...(params as never[])) as T[]),
    insertOne: async ({ sql, params }, key) => {
      const returning = `${sql} returning ${sqlite.quote(key)} as key`
      const [row] = prepareWrite(returning).all(...(params as never[])) as { key: unknown }[]
      return exactValue(row?.key)
    },
  }

  return {
    dialect: sqlite,
    location: { client: 'sqlite3', file: path },
    exclusively,
    async all<T>({ sql, params }: Statement, options?: { scan?: boolean }) {
      if (options?.scan) {
        return asObjects<T>((await pool.run('sqlite.all', { path, sql, params, isExact })) as NamedRows)
      }
      return shown(prepareRead(sql).all(...(params as never[])) as T[])
    },
    async values({ sql, params }, options) {
      if (options?.scan)
        return pool.run('sqlite.values', { path, sql, params, isExact }) as Promise<unknown[][]>
      return shown(prepareRead(sql).values(...(params as never[])) as unknown[][])
    },
    write: (work, afterCommit) =>
      exclusively(async () => {
        writer.run('begin immediate')
        try {
          const result = await work(transaction)
          writer.run('commit')
          await afterCommit?.(result)
          return result
        } catch (error) {
          // A failed commit may have ended the transaction already.
          if (writer.inTransaction) writer.run('rollback')
          throw error
        }
      }),
    writeTogether: createGroupCommit((work) => exclusively(() => work(groupSession(writer, transaction)))),
    writeScript: (script, { afterCommit, ...watch } = {}) =>
      exclusively(async () => {
        const statements = typeof script === 'function' ? await script() : script
        const results = await watchScript(watch, (shared) =>
          pool.run('sqlite.script', { path, statements, shared }),
        )
        await afterCommit?.()
        return results as StatementResult[]
      }),
    close: () =>
      exclusively(async () => {
        reader.close()
        writer.run('pragma wal_checkpoint(truncate)')
        writer.close()
      }),
  }
}

/** A group of short writes in a file. SQLite answers at once: nothing comes between a commit and what follows it. */
export function groupSession(file: Database, transaction: Transaction): GroupSession {
  let isSaved = false
  const now = (statement: string) => (): undefined => {
    file.run(statement)
  }
  return {
    transaction,
    begin: now('begin immediate'),
    commit: now('commit'),
    rollback(): undefined {
      if (file.inTransaction) file.run('rollback')
    },
    save(): undefined {
      if (isSaved) file.run('release member')
      file.run('savepoint member')
      isSaved = true
    },
    rollBackToSaved: now('rollback to member'),
    isOpen: () => file.inTransaction,
  }
}

/** What every connection to a base's file sets, in worker threads as well. */
export function configure(file: Database): void {
  file.run('pragma synchronous = full')
  // Only another thread's chunk can hold the lock, and for milliseconds: leases keep writers apart.
  file.run('pragma busy_timeout = 5000')
  file.run('pragma cache_size = -32768')
  file.run('pragma mmap_size = 1073741824')
  file.run('pragma temp_store = memory')
}
