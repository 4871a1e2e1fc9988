import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type MysqlConnection, postgresConnection } from '../../src/db/connection.ts'
import { openMysqlEngine } from '../../src/db/mysql/engine.ts'
import { createOpenFiles } from '../../src/db/open-files.ts'
import { openPostgresDatabase, openPostgresEngine } from '../../src/db/postgres/engine.ts'
import { openExternalSqliteEngine } from '../../src/db/sqlite-engine.ts'
import type { Engine, QueryDialect, Statement } from '../../src/dialects/dialect.ts'
import { DIALECTS } from '../../src/dialects/index.ts'
import { createWorkerPool } from '../../src/pool.ts'
import { createDatabase } from '../support/servers.ts'

/** A real database that a dialect is tried on. */
export interface TestEngine {
  dialect: QueryDialect
  engine: Engine
  /** Runs any statement, and gives the rows of one that selects. */
  rows(statement: Statement): Promise<unknown[][]>
  close(): Promise<void>
}

type Client = (typeof DIALECTS)[number]['client']
type Opened = Pick<TestEngine, 'engine' | 'close'>

const OPEN: Record<string, () => Promise<Opened>> = {
  async sqlite3() {
    const folder = mkdtempSync(join(tmpdir(), 'sheaf-engine-'))
    const path = join(folder, 'test.db')
    new Database(path, { create: true }).run('pragma journal_mode = wal')
    const pool = createWorkerPool(1)
    const engine = openExternalSqliteEngine(path, 'the test', pool, createOpenFiles(10))
    return {
      engine,
      async close() {
        await engine.close()
        pool.close()
        rmSync(folder, { recursive: true })
      },
    }
  },
  async pg() {
    const made = await createDatabase('postgres')
    const database = openPostgresDatabase(postgresConnection(made.url))
    return {
      engine: openPostgresEngine(database, 'public', 'the test'),
      async close() {
        await database.close()
        await made.drop()
      },
    }
  },
  async mysql2() {
    const made = await createDatabase('mariadb')
    const engine = openMysqlEngine(mysqlConnection(made.url), 'the test')
    return {
      engine,
      async close() {
        await engine.close()
        await made.drop()
      },
    }
  },
}

/** A connection from the address of a MySQL or MariaDB. */
export function mysqlConnection(address: string): MysqlConnection {
  const url = new URL(address)
  return {
    client: 'mysql2',
    host: url.hostname,
    port: Number(url.port),
    user: url.username,
    password: url.password,
    database: url.pathname.slice(1),
  }
}

/** Each registered dialect with a database of its own. */
export const ENGINES = DIALECTS.map((dialect) => ({
  client: dialect.client as Client,
  async open(): Promise<TestEngine> {
    const open = OPEN[dialect.client]
    if (!open) throw new Error(`No test database is known for ${dialect.client}`)
    const opened = await open()
    const { engine } = opened
    return {
      dialect,
      ...opened,
      async rows(statement) {
        if (/^\s*(select|with)\b/i.test(statement.sql)) return engine.values(statement)
        await engine.write((tx) => tx.run(statement))
        return []
      },
    }
  },
}))
