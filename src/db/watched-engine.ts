import type { Engine, Statement, Transaction } from '../dialects/dialect.ts'
import type { DatabaseWork, Metrics } from '../metrics/metrics.ts'

/** Observers of the statements in databases with user tables and in the metadata. */
export interface EngineWatch {
  /** Takes the time of each read and each transaction, and of each statement of the metadata. */
  observe?: Metrics['database']
  slow?: SlowQueries | null
  /** Takes automatic indexes that a write has dropped. */
  refusedBy?(indexes: RefusedIndexes): void
  /** Takes the failure to drop what builds of indexes of deleted tables have left in a base's file. */
  notDropped?(error: unknown, left: { file: string; indexes: readonly string[] }): void
}

/** Automatic indexes that were dropped during a write that one of them had refused. */
export interface RefusedIndexes {
  names: readonly string[]
  /** Why they refused the write; null if others than the one at fault are among them. */
  reason: string | null
}

/** Reports statements that take long. */
export interface SlowQueries {
  thresholdMs: number
  report(query: SlowQuery): void
}

interface SlowQuery {
  client: string
  kind: DatabaseWork
  /** With placeholders, and possibly literals. */
  sql: string
  ms: number
  /** Statements of a script; `sql` is the first. */
  statements?: number
}

/** Reports the time of a statement or transaction of the metadata that began at `startedAt`. `sql` is its first one. */
export function reportMetadata(
  { observe, slow }: EngineWatch,
  client: string,
  { sql, statements = 1 }: { sql: string; statements?: number },
  startedAt: number,
): void {
  const ms = performance.now() - startedAt
  observe?.(client, 'metadata', ms / 1000)
  if (!slow || ms < slow.thresholdMs) return
  slow.report({ client, kind: 'metadata', sql, ms, statements: statements > 1 ? statements : undefined })
}

/**
 * Wraps an engine to observe its statements; returns it unchanged without observers. Times include waiting in
 * the write queue.
 */
export function watchEngine(engine: Engine, { observe, slow }: EngineWatch): Engine {
  if (!observe && !slow) return engine
  const thresholdMs = slow?.thresholdMs ?? Number.POSITIVE_INFINITY
  const clientOf = () => engine.dialect.client

  function reportSlow(kind: DatabaseWork, sql: string, startedAt: number, statements?: number): void {
    const ms = performance.now() - startedAt
    if (ms >= thresholdMs) slow?.report({ client: clientOf(), kind, sql, ms, statements })
  }

  async function read<T>(kind: 'read' | 'scan', { sql }: Statement, run: () => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    try {
      return await run()
    } finally {
      observe?.(clientOf(), kind, (performance.now() - startedAt) / 1000)
      reportSlow(kind, sql, startedAt)
    }
  }

  async function write<T>(run: () => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    try {
      return await run()
    } finally {
      observe?.(clientOf(), 'write', (performance.now() - startedAt) / 1000)
    }
  }

  /** Reports beside the caller, who waits no longer for it. */
  function inTransaction<T>(sql: string, run: () => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    const result = run()
    const report = () => reportSlow('write', sql, startedAt)
    void result.then(report, report)
    return result
  }

  /** Each statement of a transaction is timed alone. */
  const watched = (tx: Transaction): Transaction =>
    slow
      ? {
          batch: tx.batch,
          run: (statement) => inTransaction(statement.sql, () => tx.run(statement)),
          runMany: (sql, params) => inTransaction(sql, () => tx.runMany(sql, params)),
          all: (statement) => inTransaction(statement.sql, () => tx.all(statement)),
          insertOne: (statement, key) => inTransaction(statement.sql, () => tx.insertOne(statement, key)),
          insertMany: (statement, key, count) =>
            inTransaction(statement.sql, () => tx.insertMany(statement, key, count)),
        }
      : tx

  const { writePage } = engine
  const kindOf = (options?: { scan?: boolean }) => (options?.scan ? 'scan' : 'read')
  return {
    ...engine,
    // A getter, because the server's version, which determines the dialect, becomes known later.
    get dialect() {
      return engine.dialect
    },
    all: (statement, options) => read(kindOf(options), statement, () => engine.all(statement, options)),
    values: (statement, options) => read(kindOf(options), statement, () => engine.values(statement, options)),
    column: (statement) => read('scan', statement, () => engine.column(statement)),
    writePage: writePage && ((statement, page) => read('scan', statement, () => writePage(statement, page))),
    write: (work, afterCommit, options) =>
      write(() => engine.write((tx) => work(watched(tx)), afterCommit, options)),
    writeTogether: (work, onCommit, touches) =>
      write(() => engine.writeTogether((tx) => work(watched(tx)), onCommit, touches)),
    async writeScript(script, options) {
      const startedAt = performance.now()
      let statements: Statement[] = []
      const asked = async () => {
        statements = typeof script === 'function' ? await script() : script
        return statements
      }
      try {
        return await write(() => engine.writeScript(asked, options))
      } finally {
        reportSlow('write', statements[0]?.sql ?? '', startedAt, statements.length)
      }
    },
  }
}
