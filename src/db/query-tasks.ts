import { Database } from 'bun:sqlite'
import { LRUCache } from 'lru-cache'
import type { Statement, StatementResult } from '../dialects/dialect.ts'
import { giveWay } from './background-thread.ts'
import { configure } from './sqlite-engine.ts'

type Input = Statement & { path: string }

giveWay()

/** Read connections that a worker thread keeps open between tasks. */
const connections = new LRUCache<string, Database>({ max: 8, dispose: (file) => file.close() })

function connect(path: string): Database {
  const known = connections.get(path)
  if (known) return known
  const file = new Database(path, { readonly: true, strict: true })
  configure(file)
  connections.set(path, file)
  return file
}

/** Runs the statements in one transaction; the caller holds the file's write lease. */
function runScript({ path, statements }: { path: string; statements: Statement[] }): StatementResult[] {
  const file = new Database(path, { strict: true })
  try {
    configure(file)
    const run = file.transaction(() =>
      statements.map(({ sql, params }): StatementResult => {
        const { changes, lastInsertRowid } = file.prepare(sql).run(...(params as never[]))
        return { changes, insertedId: Number(lastInsertRowid) }
      }),
    )
    return run.immediate()
  } finally {
    file.close()
  }
}

/** Reads and writes that grow with a table. */
export const queryTasks = {
  'sqlite.all': ({ path, sql, params }: Input) =>
    connect(path)
      .prepare(sql)
      .all(...(params as never[])),
  'sqlite.values': ({ path, sql, params }: Input) =>
    connect(path)
      .prepare(sql)
      .values(...(params as never[])),
  'sqlite.script': runScript,
}
