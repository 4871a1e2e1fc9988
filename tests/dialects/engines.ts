import { Database } from 'bun:sqlite'
import mysqlDriver from 'mysql2/promise'
import postgresDriver from 'postgres'
import type { QueryDialect, Statement } from '../../src/dialects/dialect.ts'
import { DIALECTS } from '../../src/dialects/index.ts'
import { createDatabase } from '../support/servers.ts'

/** A real database that a dialect is tried on. */
export interface TestEngine {
  dialect: QueryDialect
  rows(statement: Statement): Promise<unknown[][]>
  close(): Promise<void>
}

type Client = (typeof DIALECTS)[number]['client']

const OPEN: Record<string, () => Promise<Omit<TestEngine, 'dialect'>>> = {
  async sqlite3() {
    const file = new Database(':memory:', { strict: true })
    return {
      rows: async ({ sql, params }) => file.prepare(sql).values(...(params as never[])) as unknown[][],
      close: async () => file.close(),
    }
  },
  async pg() {
    const database = await createDatabase('postgres')
    const client = postgresDriver(database.url, { max: 1, onnotice: () => {} })
    return {
      rows: async ({ sql, params }) => [...(await client.unsafe(sql, params as never[]).values())],
      async close() {
        await client.end()
        await database.drop()
      },
    }
  },
  async mysql2() {
    const database = await createDatabase('mariadb')
    const client = await mysqlDriver.createConnection({
      uri: database.url,
      rowsAsArray: true,
      timezone: 'Z',
      dateStrings: true,
    })
    return {
      rows: async ({ sql, params }) => (await client.query(sql, params as never[]))[0] as unknown[][],
      async close() {
        await client.end()
        await database.drop()
      },
    }
  },
}

/** Each registered dialect with a database of its own. */
export const ENGINES = DIALECTS.map((dialect) => ({
  client: dialect.client as Client,
  async open(): Promise<TestEngine> {
    const open = OPEN[dialect.client]
    if (!open) throw new Error(`No test database is known for ${dialect.client}`)
    return { dialect, ...(await open()) }
  },
}))
