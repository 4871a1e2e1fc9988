import type { EngineLocation } from '../../dialects/dialect.ts'
import { quotePostgres } from '../../dialects/postgres-tables.ts'
import { openPostgresStore, type PostgresClient } from '../move/postgres-store.ts'
import { openSqliteStore, openStoreFile } from '../move/sqlite-store.ts'
import type { TableStore } from '../move/store.ts'
import { connectPostgres } from '../postgres/driver.ts'

const EXACT = { isJsonExact: true }

type Access = { isSnapshot: boolean }
type Work<T> = (store: TableStore) => Promise<T>

type Openers = {
  [C in EngineLocation['client']]: <T>(
    location: Extract<EngineLocation, { client: C }>,
    access: Access,
    work: Work<T>,
  ) => Promise<T>
}

const OPENERS: Openers = {
  async sqlite3({ file: path }, { isSnapshot }, work) {
    const file = openStoreFile(path)
    try {
      if (isSnapshot) file.run('begin')
      return await work(openSqliteStore(file, path, EXACT))
    } finally {
      if (file.inTransaction) file.run('rollback')
      if (!isSnapshot) file.run('pragma wal_checkpoint(truncate)')
      file.close()
    }
  },
  async pg<T>(
    { connection, schema }: Extract<EngineLocation, { client: 'pg' }>,
    { isSnapshot }: Access,
    work: Work<T>,
  ) {
    const storeOn = (on: PostgresClient) => openPostgresStore(on, schema, schema, async () => {}, EXACT)
    const client = connectPostgres(connection, { searchPath: quotePostgres(schema), statementTimeoutMs: 0 })
    try {
      if (!isSnapshot) return await work(storeOn(client))
      const snapshot = client.begin('isolation level repeatable read read only', (tx) => work(storeOn(tx)))
      return (await snapshot) as T
    } finally {
      await client.end({ timeout: 5 })
    }
  },
  mysql2() {
    throw new Error('No base has its home in MySQL')
  },
}

/**
 * Runs `work` on the tables of a base's home, from a worker thread. With `isSnapshot`, all reads see the home at one
 * moment, and nothing can be written.
 *
 * @throws Error for a location that is no home
 */
export function withHome<T>(location: EngineLocation, access: Access, work: Work<T>): Promise<T> {
  const open = OPENERS[location.client] as (
    location: EngineLocation,
    access: Access,
    work: Work<T>,
  ) => Promise<T>
  return open(location, access, work)
}
