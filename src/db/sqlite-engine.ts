import { Database } from 'bun:sqlite'
import type { Engine, Statement, StatementResult, Transaction } from '../dialects/dialect.ts'
import { sqlite } from '../dialects/sqlite.ts'
import type { WorkerPool } from '../pool.ts'
import { upgradeBaseFile } from './base-file.ts'
import { createGroupCommit } from './group-commit.ts'
import { createMutex } from './mutex.ts'
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
  const prepareRead = createStatementCache(reader)
  const prepareWrite = createStatementCache(writer)
  const exclusively = createMutex()

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
    all: async <T>({ sql, params }: Statement) => prepareWrite(sql).all(...(params as never[])) as T[],
  }

  return {
    dialect: sqlite,
    location: path,
    exclusively,
    async all<T>({ sql, params }: Statement, options?: { scan?: boolean }) {
      if (options?.scan) return pool.run('sqlite.all', { path, sql, params }) as Promise<T[]>
      return prepareRead(sql).all(...(params as never[])) as T[]
    },
    async values({ sql, params }, options) {
      if (options?.scan) return pool.run('sqlite.values', { path, sql, params }) as Promise<unknown[][]>
      return prepareRead(sql).values(...(params as never[])) as unknown[][]
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
    writeTogether: createGroupCommit(writer, transaction, exclusively),
    writeScript: (script) =>
      exclusively(async () => {
        const statements = typeof script === 'function' ? await script() : script
        return (await pool.run('sqlite.script', { path, statements })) as StatementResult[]
      }),
    close: () =>
      exclusively(async () => {
        reader.close()
        writer.run('pragma wal_checkpoint(truncate)')
        writer.close()
      }),
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
